"""What the adapters to agent frameworks share: sessions by id, and which tools are out of the model's list until when.
Knows no framework."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .call import CallState
from .values import Effect

SESSIONS_MAX = 1024
"""Sessions that an adapter remembers; the one unheard of for longest gives way. The service remembers its own."""

HIDDEN_FOR = 60.0
"""A tool that has no time of its own is offered again after so many seconds: only an operator knows when."""

EffectOf = Mapping[str, Effect] | Callable[[str], Effect]
"""What the calls of a tool do, by its name."""

T = TypeVar("T")


class Lru(Generic[T]):
    """A bounded map; the entry unused for longest gives way."""

    def __init__(self, make: Callable[[str], T], entries_max: int = SESSIONS_MAX) -> None:
        self._make, self._entries_max = make, entries_max
        self._held: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T:
        """The entry, made where there is none."""
        with self._lock:
            if key not in self._held:
                self._held[key] = self._make(key)
                if len(self._held) > self._entries_max:
                    self._held.popitem(last=False)
            self._held.move_to_end(key)
            return self._held[key]


@dataclass
class Withdrawn:
    """Tools that one session cannot call now."""

    now: Callable[[], float] = time.monotonic
    _until: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, tool: str, call: CallState) -> None:
        """Reads a call: what its trip withdraws, or that its tool can be called."""
        trip = call.trip or (call.told.trip if call.told else None)
        with self._lock:
            if trip is None:
                if call.is_guarded:
                    self._until.pop(tool, None)
                return
            until = self.now() + (HIDDEN_FOR if trip.retry_after is None else trip.retry_after)
            for name in trip.withdraw:
                self._until[name] = until

    def tools(self) -> frozenset[str]:
        """Those that are out of the list now."""
        with self._lock:
            now = self.now()
            for name in [name for name, until in self._until.items() if until <= now]:
                del self._until[name]
            return frozenset(self._until)


_ADVICE = re.compile(r"\s*Please (?:[^.!]*\b)?(?:try again|fix your mistakes)[.!]*\s*$", re.IGNORECASE)


def without_advice(text: str) -> str:
    """An error text of a framework without its last sentence, where that tells the model to try again: it says so of
    every failure, and what to do next is the service's to say."""
    return _ADVICE.sub("", text)


def effect_of(effects: EffectOf | None, tool: str, metadata: Any = None) -> Effect:
    """What a tool's calls do: as the adapter was told, else as the tool's own metadata says, else unsaid."""
    said: Any = ""
    if callable(effects):
        said = effects(tool)
    elif effects is not None:
        said = effects.get(tool, "")
    if not said and isinstance(metadata, Mapping):
        said = metadata.get("effect", "")
    return said if said in ("read", "mutate", "unknown") else ""
