"""How the service is reached: address, channel options, which errors mean that it is away, and saying so once. Shared
by the blocking and the asyncio client; opens no channel itself."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc

from .pb import breaker_pb2, session_pb2
from .values import TripnoteError, WhenDown
from .wire import Ask

ADDRESS_VARIABLE = "TRIPNOTE_CONNECT"
ADDRESS_DEFAULT = "127.0.0.1:7171"

SAID_EVERY = 60.0

STALLS_MAX = 3
REPLACE_EVERY = 5.0

PENDING_MAX = 64
PENDING_BYTES_MAX = 1 << 20
PENDING_ITEM_BYTES_MAX = 64 << 10

CHANNEL_OPTIONS: Sequence[tuple[str, int | str]] = (
    # A service that comes back is found within a second; gRPC's own habit is to look away for up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A connection that is replaced is a new one. Keepalive would not do: it watches calls that last, and ours do not.
    ("grpc.use_local_subchannel_pool", 1),
    # Retries are ours: within one deadline, and never of a refusal.
    ("grpc.enable_retries", 0),
)

_AWAY = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DATA_LOSS,
    }
)

METHODS: dict[str, tuple[str, Any, Any]] = {
    "Admit": ("BreakerService", breaker_pb2.AdmitRequest, breaker_pb2.AdmitResponse),
    "Report": ("BreakerService", breaker_pb2.ReportRequest, breaker_pb2.ReportResponse),
    "OpenSession": ("SessionService", session_pb2.OpenSessionRequest, session_pb2.OpenSessionResponse),
    "CloseSession": ("SessionService", session_pb2.CloseSessionRequest, session_pb2.CloseSessionResponse),
    "AdvanceContextEpoch": (
        "SessionService",
        session_pb2.AdvanceContextEpochRequest,
        session_pb2.AdvanceContextEpochResponse,
    ),
    "ReviewAnswer": ("SessionService", session_pb2.ReviewAnswerRequest, session_pb2.ReviewAnswerResponse),
}


def path_of(method: str) -> str:
    """The path of a method on the wire."""
    return f"/tripnote.v1.{METHODS[method][0]}/{method}"


def address_of(address: str | None) -> str:
    """`host:port`, `http://host:port` or `unix:/path`, as gRPC wants it."""
    said = address or os.environ.get(ADDRESS_VARIABLE) or ADDRESS_DEFAULT
    return said.removeprefix("http://").rstrip("/") if said.startswith("http://") else said


def options_of(address: str) -> list[tuple[str, int | str]]:
    """Channel options. A socket's path is no host that HTTP/2 servers accept as the authority."""
    authority = [("grpc.default_authority", "localhost")] if address.startswith("unix:") else []
    return [*CHANNEL_OPTIONS, *authority]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a client was told."""

    address: str
    caller: str = ""
    when_down: WhenDown = "by_effect"
    deadline: float = 0.25
    payload_limit: int = 256 << 10
    retry_within: float = 5.0
    token: str | None = None

    def __post_init__(self) -> None:
        if self.when_down not in ("go_on", "refuse", "by_effect"):
            raise ValueError(f"when_down is `{self.when_down}`; right would be go_on, refuse or by_effect")
        if not 0 < self.deadline <= 60:
            raise ValueError(f"deadline is `{self.deadline}`; right would be seconds above 0, at most 60")

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes along with each request."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def refusal(self, ask: Ask) -> str | None:
        """With the service away: why this call is not made. None: it is made."""
        is_refused = self.when_down == "refuse" or (self.when_down == "by_effect" and ask.effect == "mutate")
        if not is_refused:
            return None
        why = "it changes something" if self.when_down == "by_effect" else "no call goes out unguarded"
        return (
            f"{ask.name}: not called; the breaker service does not answer and {why}."
            " Do work that needs no such call, or report what is done so far."
        )


def refuse_or_away(error: grpc.RpcError) -> str:
    """Why the service counts as away. An error of the program's own making is raised instead."""
    code = error.code()
    details = error.details() or ""
    if code not in _AWAY:
        raise TripnoteError(code.name.lower(), details) from error
    return str(code.name.lower().replace("_", " "))


