#!/usr/bin/env python3
"""python_pool_test.py: a pool from Python (python/berth), with no cffi at hand: a customer and machines that lie, then a real pool. Prints TAP."""
import asyncio
import base64
import concurrent.futures
import json
import math
import os
import pickle
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import xml.dom.minidom

sys.modules["cffi"] = None  # the language is not there, and is not needed
source = os.environ["BERTH_SOURCE"]
program = os.environ["BERTH"]
sys.path.insert(0, os.path.join(source, "python"))
sys.dont_write_bytecode = True
for name in [name for name in os.environ if name.startswith("BERTH_") and name not in ("BERTH_SOURCE", "BERTH_SEED", "BERTH_ROUNDS")] + ["BEARER_TOKEN", "BEARER_TOKEN_FILE"]:
    os.environ.pop(name, None)
import berth
from berth._functions import arguments_of, program_of, results_of
from berth._values import Expr, ad_json, plain_attributes, read_json
from berth._watch import ranges_text

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
work = tempfile.mkdtemp()
os.environ["HOME"] = work
os.environ["XDG_STATE_HOME"] = work + "/xdg"
os.environ["XDG_CONFIG_HOME"] = work + "/config"
seed = int(os.environ.get("BERTH_SEED", "1"))
chance = random.Random(seed)
count = failures = 0


def ok(passed, sentence, *why):
    global count, failures
    count += 1
    failures += not passed
    print(f"{'ok' if passed else 'not ok'} {count} - {sentence}", flush=True)
    if not passed:
        print(f"# seed {seed}; {why!r}"[:3000], flush=True)


def raised(kind, call):
    """The exception of that kind that a call raises, or None; others go on."""
    try:
        call()
    except kind as error:
        return error
    return None


# ---------------------------------------------------------------------------------------------- what needs nobody

def random_value(depth=0):
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind == 1:
        return chance.choice([0, 1, -1, 2**63 - 1, -2**63, chance.randrange(-10**6, 10**6)])
    if kind == 2:
        return chance.choice([0.0, 0.5, -1e300, 1e-7, chance.random()])
    if kind in (3, 4):
        return "".join(chance.choice(["a", "\\", '"', "/", "/Expr(", ")/", "\n", "é", "\u2028", "😀", " ", "\x01", "\x7f", "\udcff", "'", "Expr("]) for _ in range(chance.randrange(8)))
    if kind == 5:
        return Expr(chance.choice(["1 + other.Cpus", 'strcat("a\\"b", "/")', "{ 1, x }[0]", "!a || b"]))
    if kind in (6, 7):
        return [random_value(depth + 1) for _ in range(chance.randrange(4))]
    return {f"k{n}": random_value(depth + 1) for n in range(chance.randrange(4))}


def same(a, b):
    return type(a) is type(b) and (all(map(same, a, b)) and len(a) == len(b) if isinstance(a, list) else list(a) == list(b) and all(same(a[k], b[k]) for k in a) if isinstance(a, dict) else a == b)


values = [random_value() for _ in range(1500)]
ok(all(same(read_json(ad_json(value).encode()), value) for value in values), "values made by chance become JSON and come back, expressions as expressions")
ok(all(raised((ValueError, TypeError), lambda: ad_json(bad)) for bad in ({"a": object()}, {1: 2}, {"": 1}, {"a": b"x"}, "a\0b", "\ud800")) and raised(OverflowError, lambda: ad_json(2**63)) and
   raised(ValueError, lambda: ad_json((deep := [], deep.append(deep))[0])), "what an ad cannot have is refused")
ok(plain_attributes('// c\n[ Token = "a\\"b"; Ca = "x\\ny"; N = 3; E = f("q") + "r"; L = { "a", "b" }; In = [ Token = "no" ]; /* K = "z" */ Last = "s" ]') ==
   {"token": 'a"b', "ca": "x\ny", "l": ["a", "b"], "last": "s"}, "plain texts of a file of settings are read")
for _ in range(300):
    numbers = chance.sample(range(1, 100_000), chance.randrange(1, 2000))
    text = ranges_text(numbers)
    named = [range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1) for part in text.split(",")]
    if len(text) > 1500 or not all(any(n in r for r in named) for n in chance.sample(numbers, 1)):
        ok(False, "numbers of jobs fit into an address", numbers[:50], text)
ok(ranges_text([7, 3, 4, 5]) == "3-5,7", "numbers of jobs are told as ranges, which always fit into an address")

LIMIT, unsendable = [1, 2, (3, None)], open(os.devnull)


def helper(x):
    return x * LIMIT[0]


def sends(x, y=LIMIT, *, z=math.pi):
    data = json.dumps([helper(x), y, z])
    return json.loads(data), xml.dom.minidom.parseString("<a/>").documentElement.tagName


