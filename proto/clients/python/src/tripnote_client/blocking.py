"""The blocking client: a channel, sessions, calls. What it decides is when to ask again, when the service counts as
away, and what becomes of a report that did not arrive."""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc

from . import link
from .call import ATTEMPTS_MAX, AWAY, UNSAID, CallState, ask_of, facts
from .link import METHODS, Pending, Settings, Voice
from .pb import breaker_pb2, session_pb2
from .values import Outcome, Result, Told, TripnoteError, WhenDown
from .wire import admit_request, fit, number, session_policy, told_of

F = TypeVar("F", bound=Callable[..., Any])

_current: contextvars.ContextVar[Session | None] = contextvars.ContextVar("tripnote_session", default=None)


class Client:
    """A connection to one service. Safe to share between threads; `close` tells what is still untold."""

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
        """`address`: `host:port` or `unix:/path`; else TRIPNOTE_CONNECT, else 127.0.0.1:7171. `caller`: who asks.
        `deadline`: seconds for one answer, all tries together. `retry_within`: the longest silent wait, in seconds."""
        self.settings = Settings(
            link.address_of(address), caller, when_down, deadline, payload_limit, retry_within, token
        )
        self.voice = Voice(self.settings, log or logging.getLogger("tripnote_client"))
        self.pending = Pending()
        self._credentials = credentials
        self._stall = link.Stall()
        self._stalled: grpc.Channel | None = None
        self._connect()

    def _connect(self) -> None:
        options = link.options_of(self.settings.address)
        if self._credentials is None:
            self._channel = grpc.insecure_channel(self.settings.address, options)
        else:
            self._channel = grpc.secure_channel(self.settings.address, self._credentials, options)
        self._methods = {
            name: self._channel.unary_unary(
                link.path_of(name),
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )
            for name, (_, request, response) in METHODS.items()
        }

    def _replace(self) -> None:
        """Goes on over a new connection. The old one is closed with the next: other threads may be about to use it."""
        if self._stalled is not None:
            self._stalled.close()
        self._stalled = self._channel
        self._connect()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Reports what is still untold and closes the connection."""
        self.flush()
        self._channel.close()
        if self._stalled is not None:
            self._stalled.close()

    def session(
        self, session_id: str, *, policy: Mapping[str, Any] | None = None, caller: str | None = None
    ) -> Session:
        """An agent run. `policy` holds fields of `SessionPolicy` by their names in the protos."""
        return Session(self, session_id, policy, self.settings.caller if caller is None else caller)

    @contextmanager
    def guard(self, tool: str = "", arguments: Any = None, **ask: Any) -> Iterator[Call]:
        """One call that belongs to no session: breakers, and no more. Options as those of `Session.guard`."""
        with Session(self, "", None, self.settings.caller).guard(tool, arguments, **ask) as call:
            yield call

    def flush(self) -> None:
        """Sends outcomes that wait for the next admit."""
        outcomes = self.pending.take()
        if outcomes and self.ask("Report", breaker_pb2.ReportRequest(outcomes=outcomes)) is None:
            self.pending.give_back(outcomes)

    def ask(self, method: str, request: Any, *, is_repeatable: bool = True) -> Any:
        """One answer within the deadline; None where the service is away. A broken connection is tried once
        more, where the same request may be sent again."""
        until = time.monotonic() + self.settings.deadline
        tries = 2 if is_repeatable else 1
        broken: grpc.RpcError | None = None
        for left_over in reversed(range(tries)):
            left = max(0.001, until - time.monotonic())
            try:
                answer = self._methods[method](
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
                if self._stall.is_due(cause):
                    self._replace()
                self.voice.away(link.refuse_or_away(cause))
                return None
            else:
                self._stall.answered()
                self.voice.here()
                return answer
        return None


class Session:
    """An agent run. Used with `with`, it ends when the block ends: answered, or abandoned by an exception."""

    def __init__(self, client: Client, session_id: str, policy: Mapping[str, Any] | None, caller: str) -> None:
        self.client = client
        self.id = fit(session_id, 256)
        self.caller = fit(caller, 256)
        self.outcome: Outcome = ""
        """How it ended, where you know better than by whether the block raised."""
        self.success: bool | None = None
        """Whether the task was achieved, where you know it."""
        self._policy = session_policy(policy) if policy else None
        self._told_in = -1
        self._token: contextvars.Token[Session | None] | None = None

    @property
    def ref(self) -> session_pb2.SessionRef:
        """Its name on the wire."""
        return session_pb2.SessionRef(session_id=self.id, caller=self.caller)

    def __enter__(self) -> Session:
        self._token = _current.set(self)
        self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
        self.close(self.outcome or ("abandoned" if kind else "answered"), success=self.success)

    def close(self, outcome: Outcome = "", *, success: bool | None = None) -> None:
        """Ends it. Outcomes that wait are told first."""
        self.client.flush()
        if not self.id:
            return
        request = session_pb2.CloseSessionRequest(
            session=self.ref,
            outcome=number(session_pb2.SessionOutcome, outcome),  # type: ignore[arg-type]
        )
        if success is not None:
            request.success = success
        try:
            self.client.ask("CloseSession", request)
        except TripnoteError as error:
            if error.code != "not_found":  # It never called a tool, or the service was started anew.
                raise

    def compacted(self) -> None:
        """The model's context was compacted: a repeat of what it forgot is forgiven once."""
        self.client.ask("AdvanceContextEpoch", session_pb2.AdvanceContextEpochRequest(session=self.ref))

    def review(self, answer: str, *, task_id: str = "") -> str:
        """Holds an answer against the evidence: what to tell the model, or an empty text where it may be shown."""
        request = session_pb2.ReviewAnswerRequest(session=self.ref, text=answer, task_id=task_id)
        reply = self.client.ask("ReviewAnswer", request)
        is_sent_back = reply is not None and reply.verdict == session_pb2.REVIEW_VERDICT_SEND_BACK
        return str(reply.message) if is_sent_back else ""

    @contextmanager
    def guard(self, tool: str = "", arguments: Any = None, **ask: Any) -> Iterator[Call]:
        """Asks about one call. Inside, look at `may_go`, make the call and tell `answered`; an exception is reported as
        what it is and goes on. A call of which nothing is told is reported as such. `ask`: see `call.ask_of`."""
        call = self.admit(tool, arguments, **ask)
        try:
            yield call
        except Exception as error:
            if call.is_open:
                call.failed(error)
            raise
        except BaseException as error:  # Given up: not a moment for a request of our own.
            if call.is_open:
                call.later(call.read_error(error))
            raise
        if call.is_open:
            call.tell(UNSAID)

    def admit(self, tool: str = "", arguments: Any = None, **ask: Any) -> Call:
        """Asks about one call, which is then to be told with `answered`, `failed` or `judged`."""
        call = Call(self.client, ask_of(self.id, self.caller, tool, arguments, **ask))
        self._open()
        reports = self.client.pending.take()
        request = admit_request(call.ask, reports)
        try:
            answer = self.client.ask("Admit", request, is_repeatable=bool(call.ask.call_id))
        except TripnoteError:
            self.client.pending.give_back(reports)
            raise
        if answer is None:
            self.client.pending.give_back(reports)
            call.refusal = self.client.settings.refusal(call.ask)
        else:
            call.take_answer(answer)
        return call

    def call(
        self,
        run: Callable[[], Any],
        tool: str,
        arguments: Any = None,
        *,
        read: Callable[[Any], Result] = Result.of,
        passing: tuple[type[Exception], ...] = (),
        **ask: Any,
    ) -> Call:
        """Asks, runs, tells; waits and runs again where the service says that this is safe. `read` says what the
        returned value was as a result; exceptions of `passing` are no failures and go on. What the model sees is `text`
        of the call that comes back."""
        first = ask_of(self.id, self.caller, tool, arguments, **ask)
        ask["call_id"] = first.call_id or None
        for attempt in range(first.attempt, first.attempt + ATTEMPTS_MAX):
            ask["attempt"] = attempt
            with self.guard(tool, arguments, **ask) as call:
                if not call.may_go:
                    return call
                try:
                    call.value = run()
                except passing:
                    call.tell(UNSAID)
                    raise
                except Exception as error:
                    told = call.failed(error)
                else:
                    told = call.tell(read(call.value))
            if told.retry_after is None or told.retry_after > self.client.settings.retry_within:
                return call
            time.sleep(told.retry_after)
        return call

    def guarded(self, **ask: Any) -> Callable[[F], F]:
        """`guarded` for this session."""
        return guarded(lambda: self, **ask)

    def _open(self) -> None:
        """Tells the policy, again where the service may have forgotten it."""
        lives = self.client.voice.lives
        if self._policy is None or self._told_in == lives:
            return
        request = session_pb2.OpenSessionRequest(session=self.ref, policy=self._policy)
        if self.client.ask("OpenSession", request) is not None:
            self._told_in = self.client.voice.lives


