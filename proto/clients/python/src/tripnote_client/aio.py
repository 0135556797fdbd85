"""The asyncio client: what `blocking` is, for coroutines. It has one connection for each event loop that
uses it, one after another."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import grpc
import grpc.aio

from . import link
from .blocking import Client, delivered
from .call import ATTEMPTS_MAX, AWAY, UNSAID, CallState, ask_of, facts
from .link import METHODS, Pending, Settings, Voice
from .pb import breaker_pb2, session_pb2
from .values import Outcome, Result, Told, TripnoteError, WhenDown
from .wire import admit_request, fit, number, session_policy, told_of

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])

_current: contextvars.ContextVar[AsyncSession | None] = contextvars.ContextVar("tripnote_async_session", default=None)


class AsyncClient:
    """A connection to one service, as `Client`."""

    def __init__(
        self,
        address: str | None = None,
        *,
        caller: str = "",
        when_down: WhenDown = "by_effect",
        deadline: float = 0.25,
        retry_within: float = 5.0,
        payload_limit: int = 256 << 10,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        """As `Client`. Opens nothing before it is used."""
        self.settings = Settings(
            link.address_of(address), caller, when_down, deadline, payload_limit, retry_within, token
        )
        self.voice = Voice(self.settings, log or logging.getLogger("tripnote_client"))
        self.pending = Pending()
        self._credentials = credentials
        self._channel: grpc.aio.Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stall = link.Stall()
        self._methods: dict[str, Any] = {}

    @classmethod
    def beside(cls, client: Client, credentials: grpc.ChannelCredentials | None = None) -> AsyncClient:
        """One that shares a blocking client's settings, voice and waiting outcomes."""
        shared = cls(client.settings.address, credentials=credentials)
        shared.settings, shared.voice, shared.pending = client.settings, client.voice, client.pending
        return shared

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Reports what is still untold and closes the connection."""
        await self.flush()
        if self._channel is not None and self._loop is asyncio.get_running_loop():
            await self._channel.close()
            self._channel, self._methods = None, {}

    def session(
        self, session_id: str, *, policy: Mapping[str, Any] | None = None, caller: str | None = None
    ) -> AsyncSession:
        """An agent run. `policy` holds fields of `SessionPolicy` by their names in the protos."""
        return AsyncSession(self, session_id, policy, self.settings.caller if caller is None else caller)

    @asynccontextmanager
    async def guard(self, tool: str = "", arguments: Any = None, **ask: Any) -> AsyncIterator[AsyncCall]:
        """One call that belongs to no session: breakers, and no more."""
        async with AsyncSession(self, "", None, self.settings.caller).guard(tool, arguments, **ask) as call:
            yield call

    async def flush(self) -> None:
        """Sends outcomes that wait for the next admit."""
        outcomes = self.pending.take()
        if outcomes and await self.ask("Report", breaker_pb2.ReportRequest(outcomes=outcomes)) is None:
            self.pending.give_back(outcomes)

    async def ask(self, method: str, request: Any, *, is_repeatable: bool = True) -> Any:
        """One answer within the deadline; None where the service is away. A broken connection is tried once
        more, where the same request may be sent again."""
        self._connect()
        until = time.monotonic() + self.settings.deadline
        tries = 2 if is_repeatable else 1
        broken: grpc.RpcError | None = None
        for left_over in reversed(range(tries)):
            left = max(0.001, until - time.monotonic())
            try:
                answer = await self._methods[method](
                    request,
                    timeout=left,
                    metadata=self.settings.metadata,
                    # With news of an outage: it may just be being started anew.
                    wait_for_ready=left_over == 0 and tries > 1 and not self.voice.is_away,
                )
            except grpc.RpcError as error:
                if left_over > 0 and link.is_worth_another_try(error):
                    broken = error
                    continue
                # Of a service that is being waited for in vain, the first word is the telling one.
                cause = broken if broken is not None and link.is_late(error) else error
                if self._stall.is_due(cause) and self._channel is not None:
                    stalled, self._channel = self._channel, None
                    self._connect()  # Others may be about to use the old one, but a request on it has no hope.
                    await stalled.close(self.settings.deadline)
                self.voice.away(link.refuse_or_away(cause))
                return None
            else:
                self._stall.answered()
                self.voice.here()
                return answer
        return None

    def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        if self._channel is not None and self._loop is loop:
            return
        self._loop = loop
        options = link.options_of(self.settings.address)
        if self._credentials is None:
            channel = grpc.aio.insecure_channel(self.settings.address, options)
        else:
            channel = grpc.aio.secure_channel(self.settings.address, self._credentials, options)
        self._methods = {
            name: channel.unary_unary(
                link.path_of(name),
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )
            for name, (_, request, response) in METHODS.items()
        }
        self._channel = channel


class AsyncSession:
    """An agent run, as `Session`."""

    def __init__(self, client: AsyncClient, session_id: str, policy: Mapping[str, Any] | None, caller: str) -> None:
        self.client = client
        self.id = fit(session_id, 256)
        self.caller = fit(caller, 256)
        self.outcome: Outcome = ""
        self.success: bool | None = None
        self._policy = session_policy(policy) if policy else None
        self._told_in = -1
        self._token: contextvars.Token[AsyncSession | None] | None = None

    @property
    def ref(self) -> session_pb2.SessionRef:
        """Its name on the wire."""
        return session_pb2.SessionRef(session_id=self.id, caller=self.caller)

    async def __aenter__(self) -> AsyncSession:
        self._token = _current.set(self)
        await self._open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
        await self.close(self.outcome or ("abandoned" if kind else "answered"), success=self.success)

    async def close(self, outcome: Outcome = "", *, success: bool | None = None) -> None:
        """Ends it. Outcomes that wait are told first."""
        await self.client.flush()
        if not self.id:
            return
        request = session_pb2.CloseSessionRequest(
            session=self.ref,
            outcome=number(session_pb2.SessionOutcome, outcome),  # type: ignore[arg-type]
        )
        if success is not None:
            request.success = success
        try:
            await self.client.ask("CloseSession", request)
        except TripnoteError as error:
            if error.code != "not_found":  # It never called a tool, or the service was started anew.
                raise

    async def compacted(self) -> None:
        """The model's context was compacted: a repeat of what it forgot is forgiven once."""
        await self.client.ask("AdvanceContextEpoch", session_pb2.AdvanceContextEpochRequest(session=self.ref))

    async def review(self, answer: str, *, task_id: str = "") -> str:
        """Holds an answer against the evidence: what to tell the model, or an empty text where it may be shown."""
        request = session_pb2.ReviewAnswerRequest(session=self.ref, text=answer, task_id=task_id)
        reply = await self.client.ask("ReviewAnswer", request)
        is_sent_back = reply is not None and reply.verdict == session_pb2.REVIEW_VERDICT_SEND_BACK
        return str(reply.message) if is_sent_back else ""

    @asynccontextmanager
    async def guard(self, tool: str = "", arguments: Any = None, **ask: Any) -> AsyncIterator[AsyncCall]:
        """Asks about one call, as `Session.guard`."""
        call = await self.admit(tool, arguments, **ask)
        try:
            yield call
        except Exception as error:
            if call.is_open:
                await call.failed(error)
            raise
        except BaseException as error:  # Cancelled: no moment to await anything.
            if call.is_open:
                call.hold(call.read_error(error))
            raise
        if call.is_open:
            await call.tell(UNSAID)

    async def admit(self, tool: str = "", arguments: Any = None, **ask: Any) -> AsyncCall:
        """Asks about one call, which is then to be told with `answered`, `failed` or `judged`."""
        call = AsyncCall(self.client, ask_of(self.id, self.caller, tool, arguments, **ask))
        await self._open()
        reports = self.client.pending.take()
        request = admit_request(call.ask, reports)
        try:
            answer = await self.client.ask("Admit", request, is_repeatable=bool(call.ask.call_id))
        except BaseException:
            self.client.pending.give_back(reports)
            raise
        if answer is None:
            self.client.pending.give_back(reports)
            call.refusal = self.client.settings.refusal(call.ask)
        else:
            call.take_answer(answer)
        return call

    async def call(
        self,
        run: Callable[[], Awaitable[Any]],
        tool: str,
        arguments: Any = None,
        *,
        read: Callable[[Any], Result] = Result.of,
        passing: tuple[type[Exception], ...] = (),
        **ask: Any,
    ) -> AsyncCall:
        """Asks, runs, tells, as `Session.call`."""
        first = ask_of(self.id, self.caller, tool, arguments, **ask)
        ask["call_id"] = first.call_id or None
        for attempt in range(first.attempt, first.attempt + ATTEMPTS_MAX):
            ask["attempt"] = attempt
            async with self.guard(tool, arguments, **ask) as call:
                if not call.may_go:
                    return call
                try:
                    call.value = await run()
                except passing:
                    await call.tell(UNSAID)
                    raise
                except Exception as error:
                    told = await call.failed(error)
                else:
                    told = await call.tell(read(call.value))
            if told.retry_after is None or told.retry_after > self.client.settings.retry_within:
                return call
            await asyncio.sleep(told.retry_after)
        return call

    def guarded(self, **ask: Any) -> Callable[[F], F]:
        """`guarded` for this session."""
        return guarded(lambda: self, **ask)

    async def _open(self) -> None:
        lives = self.client.voice.lives
        if self._policy is None or self._told_in == lives:
            return
        request = session_pb2.OpenSessionRequest(session=self.ref, policy=self._policy)
        if await self.client.ask("OpenSession", request) is not None:
            self._told_in = self.client.voice.lives


