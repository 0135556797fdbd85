package tripnote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	"tripnote/pb"
)

// ResultOf reads an error of a tool as facts about its call.
func ResultOf(err error) Result {
	if kind := kindOf(err); kind != pb.ErrorKind_ERROR_KIND_UNSPECIFIED {
		return Result{Error: kind}
	}
	return Result{Body: []byte(err.Error()), IsToolError: true}
}

// ResultOfHTTP reads a response, and its body up to limit bytes; the caller closes it.
func ResultOfHTTP(response *http.Response, limit int64) Result {
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		result := ResultOf(err)
		result.HTTPStatus, result.Headers = response.StatusCode, response.Header
		return result
	}
	isCut := int64(len(body)) > limit
	if isCut {
		body = body[:limit]
	}
	return Result{
		Body: body, Truncated: isCut, ContentType: response.Header.Get("content-type"),
		HTTPStatus: response.StatusCode, Headers: response.Header,
	}
}

func kindOf(err error) ErrorKind {
	var (
		resolution *net.DNSError
		network    net.Error
		record     tls.RecordHeaderError
		authority  x509.UnknownAuthorityError
		host       x509.HostnameError
		invalid    x509.CertificateInvalidError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return pb.ErrorKind_ERROR_KIND_CANCELLED_BY_CALLER
	case errors.As(err, &resolution) && !resolution.IsTimeout:
		return pb.ErrorKind_ERROR_KIND_DNS
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &network) && network.Timeout():
		return pb.ErrorKind_ERROR_KIND_TIMEOUT
	case errors.As(err, &record), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return pb.ErrorKind_ERROR_KIND_TLS
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return pb.ErrorKind_ERROR_KIND_CONNECT_REFUSED
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF):
		return pb.ErrorKind_ERROR_KIND_RESET
	default:
		return pb.ErrorKind_ERROR_KIND_UNSPECIFIED
	}
}
