"""A pool, as its user has it: jobs are submitted, waited for and looked at, by the customer that keeps them."""
from __future__ import annotations

import concurrent.futures
import copy
import dataclasses
import hashlib
import os
import platform
import re
import shlex
import time
import types
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, overload

from ._errors import BadAnswer, ClassAdParseError, PoolUnreachable, Refused, RemoteError
from ._find import Found
from ._functions import ARGUMENT_MAX, ARGUMENTS, PROGRAM, RESULT, RESULT_MAX, RESULTS, arguments_of, program_of
from ._jobs import WAIT, Job, JobFuture, is_over, number_of, text_of
from ._watch import Watch, ranges_text
from ._values import Expr, ad_json
from ._wire import MIB, Wire, shown

if TYPE_CHECKING:
    from ._workflow import Workflow

T = TypeVar("T")
Command = Union[str, Sequence[str], Mapping[str, Any]]
BODY_MAX = 8 * MIB    # bytes of one submission; a customer takes 16 MiB
ADS_MAX = 5000        # ads of one submission
PIECE_MAX = 4 * MIB   # bytes of one piece of a file that goes up
PIECE_HANDED_ON = 512 * 1024  # and by way of a matchmaker
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", re.I)


def size_of(size: int | str) -> int:
    """Bytes: a number, or a text such as "512M" or "2 GiB", in powers of 1024."""
    if isinstance(size, int):
        return size
    found = _SIZE.fullmatch(size)
    if not found:
        raise ValueError(f"expected a size such as 2G, got {size!r}")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


@dataclasses.dataclass(frozen=True)
class Options:
    """What a job asks for, and how it is treated. Any of them may be given to submit(), map() and with_options()."""
    inputs: Iterable[str] | Mapping[str, Any] = ()  # files and folders that it reads; or names, with a path or the bytes of each
    outputs: Sequence[str] | None = None            # files that it leaves; None: all new ones
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    stdin: str | None = None                        # one of the inputs
    cpus: int = 1
    memory: int | str | None = None                 # "2G"; None: 512 MiB
    disk: int | str | None = None                   # None: 1 GiB
    gpus: int = 0
    time_limit: float | timedelta | None = None
    retries: int = 0                                # how often it is tried again when it fails
    network: bool = False
    image: str | None = None
    constraint: str | None = None                   # an expression that is true of the machine, besides what is asked for above
    rank: str | None = None
    group: str | None = None
    priority: float | None = None
    ad: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # further attributes, which replace those that would be made
    python: str | None = None                       # of functions: the least version that the machine must have; None: this one's
    trust: bool = False                             # of functions: arguments and results are pickles
    max_result: int = RESULT_MAX                    # bytes of a function's result

    def changed(self, given: Mapping[str, Any]) -> "Options":
        unknown = set(given) - {field.name for field in dataclasses.fields(self)}
        if unknown:
            raise TypeError(f"there is no option {sorted(unknown)[0]!r}: one of {', '.join(f.name for f in dataclasses.fields(self))}")
        return dataclasses.replace(self, **given) if given else self


class Event(NamedTuple):
    """Something has happened to a job: it stands otherwise than `before` (None: it is new)."""
    job: Job
    state: str
    before: str | None


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError):
        return 512 * MIB


def _half_of_disk() -> int:
    about = os.statvfs(".")
    return about.f_blocks * about.f_frsize // 2


def words_of(command: str | Sequence[str]) -> list[str]:
    """A command as words: a text is split as a shell would, a list is taken as it is."""
    words = shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
    if not words or not words[0]:
        raise ValueError("a command has at least one word")
    return words


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


