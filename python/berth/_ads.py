"""Ads and expressions as objects of Python. A ClassAd may be changed: then it holds another ad, for those of the library never change."""
from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from datetime import datetime, timedelta, timezone
from typing import Any, Union

from ._errors import BerthError, ClassAdParseError
from ._library import Settings, context, decode, encode, ffi, lib, name_of
from ._values import Value

FORMS = {"any": 0, "classad": 1, "json": 2, "xml": 3, "long": 4}
DIALECTS = {"classic": 0, "condor": 1}
LIMITS = {"steps": 0, "bytes": 1, "text": 2, "cells": 3, "attributes": 4, "nodes": 5}


def _raise(error: Any, text: str | bytes = "", file: str | None = None) -> None:
    code = decode(lib.berth_code_name(error.code))
    message = decode(error.message)
    if error.code == 1:
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        raise ClassAdParseError(message, code, error.line, error.column, shown, file)
    raise BerthError(message, code)


class ParserType(enum.Enum):
    """The forms of texts, by HTCondor's names for them."""
    Auto = "any"
    New = "classad"
    Old = "long"
    JSON = "json"
    XML = "xml"


Text = Union[str, bytes, Iterable[str]]  # a file of text gives its lines
Form = Union[str, ParserType]


def _whole(text: Text) -> str | bytes:
    return text if isinstance(text, (str, bytes)) else "".join(text)


def _form(form: Form) -> int:
    name = form.value if isinstance(form, ParserType) else form
    if name not in FORMS:
        raise ValueError(f"there is no form {name!r}: one of {', '.join(FORMS)}")
    return FORMS[name]


def version() -> str:
    """The version of the library that is loaded."""
    return decode(lib.berth_version())


def set_dialect(name: str) -> None:
    """In which dialect texts are read from now on: "classic" (at first) or "condor"."""
    Settings.dialect = DIALECTS[name]


def set_clock(now: float | None) -> None:
    """The time that expressions see, in seconds since 1970; None (at first): the present."""
    Settings.clock = now


def set_limit(name: str, value: int) -> None:
    """Bounds "steps" or "bytes" of an evaluation, "text", "cells" or "attributes" of an ad, or "nodes" of the search for a gang; 0: as at first."""
    if value < 0:
        raise ValueError("a limit is not below 0")
    Settings.limits[LIMITS[name]] = min(value, 2**64 - 1)


def _taken_ad(pointer: Any) -> Any:
    return ffi.gc(pointer, lib.berth_ad_unref)


def _taken_expr(pointer: Any) -> Any:
    return ffi.gc(pointer, lib.berth_expr_unref)


def _value(at: Any, value: Any) -> Any:
    """A lent value as an object of Python."""
    kind = lib.berth_value_type(value)
    if kind in (0, 1):
        return Value(kind)
    if kind == 2:
        return lib.berth_value_boolean(value) == 1
    if kind in (3, 6, 7):
        number = ffi.new("int64_t *")
        lib.berth_value_integer(value, number)
        if kind == 3:
            return int(number[0])
        if kind == 7:
            try:
                return timedelta(seconds=int(number[0]))
            except OverflowError:
                return int(number[0])
        try:
            return datetime.fromtimestamp(int(number[0]), timezone(timedelta(minutes=lib.berth_value_zone(value))))
        except (OverflowError, ValueError, OSError):
            return int(number[0])
    if kind == 4:
        real = ffi.new("double *")
        lib.berth_value_real(value, real)
        return float(real[0])
    if kind == 5:
        length = ffi.new("size_t *")
        chars = lib.berth_value_string(value, length)
        return decode(chars, length[0])
    if kind == 8:
        return [_value(at, lib.berth_value_element(at, value, i)) for i in range(lib.berth_value_count(value))]
    inner = lib.berth_value_ad(at, value)
    return Value.Error if inner == ffi.NULL else ClassAd._of(_taken_ad(inner))


def _set(maker: Any, name: bytes, value: Any, error: Any) -> int:
    """Sets an attribute of a maker to an object of Python."""
    if isinstance(value, bool):
        return int(lib.berth_maker_boolean(maker, name, value, error))
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise OverflowError("an integer has 64 bits")
        return int(lib.berth_maker_integer(maker, name, value, error))
    if isinstance(value, float):
        return int(lib.berth_maker_real(maker, name, value, error))
    if isinstance(value, (str, bytes)):
        raw = encode(value)
        return int(lib.berth_maker_string(maker, name, raw, len(raw), error))
    if isinstance(value, ExprTree):
        return int(lib.berth_maker_expr(maker, name, value._expr, error))
    if isinstance(value, Mapping):
        inner = value if isinstance(value, ClassAd) else ClassAd(value)
        return int(lib.berth_maker_ad(maker, name, inner._ad, error))
    text = encode(_text(value))
    return int(lib.berth_maker_parse(maker, name, text, len(text), error))


