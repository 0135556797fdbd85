"""The middleware inside real LangChain agents, with a model that reads from a script: what it sees is the contract."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from harness import Server, free_port, scenario
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import Field

from tripnote_client.call import CallState
from tripnote_client.langchain import TripnoteMiddleware


class Script(BaseChatModel):
    """Says what is written, and keeps what it was shown."""

    lines: list[AIMessage]
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.offered.append([each.name for each in tools])
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(list(messages))
        said = [message for message in messages if isinstance(message, AIMessage)]
        return ChatResult(generations=[ChatGeneration(message=self.lines[len(said)].model_copy(deep=True))])

    def told(self) -> list[ToolMessage]:
        return [message for message in self.seen[-1] if isinstance(message, ToolMessage)]


def asks(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"call_{i}"} for i, (n, a) in enumerate(calls)])


def tool_of(name: str, run: Callable[..., Any]) -> BaseTool:
    def call(**arguments: Any) -> Any:
        return run(name, arguments["arguments"])

    schema = {"type": "object", "properties": {"arguments": {"type": "object"}}, "required": ["arguments"]}
    return StructuredTool.from_function(call, name=name, description=name, args_schema=schema)


def run(agent: Any, how: str, said: Any = "do it", thread: str = "t1") -> Any:
    config: Any = {"configurable": {"thread_id": thread}}
    messages = said if isinstance(said, Command) else {"messages": [("user", said)]}
    if how == "blocking":
        return agent.invoke(messages, config)
    return asyncio.run(agent.ainvoke(messages, config))


@pytest.mark.parametrize("fails_by", ["answer", "exception"])
@pytest.mark.parametrize("how", ["blocking", "asyncio"])
def test_the_model_sees_exactly_the_texts_of_the_script(server: Server, how: str, fails_by: str) -> None:
    lines = scenario()
    answers = iter([line for line in lines if "payload" in line])

    def answer(name: str, arguments: dict[str, Any]) -> str:
        line = next(answers)
        assert (line["tool"], line["arguments"]) == (name, arguments)
        if line["failed"] and fails_by == "exception":
            raise RuntimeError(line["payload"])
        return str(line["payload"])

    tools = [tool_of(name, answer) for name in sorted({line["tool"] for line in lines})]
    model = Script(lines=[*(asks((n["tool"], {"arguments": n["arguments"]})) for n in lines), AIMessage("done")])
    middleware = TripnoteMiddleware(server.address, deadline=5)
    run(create_agent(model, tools, middleware=[middleware]), how)

    # The arguments are wrapped by the tool's schema, which no text of the script speaks of.
    for line, message in zip(lines, model.told(), strict=True):
        text = line["admit"] if line["admit"] != "go" else line["report"]
        assert message.content == (line["payload"] if text == "deliver" else text), line["call_id"]
        assert message.status == ("success" if text == "deliver" else "error"), line["call_id"]
    assert next(answers, None) is None


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


def down(_: str, __: Any) -> str:
    raise ConnectionRefusedError


@pytest.mark.parametrize("thread", ["t1", ""])
@pytest.mark.parametrize("how", ["blocking", "asyncio"])
def test_a_shut_tool_leaves_the_models_list(strict: Server, how: str, thread: str) -> None:
    charge, backup = tool_of("charge_card", down), tool_of("charge_backup", lambda *_: "charged")
    call = {"arguments": {"amount": 1}}
    model = Script(lines=[asks(("charge_card", call)), asks(("charge_backup", call)), AIMessage("done")])
    run(
        create_agent(model, [charge, backup], middleware=[TripnoteMiddleware(strict.address, deadline=5)]),
        how,
        thread=thread,
    )
    assert model.offered == [["charge_card", "charge_backup"], ["charge_backup"], ["charge_backup"]]
    refused, charged = model.told()
    assert str(refused.content).startswith('{"action":"switch_to_fallback","breaker":"payments"')
    assert charged.content == "charged"


def test_the_list_stays_whole_where_that_is_wished(strict: Server) -> None:
    model = Script(lines=[asks(("charge_card", {"arguments": {}})), AIMessage("done")])
    middleware = TripnoteMiddleware(strict.address, deadline=5, hide_withdrawn=False)
    run(create_agent(model, [tool_of("charge_card", down)], middleware=[middleware]), "blocking")
    assert model.offered == [["charge_card"], ["charge_card"]]


def test_a_passing_fault_of_a_read_is_tried_again_and_the_model_sees_the_result(strict: Server) -> None:
    faults = iter([TimeoutError()])

    def flaky(*_: Any) -> str:
        for fault in faults:
            raise fault
        return "12 boots"

    model = Script(lines=[asks(("get_stock", {"arguments": {}})), AIMessage("done")])
    middleware = TripnoteMiddleware(strict.address, deadline=5)
    run(create_agent(model, [tool_of("get_stock", flaky)], middleware=[middleware]), "blocking")
    assert [message.content for message in model.told()] == ["12 boots"]


def test_twins_of_one_ai_message_are_one_wave(strict: Server) -> None:
    middleware = TripnoteMiddleware(strict.address, deadline=5)
    both_asked = threading.Barrier(2, timeout=10)

    def refused(call: CallState, answer: Any, take: Any = CallState.take_answer) -> None:
        take(call, answer)
        if call.trip is not None:
            both_asked.wait()

    def count(*_: Any) -> str:
        both_asked.wait()
        return "12 boots"

    twin = {"arguments": {"q": "x"}}
    model = Script(lines=[asks(("get_stock", twin), ("get_stock", twin)), AIMessage("done")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallState, "take_answer", refused)
        run(create_agent(model, [tool_of("get_stock", count)], middleware=[middleware]), "blocking")
    texts = sorted(str(message.content) for message in model.told())
    assert texts[0] == "12 boots"
    assert '"signal":"fan_out"' in texts[1]


def test_the_frameworks_own_advice_does_not_reach_the_model(strict: Server) -> None:
    @tool
    def get_order(number: int) -> str:
        """An order."""
        return f"order {number}"

    model = Script(lines=[asks(("get_order", {"number": "seven"})), AIMessage("done")])
    run(create_agent(model, [get_order], middleware=[TripnoteMiddleware(strict.address, deadline=5)]), "blocking")
    (message,) = model.told()
    assert message.status == "error"
    assert str(message.content).startswith("get_order rejected the call: ")
    assert "try again" not in str(message.content)


def test_a_question_to_a_person_passes_through(strict: Server) -> None:
    @tool
    def ask_person() -> str:
        """Asks."""
        return f"they said {interrupt('may I?')}"

    model = Script(lines=[asks(("ask_person", {})), AIMessage("done")])
    middleware = TripnoteMiddleware(strict.address, deadline=5)
    agent = create_agent(model, [ask_person], middleware=[middleware], checkpointer=InMemorySaver())
    assert "__interrupt__" in run(agent, "blocking")
    run(agent, "blocking", Command(resume="yes"))
    assert [message.content for message in model.told()] == ["they said yes"]


def test_a_command_keeps_its_update(strict: Server) -> None:
    @tool
    def get_note(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Notes."""
        return Command(update={"messages": [ToolMessage("503 Service Unavailable", tool_call_id=tool_call_id)]})

    model = Script(lines=[asks(("get_note", {})), AIMessage("done")])
    middleware = TripnoteMiddleware(strict.address, deadline=5, retry_within=0.0)
    run(create_agent(model, [get_note], middleware=[middleware]), "blocking")
    line = "get_note: unavailable, signal error_rate, class transport; nothing was measured"
    assert [message.content for message in model.told()] == [line]


@pytest.mark.parametrize(("effect", "text"), [("mutate", "charge_card: not called"), ("read", "charged")])
def test_with_nobody_there_the_effect_decides(effect: Any, text: str) -> None:
    model = Script(lines=[asks(("charge_card", {"arguments": {}})), AIMessage("done")])
    middleware = TripnoteMiddleware(f"127.0.0.1:{free_port()}", effects={"charge_card": effect})
    run(create_agent(model, [tool_of("charge_card", lambda *_: "charged")], middleware=[middleware]), "blocking")
    (message,) = model.told()
    assert str(message.content).startswith(text)
