#!/usr/bin/env python3
"""python_test.py: the package berth, in python/, by cffi and the shared library of $BERTH_LIBRARY. Prints TAP."""
import contextlib
import copy
import gc
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone

source = os.environ["BERTH_SOURCE"]
sys.path.insert(0, os.path.join(source, "python"))
sys.dont_write_bytecode = True
try:
    import cffi  # noqa: F401
except ImportError:
    print("1..0 # skipped: there is no cffi for this Python")
    sys.exit(0)
import berth
from berth import ClassAd, ExprTree, Value

count = failures = 0


def ok(passed, sentence):
    global count, failures
    count += 1
    failures += not passed
    print(f"{'ok' if passed else 'not ok'} {count} - {sentence}", flush=True)


def refuses(error, call):
    try:
        call()
    except error as e:
        return e
    return None


ad = ClassAd('[ Name = "heron"; Cpus = 8; Free = Cpus - 2; L = { 1, "x", [ Z = Cpus ] } ]')
ok(len(ad) == 4 and list(ad) == ["Name", "Cpus", "Free", "L"] and "CPUS" in ad and "Disk" not in ad, "an ad is a mapping, in which case does not matter")
ok(ad["Cpus"] == 8 and ad["Free"] == ExprTree("Cpus - 2") and ad.eval("Free") == 6, "a plain value is an object of Python, an expression an ExprTree")
ok(ad["L"][:2] == [1, "x"] and ad["L"][2] == ClassAd("[ Z = Cpus ]"), "lists and ads inside are lists and ads")
ok(refuses(KeyError, lambda: ad["Disk"]) and refuses(KeyError, lambda: ad.eval("Disk")) and ad.get("Disk", 3) == 3, "what is not there is a KeyError")
before = ad.copy()
ad["Disk"] = 2.5
del ad["Name"]
ad.update({"Gpu": True, "Cpus": 9})
ok(str(ad) == '[ Cpus = 9; Free = Cpus - 2; L = { 1, "x", [ Z = Cpus ] }; Disk = 2.5; Gpu = true ]' and before["Name"] == "heron",
   "it can be changed, and a copy stays as it was")

then = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=1)))
values = {"b": False, "i": -2**63, "f": 0.1, "s": 'a"\n\\éx', "n": None, "l": [1, [2, "y"], {"k": None}], "d": {"deep": {"er": 1}}, "t": then,
          "dt": timedelta(days=2, seconds=3), "e": Value.Error, "x": ExprTree("a + 1"), "inf": float("inf")}
made = ClassAd(values)
read = ClassAd(str(made))
ok(read == made and made["s"] == values["s"] and made["i"] == -2**63 and made["t"] == then and made["dt"] == values["dt"] and made["n"] is Value.Undefined and
   made["e"] is Value.Error and made["x"] == values["x"] and made["d"]["deep"]["er"] == 1 and made["l"][1] == [2, "y"], "objects of Python become values, and come back")
ok(all(ClassAd(made.text(form), form) == made for form in ("classad", "json", "xml", "long")), "all forms carry them")
ok(ClassAd.from_json(made.to_json()) == made and ClassAd.from_json(json.dumps({"a": 1}))["a"] == 1, "JSON goes both ways")
ok(refuses(OverflowError, lambda: ClassAd({"a": 2**63})) and refuses(TypeError, lambda: ClassAd({"a": object()})) and refuses(ValueError, lambda: ClassAd({"a\0b": 1})) and refuses(ValueError, lambda: ClassAd({"a": "x\0y"})) and
   refuses(berth.BerthError, lambda: ClassAd({"": 1})), "what an ad cannot have is refused")

wrong = refuses(berth.ClassAdParseError, lambda: ClassAd("[ A = 1;\n  B = (1 + 2 ]", file="job.ad"))
ok(wrong and wrong.line == 2 and wrong.column == 14 and isinstance(wrong, ValueError) and wrong.code == "bad text" and
   str(wrong) == "job.ad:2:14: expected ')' to close '(' at 2:7\n    B = (1 + 2 ]\n               ^", "a bad text is an exception with file, line, column and caret")
ok(refuses(berth.ClassAdParseError, lambda: ExprTree("1 +")) and refuses(ValueError, lambda: ClassAd("[]", "yaml")), "so is a bad expression")
several = berth.parseAds("[ A = 1 ]\n[ A = 2 ]\n[ A = ]")
ok([next(several)["A"], next(several)["A"]] == [1, 2] and refuses(berth.ClassAdParseError, lambda: next(several)).line == 3, "many ads are read until one is bad")

ok(berth.parseOne("A = 1\n", berth.ParserType.Old)["A"] == 1 and [a["A"] for a in berth.parseAds(io.StringIO("[ A = 1 ]\n[ A = 2 ]"), berth.ParserType.New)] == [1, 2] and
   pickle.loads(pickle.dumps(ad)) == ad and pickle.loads(pickle.dumps(ExprTree("a + 1"))) == ExprTree("a + 1") and copy.deepcopy(ad) == ad and
   ad.internalRefs(ExprTree("Cpus + Arch")) == ["Cpus"], "files are read, with HTCondor's names for forms; ads can be copied and pickled")

