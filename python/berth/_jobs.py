"""Jobs as objects: a handle of any job, and a job as a future, whose result is told when it is there."""
from __future__ import annotations

import asyncio
import concurrent.futures
import os
import secrets
import time
import urllib.parse
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ._errors import BadAnswer, JobFailed, JobHeld, PoolUnreachable, Refused
from ._functions import RESULT, RESULTS, results_of
from ._values import ad_json
from ._wire import MIB, shown

if TYPE_CHECKING:
    from ._pool import Pool

T = TypeVar("T")
WAIT = 20               # seconds that the customer is asked to wait for news
TAIL = 16 * 1024        # bytes of standard error that an exception shows
FILES_MAX = 100_000
OVER = frozenset(("Cleared", "Aborted", "Cancelled"))  # the states of the history: nothing more comes
SELECT = "Job,State,Outcome,Status,Reason,Workflow,OutputsDue,PythonCall,PythonResult,Missing"


class LogEvent(NamedTuple):
    """A line of a job's log."""
    time: str  # "2026-11-15T14:03:11Z"
    text: str


class JobFile(NamedTuple):
    """A file that a job has left. `kind` is "output", "log" or "checkpoint"."""
    name: str
    size: int
    kind: str
    whole: bool


def number_of(ad: dict[str, Any], name: str = "Job") -> int:
    value = ad.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
        raise BadAnswer(f"the customer speaks of a job without a number: {shown(value, 60)}", "bad answer")
    return value


def text_of(ad: dict[str, Any], name: str) -> str:
    value = ad.get(name)
    return shown(value) if isinstance(value, str) else ""


def is_over(ad: dict[str, Any]) -> bool:
    """Has it ended, and are its files here? A node of a workflow stays Done, until the whole workflow is over."""
    state = text_of(ad, "State")
    return state in OVER or (state == "Done" and ad.get("OutputsDue") is not True)


