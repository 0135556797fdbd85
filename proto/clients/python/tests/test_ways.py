"""The script that every way in must answer with the same texts, byte for byte."""

from __future__ import annotations

from typing import Any

from harness import Server, scenario

from tripnote_client import AsyncClient, Client

GO = "go"
DELIVER = "deliver"


def expected(line: dict[str, Any]) -> str:
    if line["admit"] != GO:
        return str(line["admit"])
    return str(line["payload"] if line["report"] == DELIVER else line["report"])


def test_blocking(server: Server) -> None:
    lines = scenario()
    with Client(server.address, deadline=5) as client, client.session("ways") as session:
        for line in lines:
            with session.guard(line["tool"], line["arguments"], call_id=line["call_id"]) as call:
                assert call.may_go == (line["admit"] == GO), line["call_id"]
                if call.may_go:
                    call.answered(line["payload"])
            assert call.text == expected(line), line["call_id"]
    assert len(lines) == 9


def test_blocking_where_the_tool_says_that_it_failed(server: Server) -> None:
    with Client(server.address, deadline=5) as client, client.session("ways") as session:
        for line in scenario():
            with session.guard(line["tool"], line["arguments"]) as call:
                if call.may_go:
                    call.answered(line["payload"], is_tool_error=line["failed"])
            assert call.text == expected(line), line["call_id"]


def test_blocking_by_exceptions(server: Server) -> None:
    with Client(server.address, deadline=5) as client, client.session("ways") as session:
        for line in scenario():

            def tool(line: dict[str, Any] = line) -> str:
                if line["failed"]:
                    raise RuntimeError(line["payload"])
                return str(line["payload"])

            assert session.call(tool, line["tool"], line["arguments"]).text == expected(line), line["call_id"]


async def test_asyncio(server: Server) -> None:
    async with AsyncClient(server.address, deadline=5) as client, client.session("ways") as session:
        for line in scenario():
            async with session.guard(line["tool"], line["arguments"]) as call:
                if call.may_go:
                    await call.answered(line["payload"])
            assert call.text == expected(line), line["call_id"]
