"""What the box's WebSocket is measured beside: Python's websockets, sending back what comes."""

import asyncio
import logging
import sys

from websockets.asyncio.server import serve


# Whoever measures hangs up without a word.
logging.disable(logging.CRITICAL)


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1])):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
