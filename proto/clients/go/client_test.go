package tripnote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"tripnote/pb"
)

var ctx = context.Background()

const orders = `
[[breaker]]
code = "orders"
targets = ["GET /orders"]
error_rate = { rules = [{ consecutive = 2 }], jitter = "0%" }

[[tool]]
match = "get_*"
effect = "read"
`

func admit(t *testing.T, session *Session, ask Ask) *Call {
	t.Helper()
	call, err := session.Admit(ctx, ask)
	must(t, err)
	return call
}

func answers(results ...Result) func(context.Context) (Result, error) {
	return func(context.Context) (Result, error) {
		next := results[0]
		if len(results) > 1 {
			results = results[1:]
		}
		return next, nil
	}
}

func TestTheModelSeesExactlyTheTextsOfTheScript(t *testing.T) {
	for _, failsBy := range []string{"answer", "tool error", "error"} {
		t.Run(failsBy, func(t *testing.T) {
			server := serve(t, ways(t), "--test-clock", clock)
			session := dial(t, Options{Address: server.address}).Session("ways", nil)
			lines := scenario(t)
			for _, line := range lines {
				ask := Ask{Tool: line.Tool, Arguments: line.Arguments, CallID: line.CallID}
				call, err := session.Do(ctx, ask, func(context.Context) (Result, error) {
					if line.Failed && failsBy == "error" {
						return Result{}, errors.New(line.Payload)
					}
					return Result{Body: []byte(line.Payload), IsToolError: line.Failed && failsBy == "tool error"}, nil
				})
				must(t, err)
				if call.Text() != line.sees() || call.MayGo() != (line.Admit == "go") {
					t.Errorf("%s: the model sees %s, and would see %s", line.CallID, call.Text(), line.sees())
				}
			}
			if len(lines) != 9 {
				t.Errorf("the script has %d lines", len(lines))
			}
		})
	}
}

func TestATripIsAValueWhoseTextIsTheContract(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address})
	for range [2]int{} {
		call := admit(t, client.Session("", nil), Ask{Target: "GET /orders"})
		_, err := call.Report(ctx, Result{HTTPStatus: 503})
		must(t, err)
	}
	call := admit(t, client.Session("", nil), Ask{Target: "GET /orders"})
	trip := call.Trip
	if call.MayGo() || trip == nil {
		t.Fatal("it is shut")
	}
	nine := fmt.Sprint(trip.Action, trip.Breaker, trip.Target, trip.Signal, trip.Fallback, trip.Urgency, trip.Variant)
	if nine != "await_recoveryordersGET /orderserror_ratenonecrashcontract" {
		t.Error(nine)
	}
	if trip.RetryAfter < time.Second || trip.String() != call.Text() {
		t.Error(trip.RetryAfter, call.Text())
	}
	if !strings.HasPrefix(call.Text(), `{"action":"await_recovery","breaker":"orders"`) {
		t.Error(call.Text())
	}
}

func TestWhatSaysNothingOfTheTargetCountsForNothing(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("", nil)
	for _, result := range []Result{{}, {Judged: JudgedIgnored}, ResultOf(context.Canceled), {}, {}} {
		call := admit(t, session, Ask{Target: "GET /orders"})
		if _, err := call.Report(ctx, result); err != nil || !call.MayGo() {
			t.Error(err, call.Text())
		}
	}
}

func TestErrorsAreReadAsWhatTheyAre(t *testing.T) {
	_, refused := http.Get("http://" + freeAddress(t))
	short, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	_, err := http.NewRequestWithContext(short, "GET", "http://127.0.0.1:1", nil)
	must(t, err)
	for _, each := range []struct {
		err  error
		want ErrorKind
	}{
		{refused, pb.ErrorKind_ERROR_KIND_CONNECT_REFUSED},
		{fmt.Errorf("asking: %w", short.Err()), pb.ErrorKind_ERROR_KIND_TIMEOUT},
		{fmt.Errorf("asking: %w", context.Canceled), pb.ErrorKind_ERROR_KIND_CANCELLED_BY_CALLER},
		{syscall.ECONNRESET, pb.ErrorKind_ERROR_KIND_RESET},
		{errors.New("no such card"), pb.ErrorKind_ERROR_KIND_UNSPECIFIED},
	} {
		if got := ResultOf(each.err); got.Error != each.want {
			t.Errorf("%v is read as %v", each.err, got.Error)
		}
	}
}

func TestOutcomesRideOnTheNextAdmit(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address})
	session := client.Session("", nil)
	for range [2]int{} {
		call := admit(t, session, Ask{Target: "GET /orders"})
		call.Later(ctx, Result{HTTPStatus: 503})
		if !call.MayGo() || len(client.pending) != 1 {
			t.Error("it waits for the next admit", len(client.pending))
		}
	}
	if admit(t, session, Ask{Target: "GET /orders"}).MayGo() {
		t.Error("both outcomes arrived with this very request")
	}
}

