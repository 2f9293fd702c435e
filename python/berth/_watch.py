"""Learns when jobs are over, for all that somebody waits for: one thread, which sleeps in the customer's answer until something has happened."""
from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._errors import PoolUnreachable
from ._jobs import SELECT, WAIT, JobFuture, number_of

if TYPE_CHECKING:
    from ._pool import Pool

NODE_OVER = '(State == "Done" && OutputsDue =!= true) || State == "Cancelled" || State == "Aborted"'
IDS_TEXT_MAX = 1500  # bytes of the numbers of jobs in an address


def ranges_text(ids: Iterable[int]) -> str:
    """Numbers as "1-20,31". Where that is too long for an address, ranges that are near become one: it may name more jobs, never less."""
    ranges: list[tuple[int, int]] = []
    for id in sorted(ids):
        if ranges and id == ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], id
        else:
            ranges.append((id, id))
    gap = 2
    while True:
        text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
        if len(text) <= IDS_TEXT_MAX:
            return text
        gap *= 4
        wider: list[tuple[int, int]] = []
        for a, b in ranges:
            if wider and a - wider[-1][1] <= gap:
                wider[-1] = wider[-1][0], b
            else:
                wider.append((a, b))
        ranges = wider


class Watch:
    """The futures of a pool that are waited for.

        summary?after=N&wait=20   answered when something has happened to any job
          -> history?ids=...      those of ours that are over
          -> jobs?ids=...         nodes of workflows that are over; where some are held, or blocked for good: which"""

    def __init__(self, pool: "Pool") -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._waited: dict[int, JobFuture[Any]] = {}
        self._more = threading.Event()
        self._thread: threading.Thread | None = None
        self.ended = False
        self._fetchers = concurrent.futures.ThreadPoolExecutor(4, "berth-fetch")

    def add(self, jobs: "list[JobFuture[Any]]") -> None:
        with self._lock:
            for job in jobs:
                self._waited[job.id] = job
            self._more.set()
            if self._thread is None and not self.ended:
                self._thread = threading.Thread(target=self._run, name="berth-watch", daemon=True)
                self._thread.start()

    def waited(self) -> "list[JobFuture[Any]]":
        with self._lock:
            return [job for job in self._waited.values() if not job.done()]

    def end(self) -> None:
        """Nobody waits any more; futures that are not done stay so."""
        self.ended = True
        self._more.set()
        self._fetchers.shutdown(wait=False, cancel_futures=True)

    def settle(self, id: int, ad: dict[str, Any]) -> None:
        """A job has come to its end: its future fetches the result, and tells."""
        with self._lock:
            job = self._waited.get(id)
        if job is None or job.settling or self.ended:
            return
        job.settling = True
        try:
            self._fetchers.submit(job.settle, ad)
        except RuntimeError:
            pass  # the pool was closed

    def _stuck(self, ids: str) -> None:
        """Of jobs that are blocked, those whose workflow does not go on by itself."""
        still = {row.get("Workflow") for row in self._pool._customer.list("/workflows") if row.get("Stuck") and row.get("Stuck") == row.get("Blocked")}
        for row in self._pool._customer.list("/jobs", {"ids": ids, "constraint": 'State == "Blocked"', "select": SELECT}):
            if row.get("Workflow") in still:
                self.settle(number_of(row), row)

    def _look(self, ids: str, after: int | None) -> int:
        told: dict[str, Any] = {}
        # Of a single job alone a request would not be woken by those that are added meanwhile.
        changes = self._pool._summary(ids if not ids.isdigit() else f"{ids}-{int(ids) + 1}", after, WAIT, told)
        if changes != after:
            for row in self._pool._customer.list("/history", {"ids": ids, "select": SELECT}):
                self.settle(number_of(row), row)
            nodes = self._nodes()
            for row in self._pool._customer.list("/jobs", {"ids": nodes, "constraint": NODE_OVER, "select": SELECT}) if nodes else ():
                self.settle(number_of(row), row)
            if told.get("Held"):
                for row in self._pool._customer.list("/jobs", {"ids": ids, "constraint": 'State == "Held"', "select": SELECT}):
                    self.settle(number_of(row), row)
            if told.get("Stuck"):
                self._stuck(ids)
        return changes

    def _nodes(self) -> str:
        """Those that are nodes of workflows: they come into the history when all of the workflow has."""
        with self._lock:
            return ranges_text(id for id, job in self._waited.items() if job.in_workflow and not job.settling)

    def _next(self) -> str | None:
        """The numbers of those that are still waited for; sleeps while there are none. None: it is over."""
        while not self.ended:
            with self._lock:
                self._waited = {id: job for id, job in self._waited.items() if not job.done()}
                waited = [id for id, job in self._waited.items() if not job.settling]
                if waited:
                    return ranges_text(waited)
                self._more.clear()
            self._more.wait()
        return None

    def _run(self) -> None:
        after: int | None = None
        lost: float | None = None
        pause = 0.2
        while (ids := self._next()) is not None:
            if self._more.is_set():  # of those that are new the present state is asked first
                self._more.clear()
                after = None
            try:
                after = self._look(ids, after)
                lost, pause = None, 0.2
                time.sleep(min(1.0, 0.02 + len(self._waited) / 20_000))  # what happens at nearly the same time is looked at together
            except PoolUnreachable as error:
                lost = lost or time.monotonic()
                if time.monotonic() - lost > self._pool.patience:
                    self._fail(error)
                elif not self.ended:
                    time.sleep(pause)
                    pause, after = min(10.0, 2 * pause), None
            except Exception as error:  # an answer that makes no sense, a right that was lost
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        with self._lock:
            jobs = list(self._waited.values())
            self._waited = {}
        for job in jobs if not self.ended else []:
            job.fail(error)