def _text(value: Any) -> str:
    """An object of Python as an expression."""
    if value is None or value is Value.Undefined:
        return "undefined"
    if value is Value.Error:
        return "error"
    if isinstance(value, datetime):
        return f'absTime("{value.astimezone(value.tzinfo).isoformat(timespec="seconds")}")'
    if isinstance(value, timedelta):
        return f"relTime({value.days * 86400 + value.seconds})"
    if isinstance(value, (list, tuple)):
        return "{ " + ", ".join(_text(element) for element in value) + " }"
    if isinstance(value, ExprTree):
        return f"({value})"
    if isinstance(value, (bool, int, float, str, bytes, Mapping)):
        made = ClassAd({"V": value})
        return str(made._attribute("V"))
    raise TypeError(f"an ad cannot have {type(value).__name__}")


class ExprTree:
    """An expression. str() writes it; eval() gives its value, in an ad and opposite to another."""

    _expr: Any

    def __init__(self, text: "str | bytes | ExprTree") -> None:
        if isinstance(text, ExprTree):
            self._expr = text._expr
            return
        raw, error = encode(text), ffi.new("struct berth_error *")
        made = lib.berth_expr_parse(context(), raw, len(raw), error)
        if made == ffi.NULL:
            _raise(error, text)
        self._expr = _taken_expr(made)

    @classmethod
    def _of(cls, taken: Any) -> "ExprTree":
        self = cls.__new__(cls)
        self._expr = taken
        return self

    def eval(self, scope: "ClassAd | None" = None, target: "ClassAd | None" = None) -> Any:
        at = context()
        return _value(at, lib.berth_eval(at, self._expr, _or_null(scope), _or_null(target)))

    def simplify(self, scope: "ClassAd | None" = None) -> "ExprTree":
        """What is left when the ad's attributes are folded in."""
        return ExprTree._of(_taken_expr(lib.berth_expr_specialize(context(), self._expr, _or_null(scope))))

    def references(self, scope: "ClassAd | None" = None) -> list[str]:
        """The names that it reads and the ad does not define."""
        names = ffi.new("char ***")
        count = lib.berth_expr_references(context(), self._expr, _or_null(scope), ffi.cast("const char *const **", names))
        return [decode(names[0][i]) for i in range(count)]

    def sameAs(self, other: "ExprTree") -> bool:
        return bool(lib.berth_expr_equal(self._expr, other._expr) == 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExprTree) and self.sameAs(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        length = ffi.new("size_t *")
        chars = lib.berth_expr_text(context(), self._expr, length)
        return decode(chars, length[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return ExprTree, (str(self),)

    def __repr__(self) -> str:
        return f"ExprTree({str(self)!r})"


class ClassAd(MutableMapping[str, Any]):
    """An ad as a mapping. Case does not matter in names. An attribute that is an expression is an ExprTree; eval() gives its value."""

    _ad: Any

    def __init__(self, source: "str | bytes | Mapping[str, Any] | None" = None, form: Form = "any", file: str | None = None) -> None:
        if isinstance(source, ClassAd):
            self._ad = source._ad
        elif isinstance(source, (str, bytes)):
            self._ad = _parse(source, form, file)
        else:
            self._ad = ffi.NULL
            self._change(source or {})

    @classmethod
    def _of(cls, taken: Any) -> "ClassAd":
        self = cls.__new__(cls)
        self._ad = taken
        return self

    def _change(self, attributes: Mapping[str, Any], dropped: str | None = None) -> None:
        maker = ffi.gc(lib.berth_maker_new(context(), self._ad), lib.berth_maker_free)
        error = ffi.new("struct berth_error *")
        for name, value in attributes.items():
            if _set(maker, name_of(name), value, error) < 0:
                _raise(error)
        if dropped is not None and lib.berth_maker_drop(maker, name_of(dropped)) == 0:
            raise KeyError(dropped)
        ffi.gc(maker, None)  # sealing gives it back
        made = lib.berth_maker_seal(maker, error)
        if made == ffi.NULL:
            _raise(error)
        self._ad = _taken_ad(made)

    def _attribute(self, name: str) -> ExprTree:
        got = lib.berth_ad_get_expr(context(), self._ad, name_of(name))
        if got == ffi.NULL:
            raise KeyError(name)
        return ExprTree._of(_taken_expr(got))

    def __getitem__(self, name: str) -> Any:
        kind = lib.berth_ad_type(context(), self._ad, name_of(name))
        if kind < 0:
            raise KeyError(name)
        if kind != 10:
            return self.eval(name)
        expr = self._attribute(name)
        if str(expr).startswith(("absTime(", "relTime(")):  # how a time is written where it has no literal
            value = expr.eval(self)
            if isinstance(value, (datetime, timedelta)):
                return value
        return expr

    def __setitem__(self, name: str, value: Any) -> None:
        self._change({name: value})

    def __delitem__(self, name: str) -> None:
        self._change({}, name)

    def update(self, *others: Any, **attributes: Any) -> None:
        self._change(dict(*others, **attributes))

    def __len__(self) -> int:
        return int(lib.berth_ad_count(self._ad))

    def __iter__(self) -> Iterator[str]:
        at = context()
        return iter([decode(lib.berth_ad_name(at, self._ad, i)) for i in range(len(self))])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and "\0" not in name and lib.berth_ad_type(context(), self._ad, name_of(name)) >= 0

    def lookup(self, name: str) -> ExprTree:
        """The attribute's expression, whatever it is."""
        return self._attribute(name)

    def eval(self, name: str, target: "ClassAd | None" = None) -> Any:
        """The attribute's value; KeyError when there is none."""
        at = context()
        if name not in self:
            raise KeyError(name)
        return _value(at, lib.berth_eval_attribute(at, self._ad, name_of(name), _or_null(target)))

    def flatten(self, expr: ExprTree) -> ExprTree:
        return expr.simplify(self)

    def externalRefs(self, expr: ExprTree) -> list[str]:
        return expr.references(self)

    def internalRefs(self, expr: ExprTree) -> list[str]:
        """The names that the expression reads and the ad defines."""
        return [name for name in expr.references() if name in self]

    def matches(self, other: "ClassAd") -> bool:
        """Does this ad's constraint accept the other?"""
        return bool(lib.berth_accepts(context(), self._ad, other._ad) == 1)

    def symmetricMatch(self, other: "ClassAd") -> bool:
        """Do both accept each other?"""
        return bool(lib.berth_match(context(), self._ad, other._ad) == 1)

    def text(self, form: Form = "classad") -> str:
        """The ad as a text in one of the forms."""
        length, error = ffi.new("size_t *"), ffi.new("struct berth_error *")
        chars = lib.berth_ad_text(context(), self._ad, _form(form), length, error)
        if chars == ffi.NULL:
            _raise(error)
        return decode(chars, length[0])

    def printJson(self) -> str:
        return self.text("json")

    def printOld(self) -> str:
        return self.text("long")

    def to_json(self) -> Any:
        """The ad as Python's json module has it; expressions as "/Expr(...)/"."""
        return json.loads(self.text("json"))

    @classmethod
    def from_json(cls, data: "str | Mapping[str, Any]") -> "ClassAd":
        return cls(data if isinstance(data, str) else json.dumps(data).replace("/Expr(", "\\/Expr(").replace(")/\"", ")\\/\""), "json")

    def to_dict(self) -> dict[str, Any]:
        """All attributes: plain values as they are, ads as dicts, expressions as ExprTree."""
        return {name: value.to_dict() if isinstance(value, ClassAd) else value for name, value in self.items()}

    def copy(self) -> "ClassAd":
        return ClassAd(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassAd) and lib.berth_ad_equal(self._ad, other._ad) == 1

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassAd, (self.text(),)

    def __copy__(self) -> "ClassAd":
        return ClassAd(self)

    def __deepcopy__(self, _: Any) -> "ClassAd":
        return ClassAd(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"ClassAd({self.text()!r})"


def _or_null(ad: ClassAd | None) -> Any:
    return ffi.NULL if ad is None else ad._ad


def _parse(text: str | bytes, form: Form, file: str | None) -> Any:
    raw, error = encode(text), ffi.new("struct berth_error *")
    made = lib.berth_ad_parse(context(), _form(form), raw, len(raw), error)
    if made == ffi.NULL:
        _raise(error, text, file)
    return _taken_ad(made)


def parseOne(text: Text, form: Form = "any", file: str | None = None) -> ClassAd:
    """The one ad that the text, or a file of text, is."""
    return ClassAd(_whole(text), form, file)


def parseAds(text: Text, form: Form = "any", file: str | None = None) -> Iterator[ClassAd]:
    """The ads of a text, or of a file of text, one after another."""
    text = _whole(text)
    raw, error, made = encode(text), ffi.new("struct berth_error *"), ffi.new("struct berth_ad **")
    kept = ffi.from_buffer(raw)
    reader = ffi.gc(lib.berth_reader_new(context(), _form(form), kept, len(raw)), lib.berth_reader_free)
    ads = []
    while (got := lib.berth_reader_next(reader, made, error)) == 1:
        ads.append(ClassAd._of(_taken_ad(made[0])))
    ffi.release(reader)
    yield from ads
    if got < 0:
        _raise(error, text, file)


def quote(text: str) -> str:
    """A string as the language writes it."""
    return _text(text)


def unquote(text: str) -> str:
    """The string that a text in quotes is."""
    value = ExprTree(text).eval()
    if not isinstance(value, str):
        raise ValueError("this is not a string in quotes")
    return value