class Pool(concurrent.futures.Executor):
    """A pool: `Pool()` finds the customer as the command `berth` does.

        with berth.Pool() as pool:
            print(pool.submit("hostname").result())

    At the end of the block all jobs that were submitted in it are waited for. `customer` and `pool` are addresses (unix:PATH, https://...), `token` the
    file of a token, `patience` for how many seconds a customer that does not answer is waited for; further arguments are options of all jobs."""

    def __init__(self, customer: str | None = None, *, pool: str | None = None, token: str | None = None, patience: float = 300, **options: Any) -> None:
        self.options = Options().changed(options)
        self.patience = patience
        self._found = Found(customer, pool, token)
        self._customer: Wire = self._found.customer
        self._watch = Watch(self)
        self._sent: set[str] = set()

    def with_options(self, **options: Any) -> "Pool":
        """The same pool, with other options for what is submitted by it: pool.with_options(memory="4G", trust=True).submit(f, x)"""
        other = copy.copy(self)
        other.options = self.options.changed(options)
        return other

    # ---- beginning and end

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> None:
        self.shutdown(wait=kind is None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the use of this object: waits for all jobs that were submitted by it, unless told otherwise. Jobs go on without it; `cancel_futures` removes
        those that are not over."""
        if self._watch.ended:
            return
        waited = self._watch.waited()
        if cancel_futures:
            for at in range(0, len(waited), 200):
                self._control("remove", ranges_text([job.id for job in waited[at:at + 200]]), None)
        if wait:
            concurrent.futures.wait(waited)
        self._watch.end()
        self._found.close()

    close = shutdown

    # ---- what is asked of the customer

    def _summary(self, ids: str, after: int | None, wait: int, told: dict[str, Any] | None = None) -> int:
        """The number of changes so far; with `after` when it has grown or the time is up. `told` gets how many jobs stand how."""
        begun = time.monotonic()
        summary = self._customer.ad("GET", "/summary", {"ids": ids or None, "after": after, "wait": wait if after is not None else None}, seconds=60 + wait)
        changes = summary.get("Changes")
        if not isinstance(changes, int) or isinstance(changes, bool):
            raise BadAnswer("the customer counts no changes", "bad answer")
        if changes == after and time.monotonic() - begun < min(wait, 1):
            time.sleep(1)  # it was to wait, and did not
        if told is not None:
            told.update(summary)
        return changes

    def _control(self, verb: str, ids: str, why: str | None) -> int:
        changed, start = 0, None
        for _ in range(10_000):
            answer = self._customer.ad("POST", "/control", body=ad_json({"Verb": verb, "Ids": ids, **({"Why": why} if why else {}), **({"From": start} if start else {})}).encode())
            changed += answer["Changed"] if isinstance(answer.get("Changed"), int) else 0
            following = answer.get("Next")
            if not isinstance(following, int) or following <= (start or 0):
                break
            start = following
        return changed

    def status(self) -> dict[str, Any]:
        """The customer's own ad: who it is, how many jobs it has."""
        return self._customer.ad("GET", "/status")

    def job(self, id: int) -> Job:
        """A job by its number."""
        found = Job(self, int(id))
        found.ask()
        return found

    def future(self, id: int) -> "JobFuture[Any]":
        """A job by its number, as a future: one that was submitted elsewhere, or before."""
        found: JobFuture[Any] = JobFuture(self, int(id))
        found.in_workflow = "Workflow" in found.ask()
        self._watch.add([found])
        if is_over(found.ask()):  # it may have been over before anybody waited
            self._watch.settle(found.id, found.ad)
        return found

    def jobs(self, constraint: str | None = None, limit: int | None = None) -> list[Job]:
        """One's jobs that are not in the history; those for which the constraint is true: pool.jobs('State == "Held"')."""
        return [Job(self, number_of(row), row) for row in self._customer.list("/jobs", {"constraint": constraint}, limit)]

    def history(self, constraint: str | None = None, limit: int | None = None) -> Iterator[Job]:
        """Jobs that are over, the newest first."""
        for row in self._customer.list("/history", {"constraint": constraint}, limit):
            yield Job(self, number_of(row), row)

    def machines(self, constraint: str | None = None) -> list[dict[str, Any]]:
        """The machines of the pool, and how each stands."""
        return list(self._found.matchmaker().list("/machines", {"constraint": constraint}))

    def workflows(self) -> list[dict[str, Any]]:
        """The workflows that are under way, and how many of their jobs stand how."""
        return list(self._customer.list("/workflows"))

    def events(self, constraint: str | None = None) -> Iterator[Event]:
        """What happens to one's jobs from now on, without an end: an Event each time that one stands otherwise. What comes and goes within a moment may be
        left out; job.events() tells all of one job."""
        select = "Job,State,Outcome,Status,Reason"
        changes = self._summary("", None, 0)
        known = {number_of(row): text_of(row, "State") for row in self._customer.list("/jobs", {"select": select, "constraint": constraint})}
        while True:
            told = self._summary("", changes, WAIT)
            if told == changes:
                continue
            changes = told
            now = {number_of(row): row for row in self._customer.list("/jobs", {"select": select, "constraint": constraint})}
            gone = [id for id in known if id not in now]
            for at in range(0, len(gone), 100):
                ids = ",".join(str(id) for id in gone[at:at + 100])
                for row in self._customer.list("/history", {"ids": ids, "select": select}):
                    if number_of(row) in known:
                        id = number_of(row)
                        yield Event(Job(self, id, row), text_of(row, "State"), known.pop(id))
            for id in gone:
                known.pop(id, None)
            for id, row in now.items():
                state = text_of(row, "State")
                if known.get(id) != state:
                    before, known[id] = known.get(id), state
                    yield Event(Job(self, id, row), state, before)

    # ---- files that jobs read

    def _upload(self, data: bytes | str) -> tuple[str, int]:
        """Sends the bytes, or the file of that name, to the customer, unless it has them. Gives hash and size."""
        if isinstance(data, bytes):
            size, digest = len(data), _hash(data)
        else:
            state = hashlib.blake2b(digest_size=32)
            size = 0
            with open(data, "rb") as file:
                while piece := file.read(PIECE_MAX):
                    state.update(piece)
                    size += len(piece)
            digest = state.hexdigest()
        if digest in self._sent:
            return digest, size
        offset = self._have(digest, size)
        most = PIECE_MAX if self._customer.prefix == "/v1" else PIECE_HANDED_ON
        stuck = 0
        while offset < size or (offset == 0 and size == 0):
            if isinstance(data, bytes):
                piece = data[offset:offset + most]
            else:
                with open(data, "rb") as file:
                    file.seek(offset)
                    piece = file.read(min(most, size - offset))
            answer = self._customer.ad("PUT", f"/spool/{digest}", {"offset": offset, "size": size}, piece, "application/octet-stream")
            have = answer.get("Have", offset + len(piece))
            if not isinstance(have, int) or not 0 <= have <= size or stuck > 3:
                raise BadAnswer(f"the customer does not take {data if isinstance(data, str) else 'an input'}", "bad answer")
            stuck = 0 if have > offset else stuck + 1
            offset = have
            if size == 0:
                break
        self._sent.add(digest)
        return digest, size

    def _have(self, digest: str, size: int) -> int:
        """How much of a file the customer has."""
        try:
            answer = self._customer.ask("GET", f"/spool/{digest}", size=MIB)
        except Refused as error:
            if error.status == 404:
                return 0
            raise
        if answer.headers.get("berth-whole", "true") == "true":
            return max(size, 1)
        have = answer.headers.get("berth-size", "0")
        return int(have) if have.isdigit() and len(have) < 19 and int(have) < size else 0

    def _inputs(self, inputs: Iterable[str] | Mapping[str, Any]) -> list[dict[str, Any]]:
        """Sends the inputs, and gives them as the job's ad has them."""
        named: dict[str, Any] = {}
        if isinstance(inputs, str):
            inputs = [inputs]
        for name in inputs:
            source = inputs[name] if isinstance(inputs, Mapping) else name
            if isinstance(source, bytes):
                named[str(name)] = source
                continue
            source, name = os.fspath(source), os.path.normpath(os.fspath(name))
            if not isinstance(inputs, Mapping) and (os.path.isabs(name) or name.startswith("..")):
                name = os.path.basename(source.rstrip("/"))
            if os.path.isdir(source):
                for folder, _, files in os.walk(source):
                    for file in sorted(files):
                        path = os.path.join(folder, file)
                        named[os.path.normpath(os.path.join(name, os.path.relpath(path, source)))] = path
            else:
                named[name] = source
        rows = []
        for name, source in named.items():
            if name in (PROGRAM, ARGUMENTS) or name.startswith(RESULTS):
                raise ValueError(f"{name} is the name of a file that a function's job has of its own")
            digest, size = self._upload(source)
            runs = not isinstance(source, bytes) and bool(os.stat(source).st_mode & 0o111)
            rows.append({"Name": name, "Hash": digest, "Size": size, "Mode": 0o755 if runs else 0o644})
        return rows

    # ---- ads of jobs

    def _constraint(self, options: Options, call: bool) -> Expr:
        parts = ['other.Type == "Machine"']
        if not call:
            parts.append(f'other.Arch == "{platform.machine().upper()}"')
        parts.append(f'other.OpSys == "{platform.system().upper()}"')
        parts.append("other.Cpus >= RequestCpus && other.Memory >= RequestMemory && other.Disk >= RequestDisk")
        if options.gpus:
            parts.append("other.GpuCount >= RequestGpus")
        if call and not options.image:  # an image brings its own
            parts.append(f'version_ge(other.Python, "{options.python or ".".join(platform.python_version_tuple()[:2])}")')
        if options.constraint:
            parts.append(f"({options.constraint})")
        return Expr(" && ".join(parts))

    def _ad(self, options: Options, words: Sequence[str], inputs: list[dict[str, Any]], call: bool = False) -> dict[str, Any]:
        """The ad of a job, with what it does not say itself filled in as `berth submit` does."""
        ad: dict[str, Any] = {"Type": "Job", "Cmd": words[0], "Args": list(words[1:])}
        if inputs:
            ad["Inputs"] = inputs
        if options.outputs is not None:
            ad["Outputs"] = [options.outputs] if isinstance(options.outputs, str) else list(options.outputs)
        if options.env:
            ad["Env"] = {name: str(value) for name, value in options.env.items()}
        if options.stdin:
            ad["In"] = options.stdin
        ad["RequestCpus"] = options.cpus
        ad["RequestMemory"] = size_of(options.memory) if options.memory is not None else min(512 * MIB, _half_of_memory())
        ad["RequestDisk"] = size_of(options.disk) if options.disk is not None else min(1024 * MIB, _half_of_disk())
        if options.gpus:
            ad["RequestGpus"] = options.gpus
        if options.time_limit is not None:
            span = options.time_limit.total_seconds() if isinstance(options.time_limit, timedelta) else options.time_limit
            if span < 1:
                raise ValueError("time_limit is at least a second")
            ad["TimeLimit"] = round(span)
        for name, value in (("MaxRetries", options.retries or None), ("Network", options.network or None), ("Image", options.image),
                            ("AccountingGroup", options.group), ("Priority", options.priority)):
            if value is not None:
                ad[name] = value
        ad["Constraint"] = self._constraint(options, call)
        ad["Rank"] = Expr(options.rank) if options.rank else Expr("-other.LoadAvg")
        ad.update(options.ad)
        return ad

    def _program(self, words: list[str], options: Options) -> list[dict[str, Any]]:
        """The inputs of a command, with its program if that is a file here: "./fit"."""
        rows = self._inputs(options.inputs)
        program = words[0]
        if "/" in program and not program.startswith("/") and os.path.isfile(program) and not options.ad.get("TransferExecutable") is False:
            name = os.path.normpath(program)
            words[0] = "./" + name
            if all(row["Name"] != name for row in rows):
                digest, size = self._upload(program)
                rows.append({"Name": name, "Hash": digest, "Size": size, "Mode": 0o755})
        return rows

    def _command_ad(self, command: str | Sequence[str], args: Sequence[Any], options: Options) -> dict[str, Any]:
        words = words_of(command) + [str(arg) for arg in args]
        inputs = self._program(words, options)
        return self._ad(options, words, inputs)

    def _call_ad(self, program: tuple[str, int], inputs: list[dict[str, Any]], calls: Sequence[tuple[Sequence[Any], dict[str, Any]]], options: Options,
                 result: str = RESULT, nodes: Sequence[tuple[Any, str]] = ()) -> dict[str, Any]:
        """The ad of a job that makes some calls of a function."""
        text = arguments_of(calls, options.trust, result, nodes)
        rows = [*inputs, {"Name": PROGRAM, "Hash": program[0], "Size": program[1], "Mode": 0o644}]
        if len(text) > ARGUMENT_MAX:
            digest, size = self._upload(text.encode("ascii"))
            rows.append({"Name": ARGUMENTS, "Hash": digest, "Size": size, "Mode": 0o644})
            text = "@" + ARGUMENTS
        ad = self._ad(options, ["python3", PROGRAM, text], rows, call=True)
        ad["Outputs"] = [*ad.get("Outputs", []), result]
        ad["PythonCall"] = "pickle" if options.trust else "json"
        if result != RESULT:
            ad["PythonResult"] = result
        return ad

    # ---- submitting

    def _send(self, ads: Sequence[Mapping[str, Any]], key: str | None = None) -> list[int]:
        """Submits jobs, one an ad, all or none; gives their numbers."""
        body = ("[" + ",\n".join(ad_json(ad) for ad in ads) + "]").encode()
        key = key or uuid.uuid4().hex  # so that it can be repeated, when no answer has come
        for last in (False, True):
            try:
                rows, _ = self._customer.rows("POST", "/jobs", {"key": key}, body)
                break
            except PoolUnreachable:
                if last or self._watch.ended:
                    raise
            except Refused as error:  # a text that cannot be read: where
                placed = re.match(r"(ad \d+): line (\d{1,9}), column (\d{1,9}): (.*)", error.message, re.S)
                if not placed:
                    raise
                raise ClassAdParseError(placed[4], "bad text", int(placed[2]), int(placed[3]), body.decode(), placed[1]) from None
        numbers: list[int] = []
        if len(rows) != len(ads):
            raise BadAnswer(f"the customer has taken {len(rows)} of {len(ads)} ads, it says", "bad answer")
        for row in rows:
            first, count = number_of(row, "First"), number_of(row, "Count")
            if count > 100_000:
                raise BadAnswer("the customer has made more jobs than it may", "bad answer")
            numbers.extend(range(first, first + count))
            if isinstance(row.get("Warning"), str):
                warnings.warn(shown(row["Warning"]), stacklevel=4)
        return numbers

    def _futures(self, ads: Sequence[Mapping[str, Any]], counts: Sequence[int | None] = (), key: str | None = None) -> "list[JobFuture[Any]]":
        """Submits jobs. `counts`: of each that makes several calls, how many."""
        numbers = self._send(ads, key)
        jobs: list[JobFuture[Any]] = [JobFuture(self, id, counts[at] if counts else None) for at, id in enumerate(numbers)]
        for at, job in enumerate(jobs):
            ad = ads[at] if len(ads) == len(jobs) else ads[0]
            job.ad = {name: ad[name] for name in ("PythonCall", "PythonResult") if name in ad}
            job.in_workflow = "Node" in ad
        self._watch.add(jobs)
        return jobs

    def submit_ads(self, ads: Iterable[Mapping[str, Any]], key: str | None = None) -> "list[JobFuture[str]]":
        """Submits ads as they are, all of them or none; one with a Count becomes so many jobs. The same `key` with the same ads submits them once."""
        listed = [dict(ad) for ad in ads]
        return self._futures(listed, (), key) if listed else []

    @overload
    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "JobFuture[T]": ...
    @overload
    def submit(self, fn: Command, /, *args: Any, **kwargs: Any) -> "JobFuture[str]": ...

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "JobFuture[Any]":
        """Submits a job. A command is a text ("sort -n a.txt") or a list of words, to which further words may be given, and options by name:
        submit("./fit", "--seed", "17", inputs=["a.csv"], memory="2G"); its result is what it writes to standard output. A mapping is the ad of a job. A
        function is called with the arguments that follow, those by name as well, where the job runs; its options come from with_options()."""
        if isinstance(fn, Mapping):
            made = self.submit_ads([{**fn, **self.options.changed(kwargs).ad}])
            if len(made) != 1:
                raise ValueError("this ad makes several jobs: submit_ads() gives them all")
            return made[0]
        if callable(fn):
            options = self.options
            program = self._upload(program_of(fn).encode())
            return self._futures([self._call_ad(program, self._inputs(options.inputs), [(args, kwargs)], options)])[0]
        return self._futures([self._command_ad(fn, args, self.options.changed(kwargs))])[0]

    def _submitted(self, fn: Any, items: list[tuple[Any, ...]], options: Options, chunk: int) -> "list[JobFuture[Any]]":
        """Many jobs of one function or command, in as few requests as may be. With a chunk of more than one the results are lists."""
        made = self._calls(fn, items, options, chunk) if callable(fn) else ((ad, None) for ad in self._commands(fn, items, options))
        jobs: list[JobFuture[Any]] = []
        ads: list[dict[str, Any]] = []
        counts: list[int | None] = []
        size = 0
        for ad, count in made:
            bytes_of = len(ad_json(ad))
            if ads and (len(ads) >= ADS_MAX or size + bytes_of > BODY_MAX):
                jobs.extend(self._futures(ads, counts))
                ads, counts, size = [], [], 0
            ads.append(ad)
            counts.append(count)
            size += bytes_of
        if ads:
            jobs.extend(self._futures(ads, counts))
        return jobs

    def _calls(self, fn: Callable[..., Any], items: list[tuple[Any, ...]], options: Options, chunk: int) -> Iterator[tuple[dict[str, Any], int | None]]:
        program = self._upload(program_of(fn).encode())
        inputs = self._inputs(options.inputs)
        for at in range(0, len(items), chunk):
            some = items[at:at + chunk]
            yield self._call_ad(program, inputs, [(item, {}) for item in some], options), len(some) if chunk > 1 else None

    def _commands(self, fn: str | Sequence[str], items: list[tuple[Any, ...]], options: Options) -> Iterator[dict[str, Any]]:
        words = words_of(fn)
        inputs = self._program(words, options)
        filled = any("{}" in word for word in words)
        for item in items:
            given = [str(word) for part in item for word in (part if isinstance(part, (list, tuple)) else (part,))]
            yield self._ad(options, [word.replace("{}", " ".join(given)) for word in words] if filled else words + given, inputs)

    @overload
    def map_futures(self, fn: Callable[..., T], /, *iterables: Iterable[Any], **options: Any) -> "list[JobFuture[T]]": ...
    @overload
    def map_futures(self, fn: str | Sequence[str], /, *iterables: Iterable[Any], **options: Any) -> "list[JobFuture[str]]": ...

    def map_futures(self, fn: Any, /, *iterables: Iterable[Any], **options: Any) -> "list[JobFuture[Any]]":
        """A job for each item, as futures in the order of the items: what as_completed() and wait() of concurrent.futures take."""
        return self._submitted(fn, list(zip(*iterables)), self.options.changed(options), 1)

    @overload
    def map(self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1, **options: Any) -> Iterator[T]: ...
    @overload
    def map(self, fn: str | Sequence[str], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1, **options: Any) -> Iterator[str]: ...

    def map(self, fn: Any, *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1, **options: Any) -> Iterator[Any]:
        """The results of a job for each item, in the order of the items. `fn` is a function, or a command: an item takes the place of {} in its words, or else
        stands behind them, as one word or, where it is a list, as several. `chunksize`: how many calls of a function are one job."""
        if chunksize < 1:
            raise ValueError("chunksize is at least 1")
        jobs = self._submitted(fn, list(zip(*iterables)), self.options.changed(options), chunksize if callable(fn) else 1)
        return self._results(jobs, timeout, callable(fn) and chunksize > 1)

    def _results(self, jobs: "list[JobFuture[Any]]", timeout: float | None, chunked: bool) -> Iterator[Any]:
        ends = None if timeout is None else time.monotonic() + timeout
        for job in jobs:
            value = job.result(None if ends is None else max(0.0, ends - time.monotonic()))
            for each in value if chunked else [value]:
                if chunked and isinstance(each, RemoteError):
                    raise each
                yield each

    def workflow(self, name: str | None = None) -> "Workflow":
        """A new workflow: jobs that wait for each other."""
        from ._workflow import Workflow
        return Workflow(self, name)