def cannot():
    return unsendable


def decorated_by(function):
    return function


@decorated_by
def decorated():
    pass


def around(a):
    def inner():
        return a
    return inner


def run_here(function, *arguments, **named):
    """A function's program, run by this Python as a job would be."""
    folder = tempfile.mkdtemp(dir=work)
    with open(folder + "/berth_call.py", "w") as file:
        file.write(program_of(function))
    done = subprocess.run([sys.executable, "berth_call.py", arguments_of([(arguments, named)], False)], cwd=folder, capture_output=True, text=True)
    with open(folder + "/berth_result.json", "rb") as file:
        return results_of(file.read(), 1, False, type("J", (), {"id": 1}))[0], done.returncode


ok(run_here(sends, 5) == ([[5, [1, 2, [3, None]], math.pi], "a"], 0) and run_here(sends, 5, y=1, z=2)[0] == [[5, 1, 2], "a"], "a function travels with the modules, constants and functions that it names", run_here(sends, 5))
two = [lambda x: x + 1, lambda x: x + 2]
ok(run_here(two[1], 5)[0] == 7 and run_here(math.factorial, 5)[0] == 120 and run_here(len, [1, 2])[0] == 2, "so do lambdas, and functions of the standard library")
ok(all(raised(berth.CannotTravel, lambda: program_of(bad)) for bad in (cannot, decorated, around(3), "x".join, print.__call__, 3, type("A", (), {}), asyncio.sleep)), "what cannot travel is refused before anything is sent")
ok("unsendable" in str(raised(berth.CannotTravel, lambda: program_of(cannot))) and "a of the function around it" in str(raised(berth.CannotTravel, lambda: program_of(around(3)))), "and it is told what is in the way")
ok(raised(TypeError, lambda: arguments_of([([object()], {})], False)) and "trust=True" in str(raised(TypeError, lambda: arguments_of([([{1, 2}], {})], False))), "arguments that are not JSON are refused")

# ------------------------------------------------------------------------------------------- a customer that lies

class Liar:
    """A socket at which each request is answered by a function of its line: bytes, or an iterator of them."""

    def __init__(self, answer):
        self.path = f"{work}/liar{chance.randrange(10**9)}"
        self.answer, self.asked = answer, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(50)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(conn,), daemon=True).start()

    def one(self, conn):
        try:
            with conn:
                head = b""
                while b"\r\n\r\n" not in head:
                    more = conn.recv(65536)
                    if not more:
                        return
                    head += more
                head, _, body = head.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                while length and len(body) < int(length[1]):
                    body += conn.recv(65536)
                line = head.split(b"\r\n")[0].decode()
                self.asked.append(line)
                said = self.answer(line)
                for piece in [said] if isinstance(said, bytes) else said:
                    conn.sendall(piece)
        except OSError:
            pass

    def pool(self, **options):
        return berth.Pool("unix:" + self.path, **options)

    def close(self):
        self.listener.close()


