"""Between values and messages: what a call and its outcome look like on the wire, kept within the bounds that the
protos name, and what an answer means. Knows no channel and no clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .pb import breaker_pb2, contract_pb2, observation_pb2, session_pb2
from .values import Result, Told, Trip

NAME_BYTES_MAX = 512
ID_BYTES_MAX = 256
ARGUMENT_BYTES_MAX = 1 << 20
"""Longer arguments go as their digest: the service takes 4 MiB as one message, with everything else in it."""
HEADERS_MAX = 64
HEADER_NAME_BYTES_MAX = 128
HEADER_VALUE_BYTES_MAX = 1024
LINE_BYTES_MAX = 400

_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One call that is about to be made."""

    tool: str = ""
    target: str = ""
    arguments: Any = None
    session_id: str = ""
    call_id: str = ""
    attempt: int = 1
    turn: int | None = None
    wave_id: str = ""
    task_id: str = ""
    purpose: str = ""
    lane: str = ""
    effect: str = ""
    credential: str = ""
    idempotency_key: str = ""
    caller: str = ""
    user_approved: bool = False

    @property
    def name(self) -> str:
        """How people call it."""
        return self.tool or self.target


def word(enum: Any, number: int) -> str:
    """The word of an enum's value: its name without the prefix, in lower case; empty where it is unspecified."""
    if number == 0:
        return ""
    try:
        name = str(enum.Name(number))
    except ValueError:  # A newer service has words that this client does not know: the protos read them as none.
        return ""
    return name.removeprefix(_prefix(enum)).lower()


def number(enum: Any, said: str) -> int:
    """The number of a word; 0 of the empty one."""
    if not said:
        return 0
    name = _prefix(enum) + said.upper().replace(".", "_")
    known = set(enum.keys())
    if name not in known:
        words = ", ".join(word(enum, n) for n in enum.values() if n)
        raise ValueError(f"`{said}` is not one of: {words}")
    return int(enum.Value(name))


def _prefix(enum: Any) -> str:
    return str(enum.Name(0)).removesuffix("UNSPECIFIED")