class Call(CallState):
    """One call that was asked about."""

    def __init__(self, client: Client, ask: Any) -> None:
        super().__init__(ask)
        self._client = client

    def answered(self, body: Any = None, **seen: Any) -> Told:
        """What came back: `body` (text, bytes, or a value), and `http_status`, `headers`, `grpc_code`, `exit_code`,
        `error`, `content_type`, `truncated`, `is_tool_error` where they are known."""
        return self.tell(facts(body, **seen))

    def failed(self, error: BaseException) -> Told:
        """The call raised this."""
        return self._report(self.read_error(error))

    def judged(self, judgement: Any, kind: str = "", *, retry_after: float | None = None) -> Told:
        """Your own word: `ok`, `ignored`, or `failed` with the circuit that it counts against."""
        return self.tell(Result(judged=judgement, judged_kind=kind, retry_after=retry_after))

    def tell(self, result: Result, shown: str | None = None) -> Told:
        """Reports a result at once and says what to do with it. `shown`: its text for the model, where not its body."""
        self.show(result, shown)
        return self._report(result)

    def later(self, result: Result, shown: str | None = None) -> None:
        """Lets the outcome ride on the next admit: one request per call, and the model gets the result as it is. A
        probe, of which everybody waits to hear, and what is too large to be held go at once."""
        self.show(result, shown)
        if not self.is_guarded:
            self.told = AWAY
            return
        is_held = not self.is_probe and self._client.pending.push(
            self.outcome(result, self._client.settings.payload_limit)
        )
        if is_held:
            self.told = Told(disposition="deliver")
        else:
            self._report(result)

    def _report(self, result: Result) -> Told:
        if not self.is_guarded:
            self.told = AWAY
            return self.told
        outcome = self.outcome(result, self._client.settings.payload_limit)
        answer = self._client.ask("Report", breaker_pb2.ReportRequest(outcomes=[outcome]))
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


