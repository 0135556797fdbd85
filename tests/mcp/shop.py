"""A server on the official SDK behind streamable HTTP, one of whose tools is broken: `shop.py PORT`."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")


@server.tool(annotations={"readOnlyHint": True})
def stock(shelf: int) -> str:
    """Boots on a shelf."""
    return f"{shelf}: 12 boots"


@server.tool()
def charge(amount: int) -> str:
    """Charges a card."""
    raise RuntimeError("503 Service Unavailable")


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
