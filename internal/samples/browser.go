//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vault/internal/softkey"
)

// browser takes the place of the owner's browser: it answers the vault's page as the page
// itself would, with a passkey in software. It has the link from the vault's own opener, and
// no other way into the vault.
type browser struct {
	links <-chan string // testbed.Opener
}

// task is what the page is given to ask a passkey for.
type task struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rp_id"`
	Enrol     *struct {
		Challenge string `json:"challenge"`
	} `json:"enrol"`
}

// answer waits for the next page and has key answer it.
func (b *browser) answer(ctx context.Context, key *softkey.Key) error {
	var link string
	select {
	case link = <-b.links:
	case <-ctx.Done():
		return fmt.Errorf("wait for a page: %w", ctx.Err())
	}
	at, err := url.Parse(link)
	if err != nil || at.Fragment == "" {
		return errors.New("open page: the link is none of a page")
	}
	token := at.Fragment
	at.Fragment, at.Path = "", ""
	origin := at.String()
	// Names below localhost are this computer, as in a browser.
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", at.Port()))
		},
	}}
	defer client.CloseIdleConnections()
	ask := func(method, path string, body, into any) error {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, method, origin+path, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		if method == http.MethodPost {
			req.Header.Set("Origin", origin)
			req.Header.Set("Content-Type", "application/json")
		}
		r, err := client.Do(req)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			return err
		}
		if r.StatusCode >= 300 {
			return fmt.Errorf("%s: %d %s", path, r.StatusCode, strings.TrimSpace(string(text)))
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(text, into)
	}
	type held struct {
		Session string `json:"session"`
	}
	var (
		session held
		t       task
		verdict struct {
			Accepted bool   `json:"accepted"`
			Reason   string `json:"reason"`
		}
	)
	if err := ask(http.MethodGet, "/", nil, nil); err != nil {
		return fmt.Errorf("open page: %w", err)
	}
	if err := ask(http.MethodPost, "/begin", map[string]string{"token": token}, &session); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := ask(http.MethodPost, "/task", session, &t); err != nil {
		return fmt.Errorf("take task: %w", err)
	}
	if err := ask(http.MethodPost, "/asking", session, nil); err != nil {
		return fmt.Errorf("say that it asks: %w", err)
	}
	var said []byte
	if t.Enrol != nil {
		said = key.Register(t.Enrol.Challenge, origin, t.RPID)
	} else {
		said = key.Assert(t.Challenge, origin, t.RPID)
	}
	if err := ask(http.MethodPost, "/answer", struct {
		held
		Answer json.RawMessage `json:"answer"`
	}{session, said}, &verdict); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if !verdict.Accepted {
		return fmt.Errorf("the key process did not accept the answer: %s", verdict.Reason)
	}
	return nil
}
