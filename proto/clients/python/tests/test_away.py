"""The service is away: killed, frozen, started anew. Both clients, without a clock that stands still."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import Proxy, Server, free_port, until

from tripnote_client import AsyncClient, Client, WhenDown
from tripnote_client.link import Settings, Voice

TOOLS = """
[[breaker]]
code = "orders"
targets = ["orders"]
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(TOOLS, clock=None) as server:
        yield server


CASES: list[tuple[WhenDown, str, bool]] = [
    ("by_effect", "", True),
    ("by_effect", "read", True),
    ("by_effect", "unknown", True),
    ("by_effect", "mutate", False),
    ("go_on", "mutate", True),
    ("refuse", "read", False),
]


@pytest.mark.parametrize(("when_down", "effect", "goes"), CASES)
def test_whether_a_call_goes_on_where_nobody_answers(when_down: WhenDown, effect: str, goes: bool) -> None:
    with Client(f"127.0.0.1:{free_port()}", when_down=when_down) as client, client.session("run") as session:
        call = session.call(lambda: "done", "charge", effect=effect)
    if goes:
        assert call.text == "done"
    else:
        assert call.text.startswith("charge: not called; the breaker service does not answer and ")
        assert "\n" not in call.text and "again" not in call.text


def test_it_is_said_once_and_once_when_it_is_back(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Client(server.address, deadline=2) as client:
        server.kill()
        for _ in range(5):
            with client.guard(target="orders") as call:
                call.answered("fine")
        assert [record.getMessage() for record in caplog.records] == [
            f"tripnote at {server.address} does not answer (unavailable): calls that change something are refused,"
            " others go on unguarded"
        ]
        server.start()
        until(lambda: is_guarded(client))
        assert [record.getMessage() for record in caplog.records][1:] == [
            f"tripnote at {server.address} answers again: calls are guarded"
        ]


def test_a_service_that_comes_and_goes_is_spoken_of_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0]
    voice = Voice(Settings("here"), logging.getLogger("t"), now=lambda: clock[0])
    for clock[0] in range(0, 120, 10):
        voice.away("overloaded")
        voice.here()
    assert [record.getMessage().split(" ")[3] for record in caplog.records] == ["does", "answers", "does", "answers"]


def is_guarded(client: Client) -> bool:
    with client.guard(target="orders") as call:
        return call.is_guarded


async def is_guarded_async(client: AsyncClient) -> bool:
    async with client.guard(target="orders") as call:
        return call.is_guarded


def test_a_restart_between_two_calls_is_not_noticed(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with Client(server.address, deadline=5) as client, client.session("run") as session:
        for _ in range(3):
            with session.guard("orders") as call:
                assert call.is_guarded
                call.answered("fine")
            server.kill()
            server.start()
    assert caplog.records == []


async def test_a_restart_between_two_calls_is_not_noticed_by_asyncio(server: Server) -> None:
    async with AsyncClient(server.address, deadline=5) as client, client.session("run") as session:
        for _ in range(3):
            async with session.guard("orders") as call:
                assert call.is_guarded
                await call.answered("fine")
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)


def test_what_was_under_way_when_the_service_died_is_asked_again(server: Server) -> None:
    with Client(server.address, deadline=8) as client, client.session("run") as session:
        until(lambda: is_guarded(client))
        server.freeze()
        with ThreadPoolExecutor() as elsewhere:
            asked = elsewhere.submit(session.admit, "orders")
            time.sleep(0.1)
            server.kill()
            server.start()
            assert asked.result().is_guarded


def test_a_permit_from_before_a_restart_is_unknown_and_harms_nobody(server: Server) -> None:
    with Client(server.address, deadline=5) as client, client.session("run") as session:
        call = session.admit("orders")
        server.kill()
        server.start()
        assert call.answered("fine").acknowledgement == "unknown"
        assert call.text == "fine"


def test_a_policy_is_told_again_after_a_restart(server: Server) -> None:
    with Client(server.address, deadline=1) as client:
        session = client.session("run", policy={"allow": ["orders"]})
        assert session.admit("drop_table").trip is not None
        server.kill()
        assert session.admit("orders").may_go
        server.start()
        until(lambda: is_guarded(client))
        assert session.admit("drop_table").trip is not None


