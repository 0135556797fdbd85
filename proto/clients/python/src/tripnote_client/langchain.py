"""LangChain and LangGraph: a middleware around every tool call, which takes shut tools out of the model's list.

```python
agent = create_agent(model, tools, middleware=[TripnoteMiddleware(effects={"charge_card": "mutate"})])
```

It should be the outermost of those that wrap tool calls: what it says stands in place of the framework's own texts. The
session is the thread, the wave is the AI message, the task is the last human message.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from .adapter import EffectOf, Lru, Withdrawn, effect_of, without_advice
from .aio import AsyncClient, AsyncSession
from .blocking import Client, Session
from .call import CallState
from .values import Result

Answer = ToolMessage | Command[Any]


class TripnoteMiddleware(AgentMiddleware):
    """Asks before each tool call and tells after it, in blocking and in asyncio runs."""

    def __init__(
        self,
        client: Client | str | None = None,
        *,
        effects: EffectOf | None = None,
        target_of: Callable[[ToolCallRequest], str] | None = None,
        session_of: Callable[[Any], str] | None = None,
        policy: Mapping[str, Any] | None = None,
        hide_withdrawn: bool = True,
        **options: Any,
    ) -> None:
        """`client`: one of yours, or an address; `options` as those of `Client`. `effects`: what the calls of a tool do
        (else `tool.metadata["effect"]`). `target_of`: what a call goes to, where one tool calls several things.
        `session_of`: the session's id from the runtime; default the thread's."""
        super().__init__()
        self.client = client if isinstance(client, Client) else Client(client, **options)
        self.async_client = AsyncClient.beside(self.client, options.get("credentials"))
        self._effects, self._target_of, self._session_of = effects, target_of, session_of
        self._sessions: Lru[Session] = Lru(lambda key: self.client.session(key, policy=policy))
        self._async_sessions: Lru[AsyncSession] = Lru(lambda key: self.async_client.session(key, policy=policy))
        self._withdrawn: Lru[Withdrawn] = Lru(lambda _: Withdrawn())
        self._hides = hide_withdrawn

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Around a tool call."""
        key = self._key(request.runtime, request.state)
        call = self._sessions.get(key).call(
            lambda: handler(request), read=read, passing=(GraphBubbleUp,), **self._ask(request)
        )
        return self._answer(key, request, call)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Around a tool call of an asyncio run."""
        key = self._key(request.runtime, request.state)
        call = await self._async_sessions.get(key).call(
            lambda: handler(request), read=read, passing=(GraphBubbleUp,), **self._ask(request)
        )
        return self._answer(key, request, call)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Around a model call: without the tools that cannot be called now."""
        return handler(self._offered(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Around a model call of an asyncio run."""
        return await handler(self._offered(request))

    def _key(self, runtime: Any, state: Any) -> str:
        if self._session_of is not None:
            return self._session_of(runtime)
        thread = _thread_id(runtime)
        if thread:
            return thread
        # Without a thread the run is its own: the first message's id stays for as long as the run does.
        first = next(iter(_messages(state)), None)
        return f"run:{first.id}" if first is not None and first.id else f"middleware:{id(self)}"

    def _ask(self, request: ToolCallRequest) -> dict[str, Any]:
        messages = _messages(request.state)
        call_id = request.tool_call.get("id") or ""
        name = request.tool_call["name"]
        wave_id = _wave_of(messages, call_id)
        return {
            "tool": name,
            "arguments": request.tool_call.get("args") or {},
            # Models may count their calls from 0 in each message.
            "call_id": f"{wave_id}/{call_id}" if call_id else None,
            "wave_id": wave_id,
            "task_id": next((m.id or "" for m in reversed(messages) if isinstance(m, HumanMessage)), ""),
            "effect": effect_of(self._effects, name, getattr(request.tool, "metadata", None)),
            "target": self._target_of(request) if self._target_of else "",
        }

    def _answer(self, key: str, request: ToolCallRequest, call: CallState) -> Answer:
        self._withdrawn.get(key).hear(request.tool_call["name"], call)
        answer = call.value
        if call.may_go and call.error is None and answer is not None:
            is_plain = not call.notices and (call.told is None or not call.told.text)
            return answer if is_plain else _with_words(answer, call)
        return _error(request, call.text)

    def _offered(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self._hides or request.tool_choice not in (None, "auto"):
            return request
        hidden = self._withdrawn.get(self._key(request.runtime, request.state)).tools()
        tools = [tool for tool in request.tools if _name(tool) not in hidden]
        return request if len(tools) == len(request.tools) else request.override(tools=tools)


def read(answer: Answer) -> Result:
    """What a handler returned, as a result of a tool."""
    message = _message(answer)
    if message is None:
        return Result(judged="ok")  # A command without a message: it changed the state as it should.
    if message.status == "error":
        return Result(body=without_advice(_text(message)), is_tool_error=True)
    return Result(body=_text(message))


def _with_words(answer: Answer, call: CallState) -> Answer:
    message = _message(answer)
    if message is None:
        return answer
    is_replaced = call.told is not None and call.told.replaces
    content: Any = call.content(_text(message))
    if not isinstance(message.content, str) and not is_replaced:
        content = [*message.content, {"type": "text", "text": call.content("").lstrip("\n")}]
    changes: dict[str, Any] = {"content": content}
    if is_replaced:
        changes |= {"status": "error", "artifact": None}
    spoken = message.model_copy(update=changes)
    if isinstance(answer, ToolMessage):
        return spoken
    update: Any = answer.update
    messages = [spoken if each is message else each for each in update["messages"]]
    return dataclasses.replace(answer, update={**update, "messages": messages})


def _error(request: ToolCallRequest, text: str) -> ToolMessage:
    return ToolMessage(
        content=text, tool_call_id=request.tool_call.get("id") or "", name=request.tool_call["name"], status="error"
    )


def _message(answer: Answer) -> ToolMessage | None:
    if isinstance(answer, ToolMessage):
        return answer
    update: Any = getattr(answer, "update", None)
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    messages = messages if isinstance(messages, list | tuple) else (messages,)
    return next((message for message in messages if isinstance(message, ToolMessage)), None)


def _text(message: ToolMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = [block if isinstance(block, str) else block.get("text") for block in message.content]
    told = [text for text in texts if isinstance(text, str)]
    return "\n".join(told) if told else json.dumps(message.content, default=str)


def _thread_id(runtime: Any) -> str:
    # The run's own configuration is the one place that model calls and tool calls both see.
    try:
        config: Any = get_config()
    except RuntimeError:
        config = getattr(runtime, "config", None) or {}
    thread = (config.get("configurable") or {}).get("thread_id")
    return str(thread) if thread else ""


def _messages(state: Any) -> list[Any]:
    if isinstance(state, Mapping):
        state = state.get("messages") or []
    elif not isinstance(state, list):
        state = getattr(state, "messages", None) or []
    return list(state)


def _wave_of(messages: list[Any], call_id: str) -> str:
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call.get("id") == call_id for call in message.tool_calls):
            return message.id or ""
    return ""


def _name(tool: Any) -> str:
    if isinstance(tool, Mapping):
        return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")
    return str(getattr(tool, "name", ""))
