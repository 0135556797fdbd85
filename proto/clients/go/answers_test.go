package tripnote

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"tripnote/pb"
)

// played is a service that a test plays.
type played struct {
	pb.UnimplementedBreakerServiceServer
	admit func(context.Context) (*pb.AdmitResponse, error)
	asked int
}

func (p *played) Admit(ctx context.Context, _ *pb.AdmitRequest) (*pb.AdmitResponse, error) {
	p.asked++
	return p.admit(ctx)
}

func play(t *testing.T, admit func(context.Context) (*pb.AdmitResponse, error)) (*played, string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	service, server := &played{admit: admit}, grpc.NewServer()
	pb.RegisterBreakerServiceServer(server, service)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return service, listener.Addr().String()
}

func TestASidecarIsReachedOverItsSocket(t *testing.T) {
	server := serveAt(t, "unix:"+filepath.Join(t.TempDir(), "socket"), orders)
	if !admit(t, dial(t, Options{Address: server.address}).Session("run", nil), Ask{Tool: "count"}).IsGuarded() {
		t.Error("it is there")
	}
}

func TestAWrongTokenIsAnErrorAndNotAnAbsence(t *testing.T) {
	_, address := play(t, func(ctx context.Context) (*pb.AdmitResponse, error) {
		given, _ := metadata.FromIncomingContext(ctx)
		if said := given.Get("authorization"); len(said) != 1 || said[0] != "Bearer secret" {
			return nil, status.Error(codes.Unauthenticated, "a token is due")
		}
		return &pb.AdmitResponse{Decision: &pb.AdmitResponse_Permit{Permit: &pb.Permit{Token: []byte("1")}}}, nil
	})
	right := dial(t, Options{Address: address, Token: "secret"}).Session("run", nil)
	if !admit(t, right, Ask{Tool: "count"}).IsGuarded() {
		t.Error("the token is right")
	}
	_, err := dial(t, Options{Address: address, Token: "wrong"}).Session("run", nil).Admit(ctx, Ask{Tool: "count"})
	var fault *Error
	if !errors.As(err, &fault) || fault.Code != "Unauthenticated" || fault.Message != "a token is due" {
		t.Error(err)
	}
}

func TestAnOverloadedOrBrokenServiceCountsAsAwayAndIsNotAskedAgain(t *testing.T) {
	for _, code := range []codes.Code{codes.ResourceExhausted, codes.Internal, codes.Unknown} {
		service, address := play(t, func(context.Context) (*pb.AdmitResponse, error) { return nil, status.Error(code, "no") })
		call := admit(t, dial(t, Options{Address: address}).Session("run", nil), Ask{Tool: "charge", Effect: Mutate})
		if call.Trip != nil || call.MayGo() || service.asked != 1 {
			t.Error(code, call.Text(), service.asked)
		}
	}
}

func TestARefusalIsNeverAskedAgain(t *testing.T) {
	soon := uint64(1)
	trip := &pb.AdmitResponse_Trip{Trip: &pb.Trip{Text: "no", RetryAfterMs: &soon}}
	service, address := play(t, func(context.Context) (*pb.AdmitResponse, error) {
		return &pb.AdmitResponse{Decision: trip}, nil
	})
	call, err := dial(t, Options{Address: address}).Session("run", nil).Do(ctx, Ask{Tool: "count"}, answers(Result{}))
	must(t, err)
	if call.Text() != "no" || service.asked != 1 {
		t.Error(call.Text(), service.asked)
	}
}
