"""A daemon over HTTP: a question, and an answer that is bounded in size and time, whatever the other side says."""
from __future__ import annotations

import functools
import http.client
import io
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._errors import BadAnswer, ClassAdParseError, PoolUnreachable, Refused
from ._values import read_json

MIB = 1 << 20
ANSWER_MAX = 64 * MIB  # bytes of one answer
PAGE = 5000            # rows that are asked for at once
PAGES_MAX = 100_000
PATIENCE = 60          # seconds for which "too many requests" is waited out
IDLE_MAX = 8           # connections that are kept
TRACE = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")  # by which a job is followed through logs: whoever began this program is in it


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def shown(text: object, most: int = 1000) -> str:
    """What a stranger says, as people may read it: in bounds, and nothing that moves a terminal's cursor."""
    return "".join(c if c == "\n" or c.isprintable() else "?" for c in str(text)[:most])


class _Bounds:
    """How long an exchange may take, and how many bytes may come."""

    def __init__(self, seconds: float, size: int) -> None:
        self.ends, self.left = time.monotonic() + seconds, size + 64 * 1024  # and a head


class _Bounded(io.RawIOBase):
    """The bytes of a connection within bounds: one byte now and then does not help, nor does an answer without an end."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase, bounds: _Bounds) -> None:
        self._sock, self._raw, self._bounds = sock, raw, bounds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._bounds.ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        if self._bounds.left <= 0:
            raise BadAnswer("the answer is larger than it may be", "too much")
        self._sock.settimeout(left)
        got: int = self._raw.readinto(buffer)  # type: ignore[assignment]
        self._bounds.left -= got
        return got

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None, *, bounds: _Bounds) -> None:
        super().__init__(sock, debuglevel, method, url)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Bounded(sock, raw, bounds))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Place(NamedTuple):
    """Where a daemon is: the path of a socket, or an URL; what is shown to it; and what its certificate is checked by."""
    url: str  # "unix:/run/..." or "https://..."
    token: str | None = None
    ca: str | None = None


def is_private(url: str) -> bool:
    """Is what is sent there kept from others?"""
    parts = urllib.parse.urlsplit(url)
    return url.startswith("unix:") or parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


class Wire:
    """Speaks with one daemon. Any thread may ask. `prefix` stands in the place of "/v1" in paths: a customer that is asked by way of its matchmaker."""

    def __init__(self, place: Place, who: str, prefix: str = "/v1") -> None:
        self.place, self.who, self.prefix = place, who, prefix
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._busy: set[http.client.HTTPConnection] = set()
        self._closed = False
        self._tls: ssl.SSLContext | None = None
        if not place.url.startswith("unix:"):
            parts = urllib.parse.urlsplit(place.url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
                raise ValueError(f"{place.url}: expected http://HOST:PORT, https://HOST:PORT or unix:PATH")
            self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
            if parts.scheme == "https":
                self._tls = ssl.create_default_context(cadata=place.ca)

    def _new(self, timeout: float) -> http.client.HTTPConnection:
        if self.place.url.startswith("unix:"):
            return _UnixConnection(self.place.url[5:], timeout)
        if self._tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def close(self) -> None:
        """Ends all that is under way: who waits for an answer is told PoolUnreachable."""
        with self._lock:
            self._closed = True
            ended = self._idle + list(self._busy)
            self._idle.clear()
        for connection in ended:
            sock = connection.sock
            if sock is not None:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _take(self, timeout: float, fresh: bool) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._closed:
                raise PoolUnreachable("this Pool is closed", "closed")
            used = bool(self._idle) and not fresh
            connection = self._idle.pop() if used else self._new(timeout)
            self._busy.add(connection)
        return connection, used

    def _give(self, connection: http.client.HTTPConnection, good: bool) -> None:
        with self._lock:
            self._busy.discard(connection)
            if good and connection.sock is not None and len(self._idle) < IDLE_MAX and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _exchange(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float,
                  size: int) -> Answer:
        bounds = _Bounds(seconds, size)
        connection.response_class = functools.partial(_Response, bounds=bounds)  # type: ignore[assignment]
        connection.timeout = seconds
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        try:
            connection.request(method, path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            if connection.sock is None:
                raise
            # a body that is not wanted is answered before it has been read
        response = connection.getresponse()
        said = response.getheader("Content-Length")
        if said and said.isdigit() and int(said[:20]) > size:
            raise BadAnswer(f"{self.who} answers with {said[:20]} bytes, and at most {size} are taken", "too much")
        raw = response.read(size + 1)
        if len(raw) > size:
            raise BadAnswer(f"{self.who} answers with more than {size} bytes", "too much")
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, raw)

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float, size: int) -> Answer:
        for fresh in (False, True):
            connection, used = self._take(seconds, fresh)
            good = False
            try:
                answer = self._exchange(connection, method, path, body, headers, seconds, size)
                good = True
                return answer
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                if used and not self._closed:
                    continue  # it was kept too long
                raise PoolUnreachable(f"{self.who}: the connection was closed before an answer came", "unreachable") from error
            except (FileNotFoundError, ConnectionRefusedError) as error:
                raise PoolUnreachable(f"nobody answers at {self.place.url}: is {self.who} running? `berth pool` starts one", "unreachable") from error
            except (http.client.HTTPException, ValueError, AttributeError) as error:  # AttributeError: closed by another thread meanwhile
                if self._closed:
                    raise PoolUnreachable("this Pool is closed", "closed") from None
                raise BadAnswer(f"{self.who} does not speak HTTP: {shown(error, 200)}", "bad answer") from error
            except OSError as error:
                raise PoolUnreachable(f"{self.who}: {shown(error, 200)}", "unreachable") from error
            finally:
                self._give(connection, good)
        raise AssertionError

    def ask(self, method: str, path: str, query: Mapping[str, object] | None = None, body: bytes | None = None, kind: str = "application/json",
            accept: str = "application/json", seconds: float = 60, size: int = ANSWER_MAX) -> Answer:
        """Asks, and gives a good answer. `path` begins behind "/v1". Too many requests at once are waited out."""
        known = {name: str(value) for name, value in (query or {}).items() if value is not None}
        where = self.prefix + path + ("?" + urllib.parse.urlencode(known, quote_via=urllib.parse.quote) if known else "")
        if not self.place.url.startswith("unix:"):
            where = self._path + where
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = kind
        if self.place.token:
            headers["Authorization"] = "Bearer " + self.place.token
        if TRACE.fullmatch(os.environ.get("TRACEPARENT", "")):
            headers["traceparent"] = os.environ["TRACEPARENT"]
        ends = time.monotonic() + PATIENCE
        while True:
            answer = self._once(method, where, body, headers, seconds, size)
            if answer.status != 429 or time.monotonic() >= ends:
                break
            pause = answer.headers.get("retry-after", "1")
            time.sleep(min(int(pause), 10) if pause.isdigit() and len(pause) < 6 else 1)
        if answer.status // 100 == 2:
            return answer
        detail = f"{self.who} answered with status {answer.status}"
        if answer.headers.get("content-type", "").startswith("application/problem+json"):
            try:
                told = json.loads(answer.body)
                detail = shown(told["detail"]) if isinstance(told, dict) and isinstance(told.get("detail"), str) else detail
            except (ValueError, RecursionError):
                pass
        if answer.status >= 500:
            raise PoolUnreachable(detail, str(answer.status))
        placed = re.match(r"constraint: (\d{1,9}):(\d{1,9}): (.*)", detail, re.S)
        if placed and "constraint" in known:
            raise ClassAdParseError(placed[3], "bad text", int(placed[1]), int(placed[2]), known["constraint"], "constraint")
        raise Refused(detail, answer.status)

    def _read(self, answer: Answer) -> Any:
        if not answer.headers.get("content-type", "").startswith("application/json"):
            raise BadAnswer(f"{self.who} answered with {shown(answer.headers.get('content-type', 'something without a type'), 60)}, not with JSON", "bad answer")
        try:
            return read_json(answer.body)
        except ValueError as error:
            raise BadAnswer(f"{self.who} answered with what is not JSON: {shown(error, 200)}", "bad answer") from error

    def ad(self, method: str, path: str, query: Mapping[str, object] | None = None, body: bytes | None = None, kind: str = "application/json",
           seconds: float = 60) -> dict[str, Any]:
        """Asks for one ad."""
        told = self._read(self.ask(method, path, query, body, kind, seconds=seconds))
        if not isinstance(told, dict):
            raise BadAnswer(f"{self.who} answered with something that is not an ad", "bad answer")
        return told

    def rows(self, method: str, path: str, query: Mapping[str, object] | None = None, body: bytes | None = None) -> tuple[list[dict[str, Any]], str | None]:
        """Asks for a list; with it where to go on, if it has an end further on."""
        answer = self.ask(method, path, query, body)
        told = self._read(answer)
        if not isinstance(told, list) or not all(isinstance(row, dict) for row in told):
            raise BadAnswer(f"{self.who} answered with something that is not a list of ads", "bad answer")
        cursor = answer.headers.get("berth-cursor")
        if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 20):
            raise BadAnswer(f"{self.who} says to go on at {shown(cursor, 60)!r}", "bad answer")
        return told, cursor

    def list(self, path: str, query: Mapping[str, object] | None = None, most: int | None = None, page: int = PAGE) -> Iterator[dict[str, Any]]:
        """A whole list, in as many answers as it takes."""
        asked, seen, given = dict(query or {}), set(), 0
        for _ in range(PAGES_MAX):
            asked["limit"] = page if most is None else min(page, most - given)
            rows, cursor = self.rows("GET", path, asked)
            for row in rows:
                yield row
                given += 1
                if given == most:
                    return
            if cursor is None:
                return
            if cursor in seen:
                break
            seen.add(cursor)
            asked["cursor"] = cursor
            page = max(page, PAGE)
        raise BadAnswer(f"{self.who} gives a list without an end", "bad answer")
