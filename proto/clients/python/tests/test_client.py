"""What the blocking client does with the service's answers."""

from __future__ import annotations

import pytest
from harness import Server, until

from tripnote_client import AsyncClient, Client, Result, TripnoteError, async_guarded, guarded
from tripnote_client.values import Trip

ORDERS = """
[[breaker]]
code = "orders"
targets = ["GET /orders"]
error_rate = { rules = [{ consecutive = 2 }], jitter = "0%" }

[[tool]]
match = "get_*"
effect = "read"
"""


def client_of(server: Server, **options: object) -> Client:
    return Client(server.address, deadline=5, **options)  # type: ignore[arg-type]


def trip_orders(client: Client, target: str = "GET /orders") -> None:
    for _ in range(2):
        with client.guard(target=target) as call:
            call.answered("gone", http_status=503)


@pytest.fixture
def orders() -> object:
    with Server(ORDERS) as server:
        yield server


def test_a_trip_is_a_value_whose_text_is_the_contract(orders: Server) -> None:
    with client_of(orders) as client:
        trip_orders(client)
        with client.guard(target="GET /orders") as call:
            assert not call.may_go
        trip = call.trip
        assert isinstance(trip, Trip)
        nine = (trip.action, trip.breaker, trip.target, trip.signal, trip.fallback)
        assert nine == ("await_recovery", "orders", "GET /orders", "error_rate", "none")
        assert trip.text == str(trip) == call.text
        assert trip.text.startswith('{"action":"await_recovery","breaker":"orders"')
        assert trip.variant == "contract" and trip.urgency == "crash"
        assert trip.retry_after is not None and trip.retry_after > 1


def test_an_exception_is_reported_as_what_it_is_and_goes_on(orders: Server) -> None:
    with client_of(orders) as client:
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError), client.guard(target="GET /orders"):
                raise ConnectionRefusedError
        with client.guard(target="GET /orders") as call:
            assert not call.may_go


@pytest.mark.parametrize("told", ["nothing", "no facts", "ignored", "cancelled"])
def test_what_says_nothing_of_the_target_counts_for_nothing(orders: Server, told: str) -> None:
    with client_of(orders) as client:
        for _ in range(4):
            with client.guard(target="GET /orders") as call:
                if told == "no facts":
                    call.answered()
                if told == "ignored":
                    call.judged("ignored")
                if told == "cancelled":
                    call.answered(error="cancelled_by_caller")
            assert call.may_go


def test_outcomes_ride_on_the_next_admit(orders: Server) -> None:
    with client_of(orders) as client:
        sent: list[str] = []
        ask = client.ask
        client.ask = lambda method, *a, **k: (sent.append(method), ask(method, *a, **k))[1]  # type: ignore[method-assign]
        for _ in range(2):
            with client.guard(target="GET /orders") as call:
                call.later(Result(http_status=503))
            assert call.may_go
        with client.guard(target="GET /orders") as call:
            assert not call.may_go, "both outcomes arrived with this very request"
        assert sent == ["Admit", "Admit", "Admit"]


def test_outcomes_that_ride_are_told_when_the_client_closes(orders: Server) -> None:
    with client_of(orders) as client:
        for _ in range(2):
            with client.guard(target="GET /orders") as call:
                call.later(Result(http_status=503))
    with client_of(orders) as client, client.guard(target="GET /orders") as call:
        assert not call.may_go


def test_a_decorated_function_is_a_guarded_tool(orders: Server) -> None:
    @guarded(target="GET /orders")
    def list_orders(customer: str) -> object:
        if customer == "nobody":
            return Result(body="gone", http_status=503)
        return [{"order": 7, "customer": customer}]

    with client_of(orders) as client, client.session("run"):
        assert list_orders("ann") == [{"order": 7, "customer": "ann"}]
        gone = "list_orders: unavailable, signal error_rate, class transport; nothing was measured"
        assert list_orders(customer="nobody") == gone
        assert '"breaker":"orders"' in list_orders("nobody")
        assert list_orders("ann").startswith('{"action":"await_recovery"')
    with pytest.raises(RuntimeError, match="outside of a session"):
        list_orders("ann")


async def test_coroutine_functions_have_a_decorator_of_their_own(orders: Server) -> None:
    @async_guarded(target="GET /orders")
    async def list_orders(customer: str) -> list[str]:
        if customer == "nobody":
            raise ConnectionRefusedError
        return [customer]

    async with AsyncClient(orders.address, deadline=5) as client, client.session("run"):
        assert await list_orders("ann") == ["ann"]
        assert str(await list_orders("nobody")).startswith("list_orders: unavailable, ")
        assert '"breaker":"orders"' in str(await list_orders("nobody"))
    with pytest.raises(TypeError, match="async_guarded"):
        guarded()(list_orders)


def test_a_passing_fault_of_a_read_is_tried_again_and_the_model_hears_nothing(orders: Server) -> None:
    answers = iter([Result(body="busy", http_status=503, headers={"retry-after": "0"}), "12 boots"])
    with client_of(orders) as client, client.session("run") as session:
        call = session.call(lambda: next(answers), "get_stock", {"shelf": 7})
    assert (call.text, call.ask.attempt) == ("12 boots", 2)