func TestAPassingFaultOfAReadIsTriedAgainAndTheModelHearsNothing(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address})
	busy := Result{Body: []byte("busy"), HTTPStatus: 503, Headers: http.Header{"Retry-After": {"0"}}}
	run := answers(busy, Result{Body: []byte("12 boots")})
	call, err := client.Session("run", nil).Do(ctx, Ask{Tool: "get_stock"}, run)
	must(t, err)
	if call.Text() != "12 boots" || call.Attempt() != 2 {
		t.Error(call.Text(), call.Attempt())
	}
}

func TestWhoWillNotWaitGivesTheModelTheLineOfTheFailure(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address, RetryWithin: -1})
	busy := Result{Body: []byte("busy"), HTTPStatus: 503}
	call, err := client.Session("run", nil).Do(ctx, Ask{Tool: "get_stock"}, answers(busy))
	must(t, err)
	if call.Text() != "get_stock: unavailable, signal error_rate, class transport; nothing was measured" {
		t.Error(call.Text())
	}
}

func TestASteerStandsUnderAUsableResult(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	var texts []string
	for range [3]int{} {
		ask := Ask{Tool: "count", Arguments: map[string]int{"shelf": 7}}
		call, err := session.Do(ctx, ask, answers(Result{Body: []byte("12 boots")}))
		must(t, err)
		texts = append(texts, call.Text())
	}
	if texts[1] != "12 boots" || !strings.HasPrefix(texts[2], "12 boots\n{\"action\":\"change_route\"") {
		t.Error(texts)
	}
}

func TestASessionHasItsPolicyAndEnds(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address})
	session := client.Session("run", &pb.SessionPolicy{Allow: []string{"get_*"}})
	if call := admit(t, session, Ask{Tool: "drop_table"}); call.Trip == nil || call.Trip.Signal != "scope_creep" {
		t.Error(call.Text())
	}
	must(t, session.Close(ctx, Answered))
	if !admit(t, client.Session("run", nil), Ask{Tool: "drop_table"}).MayGo() {
		t.Error("the first run ended, and its policy with it")
	}
	must(t, client.Session("never heard of", nil).Close(ctx, Abandoned))
}

func TestAMalformedRequestIsAnErrorOfTheProgram(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	_, err := session.Admit(ctx, Ask{})
	var fault *Error
	if !errors.As(err, &fault) || fault.Code != "InvalidArgument" || !strings.Contains(fault.Message, "tool_name") {
		t.Error(err)
	}
}

func TestAToolThatReturnsNothingWentWellAndIsNoEmptyAnswer(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	for n := 0; n < 8; n++ {
		call, err := session.Do(ctx, Ask{Tool: "save_note", Arguments: n}, answers(Result{}))
		must(t, err)
		if call.Told.Disposition != "deliver" || call.Text() != "" {
			t.Error(call.Told)
		}
	}
}

func TestWhatOnlyTheClientCutIsWholeForTheModel(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	whole := strings.Repeat("a row of text\n", 30_000)
	ours, err := session.Do(ctx, Ask{Tool: "list_rows"}, answers(Result{Body: []byte(whole)}))
	must(t, err)
	theirs, err := session.Do(ctx, Ask{Tool: "list_rows"}, answers(Result{Body: []byte("[1,2"), Truncated: true}))
	must(t, err)
	if ours.Text() != whole || theirs.Text() != "[1,2\npartial: cite what is in it, never a total or a rate" {
		t.Error(len(ours.Text()), theirs.Text())
	}
}

func TestNamesAndPayloadsAreKeptWithinTheBounds(t *testing.T) {
	client := dial(t, Options{Address: serve(t, orders).address})
	long := func(n int) string { return strings.Repeat("ä", n/2) }
	headers := http.Header{"X-Long": {long(9000)}, "Bad-Bytes": {"\xff"}}
	for n := 0; n < 100; n++ {
		headers.Set(fmt.Sprint("x-", n), "v")
	}
	ask := Ask{Tool: long(600), CallID: long(300), WaveID: long(300), Arguments: map[string]string{"q": long(2 << 20)}}
	call := admit(t, client.Session(long(300), nil), ask)
	told, err := call.Report(ctx, Result{Body: []byte(long(1 << 20)), Headers: headers})
	must(t, err)
	if told.Acknowledgement != "counted" || told.Observation != "truncated" {
		t.Error(told)
	}
}

func TestACompactedContextIsForgivenOneRepeat(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	for range [2]int{} {
		ask := Ask{Tool: "search", Arguments: map[string]string{"q": "boots"}}
		call, err := session.Do(ctx, ask, answers(Result{Body: []byte("[]")}))
		must(t, err)
		if call.Text() != "[]" {
			t.Error(call.Text())
		}
		must(t, session.Compacted(ctx))
	}
}

func TestAnAnswerWithoutEvidenceIsSentBackOnce(t *testing.T) {
	session := dial(t, Options{Address: serve(t, orders).address}).Session("run", nil)
	_, err := session.Do(ctx, Ask{Tool: "search"}, answers(Result{Body: []byte("[]")}))
	must(t, err)
	first, err := session.Review(ctx, "The root cause is the connection pool.")
	must(t, err)
	second, err := session.Review(ctx, "The root cause is the connection pool.")
	must(t, err)
	if !strings.HasPrefix(first, "ANSWER REVIEW: sent back (no_usable_evidence).") || second != "" {
		t.Error(first, second)
	}
}