def http(body, status=200, kind="application/json", **headers):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} OK", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"] + [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def told(answer, call, kind=berth.BadAnswer):
    """What a call says about such an answer; None when it says nothing."""
    liar = Liar(answer if callable(answer) else lambda line: answer)
    try:
        return raised(kind, lambda: call(liar.pool()))
    finally:
        liar.close()


status = lambda pool: pool.status()
jobs = lambda pool: pool.jobs()
plain = http({"a": 1})
for sentence, answer, call, kind in [
    ("what is no HTTP", b"hello\r\n\r\n", status, berth.BadAnswer),
    ("an answer that is longer than it may be", b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n", status, berth.BadAnswer),
    ("an answer that is cut short", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{", status, berth.BadAnswer),
    ("a head without an end", lambda line: (b"HTTP/1.1 200 OK\r\n" if n == 0 else b"A: b\r\n" for n in range(10**6)), status, berth.BadAnswer),
    ("what is no JSON", http(b"{,}"), status, berth.BadAnswer),
    ("JSON that is nested without an end", http(b"[" * 200_000), status, berth.BadAnswer),
    ("a number of a million digits", http(b"[" + b"9" * 10**6 + b"]"), status, berth.BadAnswer),
    ("bytes that are no text", http(b'{"a": "\xff\xfe"}x'), status, berth.BadAnswer),
    ("a page for people", http(b"<p>", kind="text/html"), status, berth.BadAnswer),
    ("a list in the place of an ad", http([]), status, berth.BadAnswer),
    ("an ad in the place of a list", plain, jobs, berth.BadAnswer),
    ("a list of something else than ads", http([1]), jobs, berth.BadAnswer),
    ("jobs without numbers", http([{"Job": "x"}]), jobs, berth.BadAnswer),
    ("jobs whose number is below 1", http([{"Job": -1}]), jobs, berth.BadAnswer),
    ("a list that goes on where it began", http([{"Job": 1}], Berth_Cursor=7), jobs, berth.BadAnswer),
    ("a list that goes on nowhere", http([], Berth_Cursor="../.."), jobs, berth.BadAnswer),
    ("another number of jobs than ads", http([]), lambda pool: pool.submit("true"), berth.BadAnswer),
    ("more jobs than there may be", http([{"First": 1, "Count": 10**12}]), lambda pool: pool.submit("true"), berth.BadAnswer),
    ("changes that are no number", lambda line: http({"Changes": "x"}) if "summary" in line else http({"State": "Running"}), lambda pool: berth.Job(pool, 1).wait(5), berth.BadAnswer),
    ("nothing at all", b"", status, berth.PoolUnreachable),
    ("an error of its own", http({"detail": "x"}, 500, "application/problem+json"), status, berth.PoolUnreachable),
]:
    said = told(answer, call, kind)
    ok(said is not None and len(str(said)) < 500, f"a customer that answers with {sentence} is an error", said)
said = told(http({"detail": "no\x1b[2J such job\n" + "x" * 10**6}, 404, "application/problem+json"), status, berth.Refused)
ok(said and said.status == 404 and str(said).startswith("no?[2J such job\n") and len(str(said)) <= 1000, "a refusal is told in its words, without what moves a cursor, and in bounds")
begun = time.monotonic()
liar = Liar(lambda line: iter(lambda: (time.sleep(0.1), b"HTTP/1.1 100 Continue\r\n\r\n")[1], None))
wire = liar.pool()._customer
ok(raised(berth.PoolUnreachable, lambda: wire.ask("GET", "/status", seconds=1)) and time.monotonic() - begun < 5, "one that puts off for ever is given up when the time is over")
liar.answer = lambda line: iter(lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, None)
ok(raised(berth.BadAnswer, lambda: wire.ask("GET", "/status", size=10**6)), "so is one that never comes to its answer, when it has said too much")
liar.answer = lambda line: iter([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"] + [b"fffff\r\n" + b" " * 0xfffff + b"\r\n"] * 5)
ok(raised(berth.BadAnswer, lambda: wire.ask("GET", "/status", size=2 * 10**6)), "and one whose answer has no end")
liar.close()

# A customer that takes jobs, whose machine lies about the result.
result, ad = b"", {}


def machine(line):
    method, path, _ = line.split()
    if method == "POST" and path.startswith("/v1/jobs"):
        return http([{"First": 1, "Count": 1}], 201)
    if path.startswith("/v1/spool"):
        return http({"Have": 1}) if method == "GET" else http({"Have": 1})
    if path.startswith("/v1/summary"):
        return http({"Changes": time.monotonic_ns(), "Done": 1})
    if path.startswith("/v1/history") or path.startswith("/v1/jobs?"):
        return http([{"Job": 1, "State": "Cleared", "Outcome": "Succeeded", "PythonCall": "json", **ad}])
    if path.startswith("/v1/jobs/1/files/output"):
        return http(result, kind="application/octet-stream", Berth_Size=len(result), Berth_Whole="true") if isinstance(result, bytes) else result(path)
    return http({"Job": 1, "State": "Cleared", "Outcome": "Succeeded", "PythonCall": "json", **ad})


class Bomb:
    def __reduce__(self):
        return os.mkdir, (work + "/exploded",)


bomb = base64.b64encode(pickle.dumps(Bomb())).decode()
liar = Liar(machine)
for sentence, result in [
    ("no JSON", b"\x00\x01"), ("nothing", b""), ("a nest without an end", b"[" * 10**5), ("no results", b"{}"), ("too many", json.dumps({"results": [{"value": 1}] * 2}).encode()),
    ("neither a value nor an error", b'{"results": [{}]}'), ("an error that is none", b'{"results": [{"error": {"type": 3}}]}'), ("rows that are none", b'{"results": [3]}'),
    ("more than it said", lambda path: http(b"x" * 1000, kind="application/octet-stream", Berth_Size=10**18, Berth_Whole="true")),
    ("no end", lambda path: http(b" " * 10**6, kind="application/octet-stream", Berth_Size=2**40, Berth_Whole="false")),
    ("less than it said", lambda path: http(b"", kind="application/octet-stream", Berth_Size=50, Berth_Whole="true")),
]:
    with liar.pool(max_result=10**6) as pool:
        said = raised(berth.BadAnswer, lambda: pool.submit(helper, 1).result(20))
    ok(said is not None and len(str(said)) < 600, f"a machine whose result is {sentence} is an error", said)
result = json.dumps({"results": [{"value": bomb}]}).encode()
with liar.pool() as pool:
    ok(pool.submit(helper, 1).result(20) == bomb and not os.path.exists(work + "/exploded"), "a pickle in a result is a text: no code of the machine's is run")
    ad = {"PythonCall": "pickle"}
    ok("trust=True" in str(raised(berth.BadAnswer, lambda: pool.submit(helper, 1).result(20))) and not os.path.exists(work + "/exploded"), "whoever says that it is one")
    raised(Exception, lambda: pool.with_options(trust=True).submit(helper, 1).result(20))
    ok(os.path.exists(work + "/exploded"), "with trust=True it is read, and does what it likes: so the manual warns of that")
result, ad = json.dumps({"results": [{"error": {"type": "E\x1b", "text": "t" * 10**6, "traceback": "x" * 10**6}}]}).encode(), {"Outcome": "Failed", "Status": 1}
with liar.pool() as pool:
    said = raised(berth.RemoteError, lambda: pool.submit(helper, 1).result(20))
    ok(said and said.type == "E?" and len(str(said)) < 80_000, "an exception that a machine makes up is told in bounds")
result, ad, quiet = json.dumps({"results": [{"value": 5}]}).encode(), {}, time.monotonic() + 1
liar.answer = lambda line: b"" if "summary" in line and time.monotonic() < quiet else machine(line)
with liar.pool() as pool:
    ok(pool.submit(helper, 1).result(20) == 5, "a customer that does not answer for a while is waited for")
liar.answer = lambda line: b"" if "summary" in line else machine(line)
pool = liar.pool(patience=0.5)
ok(isinstance(pool.submit(helper, 1).exception(20), berth.PoolUnreachable), "but no longer than the pool has patience")
pool.close(wait=False)
ad = {"PythonCall": ""}
liar.answer = lambda line: http(b"x" * 10**6, kind="application/octet-stream", Berth_Size=2**40, Berth_Whole="false") if "/log/" in line else machine(line)
with liar.pool(max_result=10**6) as pool:
    ok(raised(berth.BadAnswer, lambda: pool.submit("true").result(20)) and raised(berth.BadAnswer, lambda: berth.Job(pool, 1).logs()), "a command that writes without an end is an error")
    ok(sum(len(line) for line, _ in zip(berth.Job(pool, 1).lines(), range(2))) > 10**7, "and can be followed all the same, in pieces")
ad = {"PythonCall": "", "Outputs": ["none"]}
names = {"up": "../evil", "root": "/evil", "dots": "a/../../evil", "empty": "", "nul": "a\0b"}
for what, name in names.items():
    liar.answer = lambda line: http([{"Name": name, "Size": 1, "Kind": "output", "Whole": True}]) if line.split()[1].split("?")[0].endswith("/files") else machine(line)
    result = b"x"
    with liar.pool() as pool:
        said = raised(berth.BadAnswer, lambda: berth.Job(pool, 1).save(work + "/saved/here"))
    ok(said is not None and not os.path.exists(work + "/saved/evil") and not os.path.exists("/evil"), f"an output whose name leads out of the folder is not written ({what})", said)
name, ad = "mine.py", {"PythonCall": "", "Outputs": ["other"]}
os.makedirs(work + "/own/sub")
for own in ("mine.py", "other"):
    with open(work + "/own/" + own, "w") as file:
        file.write("mine")
with liar.pool() as pool:
    ok(berth.Job(pool, 1).save(work + "/own") == ["mine.py.1"] and open(work + "/own/mine.py").read() == "mine", "a file that is there is not replaced by one that the machine has called so")
    name = ".bashrc"
    ok(raised(berth.BadAnswer, lambda: berth.Job(pool, 1).save(work + "/own")), "a hidden one is refused")
    name = "other"
    ok(berth.Job(pool, 1).save(work + "/own") == ["other"] and open(work + "/own/other").read() == "x" and sorted(os.listdir(work + "/own")) == ["mine.py", "mine.py.1", "other", "sub"], "what the job's Outputs name is replaced")
os.makedirs(work + "/linked")
os.symlink("/tmp", work + "/linked/out")
name = "out/evil-berth-test"
with liar.pool() as pool:
    ok(raised(berth.BadAnswer, lambda: berth.Job(pool, 1).save(work + "/linked")) and not os.path.exists("/tmp/evil-berth-test"), "nor by a link that lies in the way")
liar.answer = lambda line: http({"Changes": 7, "Done": 0}) if "summary" in line else http([]) if "history" in line else http(b"", kind="application/octet-stream", Berth_Size=0, Berth_Whole="false") if "/log/" in line else \
    http([{"First": 1, "Count": 1}]) if line.startswith("POST") else http({"Job": 1, "State": "Running"})
pool, liar.asked = liar.pool(), []
pool.submit("true")
threading.Thread(target=lambda: raised(berth.BerthError, lambda: list(berth.Job(pool, 1).lines())), daemon=True).start()
raised(TimeoutError, lambda: berth.Job(pool, 1).wait(3))
ok(len(liar.asked) < 25, "a customer that does not wait when it is asked to is not asked again and again", liar.asked)
pool.close(wait=False)
liar.close()

# Whatever bytes come: an answer, or an exception of the package.
good = [http([{"Job": 3, "State": "Running", "Cmd": "a"}], Berth_Cursor=9), http({"Changes": 4, "State": "Held", "Reason": "x"}), http({"detail": "d"}, 409, "application/problem+json")]
mutated = b""
liar = Liar(lambda line: mutated)
pool = liar.pool()
strange = []
calls = [lambda: pool.jobs(limit=10), lambda: pool.status(), lambda: pool.job(3), lambda: next(pool.history(), None), lambda: pool._summary("1", None, 0), lambda: pool._control("hold", "1", None),
         lambda: pool.job(3).files(), lambda: berth.Job(pool, 3).logs(), lambda: pool.submit("true", inputs={"a": b"x%d" % chance.randrange(10**9)})]
for round in range(int(os.environ.get("BERTH_ROUNDS", "400"))):
    raw = bytearray(chance.choice(good))
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(raw))
        raw[at:at + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
    mutated = bytes(raw)
    try:
        chance.choice(calls)()
    except (berth.BerthError, FileNotFoundError):
        pass
    except BaseException as error:
        strange.append((mutated, repr(error)))
ok(not strange, "whatever bytes a customer answers with, there is an answer or an exception of the package", strange[:2])
pool.shutdown(wait=False)
liar.close()
said = raised(berth.PoolUnreachable, lambda: berth.Pool().status())
ok(said and isinstance(said, ConnectionError) and "berth pool" in str(said), "where no customer runs it is told what begins one", said)
ok(raised(AttributeError, lambda: berth.nothing) and "cffi" in str(raised(ImportError, lambda: berth.ClassAd)), "the language says what it lacks, where it is not installed")
ok("did" not in str(raised(TypeError, lambda: berth.Pool(memry=1))) and "'memry'" in str(raised(TypeError, lambda: berth.Pool(memry=1))), "an option that does not exist is refused")
with open(work + "/open.token", "w") as file:
    file.write('[ Token = "v4.public.x" ]')
os.chmod(work + "/open.token", 0o644)
ok("chmod 600" in str(raised(berth.PoolError, lambda: berth.Pool(token=work + "/open.token"))), "a token that others can read is refused")
os.chmod(work + "/open.token", 0o600)
ok("not encrypted" in str(raised(berth.PoolError, lambda: berth.Pool("http://pool.example.org:7600", token=work + "/open.token"))), "and none goes over a network in the clear")

os.environ["BEARER_TOKEN"] = "secret\r\nX: y"
said = raised(berth.PoolError, lambda: berth.Pool("http://127.0.0.1:1"))
ok(said and "secret" not in str(said) and "institute" in str(said), "nor is one shown that would write lines of its own; it is in no message", said)
del os.environ["BEARER_TOKEN"]

# --------------------------------------------------------------------------------------------------- a real pool

state = os.environ["BERTH_STATE"] = work + "/state"
with open(work + "/up", "w") as up, open(work + "/err", "w") as err:
    real = subprocess.Popen([program, "pool", "--listen", "127.0.0.1:0"], stdout=up, stderr=err, start_new_session=True)
try:
    for _ in range(300):
        with open(work + "/up") as up:
            said = up.read()
        if "To end it" in said:
            break
        time.sleep(0.1)
    url = re.search(r"up: (\S+)", said)[1]
    small = {"memory": "64M", "disk": "64M"}
    pool = berth.Pool(**small)
    for _ in range(100):
        if any("Python" in row for row in pool._found.matchmaker().list("/ads")):
            break
        time.sleep(0.1)
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    ok([row.get("Python") for row in pool._found.matchmaker().list("/ads", {"constraint": "Type == \"Machine\""})] == [os.path.basename(os.path.realpath(found))[len("python"):]], "a machine says which Python it has", found)
    with berth.Pool() as first:
        ok(first.submit("hostname").result(60) == socket.gethostname() + "\n", "a command is submitted, and its result is what it writes")
        own = first._found.customer.place.url
    os.environ["BERTH_CUSTOMER"] = f"unix:{work}/nobody.sock {own}"
    with berth.Pool() as second:
        ok(second._found.customer.place.url == own and second.status()["Jobs"] >= 0, "of several customers the first that answers is asked")
    del os.environ["BERTH_CUSTOMER"]

    os.environ["TRACEPARENT"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    ok(re.fullmatch("00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01", pool.submit(["/bin/sh", "-c", "printf %s $TRACEPARENT"]).result(60)), "a job goes on in the trace that its program is in")
    os.environ["TRACEPARENT"] += "\r\nX: y"
    ok("4bf92f35" not in pool.submit(["/bin/sh", "-c", "printf %s $TRACEPARENT"]).result(60), "what is no trace is not sent, nor lines that stand behind one")
    del os.environ["TRACEPARENT"]

    def twice(x, y=2):
        return x * y

    def fails(x):
        raise KeyError(f"no {x}")

    def steps():
        import time
        for n in range(3):
            print("step", n, flush=True)
            time.sleep(0.3)

    def part(n):
        return list(range(n))

    def total(*parts):
        return sum(map(sum, parts))

    def identity(x):
        return x

    made = [pool.submit(twice, 21), pool.submit(twice, "ab", y=3), pool.submit(fails, 7), pool.submit(["sh", "-c", "echo oh >&2; exit 3"]), pool.submit("/no/such/program"),
            pool.submit("cat", "a.txt", "b/c.txt", inputs={"a.txt": b"A\n", "b/c.txt": work + "/up"}), pool.submit(["sh", "-c", "echo 1 >out; mkdir d; echo 2 >d/x; echo $K"], outputs=["out", "d"], env={"K": "v"}),
            pool.submit("sleep 1000"), pool.submit("true", constraint="other.Memory > 1000T"), pool.submit(math.factorial, 20)]
    whole = json.loads(json.dumps([random_value() for _ in range(60)]))  # as JSON has it: expressions are texts there
    back = pool.submit(identity, whole)
    large = pool.submit(len, ["x" * 1000] * 100)
    finished, open_ = concurrent.futures.wait([made[0], made[1], made[2], made[3]], 60)
    ok(len(finished) == 4 and made[0].result() == 42 and made[1].result() == "ababab", "functions are called where the job runs, with arguments by place and by name")
    error = made[2].exception()
    ok(isinstance(error, berth.RemoteError) and error.type == "KeyError" and error.text == "'no 7'" and "fails" in error.traceback and made[2].outcome == "Failed", "an exception there is one here, with its traceback", error)
    error = made[3].exception()
    ok(isinstance(error, berth.JobFailed) and error.status == 3 and error.outcome == "Failed" and error.stderr == "oh\n" and "exit 3" in str(error), "a command that fails is one, with its status and what it wrote", error)
    ok(isinstance(made[4].exception(60), berth.JobHeld) and "/no/such/program" in made[4].why() and made[4].cancel() and made[4].state == "Cancelled", "a job that is held says why, and can be removed")
    ok(made[5].result(60).startswith("A\nBerth pool is up"), "it reads inputs: files, and bytes under a name")
    made[6].wait(60)
    ok(made[6].result() == "v\n" and sorted(made[6].save(work + "/saved")) == ["d/x", "out"] and open(work + "/saved/d/x").read() == "2\n" and made[6].read("out") == b"1\n" and
       raised(FileNotFoundError, lambda: made[6].read("none")) and {f.name for f in made[6].files()} >= {"out", "d/x"}, "what it leaves can be read, and written into a folder")
    for _ in range(100):
        if made[7].running():
            break
        time.sleep(0.1)
    ok(made[7].running() and raised(TimeoutError, lambda: made[7].result(0.1)) and made[7].cancel() and made[7].cancelled() and raised(concurrent.futures.CancelledError, made[7].result) and made[7].state == "Cancelled",
       "a job that runs can be cancelled, here and there")
    ok("other.Memory > 1000T" in made[8].why() and made[8].hold("no") and made[8].state == "Held" and made[8].release() and pool.job(made[8].id).state == "Waiting" and made[8].remove(), "one that waits says for what; it is held, released and removed")
    ok(made[9].result(60) == math.factorial(20), "functions of the standard library run as well")
    ok(back.result(60) == whole, "values made by chance go to a job and come back the same")
    ok(large.result(60) == 100, "arguments that are long travel as a file")
    ads = [{f"V{n}": value for n, value in enumerate(values[at:at + 50])} for at in range(0, 500, 50)]
    kept = pool.submit_ads([{"Cmd": "true", "Constraint": Expr("false"), **ad} for ad in ads])
    differ = []
    for ad, job in zip(ads, kept):
        now = job.ask()
        differ += [(value, now.get(name)) for name, value in ad.items() if not same(now.get(name), value)]
    ok(not differ, "ads made by chance are read by the program as they were meant", differ[:3])
    ok(pool._control("remove", ranges_text([job.id for job in kept]), "done") == len(kept), "many are removed at once")

    ok(list(pool.map(twice, range(5), range(5))) == [0, 1, 4, 9, 16] and list(pool.map(twice, range(7), chunksize=3)) == [0, 2, 4, 6, 8, 10, 12], "map gives results in order, a job an item or some items a job")
    ok(list(pool.map("echo item", ["a b", 2, [3, 4]])) == ["item a b\n", "item 2\n", "item 3 4\n"] and list(pool.map(["echo", "--x={}"], [1, 2])) == ["--x=1\n", "--x=2\n"], "a command is run for each item")
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        ok(list(threads.map(lambda n: pool.submit("echo", n).result(60), range(16))) == [f"{n}\n" for n in range(16)], "threads may share a pool")
    futures = pool.map_futures(lambda n: n + LIMIT[1], range(4))
    ok(sorted(f.result() for f in concurrent.futures.as_completed(futures, 60)) == [2, 3, 4, 5], "as_completed takes them, for they are futures")
    ok(raised(berth.RemoteError, lambda: list(pool.map(fails, [1, 2], chunksize=2))), "an exception in a chunk is raised at its item")
    ok(isinstance(pool, concurrent.futures.Executor) and concurrent.futures.Future in berth.JobFuture.__mro__, "a pool is an executor")

    with pool.workflow("sums") as flow:
        parts = [flow.add(part, n) for n in range(4)]
        sum_ = flow.add(total, *parts)
        flow.add("echo done", after=[sum_], name="say")
    ok(flow[sum_].result(60) == 4 and flow["say"].result(60) == "done\n" and flow.wait(60), "a workflow hands results from function to function")
    with pool.workflow() as bad:
        broken = bad.add(fails, 1)
        after = bad.add(total, broken)
    ok(bad.wait(60) is False and "waits for n0, which failed" in str(bad[after].exception()) and any(row["Workflow"] == bad.id for row in pool.workflows()), "what comes after a node that failed does not wait for ever", bad.jobs)
    bad.cancel()

    job = pool.submit(steps)
    begun = time.monotonic()
    came = [(line, time.monotonic()) for line in job.lines()]
    ok([line for line, _ in came] == ["step 0\n", "step 1\n", "step 2\n"] and came[2][1] - came[0][1] > 0.2 and job.result(60) is None, "what a job writes can be followed line by line", came)
    happened = [event.text for event in job.events()]
    ok(happened[0] == "submitted" and "ended with status 0" in happened, "and so can what happens to it", happened)
    seen = []

    def look():
        for event in watched.events():
            seen.append((event.job.id, event.before, event.state))
            if event.state == "Cleared" and event.job.id == one.id:
                return

    watched = berth.Pool(**small)
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    time.sleep(0.3)
    one = pool.submit("sleep 1")
    looking.join(60)
    ok(not looking.is_alive() and seen[-1][0] == one.id and seen[-1][2] == "Cleared" and len([s for s in seen if s[0] == one.id]) >= 2, "the events of all jobs are an iterator", seen)
    watched.close()
    ok(raised(berth.PoolUnreachable, watched.status).code == "closed", "a pool that was closed says so")
    ok(pool.job(made[0].id).result() == 42 and pool.future(made[0].id).result(60) == 42, "a job is found by its number, by others as well, and so is its result")
    ok([j.id for j in pool.history(limit=2)] and any(j.id == made[3].id for j in pool.history('ExitCode == 3')) and isinstance(pool.jobs('State == "Running"'), list), "the history and the queue are asked with a constraint")
    ok([m["Name"] for m in pool.machines()] and pool.status()["Type" if "Type" in pool.status() else "Name"], "the machines of the pool are listed")
    key = "once-%d" % chance.randrange(10**9)
    ok([pool.submit_ads([{"Cmd": "true", "Count": 3}], key)[n].id for n in (0, 2)] == [pool.submit_ads([{"Cmd": "true", "Count": 3}], key)[n].id for n in (0, 2)], "a submission with a key is made once")
    trusted = pool.with_options(trust=True)
    ok(trusted.submit(identity, {(1, 2): {3}, None: 4j}).result(60) == {(1, 2): {3}, None: 4j}, "with trust=True values travel as pickles")
    error = raised(berth.RemoteError, lambda: pool.submit(lambda: {1, 2}).result(60))
    ok(error and error.type == "TypeError" and "trust=True" in error.text, "a result that is not JSON is an error, which says what helps", error)
    error = raised(berth.Refused, lambda: pool.submit_ads([{"Cmd": "true"}, {"Cmd": 3}]))
    ok(error and error.status == 400 and "ad 2" in str(error), "an ad that cannot be a job is refused with its place", error)
    error = raised(berth.ClassAdParseError, lambda: pool.jobs("1 +"))
    ok(str(error) == "constraint:1:4: expected an expression, got the end\n  1 +\n     ^" and isinstance(error, ValueError), "a constraint that is none is shown with its place and a caret", error)
    error = raised(berth.ClassAdParseError, lambda: pool.submit_ads([{"Cmd": "true"}, {"Cmd": "true", "Rank": Expr("other.Memory + ) 1")}]))
    text, _, caret = str(error).split("\n")[-2:-1][0], 0, str(error).split("\n")[-1]
    ok(str(error).startswith(f"ad 2:{error.line}:{error.column}: expected ") and text[len(caret) - 1] == ")", "and so is an expression of an ad", str(error))

    # How long after its end a result is known, and how often is asked meanwhile.
    asked = []
    ask = pool._customer.ask
    pool._customer.ask = lambda *args, **kwargs: (asked.append(args[1]), ask(*args, **kwargs))[1]
    sleeper = pool.submit("sleep 3")
    sleeper.result(60)
    ok(asked.count("/summary") < 12, "waiting is not asking again and again", asked)
    pool._customer.ask = ask

    async def aside():
        async with berth.AsyncPool(**small) as pool:
            job = await pool.submit("hostname")
            results = [await job]
            results.append([value async for value in pool.map(twice, range(3))])
            results.append(await asyncio.gather(*[await pool.submit(twice, n) for n in (5, 6)]))
            results.append([line async for line in job.lines()])
            results.append((await job.state(), len([h async for h in pool.history(limit=2)]), bool(await pool.machines())))
            slow = await pool.submit("sleep 1000")
            try:
                await asyncio.wait_for(slow, 0.2)
            except asyncio.TimeoutError:
                results.append(slow.job.done())
            results.append(await slow.cancel())
            return results

    said = asyncio.run(aside())
    name = socket.gethostname() + "\n"
    ok(said == [name, [0, 2, 4], [10, 12], [name], ("Cleared", 2, True), False, True], "all of that goes with asyncio", said)

    # From elsewhere: by the matchmaker, with a token.
    subprocess.run([program, "token", "create", "--scope", "job:submit job:own ad:read match", "--no-delegation", "--lifetime", "1h", "--out", work + "/away.token"], check=True, capture_output=True)
    subprocess.run([program, "token", "create", "--scope", "job:submit job:own ad:read match", "--lifetime", "1h", "--out", work + "/key.token"], check=True, capture_output=True)
    del os.environ["BERTH_STATE"]
    with berth.Pool(pool=url, token=work + "/away.token", **small) as away:
        ok(away.submit("wc -c a", inputs={"a": b"x" * 1_500_000}).result(60) == "1500000 a\n" and list(away.map(twice, [3])) == [6] and away.machines(), "a customer elsewhere is asked by way of the matchmaker, with a token")
    os.environ["PATH"] = os.path.dirname(program) + ":" + os.environ["PATH"]
    with berth.Pool(pool=url, token=work + "/key.token", **small) as away:
        ok(away.status()["Name"], "a token with a key is signed by the program")
    with open(work + "/away.token") as file:
        lent = plain_attributes(file.read())
    host = Liar(lambda line: http({"Token": lent["token"], "Pool": url, "Ca": lent["ca"]}, 201) if line.startswith("POST /v1/token ") else http({"Name": "host"}))
    os.environ["BERTH_SUBMIT_SOCKET"] = host.path
    with berth.Pool() as user:
        ok(user.status() == {"Name": "host"} and user.machines(), "a user of a submit host asks its pool with the token that its customer lends")
    del os.environ["BERTH_SUBMIT_SOCKET"]
    host.close()
    script = os.path.join(source, "examples/pi.py")
    done = subprocess.run([sys.executable, script, "4", "2000"], capture_output=True, text=True, timeout=120, env={**os.environ, "BERTH_STATE": state, "PYTHONPATH": source + "/python"})
    ok(done.returncode == 0 and re.search(r"pi is about 3\.", done.stdout), "examples/pi.py runs", done.stdout, done.stderr)

    # The manual: its first example.
    with open(os.path.join(source, "docs/python.md")) as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    for number, block in enumerate(b for b in blocks if "Pool" in b and "# not run" not in b):
        with open(f"{work}/manual{number}.py", "w") as file:
            file.write(block)
        done = subprocess.run([sys.executable, f"manual{number}.py"], capture_output=True, text=True, timeout=120, cwd=work, env={**os.environ, "BERTH_STATE": state, "PYTHONPATH": source + "/python"})
        ok(done.returncode == 0, f"docs/python.md: {block.splitlines()[0]} ... runs", done.stdout, done.stderr)
    os.environ["BERTH_STATE"] = state
    pool.shutdown(cancel_futures=True)
finally:
    os.killpg(real.pid, signal.SIGTERM)
    try:
        real.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(real.pid, signal.SIGKILL)
    shutil.rmtree(work, ignore_errors=True)
print(f"1..{count}")
sys.exit(1 if failures else 0)
