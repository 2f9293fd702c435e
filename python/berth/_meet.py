"""Two ads meet; one against many; several at once; and why not."""
from __future__ import annotations

import json as json_module
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from ._ads import ClassAd, _raise
from ._errors import BerthError
from ._library import context, decode, ffi, lib


class Finding(NamedTuple):
    """Something in an ad that its author hardly meant."""
    kind: str
    attribute: str
    text: str


class Member(NamedTuple):
    """Who docks where: the places of the offer and of the member that it docks at (None: the request), and the label of the port."""
    offer: int
    parent: int | None
    label: str


def match(left: ClassAd, right: ClassAd) -> bool:
    """Do both ads accept each other?"""
    return left.symmetricMatch(right)


def rank(ad: ClassAd, other: ClassAd) -> float:
    """How much the first ad wants the second."""
    return float(lib.berth_rank(context(), ad._ad, other._ad))


def _array(ads: Sequence[ClassAd]) -> Any:
    return ffi.new("struct berth_ad *[]", [ad._ad for ad in ads])


def why(request: ClassAd, offers: Sequence[ClassAd], json: bool = False) -> Any:
    """Why the request matches none of the offers, or which it takes and why: words, or as Python's json module has it."""
    error, held = ffi.new("struct berth_error *"), list(offers)
    said = lib.berth_why(context(), request._ad, _array(held), len(held), int(json), error)
    if said == ffi.NULL:
        _raise(error)
    return json_module.loads(decode(said)) if json else decode(said)


def gang(request: ClassAd, offers: Sequence[ClassAd]) -> list[Member] | None:
    """The best gang for a request with Ports; None when there is none."""
    error, members, count = ffi.new("struct berth_error *"), ffi.new("struct berth_member **"), ffi.new("size_t *")
    held = list(offers)
    found = lib.berth_gang(context(), request._ad, _array(held), len(held), ffi.cast("const struct berth_member **", members), count, error)
    if found < 0:
        _raise(error)
    if found == 0:
        return None
    root = 2 ** (8 * ffi.sizeof("size_t")) - 1
    return [Member(m.offer, None if m.parent == root else m.parent, decode(m.label)) for m in (members[0][i] for i in range(count[0]))]


def lint(ad: ClassAd) -> list[Finding]:
    """What is wrong with an ad that can be seen without others."""
    found = ffi.new("struct berth_finding **")
    count = lib.berth_lint(context(), ad._ad, ffi.cast("const struct berth_finding **", found))
    return [Finding(decode(f.kind), decode(f.attribute), decode(f.text)) for f in (found[0][i] for i in range(count))]


class Index:
    """Offers that are kept under keys (whatever can be a key of a dict), and found without trying each. For one thread at a time.

        index = Index()
        index["heron"] = ClassAd({"Cpus": 8})
        index.best(job), index.all(job)
    """

    def __init__(self) -> None:
        self._index = ffi.gc(lib.berth_index_new(context()), lib.berth_index_free)
        self._numbers: dict[Hashable, int] = {}
        self._keys: dict[int, Hashable] = {}
        self._next = 0

    def put(self, key: Hashable, ad: ClassAd) -> None:
        number = self._numbers.get(key)
        error = ffi.new("struct berth_error *")
        new = number is None
        if number is None:
            number = self._next
        if lib.berth_index_put(context(), self._index, number, ad._ad, error) < 0:
            _raise(error)
        if new:
            self._next += 1
            self._numbers[key] = number
            self._keys[number] = key

    def drop(self, key: Hashable) -> None:
        number = self._numbers.pop(key)
        del self._keys[number]
        lib.berth_index_drop(context(), self._index, number)

    def best(self, request: ClassAd) -> Hashable | None:
        """The key of the offer that the request ranks highest; of equal ones that which came first. None when none matches."""
        key = ffi.new("uint64_t *")
        found = lib.berth_index_best(context(), self._index, request._ad, key)
        if found < 0:
            raise BerthError("this is not an ad")
        return self._keys[key[0]] if found else None

    def all(self, request: ClassAd) -> list[Hashable]:
        """The keys of all offers that match, in the order in which they first came."""
        keys = ffi.new("uint64_t **")
        count = lib.berth_index_all(context(), self._index, request._ad, ffi.cast("const uint64_t **", keys))
        return [self._keys[keys[0][i]] for i in range(count)]

    def __getitem__(self, key: Hashable) -> ClassAd:
        found = lib.berth_index_get(self._index, self._numbers[key])
        return ClassAd._of(ffi.gc(lib.berth_ad_ref(found), lib.berth_ad_unref))

    def __setitem__(self, key: Hashable, ad: ClassAd) -> None:
        self.put(key, ad)

    def __delitem__(self, key: Hashable) -> None:
        self.drop(key)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)
