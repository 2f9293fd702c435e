"""database_proxy.py FROM TO MODE [FROM TO MODE]...: stands between daemons and their databases, each from one Unix socket to another. What the file MODE says holds
at once:

    open          all passes
    slow SECONDS  all passes so much later, in both directions
    cut           nothing passes, and nobody is told, as when a cable is pulled; new connections are taken and hear nothing
    gone          connections are closed, and new ones at once
"""
import asyncio
import os
import sys

LOOK = 0.02


class Mode:
    def __init__(self, path):
        self.path, self.word, self.span = path, "open", 0.0

    async def watch(self):
        while True:
            with open(self.path, encoding="ascii") as file:
                words = file.read().split()
            if words:  # else it is just being written
                self.word, self.span = words[0], float(words[1]) if len(words) > 1 else 0.0
            await asyncio.sleep(LOOK)

    async def until(self, *words):
        while self.word not in words:
            await asyncio.sleep(LOOK)


async def carry(mode, reader, writer):
    """What was read is passed on when it may; what came while all was cut comes late, as a network would send it again."""
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue(1000)

    async def write():
        while True:
            at, data = await queue.get()
            await asyncio.sleep(max(0.0, at - loop.time()))
            await mode.until("open", "slow")
            if not data:
                return
            writer.write(data)
            await writer.drain()

    writing = asyncio.create_task(write())
    try:
        data = b"?"
        while data:
            data = await reader.read(65536)
            await queue.put((loop.time() + (mode.span if mode.word == "slow" else 0), data))
        await writing
    finally:
        writing.cancel()


async def serve(mode, to, reader, writer):
    ends = [writer]
    try:
        if mode.word == "gone":
            return
        await mode.until("open", "slow", "gone")
        there, back = await asyncio.open_unix_connection(to)
        ends.append(back)
        tasks = [asyncio.create_task(carry(mode, reader, back)), asyncio.create_task(carry(mode, there, writer)),
                 asyncio.create_task(mode.until("gone"))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    except OSError:
        pass
    finally:
        for end in ends:
            end.close()


async def way(source, to, path):
    mode = Mode(path)
    if os.path.exists(source):
        os.unlink(source)
    server = await asyncio.start_unix_server(lambda reader, writer: serve(mode, to, reader, writer), source)
    async with server:
        await mode.watch()


async def main(words):
    await asyncio.gather(*(way(*words[i:i + 3]) for i in range(0, len(words), 3)))


asyncio.run(main(sys.argv[1:]))
