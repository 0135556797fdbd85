package tripnote

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"tripnote/pb"
)

const tools = `
[[breaker]]
code = "orders"
targets = ["orders"]
`

func TestWhetherACallGoesOnWhereNobodyAnswers(t *testing.T) {
	for _, each := range []struct {
		whenDown WhenDown
		effect   Effect
		goes     bool
	}{
		{ByEffect, EffectUnsaid, true},
		{ByEffect, Read, true},
		{ByEffect, EffectUnknown, true},
		{ByEffect, Mutate, false},
		{GoOn, Mutate, true},
		{Refuse, Read, false},
	} {
		client := dial(t, Options{Address: freeAddress(t), WhenDown: each.whenDown, Deadline: 200 * time.Millisecond})
		ask := Ask{Tool: "charge", Effect: each.effect}
		call, err := client.Session("run", nil).Do(ctx, ask, answers(Result{Body: []byte("done")}))
		must(t, err)
		if each.goes && call.Text() != "done" {
			t.Error(each, call.Text())
		}
		refusal := "charge: not called; the breaker service does not answer and "
		if !each.goes && (!strings.HasPrefix(call.Text(), refusal) || strings.ContainsAny(call.Text(), "\n")) {
			t.Error(each, call.Text())
		}
	}
}

func isGuarded(t *testing.T, client *Client) bool {
	return admit(t, client.Session("", nil), Ask{Target: "orders"}).IsGuarded()
}

func TestItIsSaidOnceAndOnceWhenItIsBack(t *testing.T) {
	server, said := serve(t, tools), &told{}
	client := dial(t, Options{Address: server.address, Deadline: 500 * time.Millisecond, Log: said.hear})
	until(t, func() bool { return isGuarded(t, client) })
	said.lines = nil
	server.kill()
	for range [5]int{} {
		if isGuarded(t, client) {
			t.Error("nobody is there")
		}
	}
	server.start()
	until(t, func() bool { return isGuarded(t, client) })
	then := "calls that change something are refused, others go on unguarded"
	if len(said.lines) != 2 || !strings.HasSuffix(said.lines[0], then) ||
		said.lines[1] != "tripnote at "+server.address+" answers again: calls are guarded" {
		t.Error(said.lines)
	}
}

func TestARestartBetweenTwoCallsIsNotNoticed(t *testing.T) {
	server, said := serve(t, tools), &told{}
	client := dial(t, Options{Address: server.address, Log: said.hear})
	session := client.Session("run", nil)
	for range [3]int{} {
		call := admit(t, session, Ask{Tool: "orders"})
		if !call.IsGuarded() {
			t.Error("it is there")
		}
		_, err := call.Report(ctx, Result{Body: []byte("fine")})
		must(t, err)
		server.kill()
		server.start()
	}
	if len(said.lines) != 0 {
		t.Error(said.lines)
	}
}

func TestAPermitFromBeforeARestartIsUnknownAndAPolicyIsToldAgain(t *testing.T) {
	server := serve(t, tools)
	client := dial(t, Options{Address: server.address})
	session := client.Session("run", &pb.SessionPolicy{Allow: []string{"orders"}})
	call := admit(t, session, Ask{Tool: "orders"})
	server.kill()
	server.start()
	told, err := call.Report(ctx, Result{Body: []byte("fine")})
	must(t, err)
	if told.Acknowledgement != "unknown" || call.Text() != "fine" {
		t.Error(told, call.Text())
	}
	if admit(t, session, Ask{Tool: "drop_table"}).Trip == nil {
		t.Error("the policy was forgotten and is told again")
	}
}

func TestAServiceThatHangsCostsOneDeadlineAndNoMore(t *testing.T) {
	server := serve(t, tools)
	client := dial(t, Options{Address: server.address, Deadline: time.Second})
	until(t, func() bool { return isGuarded(t, client) })
	call := admit(t, client.Session("run", nil), Ask{Tool: "orders"})
	server.signal(syscall.SIGSTOP)
	began := time.Now()
	told, err := call.Report(ctx, Result{Body: []byte("fine")})
	must(t, err)
	if took := time.Since(began); took < 900*time.Millisecond || took > 8*time.Second || told.Disposition != "away" {
		t.Error(took, told)
	}
	if len(client.pending) != 1 {
		t.Error("a report that did not arrive waits for the next admit")
	}
	server.signal(syscall.SIGCONT)
	until(t, func() bool { return isGuarded(t, client) })
	if len(client.pending) != 0 {
		t.Error("it was told")
	}
}

func TestAConnectionThatHangsIsReplaced(t *testing.T) {
	proxy := forward(t, serve(t, tools).address)
	client := dial(t, Options{Address: proxy.listener.Addr().String(), Deadline: 500 * time.Millisecond})
	until(t, func() bool { return isGuarded(t, client) })
	proxy.hang()
	if isGuarded(t, client) {
		t.Error("nothing comes back")
	}
	until(t, func() bool { return isGuarded(t, client) })
}

func TestACancelledCallIsToldAsOneAndEndsAtOnce(t *testing.T) {
	client := dial(t, Options{Address: serve(t, tools).address})
	running, cancel := context.WithCancel(ctx)
	call, err := client.Session("run", nil).Do(running, Ask{Tool: "orders"}, func(ctx context.Context) (Result, error) {
		cancel()
		return Result{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || !call.MayGo() {
		t.Error(err)
	}
	cancelled := pb.ErrorKind_ERROR_KIND_CANCELLED_BY_CALLER
	if len(client.pending) != 1 || client.pending[0].GetTransport().ErrorKind != cancelled {
		t.Error("it waits for the next admit", client.pending)
	}
	if client.isAway {
		t.Error("a caller that gives up says nothing about the service")
	}
}

func TestWhatWaitsIsBounded(t *testing.T) {
	server := serve(t, tools)
	client := dial(t, Options{Address: server.address, Deadline: 500 * time.Millisecond})
	var calls []*Call
	for n := 0; n < 80; n++ {
		calls = append(calls, admit(t, client.Session("", nil), Ask{Tool: "orders"}))
	}
	server.kill()
	for _, call := range calls {
		_, err := call.Report(ctx, Result{Body: make([]byte, 30_000)})
		must(t, err)
	}
	bytes := 0
	for _, outcome := range client.pending {
		bytes += proto.Size(outcome)
	}
	if len(client.pending) == 0 || len(client.pending) > pendingMax || bytes > pendingBytesMax || bytes != client.bytes {
		t.Error(len(client.pending), bytes, client.bytes)
	}
}
