"""Run the server: `python -m bench.server`. It prints its port, and ends with its standard input."""

from __future__ import annotations

import asyncio
import sys

from bench.server.protocol import Connection

BACKLOG = 4096


async def main() -> None:
    """Listen on a free port of the loopback interface."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
