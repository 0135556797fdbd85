package tripnote

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"

	"tripnote/pb"
)

// Call is one call that was asked about.
type Call struct {
	// Trip is the refusal, where the service refused.
	Trip *Trip
	// ShadowTrip is what a circuit in shadow would have said: for logs, not for the model.
	ShadowTrip *Trip
	// Told is what is to be done with the result; nil before it is told.
	Told *Told
	// Err is what the tool failed with.
	Err error

	session   *Session
	ask       Ask
	permit    []byte
	isProbe   bool
	isRefused bool
	refusal   string
	notices   []string
	shown     string
	started   time.Time
}

// MayGo says whether the call may be made.
func (c *Call) MayGo() bool { return !c.isRefused }

// IsGuarded says whether the service decided, and awaits a report.
func (c *Call) IsGuarded() bool { return c.permit != nil }

// Attempt is which try it was.
func (c *Call) Attempt() uint32 { return c.ask.Attempt }

// Text is what the model sees of this call.
func (c *Call) Text() string {
	if c.isRefused {
		return c.refusal
	}
	text := c.shown
	if c.Told != nil {
		text = c.Told.Content(c.shown)
	}
	return strings.Join(append([]string{text}, c.notices...), "\n")
}

// Report tells at once what came back and says what to do with it. A result that says nothing counts for nothing.
func (c *Call) Report(ctx context.Context, result Result) (Told, error) {
	c.shown = string(result.Body)
	return c.report(ctx, &result)
}

// Failed tells that the call failed with err. What the model sees, where the service has nothing better, is its line.
func (c *Call) Failed(ctx context.Context, err error) (Told, error) {
	c.Err, c.shown = err, c.ask.name()+": "+err.Error()
	result := ResultOf(err)
	return c.report(ctx, &result)
}

// Later lets the outcome ride on the next admit: one request per call, and the model gets the result as it is. A probe,
// of which everybody waits to hear, and what is too large to be held go at once.
func (c *Call) Later(ctx context.Context, result Result) {
	c.shown = string(result.Body)
	if c.IsGuarded() && !c.isProbe && c.session.client.hold(c.outcome(&result)) {
		c.Told = &Told{Disposition: "deliver"}
		return
	}
	_, _ = c.report(ctx, &result)
}

func (c *Call) report(ctx context.Context, result *Result) (Told, error) {
	c.Told = &Told{Disposition: "away"}
	if !c.IsGuarded() {
		return *c.Told, nil
	}
	client, outcome := c.session.client, c.outcome(result)
	var answer *pb.ReportResponse
	isThere, err := client.ask(ctx, true, func(ctx context.Context, options ...grpc.CallOption) (err error) {
		answer, err = client.breakers().Report(ctx, &pb.ReportRequest{Outcomes: []*pb.Outcome{outcome}}, options...)
		return err
	})
	if !isThere {
		client.hold(outcome)
		return *c.Told, err
	}
	for _, said := range answer.GetResults() {
		if fault := said.GetError(); fault != nil {
			return *c.Told, &Error{Code: "InvalidArgument", Message: fault.GetField() + ": " + fault.GetMessage()}
		}
		told := toldOf(&c.ask, said.GetAck(), outcome.GetPayload().GetTruncatedByCaller() && !result.Truncated)
		c.Told = &told
	}
	if c.Told.Acknowledgement == "unknown" { // It does not know what it once answered: it was started anew.
		client.lock.Lock()
		client.lives++
		client.lock.Unlock()
	}
	return *c.Told, nil
}
