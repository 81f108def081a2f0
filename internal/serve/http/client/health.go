package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Live returns nil if the process answers, whether it works or not. It needs no token.
func (c *Client) Live(ctx context.Context) error {
	response, value, err := c.get(ctx, "/livez")
	if err == nil && response.StatusCode != http.StatusOK {
		err = c.refused(response, value)
	}
	return err
}

// Ready returns whether the instance works or could at once, and why, in words.
func (c *Client) Ready(ctx context.Context) (ready bool, reason string, err error) {
	response, value, err := c.get(ctx, "/readyz")
	if err != nil {
		return false, "", err
	}
	var status struct {
		Ready  bool   `json:"ready"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal(value, &status) != nil || status.Reason == "" {
		return false, "", c.refused(response, value)
	}
	return status.Ready, status.Reason, nil
}

// get returns what a path answers, whatever its status.
func (c *Client) get(ctx context.Context, path string) (*http.Response, []byte, error) {
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, nil, c.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	value, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("asking %s: reading the answer: %w", c.server, err)
	}
	return response, value, nil
}