class AsyncCall(CallState):
    """One call that was asked about, as `Call`."""

    def __init__(self, client: AsyncClient, ask: Any) -> None:
        super().__init__(ask)
        self._client = client

    async def answered(self, body: Any = None, **seen: Any) -> Told:
        """What came back, as `Call.answered`."""
        return await self.tell(facts(body, **seen))

    async def failed(self, error: BaseException) -> Told:
        """The call raised this."""
        return await self._report(self.read_error(error))

    async def judged(self, judgement: Any, kind: str = "", *, retry_after: float | None = None) -> Told:
        """Your own word: `ok`, `ignored`, or `failed` with the circuit that it counts against."""
        return await self.tell(Result(judged=judgement, judged_kind=kind, retry_after=retry_after))

    async def tell(self, result: Result, shown: str | None = None) -> Told:
        """Reports a result at once, as `Call.tell`."""
        self.show(result, shown)
        return await self._report(result)

    async def later(self, result: Result, shown: str | None = None) -> None:
        """Lets the outcome ride on the next admit, as `Call.later`."""
        self.show(result, shown)
        if self.is_probe or not self.hold(result):
            await self._report(result)

    def hold(self, result: Result) -> bool:
        """Keeps the outcome for the next admit; false where it is too large to be held."""
        if not self.is_guarded:
            self.told = AWAY
            return True
        is_held = self._client.pending.push(self.outcome(result, self._client.settings.payload_limit))
        if is_held:
            self.told = Told(disposition="deliver")
        return is_held

    async def _report(self, result: Result) -> Told:
        if not self.is_guarded:
            self.told = AWAY
            return self.told
        outcome = self.outcome(result, self._client.settings.payload_limit)
        answer = await self._client.ask("Report", breaker_pb2.ReportRequest(outcomes=[outcome]))
        if answer is None:
            self._client.pending.push(outcome)
            self.told = AWAY
            return self.told
        said = answer.results[0]
        if said.HasField("error"):
            raise TripnoteError("invalid_argument", f"{said.error.field}: {said.error.message}")
        is_our_cut = outcome.payload.truncated_by_caller and not result.truncated
        self.told = told_of(self.ask, said.ack, is_our_cut=is_our_cut)
        if self.told.acknowledgement == "unknown":
            self._client.voice.forgot()
        return self.told


def guarded(session: Callable[[], AsyncSession] | None = None, *, tool: str = "", **ask: Any) -> Callable[[F], F]:
    """The decorator of `tripnote_client.guarded`, for coroutine functions."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        name: str = getattr(function, "__name__", "tool")

        @functools.wraps(function)
        async def guarded_function(*args: Any, **kwargs: Any) -> Any:
            of = session() if session else _current.get()
            if of is None:
                raise RuntimeError(f"`{name}` is guarded and was called outside of a session")
            arguments = dict(signature.bind(*args, **kwargs).arguments)
            return delivered(await of.call(lambda: function(*args, **kwargs), tool or name, arguments, **ask))

        return guarded_function  # type: ignore[return-value]

    return decorate


__all__: Sequence[str] = ["AsyncCall", "AsyncClient", "AsyncSession", "guarded"]
