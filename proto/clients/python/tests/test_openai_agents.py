"""The guardrails inside real runs of the OpenAI Agents SDK, with a model that reads from a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from harness import Server, free_port, scenario
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tripnote_client import AsyncClient
from tripnote_client.call import CallState
from tripnote_client.openai_agents import ToolGuards

set_tracing_disabled(True)


class Script(Model):
    """Says what is written, and keeps what it was shown."""

    def __init__(self, *steps: list[tuple[str, str]]) -> None:
        self.steps, self.seen, self.offered, self.at = steps, [], [], 0  # type: ignore[var-annotated]

    async def get_response(self, *, input: Any, tools: Any, **_: Any) -> ModelResponse:  # type: ignore[override]
        self.seen = list(input)
        self.offered.append([tool.name for tool in tools])
        output: list[Any] = [
            ResponseFunctionToolCall(
                type="function_call", call_id=f"call_{self.at}_{i}", name=name, arguments=arguments
            )
            for i, (name, arguments) in enumerate(self.steps[self.at] if self.at < len(self.steps) else [])
        ]
        self.at += 1
        if not output:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = [
                ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            ]
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)

    async def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield

    def told(self) -> list[Any]:
        return [item["output"] for item in self.seen if item.get("type") == "function_call_output"]


def tool_of(name: str, run: Callable[[str, str], Any]) -> FunctionTool:
    """A tool as `function_tool` makes it, error handling included, that takes any arguments."""

    async def call(arguments: str) -> Any:
        return run(name, arguments)

    call.__name__ = name
    made = function_tool(call)
    return made


def quoted(arguments: Any) -> str:
    import json

    return json.dumps({"arguments": json.dumps(arguments)})


async def run(model: Script, tools: list[Any]) -> None:
    agent = Agent(name="clerk", model=model, tools=tools)
    await Runner.run(agent, "do it", max_turns=30, run_config=RunConfig(tracing_disabled=True))


@pytest.mark.parametrize("fails_by", ["answer", "exception"])
async def test_the_model_sees_exactly_the_texts_of_the_script(server: Server, fails_by: str) -> None:
    lines = scenario()
    answers = iter([line for line in lines if "payload" in line])

    def answer(_: str, __: str) -> str:
        line = next(answers)
        if line["failed"] and fails_by == "exception":
            raise RuntimeError(line["payload"])
        return str(line["payload"])

    model = Script(*([(line["tool"], quoted(line["arguments"]))] for line in lines))
    async with AsyncClient(server.address, deadline=5) as client, client.session("run") as session:
        guards = ToolGuards(session)
        tools = guards.guard(*(tool_of(name, answer) for name in sorted({line["tool"] for line in lines})))
        await run(model, tools)
    for line, told in zip(lines, model.told(), strict=True):
        text = line["admit"] if line["admit"] != "go" else line["report"]
        assert told == (line["payload"] if text == "deliver" else text), line["call_id"]
    assert next(answers, None) is None
    assert not [told for told in model.told() if "try again" in told]


@pytest.fixture
def strict() -> Iterator[Server]:
    with Server(
        """
[[breaker]]
code = "payments"
targets = ["charge_card"]
fallback = { name = "charge_backup" }
error_rate = { rules = [{ consecutive = 1 }], open_for = "30s", jitter = "0%" }

[[tool]]
match = "get_*"
effect = "read"
"""
    ) as server:
        yield server


def down(_: str, __: str) -> str:
    raise ConnectionRefusedError


async def test_a_shut_tool_leaves_the_models_list_where_that_is_wished(strict: Server) -> None:
    model = Script([("charge_card", quoted(1))], [("charge_backup", quoted(1))])
    async with AsyncClient(strict.address, deadline=5) as client, client.session("run") as session:
        guards = ToolGuards(lambda _: session, hide_withdrawn=True)
        await run(model, guards.guard(tool_of("charge_card", down), tool_of("charge_backup", lambda *_: "charged")))
    assert model.offered == [["charge_card", "charge_backup"], ["charge_backup"], ["charge_backup"]]
    refused, charged = model.told()
    assert refused.startswith('{"action":"switch_to_fallback","breaker":"payments"')
    assert charged == "charged"


async def test_twins_of_one_answer_are_one_wave(strict: Server) -> None:
    refused = asyncio.Event()

    def take(call: CallState, answer: Any, take: Any = CallState.take_answer) -> None:
        take(call, answer)
        if call.trip is not None:
            refused.set()

    async def count(arguments: str) -> str:
        await asyncio.wait_for(refused.wait(), 10)
        return "12 boots"

    twin = ("count", quoted({"q": "x"}))
    model = Script([twin, twin])
    async with AsyncClient(strict.address, deadline=5) as client, client.session("run") as session:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CallState, "take_answer", take)
            await run(model, ToolGuards(session).guard(function_tool(count)))
    texts = sorted(model.told())
    assert texts[0] == "12 boots" and '"signal":"fan_out"' in texts[1]


async def test_where_a_silent_retry_would_be_right_the_model_sees_the_line_of_the_failure(strict: Server) -> None:
    model = Script([("get_stock", quoted({}))])
    async with AsyncClient(strict.address, deadline=5) as client, client.session("run") as session:
        await run(model, ToolGuards(session).guard(tool_of("get_stock", down)))
    assert model.told() == ["get_stock: unavailable, signal error_rate, class transport; nothing was measured"]


async def test_a_tool_that_ends_the_run_is_told_all_the_same(strict: Server) -> None:
    async def charge_card(arguments: str) -> str:
        raise ConnectionRefusedError

    tool = function_tool(charge_card, failure_error_function=None)
    async with AsyncClient(strict.address, deadline=5) as client, client.session("run") as session:
        with pytest.raises((ConnectionRefusedError, UserError)):
            await run(Script([("charge_card", quoted(1))]), ToolGuards(session).guard(tool))
        async with client.guard("charge_card") as call:
            assert call.trip is not None and call.trip.breaker == "payments"


async def test_a_tool_that_is_too_slow_for_the_framework_is_reported_as_timed_out(strict: Server) -> None:
    async def get_stock(arguments: str) -> str:
        await asyncio.sleep(3600)
        return "12 boots"

    model = Script([("get_stock", quoted({}))])
    async with AsyncClient(strict.address, deadline=5) as client, client.session("run") as session:
        await run(model, ToolGuards(session).guard(function_tool(get_stock, timeout=0.05)))
    assert model.told() == ["get_stock: unavailable, signal latency, class transport; nothing was measured"]


async def test_a_tools_own_words_stand_where_the_service_has_none() -> None:
    async def charge(arguments: str) -> str:
        raise ValueError("no such card")

    tool = function_tool(charge, failure_error_function=lambda _, error: f"sorry: {error}")
    model = Script([("charge", quoted(1))])
    async with AsyncClient(f"127.0.0.1:{free_port()}") as client:
        await run(model, ToolGuards(client.session("run")).guard(tool))
    assert model.told() == ["sorry: no such card"]


@pytest.mark.parametrize(("effect", "text"), [("mutate", "charge_card: not called"), ("read", "charged")])
async def test_with_nobody_there_the_effect_decides(effect: Any, text: str) -> None:
    model = Script([("charge_card", quoted(1))])
    async with AsyncClient(f"127.0.0.1:{free_port()}") as client:
        guards = ToolGuards(client.session("run"), effects={"charge_card": effect})
        await run(model, guards.guard(tool_of("charge_card", lambda *_: "charged")))
    assert model.told()[0].startswith(text)