class Job:
    """A job at the customer, by its number. `ad` is what was last heard of it; ask() asks anew."""

    def __init__(self, pool: "Pool", id: int, ad: dict[str, Any] | None = None) -> None:
        self._pool, self.id = pool, id
        self.ad: dict[str, Any] = ad or {}

    def __repr__(self) -> str:
        state = text_of(self.ad, "Outcome") or text_of(self.ad, "State")
        return f"<job {self.id}{': ' + state if state else ''}>"

    # ---- what is known of it

    def ask(self) -> dict[str, Any]:
        """The job's ad, as it is now."""
        self.ad = self._pool._customer.ad("GET", f"/jobs/{self.id}")
        return self.ad

    @property
    def state(self) -> str:
        """Waiting, Ready, Scheduled, Running, Held, Done, Cleared, Aborted, Cancelled or Blocked, asked now."""
        return text_of(self.ask(), "State")

    @property
    def outcome(self) -> str | None:
        """How it ended: Succeeded, Failed, OutOfMemory, OutOfTime, OutOfDisk, Killed, Removed or Expired; None while it is not over."""
        if not text_of(self.ad, "Outcome"):
            self.ask()
        return text_of(self.ad, "Outcome") or None

    @property
    def status(self) -> int | None:
        """What its program ended with, or minus the signal that ended it."""
        if self.outcome is None:
            return None
        value = self.ad.get("Status")
        return value if isinstance(value, int) else None

    def why(self) -> str:
        """Why it waits, is held, or ended as it did, in words."""
        ad = self.ask()
        state, reason = text_of(ad, "State"), text_of(ad, "Reason")
        if state in OVER or state == "Done":
            return f"job {self.id} is over: {text_of(ad, 'Outcome')}{', ' + reason if reason else ''}"
        if state == "Held":
            return f"job {self.id} is held: {reason}"
        if state not in ("Waiting", "Blocked"):
            return f"job {self.id} does not wait: it is {state.lower()}{' on ' + text_of(ad, 'Provider') if text_of(ad, 'Provider') else ''}"
        said = f"job {self.id}: {reason}\n" if reason else ""
        if state == "Blocked":
            return said
        wire, request = self._pool._found.matchmaker(), ad.get("Request")
        if isinstance(request, str) and len(request) == 16 and request.isalnum():
            try:
                told = shown(wire.ask("GET", f"/ads/{request}/why", accept="text/plain").body.decode("utf-8", "replace"), MIB)
                return said + (f"job {self.id}" + told[len(request):] if told.startswith(request) else told)
            except Refused as error:
                if error.status != 404:
                    raise
        wanted = {name: value for name, value in ad.items() if name != "Inputs"}
        told = shown(wire.ask("POST", "/match", {"why": "true"}, ad_json(wanted).encode(), accept="text/plain").body.decode("utf-8", "replace"), MIB)
        return said + (f"job {self.id}" + told[2:] if told.startswith("ad:") else told)

    # ---- its files

    def _piece(self, path: str, offset: int, wait: int) -> tuple[bytes, int, bool]:
        """Bytes from there on, how many there are now, and whether no more will come."""
        begun = time.monotonic()
        answer = self._pool._customer.ask("GET", f"/jobs/{self.id}/{path}", {"offset": offset, "wait": wait or None}, accept="*/*", size=2 * MIB)
        size, whole = answer.headers.get("berth-size", ""), answer.headers.get("berth-whole") == "true"
        if wait and not answer.body and not whole and time.monotonic() - begun < 1:
            time.sleep(1)  # it was to wait, and did not
        return answer.body, int(size) if size.isdigit() and len(size) < 19 else offset + len(answer.body), whole

    def _follow(self, path: str, wait: bool, most: int) -> Iterator[bytes]:
        offset, rounds = 0, 0
        while True:
            piece, size, whole = self._piece(path, offset, WAIT if wait else 0)
            if size > most or offset + len(piece) > most:
                raise BadAnswer(f"job {self.id}: {path} is larger than {most} bytes, and more are not taken", "too much")
            if piece:
                yield piece
            offset += len(piece)
            if offset >= size and (whole or not wait):
                return
            rounds = 0 if piece else rounds + 1
            if not piece and not wait and rounds > 3:
                raise BadAnswer(f"job {self.id}: {path} stops at {offset} of {size} bytes", "bad answer")

    def _named(self, name: str, kind: str) -> str:
        if kind not in ("output", "log", "checkpoint"):
            raise ValueError("a file is an output, a log or a checkpoint")
        return f"files/{kind}/{urllib.parse.quote(name)}"

    def files(self) -> list[JobFile]:
        """The files that it has left so far."""
        found = []
        for row in self._pool._customer.list(f"/jobs/{self.id}/files", most=FILES_MAX):
            name, size = row.get("Name"), row.get("Size")
            if isinstance(name, str) and isinstance(size, int):
                found.append(JobFile(name, size, text_of(row, "Kind"), row.get("Whole") is True))
        return found

    def read(self, name: str, kind: str = "output", most: int = 1 << 30) -> bytes:
        """The bytes of one of its files; FileNotFoundError when there is none."""
        try:
            return b"".join(self._follow(self._named(name, kind), False, most))
        except Refused as error:
            if error.status == 404:
                raise FileNotFoundError(f"job {self.id} has no {name}") from None
            raise

    def save(self, folder: str | os.PathLike[str] = ".", most: int = 1 << 40) -> list[str]:
        """Writes all of its outputs into a folder, which is made if need be; gives their names there. None leads out of it, whatever the machine has called
        it. A file that is there already is replaced only if the job's Outputs name it: another becomes NAME.17 beside it, by the job's number."""
        wanted = self.ask().get("Outputs")
        given = [name.rstrip("/") for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
        names = []
        os.makedirs(folder, exist_ok=True)
        for file in self.files():
            if file.kind != "output" or file.name.startswith(RESULTS):
                continue
            parts, meant = file.name.split("/"), any(file.name == name or file.name.startswith(name + "/") for name in given)
            if any(part in ("", ".", "..") or "\0" in part or (part[0] == "." and not meant) for part in parts):
                raise BadAnswer(f"job {self.id}: a file is called {shown(file.name, 200)!r}", "bad answer")
            where = os.fspath(folder)
            for part in parts[:-1]:
                where = os.path.join(where, part)
                if os.path.islink(where):
                    raise BadAnswer(f"job {self.id}: {shown(file.name, 200)!r} leads out of {folder}: {shown(part, 60)} is a link", "bad answer")
                os.makedirs(where, exist_ok=True)
            name = file.name if meant or not os.path.lexists(os.path.join(where, parts[-1])) else f"{file.name}.{self.id}"
            part_file = os.path.join(where, f".berth-{secrets.token_hex(8)}")
            try:
                with open(part_file, "xb") as out:
                    for piece in self._follow(self._named(file.name, "output"), False, most):
                        out.write(piece)
                        most -= len(piece)
                os.replace(part_file, os.path.join(where, name.split("/")[-1]))
            except BaseException:
                if os.path.lexists(part_file):
                    os.unlink(part_file)
                raise
            names.append(name)
        return names

    def logs(self, stream: str = "stdout", follow: bool = False) -> str:
        """What it has written so far to standard output ("stderr": errors). With `follow` what it writes until it is over. What is more than the option
        max_result is refused: lines() has no such bound."""
        return "".join(self._lines(stream, follow, self._pool.options.max_result))

    def lines(self, stream: str = "stdout", follow: bool = True) -> Iterator[str]:
        """What it writes, line by line, as it comes."""
        return self._lines(stream, follow, 1 << 62)

    def _lines(self, stream: str, follow: bool, most: int) -> Iterator[str]:
        rest = b""
        try:
            for piece in self._follow(self._named(stream, "log"), follow, most):
                *whole, rest = (rest + piece).split(b"\n")
                yield from (line.decode("utf-8", "replace") + "\n" for line in whole)
                if len(rest) > 16 * MIB:  # a line without an end
                    yield rest.decode("utf-8", "replace")
                    rest = b""
        except Refused as error:
            if error.status != 404:
                raise  # 404: it has written nothing yet
        if rest:
            yield rest.decode("utf-8", "replace")

    def events(self, follow: bool = True) -> Iterator[LogEvent]:
        """What happens to it, as it happens, until it is over; without `follow` what has happened so far."""
        rest, offset = b"", 0
        while True:
            piece, _, whole = self._piece("log", offset, WAIT if follow else 0)
            offset += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                moment, _, text = shown(line.decode("utf-8", "replace")).partition(" ")
                yield LogEvent(moment, text)
            if whole or (not piece and (not follow or is_over(self.ask()))):
                return
            if len(rest) > MIB:
                raise BadAnswer(f"job {self.id}: its log has a line without an end", "too much")

    # ---- what is done with it

    def _control(self, verb: str, why: str | None) -> bool:
        return self._pool._control(verb, str(self.id), why) > 0

    def hold(self, why: str | None = None) -> bool:
        """It waits for release(); if it runs, it is stopped. False: nothing has changed."""
        return self._control("hold", why)

    def release(self) -> bool:
        return self._control("release", None)

    def remove(self, why: str | None = None) -> bool:
        """Removes the job, whether it waits or runs. False: it is over."""
        return self._control("remove", why)

    def cancel(self) -> bool:
        return self.remove()

    # ---- its end

    def wait(self, timeout: float | None = None) -> "Job":
        """Waits until it is over and its files are here; gives itself. JobHeld when it is held, TimeoutError when the time is up."""
        ends = None if timeout is None else time.monotonic() + timeout
        changes: int | None = None
        while True:
            if changes is not None:  # the customer answers when something has happened
                left = WAIT if ends is None else min(WAIT, int(max(0.0, ends - time.monotonic())) + 1)
                told = self._pool._summary(str(self.id), changes, left)
            else:
                told = self._pool._summary(str(self.id), None, 0)
            before, changes = changes, told
            if before is None or told != before:
                if is_over(self.ask()):
                    return self
                if text_of(self.ad, "State") == "Held":
                    raise JobHeld(f"job {self.id} is held: {text_of(self.ad, 'Reason')}", self, "Held")
            if ends is not None and time.monotonic() >= ends:
                raise TimeoutError(f"job {self.id} is not over")

    def result(self, timeout: float | None = None) -> Any:
        """Waits, and gives what came of it: the value of a function; of a command what it wrote to standard output. JobFailed when it did not end well."""
        self.wait(timeout)
        return self._outcome()

    def _outcome(self) -> Any:
        """The result of a job that is over: returned, or raised."""
        results = self._results(1)
        value = results[0] if results is not None else self.logs()
        if isinstance(value, BaseException) and results is not None and isinstance(value, JobFailed):
            raise value
        return value

    def _failure(self) -> JobFailed:
        outcome, reason = text_of(self.ad, "Outcome") or text_of(self.ad, "State"), text_of(self.ad, "Reason")
        status = self.ad.get("Status")
        status = status if isinstance(status, int) and not isinstance(status, bool) else None
        said = f"job {self.id}: {outcome}{f' (exit {status})' if outcome == 'Failed' else ''}{', ' + reason if reason and outcome != 'Failed' else ''}"
        stderr = ""
        try:
            stderr = shown(self.read("stderr", "log", 64 * MIB)[-TAIL:].decode("utf-8", "replace"), TAIL)
        except (OSError, BadAnswer, Refused):
            pass
        return JobFailed(said + (f"\n\n{stderr.rstrip()}" if stderr.strip() else ""), self, outcome, status, stderr)

    def _results(self, count: int) -> list[Any] | None:
        """What the calls of a function have answered; None for a command that ended well."""
        call, good = self.ad.get("PythonCall"), text_of(self.ad, "Outcome") == "Succeeded"
        if call not in ("json", "pickle"):
            if not good:
                raise self._failure()
            return None
        trust = self._pool.options.trust
        if call == "pickle" and not trust:
            raise BadAnswer(f"job {self.id}: its result is a pickle, which is read with trust=True alone", "pickle")
        try:
            raw = self.read(text_of(self.ad, "PythonResult") or RESULT, "output", self._pool.options.max_result)
        except FileNotFoundError:
            raise self._failure() if not good else BadAnswer(f"job {self.id}: it has ended well and left no result; {text_of(self.ad, 'Missing')}", "bad answer") from None
        return results_of(raw, count, call == "pickle", self)


class JobFuture(Job, concurrent.futures.Future, Generic[T]):  # type: ignore[type-arg]
    """A job that was submitted here: a future of concurrent.futures as well, and to be awaited. Its result is fetched when the job is over."""

    def __init__(self, pool: "Pool", id: int, count: int | None = None) -> None:
        Job.__init__(self, pool, id)
        concurrent.futures.Future.__init__(self)
        self._count = count  # of calls in one job; None: the result is that of one
        self.in_workflow = False
        self.settling = False  # it is over, and its result is being fetched

    def __repr__(self) -> str:
        return Job.__repr__(self)

    def settle(self, ad: dict[str, Any]) -> None:
        """The job is over, or held: fetches what came of it, and tells."""
        if self.done():
            return
        self.ad = {**self.ad, **ad}
        try:
            if text_of(ad, "State") == "Held":
                raise JobHeld(f"job {self.id} is held: {text_of(ad, 'Reason')}", self, "Held")
            if text_of(ad, "State") == "Blocked":
                raise JobFailed(f"job {self.id} does not begin: {text_of(ad, 'Reason')}", self, "Blocked")
            value = self._results(self._count) if self._count is not None else self._outcome()
        except BaseException as error:  # a future carries whatever went wrong
            self.fail(error)
        else:
            self._tell(lambda: self.set_result(value))

    def fail(self, error: BaseException) -> None:
        self._tell(lambda: self.set_exception(error))

    def _tell(self, how: Callable[[], None]) -> None:
        try:
            how()
        except concurrent.futures.InvalidStateError:
            pass  # it was cancelled meanwhile

    def running(self) -> bool:
        """Does it run, as far as the customer knows?"""
        return not self.done() and self.state == "Running"

    def cancel(self) -> bool:
        """Removes the job, whether it waits, runs or is held. False: it is over."""
        if self.cancelled() or not self.remove():
            return self.cancelled()
        if concurrent.futures.Future.cancel(self):
            self.set_running_or_notify_cancel()
        return True

    def wait(self, timeout: float | None = None) -> "Job":
        """Waits until it is over and its files are here; gives itself, however it ended. JobHeld when it is held, TimeoutError when the time is up."""
        try:
            error = concurrent.futures.Future.exception(self, timeout)
        except concurrent.futures.CancelledError:
            return self
        if isinstance(error, (JobHeld, PoolUnreachable)):
            raise error
        return self

    def result(self, timeout: float | None = None) -> T:
        """Waits, and gives what came of it: the value of a function; of a command what it wrote to standard output. JobFailed when it did not end well."""
        value: T = concurrent.futures.Future.result(self, timeout)
        return value

    def __await__(self) -> Generator[Any, None, T]:
        """In asyncio: waits as result() does. Whoever stops awaiting does not remove the job; cancel() does."""
        loop = asyncio.get_running_loop()
        here: asyncio.Future[T] = loop.create_future()

        def tell(_: Any) -> None:
            if here.done():
                return
            if self.cancelled():
                here.cancel()
                return
            error = self.exception()
            if error is not None:
                here.set_exception(error)
            else:
                here.set_result(self.result())

        def over(_: Any) -> None:
            try:
                loop.call_soon_threadsafe(tell, None)
            except RuntimeError:
                pass  # the loop has ended

        self.add_done_callback(over)
        return here.__await__()
