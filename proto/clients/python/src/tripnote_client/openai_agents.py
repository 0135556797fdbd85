"""The OpenAI Agents SDK: guardrails around function tools, so that the model sees the contract and never the
framework's advice to try again.

```python
guards = ToolGuards(session=client.session("run-1"), effects={"charge_card": "mutate"})
agent = Agent(name="clerk", tools=guards.guard(charge_card, list_orders))
```

A guardrail cannot run a tool a second time: where a silent retry would be right, the model sees the failure's line.
Guardrails stand around function tools only; for hosted and MCP tools put tripnote's MCP proxy before the server.
"""

from __future__ import annotations

import copy
import inspect
import uuid
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolOutputGuardrail,
    default_tool_error_function,
)
from agents.tool import resolve_function_tool_failure_error_function, set_function_tool_failure_error_function
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolInputGuardrailData, ToolOutputGuardrailData

from .adapter import EffectOf, Lru, Withdrawn, effect_of
from .aio import AsyncCall, AsyncSession
from .failures import complaint
from .values import Result

CALLS_MAX = 1024
"""Calls between their two guardrails that are remembered; one beyond is not reported, and expires at the service."""

SessionOf = Callable[[RunContextWrapper[Any]], AsyncSession]


@dataclass
class _Running:
    context: ToolContext[Any]
    call: AsyncCall
    error: Exception | None = None


class ToolGuards:
    """Guardrails of one service for any number of tools."""

    def __init__(
        self,
        session: AsyncSession | SessionOf,
        *,
        effects: EffectOf | None = None,
        hide_withdrawn: bool = False,
    ) -> None:
        """`session`: the run's session, or what finds it by the run's context, where one agent serves many runs.
        `effects`: what the calls of a tool do. `hide_withdrawn`: leaves tools out of the model's list while they cannot
        be called. Off, because this framework ends the run of a model that calls such a tool all the same, unless
        `RunConfig.tool_not_found_behavior` is `return_error_to_model`."""
        self._session_of: SessionOf = (lambda _: session) if isinstance(session, AsyncSession) else session
        self._effects, self._hides = effects, hide_withdrawn
        self._running: dict[int, _Running] = {}
        self._runs: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._withdrawn: Lru[Withdrawn] = Lru(lambda _: Withdrawn())
        self.before: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, name="tripnote_before")
        self.after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, name="tripnote_after")

    def guard(self, *tools: FunctionTool) -> list[Any]:
        """Copies of the tools, guarded: asked about when their other input guardrails have passed, told before their
        other output guardrails speak."""
        return [self._guarded(tool) for tool in tools]

    def _guarded(self, tool: FunctionTool) -> FunctionTool:
        guarded = copy.copy(tool)
        own = resolve_function_tool_failure_error_function(tool)
        set_function_tool_failure_error_function(guarded, self._hearing(tool, own, default_tool_error_function))
        if tool.timeout_behavior == "error_as_result":
            guarded.timeout_error_function = self._hearing(tool, tool.timeout_error_function, None)
        guarded.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), self.before]
        guarded.tool_output_guardrails = [self.after, *(tool.tool_output_guardrails or ())]
        if self._hides:
            guarded.is_enabled = self._enabled(tool)
        return guarded

    def _hearing(
        self, tool: FunctionTool, own: Any, default: Any
    ) -> Callable[[RunContextWrapper[Any], Exception], Awaitable[str]]:
        """An error function that keeps what was raised, so that it is reported as what it is, and then says what the
        tool's own function would say; the exception's own line in place of what the framework's `default` says."""

        async def hear(context: RunContextWrapper[Any], error: Exception) -> str:
            running = self._running.get(id(context))
            if running is not None:
                running.error = error
            if own is default:
                return f"{tool.name}: {complaint(error)}"
            if own is None:  # The run is to end with it: no output guardrail will tell.
                self._running.pop(id(context), None)
                if running is not None:
                    await running.call.failed(error)
                raise error
            said = own(context, error)
            return str(await said if inspect.isawaitable(said) else said)

        return hear

    def _enabled(self, tool: FunctionTool) -> Callable[[RunContextWrapper[Any], Any], Awaitable[bool]]:
        own: Any = tool.is_enabled

        async def is_enabled(context: RunContextWrapper[Any], agent: Any) -> bool:
            if tool.name in self._withdrawn.get(self._session_of(context).id).tools():
                return False
            said = own(context, agent) if callable(own) else own
            return bool(await said if inspect.isawaitable(said) else said)

        return is_enabled

    async def _before(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        session = self._session_of(context)
        wave_id = self._wave_of(context)
        call = await session.admit(
            context.tool_name,
            context.tool_arguments,
            call_id=f"{wave_id}/{context.tool_call_id}",
            wave_id=wave_id,
            effect=effect_of(self._effects, context.tool_name),
        )
        self._withdrawn.get(session.id).hear(context.tool_name, call)
        if not call.may_go:
            return ToolGuardrailFunctionOutput.reject_content(call.text, call.trip)
        while len(self._running) >= CALLS_MAX:
            self._running.pop(next(iter(self._running)))
        self._running[id(context)] = _Running(context, call)
        return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        running = self._running.pop(id(data.context), None)
        if running is None:
            return ToolGuardrailFunctionOutput.allow()
        call, output = running.call, data.output
        is_text = isinstance(output, str)
        if running.error is not None:
            told = await call.failed(running.error)
            call.show(Result(), output if is_text else None)
        else:
            told = await call.tell(Result.of(output))
        self._withdrawn.get(self._session_of(data.context).id).hear(data.context.tool_name, call)
        # A rejection is the one way to add words, and it is text: an output of another kind stands alone.
        if told.replaces or (is_text and (told.text or call.notices)):
            return ToolGuardrailFunctionOutput.reject_content(call.text, told)
        return ToolGuardrailFunctionOutput.allow(told)

    def _wave_of(self, context: ToolContext[Any]) -> str:
        """The model's answer that this call is of: the run, which is known by its usage, and its count of answers."""
        usage = context.usage
        held = self._runs.get(id(usage))
        if held is None or held[0]() is not usage:
            held = (weakref.ref(usage), uuid.uuid4().hex)
            self._runs.pop(id(usage), None)
            while len(self._runs) >= CALLS_MAX:
                self._runs.pop(next(iter(self._runs)))
            self._runs[id(usage)] = held
        return f"{held[1]}/{usage.requests}"