def test_a_service_that_hangs_costs_one_deadline_and_no_more(server: Server) -> None:
    with Client(server.address, deadline=0.5) as client:
        until(lambda: is_guarded(client))
        server.freeze()
        began = time.monotonic()
        with client.guard(target="orders") as call:
            assert call.may_go and not call.is_guarded
        assert 0.4 < time.monotonic() - began < 5
        server.thaw()
        until(lambda: is_guarded(client))


async def test_a_service_that_hangs_costs_asyncio_one_deadline_and_blocks_no_loop(server: Server) -> None:
    async with AsyncClient(server.address, deadline=0.5) as client:
        while not await is_guarded_async(client):
            await asyncio.sleep(0.02)
        server.freeze()
        turns = 0

        async def spin() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        spinning = asyncio.create_task(spin())
        async with client.guard(target="orders", effect="mutate") as call:
            assert not call.may_go
        spinning.cancel()
        assert turns > 5, "the loop went on meanwhile"
        server.thaw()
        while not await is_guarded_async(client):
            await asyncio.sleep(0.02)


def test_a_connection_that_hangs_is_replaced(server: Server) -> None:
    proxy = Proxy(server.address)
    with Client(proxy.address, deadline=0.5) as client:
        until(lambda: is_guarded(client))
        proxy.hang()
        assert not is_guarded(client)
        until(lambda: is_guarded(client))
    proxy.close()


async def test_a_connection_that_hangs_is_replaced_by_asyncio(server: Server) -> None:
    proxy = Proxy(server.address)
    async with AsyncClient(proxy.address, deadline=0.5) as client:
        while not await is_guarded_async(client):
            await asyncio.sleep(0.02)
        proxy.hang()
        assert not await is_guarded_async(client)
        async with asyncio.timeout(10):
            while not await is_guarded_async(client):
                await asyncio.sleep(0.02)
    proxy.close()


async def test_asyncio_finds_a_service_that_comes_back(server: Server) -> None:
    async with AsyncClient(server.address, deadline=2) as client:
        server.kill()
        for _ in range(3):
            assert not await is_guarded_async(client)
        server.start()
        began = time.monotonic()
        while not await is_guarded_async(client):
            assert time.monotonic() < began + 10
            await asyncio.sleep(0.02)


async def test_a_cancelled_call_is_told_as_one_and_cancels_at_once(server: Server) -> None:
    async with AsyncClient(server.address, deadline=5) as client, client.session("run") as session:
        held = asyncio.Event()

        async def hang() -> None:
            held.set()
            await asyncio.sleep(3600)

        running = asyncio.create_task(session.call(hang, "orders"))
        await held.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        outcomes = client.pending.take()
        assert [outcome.transport.error_kind for outcome in outcomes] == [6], "cancelled_by_caller, for the next admit"


def test_a_report_that_did_not_arrive_rides_on_the_next_admit(server: Server) -> None:
    with Client(server.address, deadline=0.5) as client, client.session("run") as session:
        call = session.admit("orders")
        server.freeze()
        assert call.answered("fine").disposition == "away"
        server.thaw()
        until(lambda: session.admit("orders").is_guarded)
        assert client.pending.take() == []


def test_what_waits_is_bounded(server: Server) -> None:
    with Client(server.address, deadline=0.1) as client, client.session("run") as session:
        calls = [session.admit("orders", effect="read") for _ in range(80)]
        server.kill()
        for call in calls:
            call.answered("x" * 30_000)
        held = client.pending.take()
        assert 0 < len(held) <= 64 and sum(outcome.ByteSize() for outcome in held) <= 1 << 20


def test_a_setting_that_is_none_is_refused_with_what_would_be_right() -> None:
    with pytest.raises(ValueError, match="go_on, refuse or by_effect"):
        Client(when_down="open")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="above 0"):
        AsyncClient(deadline=0)


def test_asyncio_serves_one_loop_after_another(server: Server) -> None:
    client = AsyncClient(server.address, deadline=5)
    assert all(asyncio.run(is_guarded_async(client)) for _ in range(3))
