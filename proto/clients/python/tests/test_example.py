"""The example agent, as a reader runs it."""

from __future__ import annotations

import runpy
from collections.abc import Iterator

import pytest
from harness import REPOSITORY, Server, free_port

CLIENTS = REPOSITORY / "proto" / "clients"


def main(address: str) -> dict[str, int]:
    return runpy.run_path(str(CLIENTS / "python" / "examples" / "agent.py"))["main"](address)  # type: ignore[no-any-return]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server((CLIENTS / "example.toml").read_text()) as server:
        yield server


def test_the_model_goes_where_the_contract_sends_it(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(server.address) == {"charged": 5, "calls": 8, "requests_to_card": 3}
    assert '"action":"switch_to_fallback","breaker":"payments"' in capsys.readouterr().out


def test_without_the_service_nothing_that_changes_something_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"127.0.0.1:{free_port()}") == {"charged": 0, "calls": 30, "requests_to_card": 0}
    assert "charge_card: not called; the breaker service does not answer" in capsys.readouterr().out
