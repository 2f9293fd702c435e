"""The same pool for asyncio. Requests are made by a few threads; a job that is awaited needs none."""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from ._jobs import Job, JobFile, JobFuture, LogEvent
from ._pool import Event, Pool
from ._workflow import Workflow

T = TypeVar("T")
_END = object()


class AsyncJob(Generic[T]):
    """A job in asyncio: `await job` gives its result. `job` is the same for the rest of Python."""

    def __init__(self, pool: "AsyncPool", job: "JobFuture[T]") -> None:
        self._pool, self.job = pool, job

    @property
    def id(self) -> int:
        return self.job.id

    @property
    def ad(self) -> dict[str, Any]:
        return self.job.ad

    def __repr__(self) -> str:
        return repr(self.job)

    def __await__(self) -> Generator[Any, None, T]:
        return self.job.__await__()

    async def result(self) -> T:
        return await self.job

    async def wait(self) -> "AsyncJob[T]":
        """Waits until it is over and its files are here, however it ended."""
        try:
            await self.job
        except Exception:
            if not self.job.done():
                raise
        await self._pool._call(self.job.wait)
        return self

    async def state(self) -> str:
        return await self._pool._call(lambda: self.job.state)

    async def why(self) -> str:
        return await self._pool._call(self.job.why)

    async def logs(self, stream: str = "stdout", follow: bool = False) -> str:
        return await self._pool._call(self.job.logs, stream, follow)

    def lines(self, stream: str = "stdout", follow: bool = True) -> AsyncIterator[str]:
        return self._pool._each(lambda: self.job.lines(stream, follow))

    def events(self, follow: bool = True) -> AsyncIterator[LogEvent]:
        return self._pool._each(lambda: self.job.events(follow))

    async def files(self) -> list[JobFile]:
        return await self._pool._call(self.job.files)

    async def read(self, name: str, kind: str = "output") -> bytes:
        return await self._pool._call(self.job.read, name, kind)

    async def save(self, folder: str | os.PathLike[str] = ".") -> list[str]:
        return await self._pool._call(self.job.save, folder)

    async def hold(self, why: str | None = None) -> bool:
        return await self._pool._call(self.job.hold, why)

    async def release(self) -> bool:
        return await self._pool._call(self.job.release)

    async def cancel(self) -> bool:
        return await self._pool._call(self.job.cancel)


class AsyncPool:
    """A pool in asyncio. What it takes, and what its calls take, is as of Pool.

        async with berth.AsyncPool() as pool:
            print(await (await pool.submit("hostname")))"""

    def __init__(self, customer: str | None = None, **given: Any) -> None:
        self._begin(Pool(customer, **given), concurrent.futures.ThreadPoolExecutor(32, "berth-async"))

    def _begin(self, pool: Pool, threads: concurrent.futures.ThreadPoolExecutor) -> None:
        self.pool, self._threads = pool, threads

    def with_options(self, **options: Any) -> "AsyncPool":
        other = AsyncPool.__new__(AsyncPool)
        other._begin(self.pool.with_options(**options), self._threads)
        return other

    async def _call(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, functools.partial(function, *args, **kwargs))

    async def _each(self, begin: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        iterator = await self._call(begin)
        while True:
            item: Any = await self._call(next, iterator, _END)
            if item is _END:
                return
            yield item

    async def __aenter__(self) -> "AsyncPool":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close(wait=kind is None)

    async def close(self, wait: bool = True) -> None:
        """Waits for all jobs that were submitted by it, unless told otherwise, and ends its use."""
        if wait:
            await asyncio.gather(*(job for job in self.pool._watch.waited()), return_exceptions=True)
        self.pool.shutdown(wait=False)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "AsyncJob[Any]":
        return AsyncJob(self, await self._call(self.pool.submit, fn, *args, **kwargs))

    async def submit_ads(self, ads: Iterable[Mapping[str, Any]], key: str | None = None) -> "list[AsyncJob[str]]":
        return [AsyncJob(self, job) for job in await self._call(self.pool.submit_ads, ads, key)]

    async def map_futures(self, fn: Any, /, *iterables: Iterable[Any], **options: Any) -> "list[AsyncJob[Any]]":
        return [AsyncJob(self, job) for job in await self._call(self.pool.map_futures, fn, *iterables, **options)]

    async def map(self, fn: Any, /, *iterables: Iterable[Any], **options: Any) -> AsyncIterator[Any]:
        """The results of a job for each item, in the order of the items: async for result in pool.map(f, items)"""
        for job in await self.map_futures(fn, *iterables, **options):
            yield await job

    async def future(self, id: int) -> "AsyncJob[Any]":
        return AsyncJob(self, await self._call(self.pool.future, id))

    async def status(self) -> dict[str, Any]:
        return await self._call(self.pool.status)

    async def jobs(self, constraint: str | None = None, limit: int | None = None) -> list[Job]:
        return await self._call(self.pool.jobs, constraint, limit)

    def history(self, constraint: str | None = None, limit: int | None = None) -> AsyncIterator[Job]:
        return self._each(lambda: self.pool.history(constraint, limit))

    async def machines(self, constraint: str | None = None) -> list[dict[str, Any]]:
        return await self._call(self.pool.machines, constraint)

    async def workflows(self) -> list[dict[str, Any]]:
        return await self._call(self.pool.workflows)

    def events(self, constraint: str | None = None) -> AsyncIterator[Event]:
        return self._each(lambda: self.pool.events(constraint))

    async def workflow(self, build: Callable[[Workflow], Any], name: str | None = None) -> Workflow:
        """Submits the workflow that build(flow) has added nodes to. Its jobs can be awaited: await flow.jobs["A"]"""

        def made() -> Workflow:
            with self.pool.workflow(name) as flow:
                build(flow)
            return flow

        return await self._call(made)
