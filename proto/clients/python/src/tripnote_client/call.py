"""One call between asking and telling: what both clients know of it. Speaks to nobody."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .failures import complaint, result_of
from .pb import breaker_pb2
from .values import Effect, ErrorKind, Result, Told, Trip
from .wire import Ask, outcome, trip_of

ATTEMPTS_MAX = 4
"""More silent attempts than the service ever asks for in a row."""


def ask_of(
    session_id: str,
    caller: str,
    tool: str,
    arguments: Any,
    *,
    target: str = "",
    effect: Effect = "",
    call_id: str | None = None,
    attempt: int = 1,
    turn: int | None = None,
    wave_id: str = "",
    task_id: str = "",
    purpose: str = "",
    lane: str = "",
    credential: str = "",
    idempotency_key: str = "",
    user_approved: bool = False,
) -> Ask:
    """A call to ask about. One without an id of its own gets a new one, so that asking again is safe."""
    return Ask(
        tool=tool,
        target=target,
        arguments=arguments,
        session_id=session_id,
        call_id=call_id or (uuid.uuid4().hex if session_id else ""),
        attempt=attempt,
        turn=turn,
        wave_id=wave_id,
        task_id=task_id,
        purpose=purpose,
        lane=lane,
        effect=effect,
        credential=credential,
        idempotency_key=idempotency_key,
        caller=caller,
        user_approved=user_approved,
    )


def facts(
    body: Any = None,
    *,
    content_type: str = "",
    truncated: bool = False,
    http_status: int | None = None,
    headers: Mapping[str, str] | None = None,
    grpc_code: int | None = None,
    exit_code: int | None = None,
    error: ErrorKind | None = None,
    is_tool_error: bool = False,
) -> Result:
    """A result from what was seen; a body that is neither text nor bytes goes as JSON."""
    if isinstance(body, Result):
        return body
    base = Result(body=None) if body is None else Result.of(body)
    return replace(
        base,
        content_type=content_type or base.content_type,
        truncated=truncated,
        http_status=http_status,
        headers=headers or {},
        grpc_code=grpc_code,
        exit_code=exit_code,
        error=error,
        is_tool_error=is_tool_error,
    )


@dataclass
class CallState:
    """What is known of one call."""

    ask: Ask
    trip: Trip | None = None
    """The refusal, where the service refused."""
    refusal: str | None = None
    """The model's text where the call must not be made: the trip's, or our own line where the service is away."""
    permit: bytes | None = None
    is_probe: bool = False
    notices: tuple[str, ...] = ()
    """For the model: what is shut no more."""
    shadow_trip: Trip | None = None
    """What a circuit in shadow would have said: for logs, not for the model."""
    told: Told | None = None
    value: Any = None
    """What the tool returned, where it was called by `call`."""
    error: Exception | None = None
    """What the tool raised, where it was called by `call`."""
    _shown: str = ""
    _started: float = field(default_factory=time.monotonic)

    @property
    def may_go(self) -> bool:
        """Whether the call may be made."""
        return self.refusal is None

    @property
    def is_guarded(self) -> bool:
        """Whether the service decided, and awaits a report."""
        return self.permit is not None

    @property
    def is_open(self) -> bool:
        """Whether a report is due."""
        return self.is_guarded and self.told is None

    @property
    def text(self) -> str:
        """What the model sees of this call."""
        return self.content(self._shown)

    def content(self, result: str) -> str:
        """What the model sees where `result` is the result as text."""
        if self.refusal is not None:
            return self.refusal
        shown = self.told.content(result) if self.told else result
        return "\n".join([shown, *self.notices])

    def take_answer(self, answer: breaker_pb2.AdmitResponse) -> None:
        """The service's decision."""
        self._started = time.monotonic()
        if answer.WhichOneof("decision") == "trip":
            self.trip = trip_of(answer.trip)
            self.refusal = self.trip.text
            return
        self.permit = answer.permit.token
        self.is_probe = answer.permit.probe
        self.notices = tuple(answer.permit.notices)
        if answer.HasField("shadow_trip"):
            self.shadow_trip = trip_of(answer.shadow_trip)

    def outcome(self, result: Result, payload_limit: int) -> breaker_pb2.Outcome:
        """The outcome to report."""
        return outcome(self.ask, self.permit, result, payload_limit, time.monotonic() - self._started)

    def show(self, result: Result, shown: str | None = None) -> None:
        """Keeps the result's text, for `text`."""
        if shown is not None:
            self._shown = shown
        elif result.body is not None:
            body = result.body
            self._shown = body if isinstance(body, str) else body.decode("utf-8", "replace")

    def read_error(self, error: BaseException) -> Result:
        """An exception as a result. What the model sees, where the service has nothing better, is its line."""
        self._shown = f"{self.ask.name}: {complaint(error)}"
        if isinstance(error, Exception):
            self.error = error
        return result_of(error)


UNSAID = Result(judged="ignored")
"""Nobody said how it went: a probe's lease is given back and nothing counts."""

AWAY = Told(disposition="away")
"""The service did not answer: the result goes as it is."""
