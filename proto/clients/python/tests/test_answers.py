"""What the client makes of answers that are no decision, from a service that a test plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest

from tripnote_client import AsyncClient, Client, TripnoteError
from tripnote_client.pb.breaker_pb2 import AdmitRequest, AdmitResponse

Admit = Callable[[AdmitRequest, grpc.ServicerContext], AdmitResponse]


@contextmanager
def playing(admit: Admit) -> Iterator[str]:
    handler = grpc.unary_unary_rpc_method_handler(admit, AdmitRequest.FromString, AdmitResponse.SerializeToString)
    service = grpc.method_handlers_generic_handler("tripnote.v1.BreakerService", {"Admit": handler})
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


def only_secret(_: AdmitRequest, context: grpc.ServicerContext) -> AdmitResponse:
    if dict(context.invocation_metadata()).get("authorization") != "Bearer secret":
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "a token is due")
    return AdmitResponse(permit={"token": b"1"})


async def test_a_wrong_token_is_an_error_and_not_an_absence() -> None:
    with playing(only_secret) as address:
        with Client(address, token="secret", deadline=5) as client:
            assert client.session("run").admit("count").is_guarded
        with Client(address, token="wrong", deadline=5) as client, pytest.raises(TripnoteError) as raised:
            client.session("run").admit("count")
        assert raised.value.code == "unauthenticated"
        async with AsyncClient(address, token="wrong", deadline=5) as other:
            with pytest.raises(TripnoteError, match="a token is due"):
                await other.session("run").admit("count")


@pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "INTERNAL", "UNKNOWN"])
def test_an_overloaded_or_broken_service_counts_as_away_and_is_not_asked_again(code: str) -> None:
    asked = []

    def overloaded(request: AdmitRequest, context: grpc.ServicerContext) -> AdmitResponse:
        asked.append(request)
        context.abort(grpc.StatusCode[code], "no")
        raise AssertionError

    with playing(overloaded) as address, Client(address, deadline=5) as client:
        call = client.session("run").admit("charge", effect="mutate")
        assert call.trip is None and not call.may_go
    assert len(asked) == 1


def test_a_refusal_is_never_asked_again() -> None:
    asked = []

    def refusing(request: AdmitRequest, _: grpc.ServicerContext) -> AdmitResponse:
        asked.append(request)
        return AdmitResponse(trip={"text": "no", "retry_after_ms": 1})

    with playing(refusing) as address, Client(address, deadline=5) as client:
        assert client.session("run").call(lambda: "yes", "count").text == "no"
    assert len(asked) == 1
