// Package tripnote asks a breaker service before a tool call, tells it how the call went, and gives the model the words
// in between.
//
//	client, err := tripnote.Dial(tripnote.Options{})
//	session := client.Session("run-1", nil)
//	defer session.Close(ctx, tripnote.Answered)
//	ask := tripnote.Ask{Tool: "charge_card", Arguments: arguments, Effect: tripnote.Mutate}
//	call, err := session.Do(ctx, ask, charge)
//	messages = append(messages, call.Text()) // The result, or the contract in its place.
package tripnote

import (
	"net/http"
	"time"

	"tripnote/pb"
)

// WhenDown says what becomes of a call that the service does not answer for in time.
type WhenDown int

const (
	// ByEffect refuses calls that change something and lets others go on.
	ByEffect WhenDown = iota
	// GoOn lets every call go on unguarded.
	GoOn
	// Refuse refuses every call.
	Refuse
)

// Effect is what a call does to the world.
type Effect = pb.Effect

// What a call does; EffectUnsaid leaves it to the service's configuration.
const (
	EffectUnsaid  = pb.Effect_EFFECT_UNSPECIFIED
	Read          = pb.Effect_EFFECT_READ
	Mutate        = pb.Effect_EFFECT_MUTATE
	EffectUnknown = pb.Effect_EFFECT_UNKNOWN
)

// Outcome is how a session ended.
type Outcome = pb.SessionOutcome

// How a session ended; OutcomeUnsaid counts as abandoned.
const (
	OutcomeUnsaid = pb.SessionOutcome_SESSION_OUTCOME_UNSPECIFIED
	Answered      = pb.SessionOutcome_SESSION_OUTCOME_ANSWERED
	Escalated     = pb.SessionOutcome_SESSION_OUTCOME_ESCALATED
	Halted        = pb.SessionOutcome_SESSION_OUTCOME_HALTED
	Abandoned     = pb.SessionOutcome_SESSION_OUTCOME_ABANDONED
)

// Error is an answer of the service that is no decision: a malformed request, a missing right. It is a fault of the
// program, never of the tool, and nothing to retry.
type Error struct {
	// Code is the gRPC code's word, such as `InvalidArgument`.
	Code string
	// Message is one line that says what would be right.
	Message string
}

func (e *Error) Error() string { return "tripnote: " + e.Code + ": " + e.Message }

// Trip is a refusal that explains itself. The first nine fields are the contract in its order; the model is given Text.
type Trip struct {
	Action, Breaker, Target, Signal, Observed, Threshold, State, DoNot, Fallback string
	// Text is for the model, unchanged, in place of a result. Empty where the operator measures silence.
	Text string
	// Variant is the name of the wording of Text.
	Variant string
	// Urgency is for people, not for the model.
	Urgency string
	// RetryAfter is the wait after which the same reason refuses no more. Zero: no deadline.
	RetryAfter time.Duration
	// FallbackTarget is the fallback as a program calls it.
	FallbackTarget string
	// Withdraw names tools of this session that cannot be called now: take them out of the model's list for RetryAfter.
	Withdraw []string
}

// String is the text for the model.
func (t *Trip) String() string { return t.Text }

// Ask is a call that is about to be made. A tool or a target is required.
type Ask struct {
	// Tool is the tool as the model knows it, Target what is called, where that is not the tool.
	Tool, Target string
	// Arguments are JSON where they are []byte, json.RawMessage or string, else they are marshalled. Never kept.
	Arguments any
	// CallID is the call within the session; empty: a new one, so that asking again is safe.
	CallID string
	// Attempt is which try it is, from 1; 0 means 1.
	Attempt uint32
	// Turn is the model step, where it is known.
	Turn *uint32
	// WaveID names the model's answer that this call is of; identical calls in it are one.
	WaveID string
	// TaskID is the user's request, Purpose what the call is to find out, Lane the sub-agent.
	TaskID, Purpose, Lane string
	// Effect is what the call does.
	Effect Effect
	// Credential is a name for the credential in use, IdempotencyKey what the target knows a repeat by.
	Credential, IdempotencyKey string
	// UserApproved says that the user has approved this very call.
	UserApproved bool
}

func (a *Ask) name() string {
	if a.Tool != "" {
		return a.Tool
	}
	return a.Target
}

// Judgement is a caller's own word on a result, in place of facts.
type Judgement = pb.Classification_Kind

// A caller's own word; none leaves the service to judge by the facts.
const (
	JudgedOK      = pb.Classification_KIND_OK
	JudgedIgnored = pb.Classification_KIND_IGNORED
	JudgedFailed  = pb.Classification_KIND_FAILED
)

// ErrorKind is what went wrong with a call apart from its status.
type ErrorKind = pb.ErrorKind

// Result is what was seen of a call. Everything is optional; what is known helps.
type Result struct {
	// Body is what the tool answered. Longer than the client's limit, it is cut and said to be cut. Nil: not sent along.
	Body []byte
	// ContentType is its media type; Truncated says that the caller cut it.
	ContentType string
	Truncated   bool
	// HTTPStatus is the status of the response; 0: none.
	HTTPStatus int
	// Headers are the response's. Cookies and credentials are never sent on.
	Headers http.Header
	// GRPCCode and ExitCode are how other carriers end.
	GRPCCode, ExitCode *int32
	// Error is what went wrong beside a status.
	Error ErrorKind
	// IsToolError says that the tool calls this a failure, and Body is what it says.
	IsToolError bool
	// Judged is your own judgement in place of all of the above, with Circuit where it failed.
	Judged  Judgement
	Circuit pb.CircuitKind
	// RetryAfter is, beside JudgedFailed, the wait that the target asked for.
	RetryAfter time.Duration
}

// Told is what is to be done with a reported result.
type Told struct {
	// Disposition is the service's word, such as `deliver` or `trip`; `away` where it did not answer.
	Disposition string
	// Text is what the service says to the model. Empty: nothing.
	Text string
	// Replaces says that Text stands in place of the result; otherwise under it.
	Replaces bool
	// Trip is the contract of a trip or a steer.
	Trip *Trip
	// RetryAfter is set for a passing fault of a call that is safe to repeat: wait so long and call again as the next
	// attempt, and the model hears nothing. Who cannot gives the model Text. Nil: no retry.
	RetryAfter *time.Duration
	// Observation and Signal are the service's reading of the result, Usable whether it may be cited.
	Observation, Signal string
	Usable              bool
	// Acknowledgement is how the report was taken.
	Acknowledgement string
}

// Content is what the model is given, where result is the result as text.
func (t *Told) Content(result string) string {
	switch {
	case t.Replaces:
		return t.Text
	case t.Text != "":
		return result + "\n" + t.Text
	default:
		return result
	}
}