job = ClassAd('[ Name = "job"; Owner = "ada"; Cpus = 4; Constraint = other.Cpus >= Cpus; Rank = other.Memory ]')
small, large = ClassAd({"Cpus": 8, "Memory": 1}), ClassAd('[ Cpus = 8; Memory = 9; Constraint = other.Owner == "ada" ]')
closed = ClassAd("[ Cpus = 99; Memory = 99; Constraint = false ]")
ok(berth.match(job, large) and job.matches(closed) and not job.symmetricMatch(closed) and berth.rank(job, large) == 9, "ads match, and rank each other")
ok(ExprTree("other.Cpus * Cpus").eval(job, small) == 32 and ExprTree("other.Cpus > Cpus").simplify(job) == ExprTree("other.Cpus > 4") and
   job.externalRefs(ExprTree("Cpus + Arch + other.X")) == ["Arch", "other.X"], "expressions are evaluated between two ads, specialised, and tell what they read")
index = berth.Index()
index["small"], index[("a", 2)], index["closed"] = small, large, closed
ok(index.best(job) == ("a", 2) and index.all(job) == ["small", ("a", 2)] and len(index) == 3 and index["small"] == small, "an index keeps offers under keys of any sort")
del index[("a", 2)]
index["small"] = closed
ok(index.best(job) is None and index.all(job) == [] and refuses(KeyError, lambda: index[("a", 2)]), "they go and change")
ok("other.Cpus >= Cpus" in berth.why(job, [ClassAd("[ Cpus = 1 ]")]) and isinstance(berth.why(job, [small], json=True), dict), "why explains, in words and as JSON")
ok([f.kind for f in berth.lint(ClassAd("[ Constraint = x < 1 && x > 2 ]"))] == ["contradiction"], "lint finds")
gang = berth.gang(ClassAd('[ Ports = { [ Label = a; Constraint = a.T == 1 ], [ Label = b; Constraint = b.T == 2 ] } ]'), [ClassAd("[ T = 2 ]"), ClassAd("[ T = 1 ]")])
ok(gang == [berth.Member(1, None, "a"), berth.Member(0, None, "b")] and berth.gang(ClassAd("[ Ports = { [ Label = a; Constraint = a.T == 1 ] } ]"), []) is None and
   refuses(berth.BerthError, lambda: berth.gang(ClassAd("[ Ports = 3 ]"), [])).code == "bad ports", "a gang is found, or not, or wrong")

berth.set_clock(1772366400)
ok(ExprTree("time()").eval() == 1772366400 or ExprTree("currentTime()").eval() == datetime.fromtimestamp(1772366400, timezone.utc), "the clock is that of the caller")
berth.set_clock(None)
berth.set_limit("steps", 2)
ok(ExprTree("sum({1, 2, 3, 4})").eval() is Value.Error, "work is bounded")
berth.set_limit("steps", 0)
berth.set_dialect("condor")
ok(ExprTree("MY.a =?= undefined").eval(ClassAd()) is True and ClassAd("[ 'odd name' = 1 ]")["odd name"] == 1, "HTCondor's dialect is there")
berth.set_dialect("classic")
ok(berth.unquote(berth.quote('a"\\\n')) == 'a"\\\n', "strings are quoted and unquoted")

# Whatever bytes come, there is an ad or an exception; what was read is read again by the program as the same.
chance = random.Random(int(os.environ.get("BERTH_SEED", "1")))
pieces = ["[", "]", "{", "}", "A", "B", "=", ";", "1", "2.5", '"x"', "+", "&&", "other.", "(", ")", "?", ":", ",", "eval(", "<c>", "</c>", "\n", "\0", "é", "\\", "'"]
good = 0
for _ in range(3000):
    text = "".join(chance.choice(pieces) for _ in range(chance.randrange(14)))
    if chance.random() < 0.5:
        text = "[ A = " + text + " ]"
    try:
        some = ClassAd(text)
        good += 1
        if ClassAd(str(some)) != some or len(some.to_dict()) != len(some):
            ok(False, f"an ad is read again as the same: {text!r}")
        for name in some:
            some.eval(name, job)
        berth.lint(some), berth.match(some, job), berth.why(some, [job])
    except (berth.BerthError, ValueError):
        pass
ok(good > 5, f"of 3000 texts made by chance {good} are ads, and nothing else happens")

# Whatever is called with whatever: a value or an exception of Python's, and the interpreter goes on.
bag = [None, True, 0, -1, 2**70, 0.5, float("nan"), "", "A", "[ A = 1 ]", "1 + other.A", b"\xff\0", "\ud800", [], [1, [2]], {}, {"A": {"B": [None]}}, object(), ad.copy(), job.copy(), closed.copy(), ExprTree("A + 1"), Value.Error, datetime.max, timedelta.max,
       ClassAd.__new__(ClassAd), ExprTree.__new__(ExprTree), len, ClassAd, berth.Index()]
itself = []
itself.append(itself)
deep = {}
for _ in range(5000):
    deep = {"A": deep}
