package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"time"
)

// A WebhookNotifier tells in the JSON that Prometheus' Alertmanager sends to receivers
// (prometheus.io/docs/alerting/latest/configuration, "webhook_config").
type WebhookNotifier struct {
	URL    string
	Client *http.Client
	Logger *slog.Logger
}

var _ AlertNotifier = (*WebhookNotifier)(nil)

// hookLimit bounds one call.
const hookLimit = 10 * time.Second

type hookBody struct {
	Version      string            `json:"version"`
	GroupKey     string            `json:"groupKey"`
	Truncated    int               `json:"truncatedAlerts"`
	Status       string            `json:"status"` // firing, resolved
	Receiver     string            `json:"receiver"`
	GroupLabels  map[string]string `json:"groupLabels"`
	CommonLabels map[string]string `json:"commonLabels"`
	CommonNotes  map[string]string `json:"commonAnnotations"`
	ExternalURL  string            `json:"externalURL"`
	Alerts       []hookAlert       `json:"alerts"`
}

type hookAlert struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"` // year 1 while it lasts, as Alertmanager writes it
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

// Tell posts the problem and returns whether the receiver took it.
func (h *WebhookNotifier) Tell(ctx context.Context, p Alert, _ time.Time) bool {
	body, err := json.Marshal(hookOf(p))
	if err != nil {
		panic("problems: alert of " + err.Error()) // texts and times always encode
	}
	if err := h.post(ctx, body); err != nil {
		h.Logger.Warn("alarm webhook not reached", "code", p.Code, "error", err)
		return false
	}
	return true
}

func (h *WebhookNotifier) post(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errAddress
	}
	r.Header.Set("Content-Type", "application/json")
	return call(h.Client, r)
}

func hookOf(p Alert) hookBody {
	status := "firing"
	if !p.Closed.IsZero() {
		status = "resolved"
	}
	labels := map[string]string{
		"alertname": "trestle_problem", "code": string(p.Code), "subject": p.Subject, "severity": string(p.Severity),
	}
	notes := map[string]string{"summary": p.What(), "description": p.Evidence, "remedy": p.Remedy()}
	group := map[string]string{"alertname": "trestle_problem"}
	return hookBody{
		Version: "4", GroupKey: fmt.Sprintf("{}:{code=%q, subject=%q}", p.Code, p.Subject), Status: status, Receiver: "trestle",
		GroupLabels: group, CommonLabels: labels, CommonNotes: notes,
		Alerts: []hookAlert{{
			Status: status, Labels: labels, Annotations: notes, StartsAt: p.Opened.UTC(), EndsAt: p.Closed.UTC(),
			Fingerprint: fingerprint(p),
		}},
	}
}

// fingerprint is the same for all that is told of a code and a subject, whether
// the problem has a number or not.
func fingerprint(p Alert) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", p.Code, p.Subject)
	return fmt.Sprintf("%016x", h.Sum64())
}
