"""Workflows: jobs that wait for each other, submitted as one."""
from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._functions import RESULTS, program_of
from ._jobs import JobFuture
from ._values import ad_json

if TYPE_CHECKING:
    from ._pool import Pool


class Node:
    """A job of a workflow that is being made. Given to a function of another node as an argument it stands for its result."""

    def __init__(self, name: str, result: str | None) -> None:
        self.name, self.result = name, result

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class Workflow:
    """Jobs that wait for each other. They begin when submit() was called, or the block ends:

        with pool.workflow("means") as flow:
            parts = [flow.add(part, n) for n in range(3)]
            total = flow.add(mean, *parts)
        print(flow[total].result())"""

    def __init__(self, pool: "Pool", name: str | None) -> None:
        self._pool, self._name = pool, name
        self._ads: dict[str, dict[str, Any]] = {}
        self._nodes: dict[str, Node] = {}
        self.jobs: dict[str, JobFuture[Any]] = {}  # by the names of the nodes, when it was submitted

    def add(self, fn: "Callable[..., Any] | str | Sequence[str]", /, *args: Any, name: str | None = None, after: Iterable[Node] = (), files: Iterable[str] = (),
            **options: Any) -> Node:
        """Adds a node, a command or a function. It begins when those in `after`, and those whose results it is given as arguments, have ended well. `files`:
        "NODE:FILE", outputs of nodes in `after` that it reads. Further arguments by name are options, as those of submit() for a command."""
        if self.jobs:
            raise ValueError("the workflow has been submitted")
        name = name or f"n{len(self._nodes)}"
        if name in self._nodes:
            raise ValueError(f"there are two nodes called {name}")
        settled = self._pool.options.changed(options)
        given = [arg for arg in args if isinstance(arg, Node)]
        before = list(dict.fromkeys([*after, *given]))
        if any(self._nodes.get(node.name) is not node for node in before):
            raise ValueError("a node comes after nodes of its own workflow")
        read = list(files)
        result = None
        if callable(fn):
            if any(node.result is None for node in given):
                raise ValueError("a command has no result that a function could be given: name its output in `files`")
            if settled.trust != self._pool.options.trust:
                raise ValueError("trust is of all nodes, or of none: pool.with_options(trust=True).workflow()")
            result = f"{RESULTS}{len(self._nodes)}.json"
            nodes = [(at, arg.result or "") for at, arg in enumerate(args) if isinstance(arg, Node)]
            read += [f"{node.name}:{node.result}" for node in dict.fromkeys(given)]
            plain = [None if isinstance(arg, Node) else arg for arg in args]
            program = self._pool._upload(program_of(fn).encode())
            ad = self._pool._call_ad(program, self._pool._inputs(settled.inputs), [(plain, {})], settled, result, nodes)
        else:
            if given:
                raise ValueError("a command reads the outputs of other nodes as files")
            ad = self._pool._command_ad(fn, args, settled)
        ad["Node"] = name
        if before:
            ad["After"] = [node.name for node in before]
        if read:
            ad["NodeInputs"] = read
        if self._name:
            ad["Dag"] = self._name
        ad_json(ad)  # what cannot be sent is refused here
        self._ads[name] = ad
        self._nodes[name] = Node(name, result)
        return self._nodes[name]

    def submit(self) -> "Workflow":
        """Submits all of its jobs, or none."""
        if not self.jobs and self._ads:
            made = self._pool._futures(list(self._ads.values()))
            self.jobs = dict(zip(self._ads, made))
        return self

    def __enter__(self) -> "Workflow":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.submit()

    def __getitem__(self, node: "Node | str") -> "JobFuture[Any]":
        return self.jobs[node.name if isinstance(node, Node) else node]

    @property
    def id(self) -> int:
        """Its number, when it was submitted."""
        return min(job.id for job in self.jobs.values())

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until nothing of it moves any more. True: all has ended well."""
        _, open = concurrent.futures.wait(self.jobs.values(), timeout)
        if open:
            raise TimeoutError(f"{len(open)} jobs of the workflow are not over")
        return all(not job.cancelled() and job.exception() is None for job in self.jobs.values())

    def cancel(self) -> None:
        """Removes all of its jobs that are not over."""
        for job in self.jobs.values():
            job.cancel()

    def rescue(self) -> None:
        """What ended badly waits again, and all that waits for it; jobs are futures anew."""
        first, last = self.id, max(job.id for job in self.jobs.values())
        self._pool._control("rescue", f"{first}-{last}", None)
        for name, job in self.jobs.items():
            if job.cancelled() or (job.done() and job.exception() is not None):
                self.jobs[name] = self._pool.future(job.id)
