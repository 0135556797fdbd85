"""A small agent that charges five invoices over HTTP while the payments API is down, and what it makes of the contract.

    tripnote serve -c proto/clients/example.toml &
    python examples/agent.py

The model is a few lines of rules so that this runs anywhere: it sees nothing but texts, tries again after an error, and
does what a contract's `action` says. Put a real one in its place.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tripnote_client import Client, Result

requests: Counter[str] = Counter()


class Payments(BaseHTTPRequestHandler):
    """`/card` is down; `/backup` works."""

    def do_POST(self) -> None:
        requests[self.path] += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        status, answer = (503, b"Service Unavailable") if self.path == "/card" else (200, b'{"charged":' + body + b"}")
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Keeps the transcript readable."""


def post(url: str, arguments: dict[str, Any]) -> Result:
    """The tool: one request, and what was seen of it."""
    request = urllib.request.Request(url, json.dumps(arguments).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return Result(answer.read(), http_status=answer.status, headers=dict(answer.headers))
    except urllib.error.HTTPError as error:
        return Result(error.read(), http_status=error.code, headers=dict(error.headers))


class Model:
    """Charges invoices one by one with the tool that it was told to use."""

    def __init__(self, invoices: int) -> None:
        self.left = list(range(1, invoices + 1))
        self.tool = "charge_card"
        self.has_stopped = False

    def asks(self) -> tuple[str, dict[str, Any]] | None:
        """The next tool call, if any."""
        return None if self.has_stopped or not self.left else (self.tool, {"invoice": self.left[0]})

    def sees(self, text: str) -> None:
        """Makes something of what came back."""
        try:
            said = json.loads(text)
        except ValueError:
            return  # An error in words: the same call again, as models do.
        if "charged" in said:
            self.left.pop(0)
        elif said.get("action") == "switch_to_fallback":
            self.tool = said["fallback"]
        elif said.get("action") == "change_route":
            self.left.append(self.left.pop(0))  # Another question first.
        elif "action" in said:
            self.has_stopped = True


def main(address: str | None = None) -> dict[str, int]:
    """Runs the agent; says how many invoices are charged and what it took."""
    api = ThreadingHTTPServer(("127.0.0.1", 0), Payments)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    urls = {name: f"http://127.0.0.1:{api.server_port}/{path}" for name, path in TOOLS.items()}
    requests.clear()
    model, calls = Model(5), 0
    with Client(address) as client, client.session("example-python") as session:
        while (asked := model.asks()) and calls < 30:
            tool, arguments = asked
            calls += 1
            call = session.call(partial(post, urls[tool], arguments), tool, arguments, effect="mutate")
            print(f"model asks  {tool} {json.dumps(arguments)}\nmodel sees  {call.text}")
            model.sees(call.text)
    api.shutdown()
    api.server_close()
    done = {"charged": 5 - len(model.left), "calls": calls, "requests_to_card": requests["/card"]}
    print(", ".join(f"{name} {count}" for name, count in done.items()))
    return done


TOOLS = {"charge_card": "card", "charge_backup": "backup"}

if __name__ == "__main__":
    main()
