"""The proxy between the official Python client and real servers: what passes, what trips, what a crash looks like."""

import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

TRIPNOTE = os.environ["TRIPNOTE"]
EVERYTHING = ["node", os.environ["SERVER_EVERYTHING"], "stdio"]
FETCH = [sys.executable, "-m", "mcp_server_fetch", "--ignore-robots-txt"]
RECORDER = [sys.executable, str(Path(__file__).parent / "recorder.py")]
CONFIG = """
defaults.error_rate = { rules = [{ consecutive = 3 }], jitter = "0%", open_for = "60s" }
[log]
level = "error"
"""
# Nothing listens there.
DEAD = {"url": "http://127.0.0.1:9/"}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def proxy(folder: Path, server: list[str], *options: str) -> list[str]:
    """The proxy in front of a server, with a recorder on either side of it."""
    config = folder / "tripnote.toml"
    config.write_text(CONFIG)
    embedded = [TRIPNOTE, "mcp-proxy", "--embedded", "--config", str(config), *options, "--"]
    return [*RECORDER, str(folder / "outer"), *embedded, *RECORDER, str(folder / "inner"), *server]


def parameters(command: list[str]) -> StdioServerParameters:
    return StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))


@asynccontextmanager
async def session(command: list[str]):
    async with stdio_client(parameters(command)) as (reads, writes):
        async with ClientSession(reads, writes) as client:
            await client.initialize()
            yield client


def lines(folder: Path, side: str, way: str) -> list[bytes]:
    """What passed one side; a result may be overtaken while it is reported, so the order says nothing."""
    return sorted((folder / side / way).read_bytes().splitlines(keepends=True))


async def long_run(client: ClientSession, progress=None):
    return await client.call_tool(
        "trigger-long-running-operation", {"duration": 1, "steps": 4}, progress_callback=progress
    )


async def test_untouched_traffic_is_the_same_byte_for_byte(tmp_path):
    seen = []

    async def progress(done, total, message):
        seen.append((done, total))

    async with session(proxy(tmp_path, EVERYTHING)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert "echo" in tools
        await client.list_prompts()
        await client.list_resources()
        await client.send_ping()
        echoed = await client.call_tool("echo", {"message": "a “b” \\ c"})
        assert echoed.content[0].text == "Echo: a “b” \\ c"
        await client.call_tool("get-structured-content", {"location": "New York"})
        await client.call_tool("get-tiny-image", {})
        await long_run(client, progress)
    assert [done for done, _ in seen] == [1, 2, 3, 4], "progress passes through"
    for way in ("up", "down"):
        assert lines(tmp_path, "outer", way) == lines(tmp_path, "inner", way)
        assert len(lines(tmp_path, "outer", way)) > 8


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_failing_tool_trips_and_the_contract_is_text_and_object(tmp_path, era):
    async with Client(stdio_client(parameters(proxy(tmp_path, FETCH))), mode=era) as client:
        results = [await client.call_tool("fetch", DEAD) for _ in range(4)]
        others = await client.list_tools()
    assert [tool.name for tool in others.tools] == ["fetch"]
    assert all(result.is_error for result in results)
    for result in results[2:]:
        [block] = result.content
        contract = json.loads(block.text)
        assert contract["target"] == "fetch" and contract["action"] == "await_recovery", contract
        assert result.structured_content == contract
        assert result.meta["io.tripnote/trip"] == contract
    called = [line for line in lines(tmp_path, "inner", "up") if b'"tools/call"' in line]
    assert len(called) == 3, "the refused call never reached the server"


async def test_a_call_that_is_given_up_is_given_up_at_the_server(tmp_path):
    async with session(proxy(tmp_path, EVERYTHING)) as client:
        started = anyio.Event()

        async def progress(done, total, message):
            started.set()

        async def run():
            await client.call_tool(
                "trigger-long-running-operation", {"duration": 60, "steps": 600}, progress_callback=progress
            )

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await started.wait()
            group.cancel_scope.cancel()
        echoed = await client.call_tool("echo", {"message": "still here"})
        assert echoed.content[0].text == "Echo: still here"
    assert any(b'"notifications/cancelled"' in line for line in lines(tmp_path, "inner", "up"))
    assert lines(tmp_path, "outer", "up") == lines(tmp_path, "inner", "up")


async def test_a_crash_is_one_clear_error_and_the_server_is_started_again(tmp_path):
    async with session(proxy(tmp_path, EVERYTHING, "--restart")) as client:
        for _ in range(2):
            started = anyio.Event()
            errors = []

            async def progress(done, total, message):
                started.set()

            async def run():
                try:
                    await client.call_tool(
                        "trigger-long-running-operation", {"duration": 60, "steps": 600}, progress_callback=progress
                    )
                except MCPError as error:
                    errors.append(error.error)

            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await started.wait()
                os.kill(int((tmp_path / "inner" / "pid").read_text()), signal.SIGKILL)
            [error] = errors
            assert error.code == -32000 and "ended" in error.message, error
            echoed = await client.call_tool("echo", {"message": "back"})
            assert echoed.content[0].text == "Echo: back"


async def test_without_restart_the_proxy_ends_with_the_status_of_the_server(tmp_path):
    (tmp_path / "tripnote.toml").write_text(CONFIG)
    command = [TRIPNOTE, "mcp-proxy", "--embedded", "--", "sh", "-c", "exit 9"]
    ended = await anyio.run_process(command, check=False)
    assert ended.returncode == 9
