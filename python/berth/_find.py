"""Where the customer and the matchmaker are, and what is shown to them: as the command `berth` finds them."""
from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import Any

from ._errors import BadAnswer, PoolError
from ._values import plain_attributes
from ._wire import Place, Wire, is_private, shown

SOCKET = "/run/berth/customer.sock"
FILE_MAX = 64 * 1024
HOLDER_SPAN = 2.0  # seconds in which one of several customers has to answer


def _named(variable: str) -> str | None:
    return os.environ.get(variable) or None


def _folder(variable: str, rest: str) -> str | None:
    given, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if given.startswith("/"):
        return given + "/berth"
    return f"{home}/{rest}/berth" if home.startswith("/") else None


def _settings() -> tuple[dict[str, Any], str | None]:
    """The settings that are plain texts, of the configuration file and the folder beside it; and the name of that file."""
    own = _folder("XDG_CONFIG_HOME", ".config")
    usual = [f for f in (own and own + "/berth.ad", "/etc/berth/berth.ad") if f and (os.path.exists(f) or os.path.isdir(f + ".d"))]
    file = _named("BERTH_CONFIG") or (usual[0] if usual else None)
    found: dict[str, Any] = {}
    if file:
        parts = sorted(name for name in (os.listdir(file + ".d") if os.path.isdir(file + ".d") else []) if name.endswith(".ad"))
        for each in ([file] if os.path.exists(file) else []) + [os.path.join(file + ".d", name) for name in parts]:
            try:
                with open(each, encoding="utf-8", errors="surrogateescape") as f:
                    found.update(plain_attributes(f.read(1 << 20)))
            except OSError as error:
                raise PoolError(f"{each}: {error.strerror}") from error
    for name in ("State", "SubmitSocket"):
        variable = "BERTH_" + "".join("_" + c if c.isupper() and i else c for i, c in enumerate(name)).upper()
        if _named(variable):
            found[name.lower()] = _named(variable)
    if _named("BERTH_MATCHMAKERS"):
        found["matchmakers"] = [url.strip(' "{}') for url in os.environ["BERTH_MATCHMAKERS"].split(",")]
    return found, file


class _Token:
    """A file of a token, as `berth token create` writes it."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, encoding="utf-8") as f:
                about = os.fstat(f.fileno())
                if not stat.S_ISREG(about.st_mode) or about.st_uid not in (os.geteuid(), 0) or about.st_mode & 0o077:
                    raise PoolError(f"{path}: the file of a token is a plain file that nobody else can read or write: chmod 600 {path}")
                read = plain_attributes(f.read(FILE_MAX))
        except (OSError, UnicodeDecodeError) as error:
            raise PoolError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        self.text, self.key = read.get("token"), "key" in read
        self.pool: str | None = read.get("pool") if isinstance(read.get("pool"), str) else None
        self.ca: str | None = read.get("ca") if isinstance(read.get("ca"), str) else None
        if not isinstance(self.text, str) or not self.text.isascii() or not self.text.isprintable() or " " in self.text:
            raise PoolError(f"{path}: there is no token in it")

    def bearer(self) -> str:
        """What is shown. A token with a key wants a signature, which the program makes."""
        if not self.key:
            return str(self.text)
        program = shutil.which("berth")
        said = f"{self.path}: this token has a key, and Python's standard library cannot sign: `berth token delegate --no-delegation {self.path}` makes one without"
        if not program:
            raise PoolError(said)
        try:
            made = subprocess.run([program, "token", "delegate", "--no-delegation", self.path], capture_output=True, text=True, timeout=30, check=True)
            text = plain_attributes(made.stdout).get("token")
        except (OSError, subprocess.SubprocessError) as error:
            raise PoolError(f"{said}; that was tried: {shown(getattr(error, 'stderr', None) or error, 300)}") from error
        if not isinstance(text, str):
            raise PoolError(said)
        return text


def _token(named: str | None, state: str | None, config: str | None) -> _Token | None:
    """The token that was named, else the usual one."""
    file = named or _named("BERTH_TOKEN")
    if file:
        return _Token(file)
    places = [f"{state}/token" if state else None, os.path.join(os.path.dirname(config), "token") if config else None,
              f"{state}/customer/token" if state and not os.path.exists(f"{state}/matchmaker.sock") else None]
    return next((_Token(place) for place in places if place and os.access(place, os.R_OK)), None)


def _institute() -> str | None:
    """The token of an institute that grids' tools leave in the environment."""
    file, text = _named("BEARER_TOKEN_FILE"), os.environ.get("BEARER_TOKEN", "").strip()
    if file and not text:
        try:
            with open(file, encoding="ascii") as f:
                text = f.read(FILE_MAX).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise PoolError(f"{file}: {getattr(error, 'strerror', None) or 'it is not a token'}") from None
    if text and not (text.isascii() and text.isprintable() and " " not in text):
        raise PoolError(f"{'BEARER_TOKEN' if os.environ.get('BEARER_TOKEN') else file}: it is not the token of an institute")
    return text or None


