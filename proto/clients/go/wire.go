package tripnote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sort"
	"strings"
	"time"

	"tripnote/pb"
)

// Bounds that the protos name, in bytes.
const (
	nameMax        = 512
	idMax          = 256
	headersMax     = 64
	headerNameMax  = 128
	headerValueMax = 1024
	// Longer arguments go as their digest: the service takes 4 MiB as one message, with everything else in it.
	argumentsMax = 1 << 20
)

// word is the word of an enum's value: its name without the prefix, in lower case. Empty where it is unspecified or of
// a newer service.
func word(names map[int32]string, prefix string, value int32) string {
	if value == 0 {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(names[value], prefix))
}

// fit keeps a name within its bound: a longer one keeps its beginning and ends in its hash, so that it stays itself.
func fit(text string, max int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= max {
		return text
	}
	digest := sha256.Sum256([]byte(text))
	tail := "#" + hex.EncodeToString(digest[:16])
	return strings.ToValidUTF8(text[:max-len(tail)], "") + tail
}

// argumentBytes are arguments as JSON. Nil where there are none, or none that can be told: the call is guarded all the
// same.
func argumentBytes(arguments any) []byte {
	switch known := arguments.(type) {
	case nil:
		return nil
	case []byte:
		return known
	case json.RawMessage:
		return known
	case string:
		return []byte(known)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(arguments) != nil {
		return nil
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

func (s *Session) request(ask *Ask, reports []*pb.Outcome) *pb.AdmitRequest {
	request := &pb.AdmitRequest{
		Target: fit(ask.Target, nameMax), ToolName: fit(ask.Tool, nameMax),
		SessionId: s.id, CallId: fit(ask.CallID, idMax), Attempt: ask.Attempt, Turn: ask.Turn,
		WaveId: fit(ask.WaveID, idMax), TaskId: fit(ask.TaskID, idMax), Purpose: fit(ask.Purpose, idMax),
		Lane: fit(ask.Lane, idMax), Credential: fit(ask.Credential, idMax), Caller: s.caller,
		IdempotencyKey: fit(ask.IdempotencyKey, idMax), Effect: ask.Effect, UserApproved: ask.UserApproved,
		Reports: reports,
	}
	raw := argumentBytes(ask.Arguments)
	if len(raw) > argumentsMax {
		digest := sha256.Sum256(raw)
		size := uint32(len(raw))
		request.ArgumentsDigest, request.ArgumentsBytes = digest[:], &size
	} else {
		request.Arguments = raw
	}
	return request
}

func (c *Call) outcome(result *Result) *pb.Outcome {
	latency := uint64(time.Since(c.started) / time.Millisecond)
	outcome := &pb.Outcome{
		Call:     &pb.Outcome_Permit{Permit: c.permit},
		ToolName: fit(c.ask.Tool, nameMax), Attempt: c.ask.Attempt, Effect: c.ask.Effect,
		Idempotent: c.ask.IdempotencyKey != "", LatencyMs: &latency,
	}
	if result.Judged != pb.Classification_KIND_UNSPECIFIED {
		judged := &pb.Classification{Result: result.Judged, Kind: result.Circuit}
		if result.RetryAfter > 0 {
			wait := uint64(result.RetryAfter / time.Millisecond)
			judged.RetryAfterMs = &wait
		}
		outcome.Result = &pb.Outcome_Classification{Classification: judged}
		return outcome
	}
	limit := c.session.client.options.PayloadLimit
	if raw := argumentBytes(c.ask.Arguments); len(raw) <= limit {
		outcome.Arguments = raw
	}
	outcome.Result = facts(result)
	outcome.Payload = payload(result, limit)
	if outcome.Payload == nil && result.saysNothing() {
		// Nothing was seen and nobody judged: nothing counts.
		ignored := &pb.Classification{Result: JudgedIgnored}
		outcome.Result = &pb.Outcome_Classification{Classification: ignored}
		outcome.Arguments = nil
	}
	return outcome
}

func (r *Result) saysNothing() bool {
	return r.HTTPStatus == 0 && r.GRPCCode == nil && r.ExitCode == nil && r.Error == pb.ErrorKind_ERROR_KIND_UNSPECIFIED
}

// facts are what was seen on the wire; a nil interface where nothing was.
func facts(result *Result) *pb.Outcome_Transport {
	seen := &pb.TransportFacts{
		Headers: headers(result), GrpcCode: result.GRPCCode, ExitCode: result.ExitCode, ErrorKind: result.Error,
	}
	if result.HTTPStatus != 0 {
		status := uint32(result.HTTPStatus)
		seen.HttpStatus = &status
	}
	if result.IsToolError && result.Body != nil {
		seen.Carrier = pb.Carrier_CARRIER_MCP
	}
	return &pb.Outcome_Transport{Transport: seen}
}

func headers(result *Result) []*pb.Header {
	var told []*pb.Header
	for name, values := range result.Headers {
		value := strings.Join(values, ", ")
		switch strings.ToLower(name) {
		case "authorization", "cookie", "proxy-authorization", "set-cookie":
			continue
		}
		if name != "" && len(name) <= headerNameMax && len(value) <= headerValueMax {
			told = append(told, &pb.Header{Name: strings.ToValidUTF8(name, "?"), Value: strings.ToValidUTF8(value, "?")})
		}
	}
	// Of too many, those that the service reads first; in one order always.
	sort.Slice(told, func(i, j int) bool {
		if first, second := isHint(told[i].Name), isHint(told[j].Name); first != second {
			return first
		}
		return told[i].Name < told[j].Name
	})
	if len(told) > headersMax {
		told = told[:headersMax]
	}
	return told
}

func isHint(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"retry", "ratelimit", "x-ratelimit", "date"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func payload(result *Result, limit int) *pb.Payload {
	if result.Body == nil {
		return nil
	}
	body, contentType, isCut := result.Body, result.ContentType, result.Truncated
	if result.IsToolError {
		// The one shape in which a tool says that its answer is a failure, whatever the words.
		text := body
		if len(text) > limit/2 {
			text, isCut = text[:limit/2], true
		}
		block := map[string]string{"type": "text", "text": strings.ToValidUTF8(string(text), "?")}
		body, _ = json.Marshal(map[string]any{"content": []any{block}, "isError": true})
		contentType = "application/json"
	}
	if len(body) > limit {
		body, isCut = body[:limit], true
	}
	return &pb.Payload{Body: body, ContentType: fit(contentType, idMax), TruncatedByCaller: isCut}
}

func tripOf(message *pb.Trip) *Trip {
	if message == nil {
		return nil
	}
	return &Trip{
		Action:  word(pb.Action_name, "ACTION_", int32(message.Action)),
		Breaker: message.Breaker, Target: message.Target,
		Signal:   word(pb.Signal_name, "SIGNAL_", int32(message.Signal)),
		Observed: message.Observed, Threshold: message.Threshold, State: message.State, DoNot: message.DoNot,
		Fallback: message.Fallback, Text: message.Text, Variant: message.VariantName,
		Urgency:    word(pb.Urgency_name, "URGENCY_", int32(message.Urgency)),
		RetryAfter: time.Duration(message.GetRetryAfterMs()) * time.Millisecond, FallbackTarget: message.FallbackTarget,
		Withdraw: message.Withdraw,
	}
}

// toldOf is what an acknowledgement asks the caller to do. isOurCut: the model has more than was sent.
func toldOf(ask *Ask, ack *pb.ReportAck, isOurCut bool) Told {
	handling, typing := ack.GetHandling(), ack.GetTyping()
	told := Told{
		Disposition: word(pb.Disposition_name, "DISPOSITION_", int32(handling.GetDisposition())),
		Text:        handling.GetText(), Trip: tripOf(ack.GetTrip()),
		Observation:     word(pb.Observation_name, "OBSERVATION_", int32(typing.GetObservation())),
		Signal:          word(pb.Signal_name, "SIGNAL_", int32(typing.GetSignal())),
		Usable:          typing.GetUsable(),
		Acknowledgement: word(pb.Acknowledgement_name, "ACKNOWLEDGEMENT_", int32(ack.GetAcknowledgement())),
	}
	switch told.Disposition {
	case "trip", "steer":
		if told.Trip != nil {
			told.Text = told.Trip.Text
		}
		// A usable result stands above a steer; of one that is not, the contract says all there is to say.
		told.Replaces = told.Disposition == "trip" || !told.Usable
	case "deliver":
		if isOurCut { // The caution is about our cut, which the model does not see.
			told.Text = ""
		}
	case "return_error", "deliver_failure":
		told.Replaces = told.Text != ""
	case "retry_silently", "move", "narrow":
		if told.Disposition == "retry_silently" {
			wait := time.Duration(handling.GetAfterMs()) * time.Millisecond
			told.RetryAfter = &wait
		}
		if told.Text == "" {
			told.Text = failureLine(ask.name(), typing)
		}
		told.Replaces = true
	case "":
		told.Disposition = "deliver"
	}
	return told
}

// failureLine is a failure in the words of the service's own line, where the caller was to try again and cannot.
func failureLine(tool string, typing *pb.Typing) string {
	or := func(said, otherwise string) string {
		if said == "" {
			return otherwise
		}
		return said
	}
	observation := or(word(pb.Observation_name, "OBSERVATION_", int32(typing.GetObservation())), "failed")
	signal := or(word(pb.Signal_name, "SIGNAL_", int32(typing.GetSignal())), "none")
	class := or(word(pb.FailureClass_name, "FAILURE_CLASS_", int32(typing.GetFailureClass())), "none")
	return or(fit(tool, idMax/2), "the tool") + ": " + observation + ", signal " + signal + ", class " + class +
		"; nothing was measured"
}