def guarded(session: Callable[[], Session] | None = None, *, tool: str = "", **ask: Any) -> Callable[[F], F]:
    """A decorator: the function becomes a tool whose calls are asked about and told. It returns what it returned, or
    the text for the model where the service has another word; an exception becomes such a text. Without `session`, the
    one whose `with` block runs."""

    def decorate(function: F) -> F:
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"`{function.__name__}` is a coroutine function; `async_guarded` is right for those")
        signature = inspect.signature(function)

        @functools.wraps(function)
        def guarded_function(*args: Any, **kwargs: Any) -> Any:
            of = session() if session else _current.get()
            if of is None:
                raise RuntimeError(f"`{function.__name__}` is guarded and was called outside of a session")
            arguments = dict(signature.bind(*args, **kwargs).arguments)
            call = of.call(lambda: function(*args, **kwargs), tool or function.__name__, arguments, **ask)
            return delivered(call)

        return guarded_function  # type: ignore[return-value]

    return decorate


def delivered(call: CallState) -> Any:
    """What a guarded function returns: its own value where that stands alone, else the text for the model."""
    is_plain = call.may_go and call.error is None and not call.notices
    if is_plain and (call.told is None or not call.told.text):
        return call.value.body if isinstance(call.value, Result) else call.value
    return call.text


__all__: Sequence[str] = ["Call", "Client", "Session", "guarded"]
