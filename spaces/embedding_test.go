package spaces

import (
	"math"
	"math/rand/v2"
	"testing"
)

// random returns a vector of n numbers.
func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i]*b[i]), aa+float64(a[i]*a[i]), bb+float64(b[i]*b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// What is kept of vectors keeps the angles between them.
func TestVectorsKeepTheirAngles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for size, within := range map[int]float64{64: 0.03, 384: 0.03, 768: 0.03, 1536: 0.15, 3072: 0.15} {
		for range 50 {
			a, b := random(r, size), random(r, size)
			for i := range b {
				b[i] += a[i]
			}
			if got, want := NewVector(a).Near(NewVector(b)), cosine(a, b); math.Abs(got-want) > within {
				t.Errorf("of %d numbers: %.3f, want %.3f", size, got, want)
			}
		}
	}
}

func TestAVectorThatPointsNowhereIsNone(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, made := range [][]float32{nil, {}, {0, 0}, {inf, 1}, {float32(math.NaN()), 1}} {
		if v := NewVector(made); v != nil {
			t.Errorf("%v became %v", made, v)
		}
	}
	if near := NewVector([]float32{1}).Near(NewVector([]float32{1, 0})); near != 0 {
		t.Errorf("vectors of different lengths are near by %v", near)
	}
}
