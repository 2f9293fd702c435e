"""Ads as Python's own objects, for talking to a pool: dicts, and expressions as texts of their own type. The standard library is all that this needs."""
from __future__ import annotations

import enum
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

DEPTH_MAX = 64
_OPEN, _CLOSE = "/Expr(", ")/"  # between these a string of JSON is an expression


class Value(enum.Enum):
    """The two values that Python lacks."""
    Undefined = 0
    Error = 1

    def __bool__(self) -> bool:
        return False


class Expr(str):
    """An expression of the language, as a text: {"Rank": Expr("other.Memory")}. Its str() is what stands in the ad."""
    __slots__ = ()

    def __repr__(self) -> str:
        return f"Expr({str.__str__(self)!r})"


_NAMED = {"n": 10, "t": 9, "a": 7, "b": 8, "f": 12, "r": 13, "v": 11, "\\": 92, '"': 34, "'": 39}
_ESCAPED = {code: "\\" + name for name, code in _NAMED.items() if name != "'"}
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.S)


def quoted(text: str) -> str:
    """A string as the language writes it; bytes that are not UTF-8 by their numbers."""
    said = "".join(_ESCAPED.get(ord(c)) or ("\\%03o" % (ord(c) & 255) if c < " " or c == "\x7f" or "\udc80" <= c <= "\udcff" else c) for c in text)
    return '"' + said + '"'


def unquoted(text: str) -> str:
    """The string that a literal of the language is."""

    def meant(found: re.Match[bytes]) -> bytes:
        octal, hexadecimal, named = found.groups()
        if octal or hexadecimal:
            return bytes([int(octal, 8) & 255 if octal else int(hexadecimal, 16)])
        return bytes([_NAMED[chr(named[0])]]) if chr(named[0]) in _NAMED else bytes(named)

    return _ESCAPE.sub(meant, text[1:-1].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _expression(text: str) -> str:
    return '"\\/Expr(' + json.dumps(text)[1:-1] + ')\\/"'


def ad_json(value: Any, depth: int = 0) -> str:
    """An ad (a mapping), or a value in one, as the JSON that Berth reads without loss."""
    if depth > DEPTH_MAX:
        raise ValueError("an ad is not nested so deeply")
    if value is None or value is Value.Undefined:
        return "null"
    if value is Value.Error:
        return _expression("error")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Expr) or type(value).__name__ == "ExprTree":
        return _expression(str(value))
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a string of an ad has no NUL")
        raw = value.encode("utf-8", "surrogateescape")  # UnicodeEncodeError is a ValueError
        # what would be taken for an expression, or is no UTF-8, is written as one
        return _expression(quoted(value)) if value.startswith(_OPEN) or len(raw.decode("utf-8", "ignore")) < len(value) else json.dumps(value)
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise OverflowError("an integer has 64 bits")
        return str(int(value))
    if isinstance(value, float):
        return json.dumps(value) if math.isfinite(value) else _expression(f'real("{ "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"}")')
    if isinstance(value, datetime):
        return _expression(f'absTime("{value.astimezone(value.tzinfo).isoformat(timespec="seconds")}")')
    if isinstance(value, timedelta):
        return _expression(f"relTime({value.days * 86400 + value.seconds})")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str) or not name:
                raise TypeError(f"the name of an attribute is a text, not {name!r}")
        return "{" + ", ".join(json.dumps(str(name)) + ": " + ad_json(each, depth + 1) for name, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(ad_json(each, depth + 1) for each in value) + "]"
    raise TypeError(f"an ad cannot have {type(value).__name__}")


def _meant(value: Any) -> Any:
    if isinstance(value, str):
        if not (value.startswith(_OPEN) and value.endswith(_CLOSE)):
            return value
        inner = value[len(_OPEN):-len(_CLOSE)]
        return unquoted(inner) if _LITERAL.fullmatch(inner) else Expr(inner)
    if isinstance(value, list):
        return [_meant(each) for each in value]
    if isinstance(value, dict):
        return {name: _meant(each) for name, each in value.items()}
    return value


def read_json(raw: bytes) -> Any:
    """What such JSON says, expressions as Expr; ValueError for what is none, or is nested too deeply."""
    try:
        return _meant(json.loads(raw.decode("utf-8", "surrogateescape")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


# What people write in files of tokens and settings: the attributes that are plain texts, or lists of them.
_TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|(?P<name>[A-Za-z_]\w*)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<other>.)', re.S)


def plain_attributes(text: str) -> dict[str, Any]:
    """The attributes of an ad that are texts or lists of texts, by their names in small letters. All others are left out."""
    words = [(m.lastgroup, m.group()) for m in _TOKEN.finditer(text) if m.lastgroup]
    found: dict[str, Any] = {}
    depth, at = 0, 0

    while at < len(words):
        kind, word = words[at]
        depth += (word in "[{(") - (word in "]})") if kind == "other" else 0
        at += 1
        if kind != "name" or depth > 1 or at + 1 >= len(words) or words[at][1] != "=":
            continue
        end = at + 1
        if words[end][0] == "text":
            value: Any = unquoted(words[end][1])
            end += 1
        elif words[end][1] == "{":
            value, end = [], end + 1
            while end < len(words) and (words[end][0] == "text" or words[end][1] == ","):
                if words[end][0] == "text":
                    value.append(unquoted(words[end][1]))
                end += 1
            if end >= len(words) or words[end][1] != "}":
                continue
            end += 1
        else:
            continue
        if end >= len(words) or words[end][1] in ";]":
            found[word.lower()] = value
            at = end
    return found