class Found:
    """The wires to a customer and its matchmaker. The second is looked for when it is first wanted."""

    def __init__(self, customer: str | None, pool: str | None, token: str | None) -> None:
        settings, config = _settings()
        root = hasattr(os, "geteuid") and os.geteuid() == 0 and not os.environ.get("XDG_STATE_HOME", "").startswith("/")
        state = settings.get("state") or ("/var/lib/berth" if root else _folder("XDG_STATE_HOME", ".local/state"))
        self._by_hand = bool(token or _named("BERTH_TOKEN"))
        self._file = _token(token, state, config)
        self._shown: str | None = None
        self._state = state or ""
        self._shared = shared = str(settings.get("submitsocket") or SOCKET)
        listed = settings.get("matchmakers")
        self._pools = [pool] if pool else [os.environ["BERTH_POOL"]] if _named("BERTH_POOL") else [u for u in listed or [] if u] if isinstance(listed, list) else []
        where = customer or _named("BERTH_CUSTOMER")
        own = f"{self._state}/customer/customer.sock"
        self.matchmaker_wire: Wire | None = None
        if where:
            self.customer = self._holder(where.split() or [where])
        elif os.path.exists(own) and not pool:
            self.customer = Wire(Place("unix:" + own), "the customer")
        elif os.path.exists(shared) and not pool:
            self.customer = Wire(Place("unix:" + shared), "the customer")
        elif self._pools or (self._file and self._file.pool):
            self.customer = self._by_desk()
        else:
            self.customer = Wire(Place("unix:" + own), "the customer")

    def _place(self, url: str, socket_token: bool = False) -> Place:
        if url.startswith("/"):
            url = "unix:" + url
        if url.startswith("unix:"):
            return Place(url, self._bearer() if socket_token and self._by_hand and self._file else None)
        url = url.rstrip("/")
        shows = self._file is not None or _institute() is not None
        if shows and not is_private(url) and not (self._file and self._file.pool == url):
            raise PoolError(f"{url}: no token is sent there, for the connection is not encrypted")
        return Place(url, self._bearer() if shows else None, self._file.ca if self._file else None)

    def _holder(self, urls: list[str]) -> Wire:
        """Of several that stand by for one queue the first that has it; the last, if none says so."""
        for url in urls[:-1]:
            wire = Wire(self._place(url), "the customer")
            try:
                wire.ad("GET", "/status", seconds=HOLDER_SPAN)
                return wire
            except PoolError:
                wire.close()
        return Wire(self._place(urls[-1]), "the customer")

    def _bearer(self) -> str | None:
        if self._shown is None:
            self._shown = self._file.bearer() if self._file else _institute()
        return self._shown

    def _by_desk(self) -> Wire:
        """The customer is elsewhere: the matchmaker hands on to it."""
        matchmaker = self.matchmaker()
        desks = list(matchmaker.list("/desks", most=100))
        agents = [desk["Agent"] for desk in desks if isinstance(desk.get("Agent"), str) and desk["Agent"].isalnum()]
        if len(agents) != 1:
            names = ", ".join(shown(desk.get("Name", "?"), 60) for desk in desks)
            raise PoolError(f"the pool knows {'several customers of yours' if agents else 'no customer of yours'}{': ' + names if names else ''}; Pool(customer=URL) or $BERTH_CUSTOMER names one")
        return Wire(matchmaker.place, "the customer", "/v1/desk/" + agents[0])

    def matchmaker(self) -> Wire:
        if self.matchmaker_wire is None:
            sock = f"{self._state}/matchmaker.sock"
            if self._pools:
                place = self._place(self._pools[0], socket_token=True)
            elif self._file and self._file.pool and (self._by_hand or not os.path.exists(sock)):
                place = self._place(self._file.pool)
            elif self._file is None and _institute() is None and not os.path.exists(sock) and os.path.exists(self._shared):
                place = self._of_host()
            else:
                place = Place("unix:" + sock, self._bearer() if self._by_hand and self._file else None)
            self.matchmaker_wire = Wire(place, "the matchmaker")
        return self.matchmaker_wire

    def _of_host(self) -> Place:
        """The customer for all users of this machine knows who we are, and gives a token with which its pool can be asked."""
        host = Wire(Place("unix:" + self._shared), "the customer")
        try:
            told = host.ad("POST", "/token")
        finally:
            host.close()
        token, url, ca = told.get("Token"), told.get("Pool"), told.get("Ca")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise BadAnswer("the customer of this machine gives no token for its pool", "bad answer")
        return Place(url.rstrip("/"), token, ca if isinstance(ca, str) else None)

    def close(self) -> None:
        self.customer.close()
        if self.matchmaker_wire:
            self.matchmaker_wire.close()
