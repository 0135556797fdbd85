package tripnote

import (
	"context"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"tripnote/pb"
)

// Bounds of what waits for the next admit.
const (
	pendingMax      = 64
	pendingBytesMax = 1 << 20
	pendingItemMax  = 64 << 10
)

// When a connection on which nothing comes back is given up.
const (
	stallsMax    = 3
	replaceEvery = 5 * time.Second
	// A service that comes and goes is spoken of so often.
	saidEvery = time.Minute
)

// Options of a client. The zero value is right for a service on this machine.
type Options struct {
	// Address is `host:port` or `unix:/path`; empty: TRIPNOTE_CONNECT, else 127.0.0.1:7171.
	Address string
	// Caller is who asks: an agent, a worker, a tenant.
	Caller string
	// WhenDown says what becomes of calls while the service is away.
	WhenDown WhenDown
	// Deadline is the time for one answer, all tries together; 0: 250 ms.
	Deadline time.Duration
	// RetryWithin is the longest silent wait; 0: 5 s, below 0: none.
	RetryWithin time.Duration
	// PayloadLimit is how much of a body is sent; 0: 256 KiB.
	PayloadLimit int
	// Token is a bearer token.
	Token string
	// Dial replaces the insecure connection: credentials, interceptors.
	Dial []grpc.DialOption
	// Log is told once that the service is away, and once that it is back. Nil: the standard logger.
	Log func(line string)
}

// Client is a connection to one service, safe to share between goroutines.
type Client struct {
	options Options
	dial    []grpc.DialOption

	lock    sync.Mutex
	conn    *grpc.ClientConn
	isAway  bool
	isSaid  bool
	saidAt  time.Time
	lives   int // Rises when the service may have been started anew, so that policies are told again.
	pending []*pb.Outcome
	bytes   int
	// Deadlines in a row, and when a connection was last replaced for them.
	deadlines int
	replaced  time.Time
}

// Dial makes a client. It does not wait for the service.
func Dial(options Options) (*Client, error) {
	for _, address := range []string{os.Getenv("TRIPNOTE_CONNECT"), "127.0.0.1:7171"} {
		if options.Address == "" {
			options.Address = address
		}
	}
	options.Address = strings.TrimSuffix(strings.TrimPrefix(options.Address, "http://"), "/")
	if options.Deadline <= 0 {
		options.Deadline = 250 * time.Millisecond
	}
	if options.RetryWithin == 0 {
		options.RetryWithin = 5 * time.Second
	}
	if options.PayloadLimit <= 0 {
		options.PayloadLimit = 256 << 10
	}
	if options.Log == nil {
		options.Log = func(line string) { log.Print(line) }
	}
	dial := options.Dial
	if dial == nil {
		dial = []grpc.DialOption{grpc.WithInsecure()}
	}
	dial = append([]grpc.DialOption{
		// A service that comes back is found within a second; gRPC's own habit is to look away for up to two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second,
			},
			MinConnectTimeout: time.Second,
		}),
	}, dial...)
	if strings.HasPrefix(options.Address, "unix:") {
		// A socket's path is no host that HTTP/2 servers accept as the authority.
		dial = append(dial, grpc.WithAuthority("localhost"))
	}
	conn, err := grpc.Dial(options.Address, dial...)
	if err != nil {
		return nil, err
	}
	return &Client{options: options, dial: dial, conn: conn}, nil
}

// Close reports what is still untold and closes the connection.
func (c *Client) Close() error {
	_ = c.Flush(context.Background())
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.conn.Close()
}

// Flush sends outcomes that wait for the next admit.
func (c *Client) Flush(ctx context.Context) error {
	outcomes := c.take()
	if len(outcomes) == 0 {
		return nil
	}
	isThere, err := c.ask(ctx, true, func(ctx context.Context, options ...grpc.CallOption) error {
		_, err := c.breakers().Report(ctx, &pb.ReportRequest{Outcomes: outcomes}, options...)
		return err
	})
	if !isThere {
		c.giveBack(outcomes)
	}
	return err
}

