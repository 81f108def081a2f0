// Package client asks a running clusterd over HTTP, for scripts. Messages of package api go in, as
// many as one likes; they are sent in requests of the size that the server takes, and its answers
// come out, or an error that says what it said.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

const (
	// timeout is for one request; the server answers within some seconds, or says that it does not.
	timeout = 30 * time.Second
	// maxAnswer bounds what a server that is none of ours can send.
	maxAnswer = 64 << 20
	// room is what of a body is left for what stands around its items.
	room = 1 << 10
)

// A Client asks one server.
type Client struct {
	server string // its URL, without a slash at the end
	token  string // empty: none
	http   http.Client

	silence time.Duration // of a stream, after which it counts as broken
}

// New returns a client of the server at a URL. An empty token is none.
func New(server, token string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%q is no URL such as http://127.0.0.1:8080", server)
	}
	return &Client{
		strings.TrimSuffix(server, "/"), token, http.Client{Timeout: timeout}, silence,
	}, nil
}

// Check asks what would become of texts, however many they are, and calls with the answers in their
// order.
func (c *Client) Check(
	ctx context.Context, texts []api.TextRequest, o api.CheckOptions, each func(api.Checked) error,
) error {
	return inParts(texts, api.MaxTexts, func(part []api.TextRequest) error {
		var answer api.CheckedAll
		q := api.CheckRequest{Articles: part, CheckOptions: o}
		if err := c.do(ctx, http.MethodPost, "/v1/check", q, &answer); err != nil {
			return err
		}
		if len(answer.Results) != len(part) {
			return fmt.Errorf("%s answered %d of %d texts", c.server, len(answer.Results), len(part))
		}
		for _, result := range answer.Results {
			if err := each(result); err != nil {
				return err
			}
		}
		return nil
	})
}

// Label asks for labels, however many they are, and calls with what became of each, in their order.
func (c *Client) Label(
	ctx context.Context, labels []api.LabelRequest, each func(api.Labelled) error,
) error {
	return inParts(labels, api.MaxLabels, func(part []api.LabelRequest) error {
		var answer api.LabelledAll
		q := api.LabelsRequest{Labels: part}
		if err := c.do(ctx, http.MethodPost, "/v1/labels", q, &answer); err != nil {
			return err
		}
		if len(answer.Results) != len(part) {
			return fmt.Errorf("%s answered %d of %d labels", c.server, len(answer.Results), len(part))
		}
		for _, result := range answer.Results {
			if err := each(result); err != nil {
				return err
			}
		}
		return nil
	})
}

// Erase asks to erase the text of an article, or a contact, and returns what became of it.
func (c *Client) Erase(ctx context.Context, q api.EraseRequest) (e api.Erased, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/erase", q, &e)
	return e, err
}

// Labelled calls with each page of what is labelled: clusters, and then contacts.
func (c *Client) Labelled(ctx context.Context, each func(api.Clusters) error) error {
	path := "/v1/labels?limit=" + strconv.Itoa(api.MaxPage)
	return pages(path, func(path string) (next string, err error) {
		var page api.Clusters
		if err := c.do(ctx, http.MethodGet, path, nil, &page); err != nil {
			return "", err
		}
		return page.Next, each(page)
	})
}

// Contacts calls with each contact that clusters without labels share ("shared"), that labels have
// marked ("marked"), or with both ("all").
func (c *Client) Contacts(ctx context.Context, show string, each func(api.Contact) error) error {
	path := "/v1/contacts?show=" + url.QueryEscape(show) + "&limit=" + strconv.Itoa(api.MaxPage)
	return pages(path, func(path string) (next string, err error) {
		var page api.Contacts
		if err := c.do(ctx, http.MethodGet, path, nil, &page); err != nil {
			return "", err
		}
		for _, contact := range page.Contacts {
			if err := each(contact); err != nil {
				return "", err
			}
		}
		return page.Next, nil
	})
}

// pages asks for pages, from the first to the last one.
func pages(path string, ask func(path string) (next string, err error)) error {
	for at := path; ; {
		next, err := ask(at)
		if err != nil || next == "" {
			return err
		}
		at = path + "&cursor=" + url.QueryEscape(next)
	}
}

// LabelNames returns the labels that clusters have.
func (c *Client) LabelNames(ctx context.Context) (names []string, err error) {
	var stats api.Stats
	if err := c.do(ctx, http.MethodGet, "/v1/stats", nil, &stats); err != nil {
		return nil, err
	}
	for _, l := range stats.Labels {
		names = append(names, l.Label)
	}
	return names, nil
}

// inParts calls with parts of all items that a request can hold: of at most so many.
func inParts[T any](all []T, most int, send func(part []T) error) error {
	from, bytes := 0, room
	for i := range all {
		item, err := json.Marshal(all[i])
		if err != nil {
			return err
		}
		if i > from && (i-from == most || bytes+len(item) > api.MaxBody) {
			if err := send(all[from:i]); err != nil {
				return err
			}
			from, bytes = i, room
		}
		bytes += len(item) + 1
	}
	if from == len(all) {
		return nil
	}
	return send(all[from:])
}

// request returns a request with the token.
func (c *Client) request(
	ctx context.Context, method, path string, body io.Reader,
) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err == nil && c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, err
}

// unreachable returns what to do about a request that found no server.
func (c *Client) unreachable(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the address, which is said
	}
	return fmt.Errorf("asking %s: %w: is clusterd running there, with http.listen set so?",
		c.server, err)
}

// do sends a request, and reads the answer to it.
func (c *Client) do(ctx context.Context, method, path string, question, answer any) error {
	var body bytes.Buffer
	if question != nil {
		e := json.NewEncoder(&body)
		e.SetEscapeHTML(false)
		if err := e.Encode(question); err != nil {
			return err
		}
	}
	r, err := c.request(ctx, method, path, &body)
	if err != nil {
		return err
	}
	if question != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	value, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("asking %s: reading the answer: %w", c.server, err)
	case response.StatusCode >= http.StatusMultipleChoices:
		return c.refused(response, value)
	}
	if err := json.Unmarshal(value, answer); err != nil {
		return fmt.Errorf("asking %s: the answer is not that of clusterd: %w", c.server, err)
	}
	return nil
}

// refused returns what the server said of why it does not answer.
func (c *Client) refused(response *http.Response, value []byte) error {
	var p api.Problem
	if json.Unmarshal(value, &p) != nil || p.Title == "" {
		p.Title = response.Status
	}
	if p.Detail == "" {
		p.Detail = p.Title
	}
	if response.StatusCode == http.StatusUnauthorized {
		p.Detail += ": give one by CLUSTERD_TOKEN or --token-file"
	}
	return fmt.Errorf("%s refuses: %s", c.server, p.Detail)
}