bag += [itself, deep]
kinds, strange, called = (berth.BerthError, TypeError, ValueError, KeyError, OverflowError, AttributeError, RecursionError, IndexError), [], 0
names = ["ClassAd", "ExprTree", "parseOne", "parseAds", "quote", "unquote", "match", "rank", "why", "lint", "gang", "Index", "set_dialect", "set_limit"]
for _ in range(6000):
    if chance.random() < 0.4:
        whose, name = berth, chance.choice(names)
    else:
        whose = chance.choice([one for one in bag if isinstance(one, (ClassAd, ExprTree, berth.Index))])
        name = chance.choice([n for n in dir(type(whose)) if not n.startswith("__") or n in ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__", "__eq__", "__str__", "__repr__")])
    given = [chance.choice(bag) for _ in range(chance.choice([0, 1, 1, 2, 2, 3]))]
    if name.startswith("_") and not name.startswith("__"):
        continue
    try:
        made = getattr(whose, name)(*given)
        called += 1
        if hasattr(made, "__next__"):
            list(made)
        if isinstance(made, (ClassAd, ExprTree, berth.Index)) and len(bag) < 200:
            bag.append(made)
    except kinds:
        pass
    except BaseException as error:
        strange.append((name, repr(error)))
berth.set_dialect("classic")
for limit in ("steps", "bytes", "text", "cells", "attributes", "nodes"):
    berth.set_limit(limit, 0)
gc.collect()
print("# " + repr(strange[:3])) if strange else None
ok(not strange and called > 500, "calls with anything at all say something, or raise what Python's own would")

program = os.environ.get("BERTH")
expressions = ["1 + 2 * 3", '"a" < "B"', "{ 1, 2 }[1]", "undefined || true", "1 / 0", 'strcat("a", 1.5)', "5 % 3", "!true", "x ?: 4", '[ a = 1 ].a']
if program and os.access(program, os.X_OK):
    told = {}
    for text in expressions:
        told[text] = subprocess.run([program, "eval", text], capture_output=True, text=True).stdout.strip()
    differ = []
    for text in expressions:
        try:
            value = ExprTree(text).eval()
            said = {Value.Undefined: "undefined", Value.Error: "error"}[value] if isinstance(value, Value) else str(ClassAd({"V": value}).lookup("V"))
        except berth.ClassAdParseError:
            said = ""
        if said != told[text]:
            differ.append((text, said, told[text]))
    print("# " + repr(differ)) if differ else None
    ok(not differ, "values are those of berth eval")



def value_by_chance(depth=0):
    kind = chance.randrange(10 if depth < 3 else 8)
    if kind < 8:
        return [None, chance.random() < 0.5, chance.randrange(-2**63, 2**63), chance.randrange(100), chance.choice([0.0, -1e300, chance.random()]),
                "".join(chance.choice(["a", "\\", '"', "/", "/Expr(", "\n", "é", "😀", "\x01", "$("]) for _ in range(chance.randrange(6))),
                datetime.fromtimestamp(chance.randrange(2**32), timezone(timedelta(minutes=chance.randrange(-720, 720)))), timedelta(seconds=chance.randrange(-10**6, 10**6))][kind]
    return [value_by_chance(depth + 1) for _ in range(chance.randrange(4))] if kind == 8 else {f"K{n}": value_by_chance(depth + 1) for n in range(chance.randrange(4))}


if program and os.access(program, os.X_OK):
    made = [ClassAd({f"V{n}": value_by_chance() for n in range(4)}) for _ in range(300)]
    differ = []
    for form in ("classad", "json"):
        said = subprocess.run([program, "convert", "--to", form, "-"], input="\n".join(map(str, made)).encode("utf-8", "surrogateescape"), capture_output=True).stdout.decode("utf-8", "surrogateescape")
        back = list(berth.parseAds(said))
        differ += [(str(a), str(b)) for a, b in zip(made, back) if a != b] + ([] if len(back) == len(made) else [len(back)])
    print("# " + repr(differ[:2])) if differ else None
    ok(not differ, "ads made by chance come back from the program as the same")

wrong = []


def work(number):
    own = ClassAd({f"N{number}": number, "Cpus": 8, "Memory": number})
    for turn in range(150):
        own[f"T{turn % 7}"] = turn
        if not berth.match(job, own) or ExprTree(f"N{number} + other.Cpus").eval(own, job) != number + 4 or job.eval("Rank", own) != number:
            wrong.append((number, turn))


threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
gc.collect()
ok(not wrong, "threads share ads")
with open(os.path.join(source, "docs/python.md"), encoding="utf-8") as file:
    blocks = [block for block in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "Pool" not in block]
with contextlib.redirect_stdout(io.StringIO()):
    for block in blocks:
        exec(block, {})
ok(len(blocks) == 1, "the example of the manual runs")
checked = subprocess.run([sys.executable, os.path.join(source, "tools/python-declarations"), "--check", source], capture_output=True, text=True)
ok(checked.returncode == 0, "the declarations are those of berth.h")
print(f"1..{count}")
sys.exit(1 if failures else 0)
