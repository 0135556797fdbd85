package tripnote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"tripnote/pb"
)

// More silent attempts than the service ever asks for in a row.
const attemptsMax = 4

// Session is an agent run. With an empty id it is none, and calls meet breakers and no more.
type Session struct {
	client     *Client
	id, caller string
	policy     *pb.SessionPolicy
	toldIn     int
}

// Session starts with its first call, under policy where that is not nil.
func (c *Client) Session(id string, policy *pb.SessionPolicy) *Session {
	return &Session{client: c, id: fit(id, idMax), caller: fit(c.options.Caller, idMax), policy: policy, toldIn: -1}
}

func (s *Session) ref() *pb.SessionRef { return &pb.SessionRef{SessionId: s.id, Caller: s.caller} }

// Close ends the session. Outcomes that wait are told first.
func (s *Session) Close(ctx context.Context, outcome Outcome) error {
	err := s.client.Flush(ctx)
	if s.id == "" || err != nil {
		return err
	}
	_, err = s.client.ask(ctx, true, func(ctx context.Context, options ...grpc.CallOption) error {
		request := &pb.CloseSessionRequest{Session: s.ref(), Outcome: outcome}
		_, err := s.client.sessions().CloseSession(ctx, request, options...)
		return err
	})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == codes.NotFound.String() {
		return nil // It never called a tool, or the service was started anew.
	}
	return err
}

// Compacted tells that the model's context was compacted: a repeat of what it forgot is forgiven once.
func (s *Session) Compacted(ctx context.Context) error {
	_, err := s.client.ask(ctx, false, func(ctx context.Context, options ...grpc.CallOption) error {
		request := &pb.AdvanceContextEpochRequest{Session: s.ref()}
		_, err := s.client.sessions().AdvanceContextEpoch(ctx, request, options...)
		return err
	})
	return err
}

// Review holds an answer against the evidence: what to tell the model, or an empty text where it may be shown.
func (s *Session) Review(ctx context.Context, answer string) (string, error) {
	var reply *pb.ReviewAnswerResponse
	isThere, err := s.client.ask(ctx, false, func(ctx context.Context, options ...grpc.CallOption) (err error) {
		request := &pb.ReviewAnswerRequest{Session: s.ref(), Text: answer}
		reply, err = s.client.sessions().ReviewAnswer(ctx, request, options...)
		return err
	})
	if !isThere || reply.GetVerdict() != pb.ReviewVerdict_REVIEW_VERDICT_SEND_BACK {
		return "", err
	}
	return reply.GetMessage(), nil
}

// open tells the policy, again where the service may have forgotten it.
func (s *Session) open(ctx context.Context) error {
	s.client.lock.Lock()
	lives, isDue := s.client.lives, s.policy != nil && s.toldIn != s.client.lives
	s.client.lock.Unlock()
	if !isDue {
		return nil
	}
	request := &pb.OpenSessionRequest{Session: s.ref(), Policy: s.policy}
	isThere, err := s.client.ask(ctx, true, func(ctx context.Context, options ...grpc.CallOption) error {
		_, err := s.client.sessions().OpenSession(ctx, request, options...)
		return err
	})
	if isThere {
		s.client.lock.Lock()
		s.toldIn = lives
		s.client.lock.Unlock()
	}
	return err
}

// Admit asks about one call, which is then to be told with Report, Failed or Later. An error is a fault of the program
// or the end of ctx; a refusal is none.
func (s *Session) Admit(ctx context.Context, ask Ask) (*Call, error) {
	if ask.Attempt == 0 {
		ask.Attempt = 1
	}
	if ask.CallID == "" && s.id != "" {
		ask.CallID = newID()
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	call := &Call{session: s, ask: ask}
	reports := s.client.take()
	var answer *pb.AdmitResponse
	isThere, err := s.client.ask(ctx, ask.CallID != "", func(ctx context.Context, options ...grpc.CallOption) (err error) {
		answer, err = s.client.breakers().Admit(ctx, s.request(&ask, reports), options...)
		return err
	})
	call.started = time.Now()
	if !isThere {
		s.client.giveBack(reports)
		call.refusal = s.client.refusal(&ask)
		call.isRefused = call.refusal != ""
		return call, err
	}
	if trip := tripOf(answer.GetTrip()); trip != nil {
		call.Trip, call.refusal, call.isRefused = trip, trip.Text, true
		return call, nil
	}
	permit := answer.GetPermit()
	call.permit, call.isProbe, call.notices = permit.GetToken(), permit.GetProbe(), permit.GetNotices()
	call.ShadowTrip = tripOf(answer.GetShadowTrip())
	return call, nil
}

// Do asks, runs, tells; it waits and runs again where the service says that this is safe. What the model sees is Text
// of the call. An error is a fault of the program, or the end of ctx; an error of run is read as what it is, and kept
// in Err of the call.
func (s *Session) Do(ctx context.Context, ask Ask, run func(context.Context) (Result, error)) (*Call, error) {
	if ask.CallID == "" {
		ask.CallID = newID()
	}
	if ask.Attempt == 0 {
		ask.Attempt = 1
	}
	for last := ask.Attempt + attemptsMax - 1; ; ask.Attempt++ {
		call, err := s.Admit(ctx, ask)
		if err != nil || !call.MayGo() {
			return call, err
		}
		result, failure := run(ctx)
		if ctx.Err() != nil { // Given up: no moment for a request of our own.
			call.Later(context.Background(), Result{Error: pb.ErrorKind_ERROR_KIND_CANCELLED_BY_CALLER})
			return call, ctx.Err()
		}
		var told Told
		switch {
		case failure != nil:
			told, err = call.Failed(ctx, failure)
		case result.Body == nil && result.saysNothing() && result.Judged == pb.Classification_KIND_UNSPECIFIED:
			// It went well and says nothing: not an empty answer to a question.
			told, err = call.Report(ctx, Result{Judged: JudgedOK})
		default:
			told, err = call.Report(ctx, result)
		}
		if err != nil || told.RetryAfter == nil || *told.RetryAfter > s.client.options.RetryWithin || ask.Attempt >= last {
			return call, err
		}
		select {
		case <-ctx.Done():
			return call, ctx.Err()
		case <-time.After(*told.RetryAfter):
		}
	}
}

func newID() string {
	var raw [16]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return ""
	}
	return hex.EncodeToString(raw[:])
}