def is_worth_another_try(error: grpc.RpcError) -> bool:
    """A connection that broke: the same request may go out again over a new one, as nothing counts twice."""
    return bool(error.code() == grpc.StatusCode.UNAVAILABLE)


def is_late(error: grpc.RpcError) -> bool:
    """Nothing came within the deadline."""
    return bool(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED)


@dataclass
class Voice:
    """Says once that the service is away, and once that it is back; of one that comes and goes, once a minute."""

    settings: Settings
    log: logging.Logger
    now: Callable[[], float] = time.monotonic
    lives: int = 0
    """Rises when it may have been started anew, so that what it was told of sessions is told again."""
    is_away: bool = False
    """It did not answer the last request."""
    _is_said: bool = False
    _said_at: float = -math.inf
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def away(self, why: str) -> None:
        """It did not answer."""
        with self._lock:
            self.is_away = True
            is_news = not self._is_said and self.now() >= self._said_at + SAID_EVERY
            if is_news:
                self._is_said, self._said_at = True, self.now()
        if is_news:
            then = {
                "go_on": "calls go on unguarded",
                "refuse": "calls are refused",
                "by_effect": "calls that change something are refused, others go on unguarded",
            }[self.settings.when_down]
            self.log.warning("tripnote at %s does not answer (%s): %s", self.settings.address, why, then)

    def here(self) -> None:
        """It answered."""
        if not self.is_away:
            return
        with self._lock:
            self.lives += self.is_away
            was_said, self.is_away, self._is_said = self._is_said, False, False
        if was_said:
            self.log.warning("tripnote at %s answers again: calls are guarded", self.settings.address)

    def forgot(self) -> None:
        """It does not know what it once answered."""
        with self._lock:
            self.lives += 1


@dataclass
class Stall:
    """A connection on which nothing comes back, as after a peer that vanished without a word: it is given up after
    three deadlines in a row, and at most every five seconds, in case it is the service that hangs."""

    now: Callable[[], float] = time.monotonic
    _deadlines: int = 0
    _replaced: float = -math.inf

    def answered(self) -> None:
        """Something came back."""
        self._deadlines = 0

    def is_due(self, error: grpc.RpcError) -> bool:
        """Hears of an error; whether the connection is to be replaced now."""
        if not is_late(error):
            return False
        self._deadlines += 1
        if self._deadlines < STALLS_MAX or self.now() < self._replaced + REPLACE_EVERY:
            return False
        self._deadlines, self._replaced = 0, self.now()
        return True


@dataclass
class Pending:
    """Outcomes that ride on the next admit. Bounded in number and bytes; the oldest give way."""

    _held: deque[breaker_pb2.Outcome] = field(default_factory=deque)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    dropped: int = 0

    def push(self, outcome: breaker_pb2.Outcome) -> bool:
        """Holds one; false where it is too large to be held."""
        size = outcome.ByteSize()
        if size > PENDING_ITEM_BYTES_MAX:
            self.dropped += 1
            return False
        with self._lock:
            self._held.append(outcome)
            self._bytes += size
            while len(self._held) > PENDING_MAX or self._bytes > PENDING_BYTES_MAX:
                self._bytes -= self._held.popleft().ByteSize()
                self.dropped += 1
        return True

    def take(self) -> list[breaker_pb2.Outcome]:
        """All that is held, which is then no more."""
        with self._lock:
            taken = list(self._held)
            self._held.clear()
            self._bytes = 0
        return taken

    def give_back(self, outcomes: Sequence[breaker_pb2.Outcome]) -> None:
        """They did not arrive."""
        newer = self.take()
        for outcome in [*outcomes, *newer]:
            self.push(outcome)
