"""libberth by cffi: the library itself, and a context for each thread.

All contexts share one table of names from the beginning, so that ads may go from thread to thread, and may be given back by whichever thread collects them.
"""
from __future__ import annotations

import os
import threading
import time
from typing import Any

import cffi

from ._declarations import DECLARATIONS

ffi = cffi.FFI()
ffi.cdef(DECLARATIONS)
lib: Any = ffi.dlopen(os.environ.get("BERTH_LIBRARY", "libberth.so.1"))

_lock = threading.Lock()
_first = lib.berth_context_new()
_local = threading.local()


class Settings:
    """What holds for all threads."""
    dialect: int = 0
    clock: float | None = None
    limits: dict[int, int] = {}


class _Own:
    """A context that goes with its thread."""
    __slots__ = ("context",)

    def __init__(self) -> None:
        with _lock:
            self.context = ffi.gc(lib.berth_context_share(_first), lib.berth_context_free)


def context() -> Any:
    """This thread's context, set as Settings says, at the time of now."""
    own = getattr(_local, "own", None)
    if own is None:
        own = _local.own = _Own()
    at = own.context
    now = time.time() if Settings.clock is None else Settings.clock
    zone = time.localtime(now).tm_gmtoff // 60 if Settings.clock is None else 0
    lib.berth_context_set_clock(at, int(now), zone)
    lib.berth_context_set_dialect(at, Settings.dialect)
    for limit, value in Settings.limits.items():
        lib.berth_context_set_limit(at, limit, value)
    return at


def encode(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def decode(chars: Any, length: int | None = None) -> str:
    raw = ffi.string(chars) if length is None else bytes(ffi.buffer(chars, length))
    return str(raw, "utf-8", "surrogateescape")


def name_of(name: str) -> bytes:
    """An attribute's name as the library takes it: it ends with its first NUL there."""
    raw = encode(name)
    if b"\0" in raw:
        raise ValueError("a name of an attribute has no NUL")
    return raw