def fit(text: str, bytes_max: int) -> str:
    """A name within its bound: a longer one keeps its beginning and ends in its hash, so that it stays itself."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= bytes_max:
        return raw.decode("utf-8")
    digest = hashlib.sha256(raw).hexdigest()[:32]
    kept = raw[: bytes_max - len(digest) - 1].decode("utf-8", "ignore")
    return f"{kept}#{digest}"


def argument_bytes(arguments: Any) -> bytes:
    """Arguments as JSON; text and bytes are taken to be JSON already. Empty where there are none."""
    if arguments is None:
        return b""
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode("utf-8", "replace")
    try:
        text = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return b""  # What cannot be told is not known; the call is guarded all the same.
    return text.encode("utf-8", "replace")


def admit_request(ask: Ask, reports: Iterable[breaker_pb2.Outcome] = ()) -> breaker_pb2.AdmitRequest:
    """The request for one call, with outcomes of earlier ones."""
    request = breaker_pb2.AdmitRequest(
        target=fit(ask.target, NAME_BYTES_MAX),
        tool_name=fit(ask.tool, NAME_BYTES_MAX),
        session_id=fit(ask.session_id, ID_BYTES_MAX),
        call_id=fit(ask.call_id, ID_BYTES_MAX),
        attempt=ask.attempt,
        wave_id=fit(ask.wave_id, ID_BYTES_MAX),
        task_id=fit(ask.task_id, ID_BYTES_MAX),
        purpose=fit(ask.purpose, ID_BYTES_MAX),
        lane=fit(ask.lane, ID_BYTES_MAX),
        credential=fit(ask.credential, ID_BYTES_MAX),
        caller=fit(ask.caller, ID_BYTES_MAX),
        idempotency_key=fit(ask.idempotency_key, ID_BYTES_MAX),
        effect=number(observation_pb2.Effect, ask.effect),  # type: ignore[arg-type]
        user_approved=ask.user_approved,
        reports=reports,
    )
    if ask.turn is not None:
        request.turn = ask.turn
    raw = argument_bytes(ask.arguments)
    if len(raw) > ARGUMENT_BYTES_MAX:
        request.arguments_digest = hashlib.sha256(raw).digest()
        request.arguments_bytes = len(raw)
    else:
        request.arguments = raw
    return request


def outcome(
    ask: Ask, permit: bytes | None, result: Result, payload_max: int, latency: float | None
) -> breaker_pb2.Outcome:
    """How a call went. Without a permit the call is named by session and call id."""
    told = breaker_pb2.Outcome(
        tool_name=fit(ask.tool, NAME_BYTES_MAX),
        attempt=ask.attempt,
        effect=number(observation_pb2.Effect, ask.effect),  # type: ignore[arg-type]
        idempotent=bool(ask.idempotency_key),
    )
    if permit is not None:
        told.permit = permit
    else:
        told.call_ref.session_id = fit(ask.session_id, ID_BYTES_MAX)
        told.call_ref.call_id = fit(ask.call_id, ID_BYTES_MAX)
        told.call_ref.attempt = ask.attempt
        told.call_ref.caller = fit(ask.caller, ID_BYTES_MAX)
    if latency is not None:
        told.latency_ms = max(0, round(latency * 1000))
    if result.judged is not None:
        told.classification.result = number(breaker_pb2.Classification.Kind, result.judged)  # type: ignore[assignment]
        told.classification.kind = number(contract_pb2.CircuitKind, result.judged_kind)  # type: ignore[assignment]
        if result.retry_after is not None:
            told.classification.retry_after_ms = max(0, round(result.retry_after * 1000))
        return told
    raw = argument_bytes(ask.arguments)
    if len(raw) <= payload_max:
        told.arguments = raw
    _facts(told, result)
    _payload(told, result, payload_max)
    if not told.HasField("transport") and not told.HasField("payload"):
        # Nothing was seen and nobody judged: nothing counts.
        told.ClearField("arguments")
        told.classification.result = breaker_pb2.Classification.KIND_IGNORED
    return told


def _facts(told: breaker_pb2.Outcome, result: Result) -> None:
    facts = breaker_pb2.TransportFacts()
    if result.http_status is not None:
        facts.http_status = result.http_status
    if result.grpc_code is not None:
        facts.grpc_code = result.grpc_code
    if result.exit_code is not None:
        facts.exit_code = result.exit_code
    if result.error is not None:
        facts.error_kind = number(breaker_pb2.ErrorKind, result.error)  # type: ignore[assignment]
    if result.is_tool_error and result.body is not None:
        facts.carrier = observation_pb2.CARRIER_MCP
    facts.headers.extend(_headers(result.headers))
    if facts.ByteSize() > 0:
        told.transport.CopyFrom(facts)


def _headers(headers: Mapping[str, str]) -> list[breaker_pb2.Header]:
    told = []
    for name, value in headers.items():
        is_fit = (
            0 < len(name.encode("utf-8", "replace")) <= HEADER_NAME_BYTES_MAX
            and len(value.encode("utf-8", "replace")) <= HEADER_VALUE_BYTES_MAX
        )
        if is_fit and name.lower() not in _SECRET_HEADERS:
            told.append(breaker_pb2.Header(name=name, value=value))
    # Of too many, those that the service reads first.
    told.sort(key=lambda header: not header.name.lower().startswith(("retry", "ratelimit", "x-ratelimit", "date")))
    return told[:HEADERS_MAX]


def _payload(told: breaker_pb2.Outcome, result: Result, payload_max: int) -> None:
    if result.body is None:
        return
    body = result.body.encode("utf-8", "replace") if isinstance(result.body, str) else bytes(result.body)
    content_type = result.content_type
    if result.is_tool_error:
        # The one shape in which a tool says that its answer is a failure, whatever the words.
        text = body[: payload_max // 2].decode("utf-8", "replace")
        body = json.dumps({"content": [{"type": "text", "text": text}], "isError": True}).encode()
        content_type = "application/json"
    told.payload.SetInParent()
    told.payload.body = body[:payload_max]
    told.payload.content_type = fit(content_type, ID_BYTES_MAX)
    told.payload.truncated_by_caller = result.truncated or len(body) > payload_max


def trip_of(message: contract_pb2.Trip) -> Trip:
    """A refusal as a value."""
    return Trip(
        action=word(contract_pb2.Action, message.action),
        breaker=message.breaker,
        target=message.target,
        signal=word(contract_pb2.Signal, message.signal),
        observed=message.observed,
        threshold=message.threshold,
        state=message.state,
        do_not=message.do_not,
        fallback=message.fallback,
        text=message.text,
        variant=message.variant_name,
        urgency=word(contract_pb2.Urgency, message.urgency),
        retry_after=message.retry_after_ms / 1000 if message.HasField("retry_after_ms") else None,
        fallback_target=message.fallback_target,
        withdraw=tuple(message.withdraw),
    )


def told_of(ask: Ask, ack: breaker_pb2.ReportAck, *, is_our_cut: bool = False) -> Told:
    """What an acknowledgement asks the caller to do with the result. `is_our_cut`: the model has more than was sent."""
    disposition = word(observation_pb2.Disposition, ack.handling.disposition)
    trip = trip_of(ack.trip) if ack.HasField("trip") else None
    text, replaces, retry_after = ack.handling.text, False, None
    if disposition == "trip":
        text, replaces = (trip.text if trip else text), True
    elif disposition == "steer":
        # A usable result stands above the contract; of one that is not, the contract says all there is to say.
        text, replaces = (trip.text if trip else text), not ack.typing.usable
    elif disposition == "deliver" and is_our_cut:
        text = ""  # The caution is about our cut, which the model does not see.
    elif disposition in ("return_error", "deliver_failure"):
        replaces = bool(text)
    elif disposition in ("retry_silently", "move", "narrow"):
        if disposition == "retry_silently":
            retry_after = ack.handling.after_ms / 1000
        text, replaces = text or failure_line(ask.name, ack.typing), True
    return Told(
        disposition=disposition or "deliver",
        text=text,
        replaces=replaces,
        trip=trip,
        retry_after=retry_after,
        observation=word(observation_pb2.Observation, ack.typing.observation),
        signal=word(contract_pb2.Signal, ack.typing.signal),
        usable=ack.typing.usable,
        acknowledgement=word(breaker_pb2.Acknowledgement, ack.acknowledgement),
    )


def failure_line(tool: str, typing: observation_pb2.Typing) -> str:
    """A failure in the words of the service's own line, where the caller was to try again and cannot."""
    observation = word(observation_pb2.Observation, typing.observation) or "failed"
    signal = word(contract_pb2.Signal, typing.signal) or "none"
    failure_class = word(observation_pb2.FailureClass, typing.failure_class) or "none"
    name = fit(tool, ID_BYTES_MAX // 2) or "the tool"
    return f"{name}: {observation}, signal {signal}, class {failure_class}; nothing was measured"


def session_policy(policy: Mapping[str, Any]) -> session_pb2.SessionPolicy:
    """A session's policy from the names of `SessionPolicy`; words for effects."""
    tools = [
        session_pb2.DeclaredTool(**{**tool, "effect": number(observation_pb2.Effect, tool.get("effect", ""))})
        for tool in policy.get("tools", ())
    ]
    return session_pb2.SessionPolicy(**{**policy, "tools": tools})
