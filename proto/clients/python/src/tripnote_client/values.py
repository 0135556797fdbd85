"""What a caller holds in its hands: a trip, what a call came to, what the model is told. Knows no wire and no clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

WhenDown = Literal["go_on", "refuse", "by_effect"]
"""What becomes of a call that the service does not answer for in time. `by_effect`: a `mutate` is refused."""

Effect = Literal["", "read", "mutate", "unknown"]
"""What a call does to the world; empty where the service's configuration is to say."""

ErrorKind = Literal[
    "connect_refused",
    "dns",
    "tls",
    "reset",
    "timeout",
    "cancelled_by_caller",
    "refused_by_host",
    "not_sent",
    "malformed_body",
]
"""What went wrong with a call apart from its status."""

Outcome = Literal["", "answered", "escalated", "halted", "abandoned"]
"""How a session ended; empty: not said, and counted as abandoned."""

Judgement = Literal["ok", "ignored", "failed"]
"""A caller's own word on a result, in place of facts."""


class TripnoteError(Exception):
    """The service understood and would not: a malformed request, a missing right. A fault of the program, never of the
    tool, and nothing to retry."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"tripnote: {code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Trip:
    """A refusal that explains itself. The nine fields are the contract in its order; the model is given `text`."""

    action: str
    breaker: str
    target: str
    signal: str
    observed: str
    threshold: str
    state: str
    do_not: str
    fallback: str
    text: str
    """For the model, unchanged, in place of a result. Empty where the operator measures silence."""
    variant: str
    """The name of the wording of `text`."""
    urgency: str
    """For people, not for the model."""
    retry_after: float | None = None
    """Seconds after which the same reason refuses no more. None: no deadline."""
    fallback_target: str = ""
    """The fallback as a program calls it."""
    withdraw: tuple[str, ...] = ()
    """Tools of this session that cannot be called now: take them out of the model's list for `retry_after`."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Result:
    """What was seen of a call. Everything is optional; what is known helps."""

    body: bytes | str | None = None
    """As it came. Longer than the client's `payload_limit`, it is cut and said to be cut. None: not sent along."""
    content_type: str = ""
    truncated: bool = False
    """The caller cut `body` itself."""
    http_status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    grpc_code: int | None = None
    exit_code: int | None = None
    error: ErrorKind | None = None
    is_tool_error: bool = False
    """The tool says that this is a failure, and `body` is what it says."""
    judged: Judgement | None = None
    """Your own judgement, in place of all of the above."""
    judged_kind: str = ""
    """With `judged="failed"`: the circuit, such as `error_rate` or `quota_exhausted.rate`."""
    retry_after: float | None = None
    """With `judged="failed"`: the wait that the target asked for, in seconds."""

    @classmethod
    def of(cls, value: Any) -> Result:
        """The result of a function that returned: itself, text, or a value as JSON."""
        if isinstance(value, Result):
            return value
        if value is None:
            return cls(judged="ok")  # It went well and says nothing: not an empty answer to a question.
        if isinstance(value, str | bytes):
            return cls(body=value)
        return cls(body=json_text(value), content_type="application/json")


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be done with a reported result."""

    disposition: str
    """The service's word, such as `deliver` or `trip`; `away` where it did not answer."""
    text: str = ""
    """What the service says to the model. Empty: nothing."""
    replaces: bool = False
    """`text` stands in place of the result; otherwise under it."""
    trip: Trip | None = None
    retry_after: float | None = None
    """A passing fault of a call that is safe to repeat: wait so many seconds and call again as the next attempt, and
    the model hears nothing. Who cannot gives the model `text`."""
    observation: str = ""
    signal: str = ""
    usable: bool = False
    acknowledgement: str = ""

    def content(self, result: str) -> str:
        """What the model is given, where `result` is the result as text."""
        if self.replaces:
            return self.text
        return f"{result}\n{self.text}" if self.text else result


def json_text(value: Any) -> str:
    """A value as compact JSON; what JSON has no word for, by its own text."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
