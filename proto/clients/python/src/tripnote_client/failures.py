"""Reads an exception of a tool as facts about its call: by type, by cause, and by what HTTP libraries hang on it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator

from .values import ErrorKind, Result

# Names of exception classes of the common HTTP libraries, so that none of them need be installed.
_BY_NAME: dict[str, ErrorKind] = {
    "ConnectTimeout": "timeout",
    "ReadTimeout": "timeout",
    "WriteTimeout": "timeout",
    "PoolTimeout": "timeout",
    "Timeout": "timeout",
    "TimeoutException": "timeout",
    "ServerTimeoutError": "timeout",
    "SSLError": "tls",
    "ClientConnectorSSLError": "tls",
    "ClientConnectorCertificateError": "tls",
    "NameResolutionError": "dns",
    "ClientConnectorDNSError": "dns",
    "ConnectError": "connect_refused",
    "ClientConnectorError": "connect_refused",
    "NewConnectionError": "connect_refused",
    "ReadError": "reset",
    "RemoteProtocolError": "reset",
    "RemoteDisconnected": "reset",
    "ServerDisconnectedError": "reset",
    "IncompleteRead": "reset",
    "ChunkedEncodingError": "reset",
}

_BY_TYPE: tuple[tuple[type[BaseException], ErrorKind], ...] = (
    (asyncio.CancelledError, "cancelled_by_caller"),
    (KeyboardInterrupt, "cancelled_by_caller"),
    (GeneratorExit, "cancelled_by_caller"),
    (TimeoutError, "timeout"),
    (socket.gaierror, "dns"),
    (ssl.SSLError, "tls"),
    (ConnectionRefusedError, "connect_refused"),
    (ConnectionResetError, "reset"),
    (ConnectionAbortedError, "reset"),
    (BrokenPipeError, "reset"),
)

_CAUSES_MAX = 8


def result_of(error: BaseException) -> Result:
    """What an exception says of the call that raised it."""
    for cause in _causes(error):
        answered = _http(cause)
        if answered is not None:
            return answered
    # The innermost cause knows best: "connection failed" is often "the name did not resolve".
    for cause in reversed(list(_causes(error))):
        kind = _kind(cause)
        if kind is not None:
            return Result(error=kind)
    return Result(body=complaint(error), is_tool_error=True)


def complaint(error: BaseException) -> str:
    """The exception in one line, as Python prints it last."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen and len(seen) < _CAUSES_MAX:
        seen.add(id(at))
        yield at
        reason = getattr(at, "reason", None)  # urllib hides its cause here.
        nested = reason if isinstance(reason, BaseException) else None
        at = at.__cause__ or nested or (None if at.__suppress_context__ else at.__context__)


def _kind(error: BaseException) -> ErrorKind | None:
    for of_type, kind in _BY_TYPE:
        if isinstance(error, of_type):
            return kind
    for base in type(error).__mro__:
        if base.__name__ in _BY_NAME:
            return _BY_NAME[base.__name__]
    return None


def _http(error: BaseException) -> Result | None:
    """The answer that an `HTTPStatusError`, a `requests.HTTPError` or a `urllib.error.HTTPError` carries."""
    answer = getattr(error, "response", None)
    status = getattr(answer, "status_code", None)
    if answer is not None and isinstance(status, int):
        try:
            body = answer.content
        except Exception:  # A streamed answer that was never read has no body to tell of.
            body = None
        body = body if isinstance(body, bytes) else None
        return Result(body=body, http_status=status, headers=_headers(answer))
    code = getattr(error, "code", None)
    if isinstance(code, int) and 100 <= code <= 599 and hasattr(error, "headers"):
        return Result(http_status=code, headers=_headers(error))
    return None


def _headers(answer: object) -> dict[str, str]:
    headers = getattr(answer, "headers", None)
    items = getattr(headers, "items", None)
    return {str(name): str(value) for name, value in items()} if callable(items) else {}