def test_who_will_not_wait_gives_the_model_the_line_of_the_failure(orders: Server) -> None:
    with client_of(orders, retry_within=0.0) as client, client.session("run") as session:
        call = session.call(lambda: Result(body="busy", http_status=503), "get_stock", {"shelf": 7})
    assert call.text == "get_stock: unavailable, signal error_rate, class transport; nothing was measured"


def test_a_steer_stands_under_a_usable_result(orders: Server) -> None:
    with client_of(orders) as client, client.session("run") as session:
        texts = [session.call(lambda: "12 boots", "count", {"shelf": 7}).text for _ in range(3)]
    assert texts[:2] == ["12 boots", "12 boots"]
    result, contract = texts[2].split("\n")
    assert result == "12 boots" and contract.startswith('{"action":"change_route"')


def test_a_session_has_its_policy_and_ends_with_its_block(orders: Server) -> None:
    policy = {"allow": ["get_*"], "thresholds": {"steer_at": 2}}
    with client_of(orders) as client:
        with client.session("run", policy=policy) as session, session.guard("drop_table") as call:
            assert call.trip is not None and call.trip.signal == "scope_creep"
        with client.session("run") as session, session.guard("drop_table") as call:
            assert call.may_go, "the first run ended, and its policy with it"


def test_asking_again_for_one_call_is_safe(orders: Server) -> None:
    with client_of(orders) as client, client.session("run") as session:
        permits = {session.admit("count", call_id="call-1").permit for _ in range(3)}
    assert len(permits) == 1


def test_a_malformed_request_is_an_error_of_the_program(orders: Server) -> None:
    with client_of(orders) as client, pytest.raises(TripnoteError, match="tool_name") as raised, client.guard():
        pass
    assert raised.value.code == "invalid_argument"
    with client_of(orders) as client, pytest.raises(ValueError, match="read, mutate, unknown"):
        client.session("run").admit("count", effect="write")


def test_a_tool_that_returns_nothing_went_well_and_is_no_empty_answer(orders: Server) -> None:
    with client_of(orders) as client, client.session("run") as session:
        for n in range(8):
            call = session.call(lambda: None, "save_note", {"n": n})
            assert call.told is not None and (call.told.disposition, call.text) == ("deliver", "")


def test_what_only_the_client_cut_is_whole_for_the_model(orders: Server) -> None:
    rows = [{"row": n} for n in range(40_000)]
    with client_of(orders) as client, client.session("run") as session:
        ours = session.call(lambda: rows, "list_rows", {"page": 1})
        theirs = session.call(lambda: Result(body="[1,2", truncated=True), "list_rows", {"page": 2})
    assert ours.text.endswith('{"row":39999}]')
    assert theirs.text == "[1,2\npartial: cite what is in it, never a total or a rate"


def test_names_and_payloads_are_kept_within_the_bounds(orders: Server) -> None:
    with client_of(orders) as client, client.session("s" * 300) as session:
        with session.guard("t" * 600, {"q": "x" * (2 << 20)}, call_id="c" * 300, wave_id="w" * 300) as call:
            told = call.answered("y" * (1 << 20), headers={f"x-{n}": "v" for n in range(100)} | {"x-long": "v" * 9_000})
    assert (told.acknowledgement, told.observation) == ("counted", "truncated")


def test_a_compacted_context_is_forgiven_one_repeat(orders: Server) -> None:
    with client_of(orders) as client, client.session("run") as session:
        for _ in range(2):
            assert session.call(lambda: "[]", "search", {"q": "boots"}).text == "[]"
            session.compacted()


def test_an_answer_without_evidence_is_sent_back_once(orders: Server) -> None:
    with client_of(orders) as client, client.session("run") as session:
        session.call(lambda: "[]", "search", {"q": "boots"})
        said = [session.review("The root cause is the connection pool.") for _ in range(2)]
    assert said[0].startswith("ANSWER REVIEW: sent back (no_usable_evidence).")
    assert said[1] == ""


def test_a_model_hears_that_what_was_shut_is_open_again_and_hears_it_once() -> None:
    config = """
[[breaker]]
code = "orders"
targets = ["orders"]
error_rate = { rules = [{ consecutive = 1 }], open_for = "1s", jitter = "0%" }
"""
    with Server(config, clock=None) as server:
        with client_of(server) as client, client.session("run") as session:
            session.call(lambda: Result(http_status=503), "orders")
            assert '"state":"open until' in session.admit("orders").text
            until(lambda: session.call(lambda: "fine", "orders").may_go)
            texts = [session.call(lambda: "fine", "stock").text for _ in range(2)]
    assert texts[0].startswith("fine\norders closed at ") and texts[1] == "fine"


def test_a_breaker_in_shadow_refuses_nothing_and_says_what_it_would() -> None:
    with Server(ORDERS.replace("rules =", "shadow = true, rules =")) as server:
        with client_of(server) as client:
            trip_orders(client)
            with client.guard(target="GET /orders") as call:
                assert call.may_go and call.shadow_trip is not None and call.shadow_trip.breaker == "orders"


async def test_a_sidecar_is_reached_over_its_socket() -> None:
    with Server(ORDERS, is_socket=True) as server:
        with client_of(server) as client, client.guard(target="GET /orders") as call:
            assert call.is_guarded
        async with AsyncClient(server.address, deadline=5) as other, other.guard(target="GET /orders") as asked:
            assert asked.is_guarded
