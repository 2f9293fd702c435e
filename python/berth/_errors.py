"""What goes wrong, as exceptions. All are a BerthError."""
from __future__ import annotations

from typing import Any


class BerthError(Exception):
    """Something that the library or a pool refuses. `code` is its word for it."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


ClassAdException = BerthError


class ClassAdParseError(BerthError, ValueError):
    """A text that is not an ad or an expression: `line` and `column` count from 1, and str() shows the place with a caret."""

    def __init__(self, message: str, code: str, line: int, column: int, text: str, file: str | None = None) -> None:
        super().__init__(message, code)
        self.line, self.column, self.file = line, column, file
        lines = text.split("\n")
        self.text = lines[line - 1] if 0 < line <= len(lines) else ""

    def __str__(self) -> str:
        where = f"{self.file}:" if self.file else ""
        if not self.line:
            return where + self.message
        said = f"{where}{self.line}:{self.column}: {self.message}"
        if not self.text or self.column > len(self.text) + 1:
            return said
        start = max(0, self.column - 60)
        shown = self.text[start:start + 100]
        return f"{said}\n  {shown}\n  {' ' * (self.column - 1 - start)}^"


class PoolError(BerthError):
    """What goes wrong with a pool."""


class PoolUnreachable(PoolError, ConnectionError):
    """Nobody answers, or not in time. It is not known whether what was asked has been done."""


class Refused(PoolError):
    """The pool refuses. `status` is that of HTTP: 400 the request is wrong, 401 and 403 one may not, 404 there is no such thing, 409 not as things are."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, str(status))
        self.status = status


class BadAnswer(PoolError):
    """An answer that makes no sense, or is larger than it may be."""


class JobFailed(PoolError):
    """A job is over and has no result. `outcome` is its word for why ("Failed", "OutOfMemory", "Removed", ...), `status` the exit status or minus a signal."""

    def __init__(self, message: str, job: Any, outcome: str, status: int | None = None, stderr: str = "") -> None:
        super().__init__(message, outcome)
        self.job, self.outcome, self.status, self.stderr = job, outcome, status, stderr


class JobHeld(JobFailed):
    """A job waits for its user: job.release() lets it go on, job.cancel() removes it."""


class RemoteError(JobFailed):
    """A function raised an exception where it ran. `type` is the name of the exception's class, `text` what it says, `traceback` where it came from."""

    def __init__(self, job: Any, type: str, text: str, traceback: str) -> None:
        super().__init__(f"{type}: {text}" if text else type, job, "Failed", 1)
        self.type, self.text, self.traceback = type, text, traceback

    def __str__(self) -> str:
        return f"{self.message}\n\nwhere the job ran:\n{self.traceback.rstrip()}" if self.traceback else self.message
