"""A real service for tests: the binary that TRIPNOTE_BIN names, on its own ports, killed and started anew at will."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from typing import Any

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]
WAYS = REPOSITORY / "tests" / "fixtures" / "ways"
CLOCK = 1767276090000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def scenario() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (WAYS / "scenario.jsonl").read_text().splitlines()]


class Server:
    def __init__(self, config: str | None = None, *, clock: int | None = CLOCK, is_socket: bool = False) -> None:
        self.binary = os.environ.get("TRIPNOTE_BIN", str(REPOSITORY / "target" / "debug" / "tripnote"))
        self.clock = clock
        self._dir = tempfile.TemporaryDirectory()
        self.address = f"unix:{self._dir.name}/socket" if is_socket else f"127.0.0.1:{free_port()}"
        self._config = pathlib.Path(self._dir.name) / "tripnote.toml"
        ways = (WAYS / "tripnote.toml").read_text()
        self._config.write_text(f'grpc = "{self.address}"\nhttp = "127.0.0.1:0"\n{ways if config is None else config}')
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Server:
        command = [self.binary, "serve", "--ephemeral", "--config", str(self._config)]
        if self.clock is not None:
            command += ["--test-clock", str(self.clock)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr
        said = []
        for line in self._process.stderr:
            said.append(line)
            if re.search(r"serving.*endpoint", line):
                return self
        raise AssertionError(f"the service did not start: {''.join(said)}")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            if self._process.stderr:
                self._process.stderr.close()
            self._process = None

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.kill()
        self._dir.cleanup()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class Proxy:
    """Forwards to a service. `hang` leaves the connections that there are open and dead; new ones work."""

    def __init__(self, to: str) -> None:
        host, port = to.split(":")
        self._to = (host, int(port))
        self._gates: list[threading.Event] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far, gate = socket.create_connection(self._to), threading.Event()
                gate.set()
                self._gates.append(gate)
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, sink, gate), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket, gate: threading.Event) -> None:
        with contextlib.suppress(OSError), source, sink:
            while data := source.recv(1 << 16):
                gate.wait()
                sink.sendall(data)

    def hang(self) -> None:
        for gate in self._gates:
            gate.clear()

    def close(self) -> None:
        self._listener.close()
        for gate in self._gates:
            gate.set()


def until(condition: Any, seconds: float = 10.0) -> None:
    """Waits for what must come, however slow the machine is."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