// ask makes one request within the deadline. False: the service is away. A broken connection is tried once more, where
// the same request may be sent again; with news of an outage it waits for a service that is just being started anew.
func (c *Client) ask(
	ctx context.Context, isRepeatable bool, send func(context.Context, ...grpc.CallOption) error,
) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, c.options.Deadline)
	defer cancel()
	if c.options.Token != "" {
		limited = metadata.AppendToOutgoingContext(limited, "authorization", "Bearer "+c.options.Token)
	}
	err := send(limited)
	if status.Code(err) == codes.Unavailable && isRepeatable && !c.knownAway() {
		// Of a service that is waited for in vain, the first word is the telling one.
		if again := send(limited, grpc.WaitForReady(true)); status.Code(again) != codes.DeadlineExceeded {
			err = again
		}
	}
	switch code := status.Code(err); code {
	case codes.OK:
		c.here()
		return true, nil
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Canceled, codes.Aborted,
		codes.Internal, codes.Unknown, codes.DataLoss:
		if ctx.Err() != nil { // The caller gave up, which says nothing about the service.
			return false, ctx.Err()
		}
		c.heed(code)
		c.away(code)
		return false, nil
	default:
		return false, &Error{Code: code.String(), Message: status.Convert(err).Message()}
	}
}

func (c *Client) breakers() pb.BreakerServiceClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	return pb.NewBreakerServiceClient(c.conn)
}

func (c *Client) sessions() pb.SessionServiceClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	return pb.NewSessionServiceClient(c.conn)
}

// heed gives up a connection on which nothing comes back, as after a peer that vanished without a word: after three
// deadlines in a row, and at most every five seconds, in case it is the service that hangs. Keepalive would not do: it
// watches calls that last, and ours do not.
func (c *Client) heed(code codes.Code) {
	if code != codes.DeadlineExceeded {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.deadlines++
	if c.deadlines < stallsMax || time.Since(c.replaced) < replaceEvery {
		return
	}
	c.deadlines, c.replaced = 0, time.Now()
	if conn, err := grpc.Dial(c.options.Address, c.dial...); err == nil {
		_ = c.conn.Close()
		c.conn = conn
	}
}

func (c *Client) knownAway() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.isAway
}

func (c *Client) away(code codes.Code) {
	c.lock.Lock()
	isNews := !c.isSaid && (c.saidAt.IsZero() || time.Since(c.saidAt) >= saidEvery)
	c.isAway = true
	if isNews {
		c.isSaid, c.saidAt = true, time.Now()
	}
	c.lock.Unlock()
	if isNews {
		then := map[WhenDown]string{
			GoOn: "calls go on unguarded", Refuse: "calls are refused",
			ByEffect: "calls that change something are refused, others go on unguarded",
		}[c.options.WhenDown]
		c.options.Log("tripnote at " + c.options.Address + " does not answer (" + code.String() + "): " + then)
	}
}

func (c *Client) here() {
	c.lock.Lock()
	if c.isAway {
		c.lives++
	}
	wasSaid := c.isSaid
	c.isAway, c.isSaid, c.deadlines = false, false, 0
	c.lock.Unlock()
	if wasSaid {
		c.options.Log("tripnote at " + c.options.Address + " answers again: calls are guarded")
	}
}

// refusal says why a call is not made while the service is away; empty: it is made.
func (c *Client) refusal(ask *Ask) string {
	why := "it changes something"
	switch {
	case c.options.WhenDown == Refuse:
		why = "no call goes out unguarded"
	case c.options.WhenDown == GoOn || ask.Effect != Mutate:
		return ""
	}
	return ask.name() + ": not called; the breaker service does not answer and " + why +
		". Do work that needs no such call, or report what is done so far."
}

// hold keeps an outcome for the next admit, the oldest giving way; false where it is too large to be held.
func (c *Client) hold(outcome *pb.Outcome) bool {
	size := proto.Size(outcome)
	if size > pendingItemMax {
		return false
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.pending = append(c.pending, outcome)
	c.bytes += size
	for len(c.pending) > pendingMax || c.bytes > pendingBytesMax {
		c.bytes -= proto.Size(c.pending[0])
		c.pending = c.pending[1:]
	}
	return true
}

func (c *Client) take() []*pb.Outcome {
	c.lock.Lock()
	defer c.lock.Unlock()
	taken := c.pending
	c.pending, c.bytes = nil, 0
	return taken
}

func (c *Client) giveBack(outcomes []*pb.Outcome) {
	for _, outcome := range append(outcomes, c.take()...) {
		c.hold(outcome)
	}
}
