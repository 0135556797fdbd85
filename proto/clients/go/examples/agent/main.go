// A small agent that charges five invoices over HTTP while the payments API is down, and what it makes of the contract.
//
//	tripnote serve -c proto/clients/example.toml &
//	go run ./examples/agent
//
// The model is a few lines of rules so that this runs anywhere: it sees nothing but texts, tries again after an error,
// and does what a contract's `action` says. Put a real one in its place.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"tripnote"
)

// model charges invoices one by one with the tool that it was told to use.
type model struct {
	left       []int
	tool       string
	hasStopped bool
}

func (m *model) asks() (string, map[string]int, bool) {
	if m.hasStopped || len(m.left) == 0 {
		return "", nil, false
	}
	return m.tool, map[string]int{"invoice": m.left[0]}, true
}

func (m *model) sees(text string) {
	var said struct {
		Charged          any
		Action, Fallback string
	}
	if json.Unmarshal([]byte(text), &said) != nil {
		return // An error in words: the same call again, as models do.
	}
	switch {
	case said.Charged != nil:
		m.left = m.left[1:]
	case said.Action == "switch_to_fallback":
		m.tool = said.Fallback
	case said.Action == "change_route":
		m.left = append(m.left[1:], m.left[0]) // Another question first.
	case said.Action != "":
		m.hasStopped = true
	}
}

// post is the tool: one request, and what was seen of it.
func post(ctx context.Context, url string, arguments any) (tripnote.Result, error) {
	body, err := json.Marshal(arguments)
	if err != nil {
		return tripnote.Result{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return tripnote.Result{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return tripnote.Result{}, err
	}
	defer response.Body.Close()
	return tripnote.ResultOfHTTP(response, 1<<20), nil
}

func run(ctx context.Context) error {
	var toCard int64
	payments := http.NewServeMux()
	payments.HandleFunc("/card", func(answer http.ResponseWriter, _ *http.Request) {
		atomic.AddInt64(&toCard, 1)
		http.Error(answer, "Service Unavailable", http.StatusServiceUnavailable)
	})
	payments.HandleFunc("/backup", func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		fmt.Fprintf(answer, `{"charged":%s}`, body)
	})
	api := httptest.NewServer(payments)
	defer api.Close()
	urls := map[string]string{"charge_card": api.URL + "/card", "charge_backup": api.URL + "/backup"}

	client, err := tripnote.Dial(tripnote.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	session := client.Session("example-go", nil)
	defer session.Close(ctx, tripnote.Answered)

	model, calls := &model{left: []int{1, 2, 3, 4, 5}, tool: "charge_card"}, 0
	for calls < 30 {
		tool, arguments, isAsking := model.asks()
		if !isAsking {
			break
		}
		calls++
		ask := tripnote.Ask{Tool: tool, Arguments: arguments, Effect: tripnote.Mutate}
		call, err := session.Do(ctx, ask, func(ctx context.Context) (tripnote.Result, error) {
			return post(ctx, urls[tool], arguments)
		})
		if err != nil {
			return err
		}
		fmt.Printf("model asks  %s %v\nmodel sees  %s\n", tool, arguments, call.Text())
		model.sees(call.Text())
	}
	fmt.Printf("charged %d, calls %d, requests_to_card %d\n", 5-len(model.left), calls, atomic.LoadInt64(&toCard))
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
