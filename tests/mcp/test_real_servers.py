"""The proxy between the official Python client and real servers: what passes, what trips, what a crash looks like."""

import json
import os
import signal
import socket
import subprocess
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


@asynccontextmanager
async def behind_http(command: list[str], port: int):
    """A server that listens; the proxy's way to it."""
    server = subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert server.poll() is None, "the server ended"
                await anyio.sleep(0.05)
        yield server
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def proxy_to(folder: Path, port: int) -> list[str]:
    config = folder / "tripnote.toml"
    config.write_text(CONFIG)
    embedded = [TRIPNOTE, "mcp-proxy", "--embedded", "--config", str(config)]
    return [*RECORDER, str(folder / "outer"), *embedded, "--url", f"http://127.0.0.1:{port}/mcp"]


async def test_a_server_behind_http_works_as_one_on_pipes(tmp_path):
    port, seen = free_port(), []

    async def progress(done, total, message):
        seen.append(done)

    async with behind_http([*EVERYTHING[:-1], "streamableHttp"], port):
        async with session(proxy_to(tmp_path, port)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert "echo" in tools
            await client.list_prompts()
            echoed = await client.call_tool("echo", {"message": "a “b”"})
            assert echoed.content[0].text == "Echo: a “b”"
            await long_run(client, progress)
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_tool_behind_http_trips_and_a_server_that_is_gone_is_a_failure(tmp_path, era):
    port = free_port()
    async with behind_http([sys.executable, "shop.py", str(port)], port) as server:
        async with Client(stdio_client(parameters(proxy_to(tmp_path, port))), mode=era) as client:
            await client.list_tools()
            stocked = await client.call_tool("stock", {"shelf": 7})
            assert not stocked.is_error and stocked.content[0].text == "7: 12 boots"
            charged = [await client.call_tool("charge", {"amount": n}) for n in range(4)]
            contracts = [json.loads(result.content[-1].text) for result in charged[2:]]
            assert [contract["target"] for contract in contracts] == ["charge", "charge"]
            server.kill()
            server.wait()
            lost = [await client.call_tool("stock", {"shelf": n}) for n in range(3)]
            assert all(result.is_error for result in lost)
            assert lost[0].content[0].text.startswith("stock: unavailable, signal error_rate"), lost[0]
            assert json.loads(lost[2].content[0].text)["observed"].startswith("3 consecutive failures")


async def test_without_restart_the_proxy_ends_with_the_status_of_the_server(tmp_path):
    (tmp_path / "tripnote.toml").write_text(CONFIG)
    command = [TRIPNOTE, "mcp-proxy", "--embedded", "--", "sh", "-c", "exit 9"]
    ended = await anyio.run_process(command, check=False)
    assert ended.returncode == 9
