"""berth: pools of machines and their jobs, and the language of ads by which they find each other.

    >>> with Pool() as pool:
    ...     print(pool.submit("hostname").result())

    >>> job = ClassAd('[ Cpus = 4; Constraint = other.Cpus >= Cpus; Rank = other.Memory ]')
    >>> match(job, ClassAd({'Cpus': 8, 'Memory': 16}))
    True

A pool is spoken with by the standard library alone. The language is that of libberth, by cffi, and is loaded when one of its names is first used; these are
those of HTCondor's classad2 where it has them: ClassAd, ExprTree, Value, parseOne, parseAds, quote, unquote."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._async import AsyncJob, AsyncPool
from ._errors import (
    BadAnswer,
    BerthError,
    ClassAdException,
    ClassAdParseError,
    JobFailed,
    JobHeld,
    PoolError,
    PoolUnreachable,
    Refused,
    RemoteError,
)
from ._functions import CannotTravel
from ._jobs import Job, JobFile, JobFuture, LogEvent
from ._pool import Event, Options, Pool
from ._values import Expr, Value
from ._workflow import Node, Workflow

if TYPE_CHECKING:
    from ._ads import ClassAd, ExprTree, ParserType, parseAds, parseOne, quote, set_clock, set_dialect, set_limit, unquote, version
    from ._meet import Finding, Index, Member, gang, lint, match, rank, why

__all__ = [
    "AsyncJob", "AsyncPool", "BadAnswer", "BerthError", "CannotTravel", "ClassAd", "ClassAdException", "ClassAdParseError", "Event", "Expr", "ExprTree",
    "Finding", "Index", "Job", "JobFailed", "JobFile", "JobFuture", "JobHeld", "LogEvent", "Member", "Node", "Options", "ParserType", "Pool", "PoolError",
    "PoolUnreachable", "Refused", "RemoteError", "Value", "Workflow", "gang", "lint", "match", "parseAds", "parseOne", "quote", "rank", "set_clock",
    "set_dialect", "set_limit", "unquote", "version", "why",
]

_LANGUAGE = {
    **dict.fromkeys(("ClassAd", "ExprTree", "ParserType", "parseAds", "parseOne", "quote", "set_clock", "set_dialect", "set_limit", "unquote", "version"), "_ads"),
    **dict.fromkeys(("Finding", "Index", "Member", "gang", "lint", "match", "rank", "why"), "_meet"),
}


def __getattr__(name: str) -> Any:
    if name not in _LANGUAGE:
        raise AttributeError(f"module 'berth' has no attribute {name!r}")
    import importlib
    try:
        found = getattr(importlib.import_module("berth." + _LANGUAGE[name]), name)
    except (ImportError, OSError) as error:
        raise ImportError(f"berth.{name} needs cffi (Debian: python3-cffi) and libberth.so.1, which BERTH_LIBRARY may name: {error}") from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
