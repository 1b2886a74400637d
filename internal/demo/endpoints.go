package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Local are the places where model servers listen on a machine of one's own.
func Local() []string {
	return []string{"http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1"}
}

// patience is how long a local endpoint may take to list its models.
const patience = 400 * time.Millisecond

// FirstModel asks an endpoint which models it has and returns the first one. A
// key may be empty.
func FirstModel(ctx context.Context, client *http.Client, baseURL, key string) (string, error) {
	all, err := ListModels(ctx, client, baseURL, key)
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// ListModels asks an endpoint which models it has. It returns at least one, or an error. A key
// may be empty.
func ListModels(ctx context.Context, client *http.Client, baseURL, key string) ([]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(baseURL, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list models at %s: %s", baseURL, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return nil, fmt.Errorf("list models at %s: %w", baseURL, err)
	}
	if len(list.Data) == 0 {
		return nil, fmt.Errorf("%s lists no models", baseURL)
	}
	var all []string
	for _, m := range list.Data {
		all = append(all, m.ID)
	}
	return all, nil
}

// Found returns the first of the endpoints that lists models, or "". It asks for
// nothing else and waits for less than half a second.
func Found(ctx context.Context, client *http.Client, endpoints []string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := make([]bool, len(endpoints))
	var asking sync.WaitGroup
	for i, url := range endpoints {
		asking.Go(func() {
			_, err := FirstModel(ctx, client, url, "")
			answers[i] = err == nil
		})
	}
	asking.Wait()
	for i, ok := range answers {
		if ok {
			return endpoints[i]
		}
	}
	return ""
}
