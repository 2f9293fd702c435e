"""replica_faults.py: a pool that outlives its hosts, for hours: two matchmakers, two customers of one queue, two providers, and a PostgreSQL with a synchronous
standby. They are killed, stopped, ended, cut off, slowed down, filled and promoted at random, one or two at a time, while jobs are submitted and tokens made. Nothing
that was acknowledged may be lost; every job runs once, or says why it was begun again, never twice at a time; all outputs are right.

BERTH: the program; BERTH_SOURCE: the sources; BERTH_ROUNDS: how many faults (100 if not given); BERTH_SEED; FAULTS_KEEP: the folder is left where something is wrong.
Prints TAP, and each fault as a comment. As root the disks of the database are small ones of its own, which are filled; else they are not.
"""
import collections
import hashlib
import http.client
import json
import os
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

ROOT = os.geteuid() == 0
if ROOT and "FAULTS_MOUNTS" not in os.environ:
    os.environ["FAULTS_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])

BERTH = os.path.abspath(os.environ["BERTH"])
SOURCE = os.path.abspath(os.environ["BERTH_SOURCE"])
FAULTS = int(os.environ.get("BERTH_ROUNDS", "100"))
SEED = int(os.environ.get("BERTH_SEED", "1"))
CALM_AFTER = 10  # faults: then all is whole, and what was acknowledged is looked at
CALM_SPAN = 300  # seconds that jobs may take to end then
OPEN_MOST = 30  # jobs that have not ended
FULL_BELOW = 65536  # bytes on a disk that is full
for name in ("BERTH_POOL", "BERTH_CONFIG", "BERTH_STATE", "BERTH_TOKEN", "BERTH_CUSTOMER", "BEARER_TOKEN", "BEARER_TOKEN_FILE"):
    os.environ.pop(name, None)
os.umask(0o077)
work = tempfile.mkdtemp(prefix="berth-faults-")
os.chdir(work)
MARK = work
rng = random.Random(SEED)

# ---------------------------------------------------------------------------------------------------------------------- telling

cases = failures = 0
wrongs = collections.Counter()
print_lock = threading.Lock()


def note(line):
    with print_lock:
        print("# " + line, flush=True)


def case(good, sentence):
    global cases, failures
    with print_lock:
        cases += 1
        failures += not good
        print(f"{'ok' if good else 'not ok'} {cases} - {sentence}", flush=True)
    return good


def wrong(what, detail):
    """Something that must not be: counted by its sentence, and told a few times."""
    wrongs[what] += 1
    if wrongs[what] <= 5:
        note(f"WRONG, {what}: {detail}")


def soon(test, span=60):
    ends = time.monotonic() + span
    while not test():
        if time.monotonic() > ends:
            return False
        time.sleep(0.1)
    return True


# --------------------------------------------------------------------------------------------------------------------- database

PROGRAMS = next((p for p in ("/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin")
                 if os.access(p + "/initdb", os.X_OK)), None)
if not PROGRAMS:
    print("1..0 # SKIP PostgreSQL is not here")
    sys.exit(0)


def as_postgres(*words, **more):
    if ROOT:
        words = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words)
    return subprocess.Popen(words, cwd="db", stdin=subprocess.DEVNULL, stdout=db_log, stderr=db_log, start_new_session=True, **more)


class Server:
    """A PostgreSQL server: `one` or `two`."""

    def __init__(self, name):
        self.name, self.process = name, None
        self.folder, self.data = f"{work}/db/{name}", f"{work}/db/{name}.data"

    def make_disk(self):
        for folder in (self.folder, self.data):
            os.makedirs(folder, 0o700, exist_ok=True)
            if ROOT:
                shutil.chown(folder, "postgres", "postgres")
        if ROOT:
            uid = subprocess.check_output(["id", "-u", "postgres"], text=True).strip()
            subprocess.check_call(["mount", "-t", "tmpfs", "-o", f"size=400m,mode=700,uid={uid}", "tmpfs", self.data])

    def ask(self, sql, span=20):
        done = subprocess.run([PROGRAMS + "/psql", "-h", self.folder, "-U", "berth", "-d", "postgres", "-X", "-A", "-t", "-q", "-c", sql],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=span, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def asks(self, sql):
        try:
            return self.ask(sql, 5)
        except subprocess.TimeoutExpired:
            return None

    def start(self):
        self.process = as_postgres(PROGRAMS + "/postgres", "-D", self.name + ".data", "-k", self.folder, "-c", "listen_addresses=", "-c", "shared_buffers=8MB",
                                   "-c", "max_connections=60", "-c", "max_wal_size=64MB", "-c", "hot_standby=on", "-c", "wal_keep_size=32MB")
        return soon(lambda: self.asks("SELECT 1") == "1" or self.process.poll() is not None) and self.process.poll() is None

    def die(self, number=signal.SIGQUIT):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(60)

    def alive(self):
        return self.process and self.process.poll() is None

    def processes(self):
        """Its own and those of its sessions."""
        pids = [self.process.pid]
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                        if int(file.read().rsplit(")", 1)[1].split()[1]) == self.process.pid:
                            pids.append(int(entry))
                except OSError:
                    pass
        return pids

    def empty(self):
        for entry in os.listdir(self.data):
            path = os.path.join(self.data, entry)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    def follow(self, other):
        """Becomes a standby of the other, for which that one waits then."""
        self.empty()
        copied = as_postgres(PROGRAMS + "/pg_basebackup", "-h", other.folder, "-U", "berth", "-D", self.name + ".data", "-R", "-c", "fast").wait(120)
        return copied == 0 and self.start() and soon(lambda: other.streams("streaming")) and other.waits_for_standby(True)

    def streams(self, state):
        return self.asks(f"SELECT count(*) FROM pg_stat_replication WHERE '{state}' IN (state, sync_state)") == "1"

    def waits_for_standby(self, waits):
        self.asks(f"ALTER SYSTEM SET synchronous_standby_names = '{'*' if waits else ''}'")
        self.asks("SELECT pg_reload_conf()")
        return not waits or soon(lambda: self.streams("sync"))


class Database:
    def __init__(self):
        self.lead, self.other = Server("one"), Server("two")
        self.lock = threading.Lock()  # one fault of it at a time

    def make(self):
        for server in (self.lead, self.other):
            server.make_disk()
        if as_postgres(PROGRAMS + "/initdb", "-D", "one.data", "-U", "berth", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions").wait(120):
            return False
        return self.lead.start() and self.other.follow(self.lead)

    def again(self):
        """All as it should be, whatever was."""
        good = soon(lambda: (self.lead.alive() or self.lead.start()) and self.lead.asks("SELECT 1") == "1", 90)
        if good and not (self.other.alive() and soon(lambda: self.lead.streams("sync"), 20)):
            self.other.die()
            self.lead.waits_for_standby(False)
            good = self.other.follow(self.lead)
        return good

    def promote(self):
        """The server that leads is dead: its standby, which has all that was acknowledged, is made the one that leads."""
        self.lead, self.other = self.other, self.lead
        done = self.lead.ask("SELECT pg_promote(true, 50)", 60) == "t"
        self.lead.waits_for_standby(False)
        return done


# ---------------------------------------------------------------------------------------------------------------------- daemons

class Daemon:
    """A process that is started again when it ends, as systemd does."""

    def __init__(self, name, role, *words, way=True):
        self.name, self.role, self.words, self.way = name, role, words, way
        self.process, self.lock, self.rests, self.begun = None, threading.Lock(), 0.0, 0
        self.ours = False  # it was killed by us
        self.log = f"{name}.log"

    def start(self):
        store = ["--set", f"Store={store_of(self.name)}"] if self.way else []
        with open(self.log, "ab") as log, open(self.name + ".up", "ab") as up:
            self.process = subprocess.Popen([BERTH, self.role, "--state", f"{work}/{self.name}", *self.words, *store, "--set", 'Networks={ "127.0.0.0/8" }'],
                                            stdin=subprocess.DEVNULL, stdout=up, stderr=log, start_new_session=True)
        self.begun += 1
        self.ours = False

    def keep(self):
        with self.lock:
            if not self.process:
                return
            status = self.process.poll()
            if status is not None and self.rests == 0:
                if status < 0 and not (self.ours and status in (-signal.SIGKILL, -signal.SIGTERM)):
                    wrong("a daemon ends by a signal that nobody sent", f"{self.name}: {status}, see {self.log}")
                self.rests = time.monotonic() + 0.3
            elif status is not None and time.monotonic() > self.rests:
                self.rests = 0
                self.start()

    def send(self, number, rests=0.0):
        """To the process of now, which is returned. It is not started again for so long."""
        with self.lock:
            process = self.process
            if process and process.poll() is None:
                self.ours = self.ours or number in (signal.SIGKILL, signal.SIGTERM)
                process.send_signal(number)
                if number == signal.SIGKILL:
                    self.rests = time.monotonic() + rests + 0.01
            return process

    def goes_on(self, process):
        with self.lock:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)

    def end(self):
        with self.lock:
            process, self.process = self.process, None
        if process and process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def asks(self, method, path, body=None, span=5, headers=None):
        """By its socket: the status, the headers and the body; 0 where nobody answers."""
        where = f"{work}/{self.name}/customer/customer.sock" if self.role == "customer" else f"{work}/{self.name}/matchmaker.sock"
        return exchange(where, method, path, body, span, headers)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, span):
        super().__init__("localhost", timeout=span)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def exchange(where, method, path, body=None, span=5, headers=None):
    connection = UnixConnection(where, span) if where.startswith("/") else http.client.HTTPConnection(where, timeout=span)
    try:
        connection.request(method, path, body, {"Accept": "application/json, */*;q=0.1", "Content-Type": "application/classad", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    except (OSError, http.client.HTTPException):
        return 0, {}, b""
    finally:
        connection.close()


def free_port():
    for _ in range(50):
        port = 20000 + rng.randrange(10000)
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)):
                return port
    return 0


def store_of(daemon):
    return f"postgresql://berth@/postgres?host={work}/way/{daemon}/one,{work}/way/{daemon}/two&target_session_attrs=read-write"


def way(name, mode):
    """How a daemon reaches the database from now on (database_proxy.py)."""
    with open(f"way/{name}/mode.new", "w", encoding="ascii") as file:
        file.write(mode)
    os.rename(f"way/{name}/mode.new", f"way/{name}/mode")


def ways_make(names):
    words = []
    for name in names:
        for server in ("one", "two"):
            os.makedirs(f"way/{name}/{server}")
            words += [f"{work}/way/{name}/{server}/.s.PGSQL.5432", f"{work}/db/{server}/.s.PGSQL.5432", f"{work}/way/{name}/mode"]
        way(name, "open")
    with open("proxy.log", "ab") as log:
        return subprocess.Popen([sys.executable, f"{SOURCE}/tests/live/database_proxy.py", *words], stdout=log, stderr=log, start_new_session=True)


ports = {"east": free_port(), "west": free_port()}
east = Daemon("east", "matchmaker", "--listen", f"127.0.0.1:{ports['east']}", "--set", "Name=cove")
west = Daemon("west", "matchmaker", "--listen", f"127.0.0.1:{ports['west']}", "--set", "Name=cove")
customers = [Daemon(name, "customer", "--set", "AgentName=submit", "--set", f"CustomerFiles={work}/shared") for name in ("alpha", "beta")]
heron = Daemon("heron", "provider", "--set", "AgentName=heron", "--set", "Unprotected=true", "--set", f"OwnerPolicy={work}/owner.ad")
egret = Daemon("egret", "provider", "--set", "AgentName=egret", "--set", "Unprotected=true", "--set", f"OwnerPolicy={work}/owner.ad", way=False)
matchmakers, providers = [east, west], [heron, egret]
daemons = matchmakers + customers + providers
over = threading.Event()


def keep_all():
    while not over.is_set():
        for daemon in daemons:
            daemon.keep()
        time.sleep(0.05)


def berth(*words):
    return subprocess.run([BERTH, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)


def token(subject, scope, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    return berth("token", "create", "--state", f"{work}/east", "--subject", subject, "--scope", scope, "--lifetime", "30d", "--out", to).returncode == 0


def leads(matchmaker):
    return exchange(f"127.0.0.1:{ports[matchmaker.name]}", "GET", "/readyz", span=2)[0] == 200


def has_queue(customer):
    return customer.asks("GET", "/v1/status", span=2)[0] == 200


def knows_west():
    return f"http://127.0.0.1:{ports['west']}" in berth("status", "--state", f"{work}/east", "--json").stdout


def up():
    with open("owner.ad", "w", encoding="ascii") as file:
        file.write("[ Cpus = 8 ]")
    east.start()
    if not soon(lambda: leads(east)):
        return False
    code = berth("token", "code", "--standby", "--state", f"{work}/east").stdout.strip()
    west.words = (*west.words, "--standby", code)
    west.start()
    if not soon(knows_west):
        return False
    west.words = west.words[:-2]
    scopes = "ad:read ad:write claim match"
    good = token("alice", scopes + " job:submit job:own job:any", "alpha/customer/token")
    os.makedirs("beta/customer", exist_ok=True)
    shutil.copy2("alpha/customer/token", "beta/customer/token")
    for provider in providers:
        good = good and token(f"machine/{provider.name}", scopes, f"{provider.name}/provider/token")
        provider.start()
    customers[0].start()
    good = good and soon(lambda: has_queue(customers[0]))
    customers[1].start()
    return good


# ------------------------------------------------------------------------------------------------------------------------- load

class Job:
    def __init__(self, number):
        self.key, self.id = f"k{SEED}-{number}", 0
        self.input = rng.randbytes(rng.randrange(1, 200000)).hex().encode() if rng.random() < 0.4 else b""
        self.span = rng.choice((0, 0, 0, 0.5, 2, 6))
        self.hash = hashlib.blake2b(self.input, digest_size=32).hexdigest()
        self.text = self.ad()
        self.tries = 0

    def ad(self):
        read = ""
        if self.input:
            read = f'Inputs = {{ [ Name = "in"; Hash = "{self.hash}"; Size = {len(self.input)}; Mode = 420 ] }};'
        script = f"sleep {self.span}; {'tr a-f A-F <in' if self.input else 'echo ' + self.key} >out; echo said {self.key}"
        return (f'[ Cmd = "/bin/sh"; Args = {{ "-c", "{script}" }}; Outputs = {{ "out" }}; {read} Env = [ MARK = "{MARK}" ]; RequestMemory = 16M; '
                'RequestDisk = 16M; RequestCpus = 1; Constraint = other.Type == "Machine" ]').encode()

    def output(self):
        return self.input.upper() if self.input else self.key.encode() + b"\n"


class Again:
    """The same once more, as of somebody who did not hear the answer."""

    def __init__(self, job):
        self.key, self.id, self.input, self.text = job.key, 0, b"", job.text


def ask_any(of, method, path, body=None):
    """Whoever of them leads answers. The status 0: nobody did."""
    for daemon in of:
        status, headers, answer = daemon.asks(method, path, body)
        if status not in (0, 503):
            return status, answer
    return 0, b""


jobs = {}  # by number: those that were acknowledged
unended = collections.deque()
jobs_lock = threading.Lock()
looked_at = []  # of those: the one that is looked at
pauses = threading.Event()  # nothing new is submitted
submitting = threading.Event()  # but this
figures = collections.Counter()
begun = collections.Counter()  # by number: how often providers have begun it


def submit_try(job):
    """Once. True: it is acknowledged, or never will be."""
    if job.input:
        for at in range(0, len(job.input), 1 << 20):
            status, answer = ask_any(customers, "PUT", f"/v1/spool/{job.hash}?offset={at}&size={len(job.input)}", job.input[at:at + (1 << 20)])
            if status // 100 != 2:
                return False
    status, answer = ask_any(customers, "POST", f"/v1/jobs?key={job.key}", job.text)
    if status // 100 == 2:
        job.id = json.loads(answer)[0]["First"]
        return True
    if status in (400, 409, 404):
        wrong("a submission that is good, and perhaps repeated, is refused", f"{job.key}: {status} {answer[:300]}")
        return True
    return False


def submit(number):
    job = Job(number)
    while not submit_try(job):
        figures["submissions that were tried again"] += 1
        if over.wait(0.2):
            return
    if not job.id:
        return
    with jobs_lock:
        if job.id in jobs:
            wrong("a number is given twice", f"{job.id}: {jobs[job.id].key} and {job.key}")
        jobs[job.id] = job
        again = Again(job)
        unended.append(job)
    if number % 4 == 0:
        while not submit_try(again):
            if over.wait(0.2):
                return
        if again.id != job.id:
            wrong("a submission that is repeated is another job", f"{job.key}: {job.id}, then {again.id}")


def submit_all():
    number = 0
    while not over.is_set():
        if pauses.is_set() or len(unended) >= OPEN_MOST:
            time.sleep(0.1)
            continue
        submitting.set()
        if pauses.is_set():
            submitting.clear()
            continue
        number += 1
        submit(number)
        submitting.clear()
        over.wait(0.05 if number % 5 else 0.6)


def ended(job):
    """Has it ended? Then it is looked at whole."""
    status, answer = ask_any(customers, "GET", f"/v1/jobs/{job.id}")
    if status == 404:
        wrong("a job that was acknowledged is lost", f"{job.id}, {job.key}")
        return True
    if status != 200:
        return False
    ad = json.loads(answer)
    state = ad.get("State")
    if state in ("Held", "Removed", "Aborted"):
        wrong("a job ends otherwise than it should", f"{job.id}, {job.key}: {answer[:600]}")
        return True
    if state != "Cleared":
        return False
    status, output = ask_any(customers, "GET", f"/v1/jobs/{job.id}/files/output/out")
    told_status, told = ask_any(customers, "GET", f"/v1/jobs/{job.id}/log")
    if status == 0 or told_status != 200:
        return False
    told = told.decode(errors="replace")
    if ad.get("Status") != 0:
        wrong("a job ends otherwise than it should", f"{job.id}, {job.key}: {answer[:600]}")
    if status != 200 or output != job.output():
        wrong("an output is not what the job made", f"{job.id}, {job.key}: {status}, {len(output)} bytes instead of {len(job.output())}")
    if told.count(" ended with status ") > 1:
        wrong("a result is taken twice", f"{job.id}: {told}")
    job.tries = ad.get("Tries", 0)
    reasons = len(re.findall(r"waits again: |tried again: ", told))
    if job.tries != 1 and reasons < job.tries - 1:
        wrong("a job is begun again and does not say why", f"{job.id}, {job.key}: {job.tries} tries\n{told}")
    job.input = job.text = b""  # there will be many
    figures["jobs that ended"] += 1
    figures["jobs with more than one try"] += job.tries > 1
    if job.tries > 1:
        note(f"job {job.id} has {job.tries} tries: " + "; ".join(re.findall(r"(?:waits again|tried again): .*", told)))
    return True


def look_all():
    while not over.is_set():
        with jobs_lock:
            job = unended.popleft() if unended else None
            looked_at[:] = [job] if job else []
        done = job and ended(job)
        with jobs_lock:
            if job and not done:
                unended.append(job)
            looked_at.clear()
        time.sleep(0.05)


def look_twice():
    """Is a job alive in two places?"""
    while not over.is_set():
        spaces = collections.defaultdict(set)
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    values = dict(one.split(b"=", 1) for one in file.read().split(b"\0") if b"=" in one)
                if values.get(b"MARK") != MARK.encode() or b"BERTH_JOB" not in values:
                    continue
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        continue
                spaces[int(values[b"BERTH_JOB"])].add(os.readlink(f"/proc/{entry}/ns/pid"))
            except OSError:
                continue
        for job, where in spaces.items():
            figures["looks at jobs that ran"] += 1
            if len(where) > 1:
                wrong("a job runs twice at a time", f"{job}: {where}")
        time.sleep(0.5)


tokens = {}  # by id: the token, and whether it is revoked


def make_tokens():
    number = 0
    while not over.is_set():
        over.wait(1)
        if pauses.is_set():
            continue
        number += 1
        status, answer = ask_any(matchmakers, "POST", "/v1/tokens", f'[ Subject = "t{number}"; Scope = "ad:read"; Lifetime = 86400 ]'.encode())
        if status != 201:
            continue
        made = json.loads(answer)
        tokens[made["Id"]] = [made["Token"], "made"]
        figures["tokens"] += 1
        if number % 3 == 0:
            tokens[made["Id"]][1] = "asked"
            if ask_any(matchmakers, "DELETE", f"/v1/tokens/{made['Id']}")[0] == 204:
                tokens[made["Id"]][1] = "revoked"


def tokens_check():
    leader = next((m for m in matchmakers if leads(m)), None)
    for id, (text, state) in list(tokens.items()):
        status = exchange(f"127.0.0.1:{ports[leader.name]}", "GET", "/v1/agents", headers={"Authorization": "Bearer " + text})[0] if leader else 0
        if state == "made" and status in (401, 403):
            wrong("a token that was made is refused", f"{id}: {status}")
        if state == "revoked" and status == 200:
            wrong("a token that was revoked is good", id)
        figures["tokens that were looked at"] += status in (200, 401)
    for id in list(tokens)[:-20]:
        del tokens[id]


# ----------------------------------------------------------------------------------------------------------------------- faults

def leader_of(group):
    test = leads if group is matchmakers else has_queue
    return next((d for d in group if test(d)), group[0])


def fault_kill(r):
    one = r.choice(daemons)
    one.send(signal.SIGKILL, r.choice((0, 0, 2, 5)))
    return f"kill {one.name}"


def fault_kill_leader(r):
    one = leader_of(r.choice((matchmakers, customers)))
    one.send(signal.SIGKILL, r.choice((0, 3, 6)))
    return f"kill {one.name}, which leads"


def fault_kill_both(r):
    two = [leader_of(matchmakers), leader_of(customers)]
    for one in two:
        one.send(signal.SIGKILL, r.choice((0, 3, 6)))
    return "kill " + " and ".join(one.name for one in two) + ", which lead"


def fault_end(r):
    one = leader_of(r.choice((matchmakers, customers))) if r.random() < 0.7 else r.choice(daemons)
    one.send(signal.SIGTERM)
    return f"end {one.name}"


def fault_stop(r):
    one = leader_of(r.choice((matchmakers, customers))) if r.random() < 0.7 else r.choice(daemons)
    span = r.choice((0.5, 2.5, 3.5, 5, 8))
    process = one.send(signal.SIGSTOP)
    time.sleep(span)
    one.goes_on(process)
    return f"stop {one.name} for {span} s"


def fault_way(r):
    some = r.sample([d.name for d in daemons if d.way], r.choice((1, 1, 2, 5)))
    mode, span = r.choice(("cut", "cut", "gone", "slow 0.2", "slow 1")), r.choice((0.5, 2, 4, 8, 15))
    for name in some:
        way(name, mode)
    time.sleep(span)
    for name in some:
        way(name, "open")
    return f"{mode} the way of {', '.join(some)} for {span} s"


def fault_base_dies(r):
    span = r.choice((0, 1, 4))
    with database.lock:
        database.lead.die()
        time.sleep(span)
        good = database.again()
    case(good, "the database is up again") if not good else None
    return f"the database crashes, and is started {span} s later"


def fault_base_stops(r):
    span = r.choice((0.5, 2, 4, 8))
    with database.lock:
        pids = database.lead.processes()
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in pids:
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
            time.sleep(span if number == signal.SIGSTOP else 0)
    return f"the database is stopped for {span} s"


def fault_base_fails_over(r):
    span = r.choice((0, 1, 3))
    with database.lock:
        if not database.again():
            case(False, "the database is up again")
        database.lead.die()
        time.sleep(span)
        good = database.promote() and database.again()
    case(good, "the database's standby is promoted") if not good else None
    return f"the database dies, and its standby, {database.lead.name}, is promoted {span} s later"


def fault_standby_dies(r):
    span = r.choice((0.5, 3, 8))
    with database.lock:
        database.other.die()
        time.sleep(span)
        good = database.other.start() and database.again()
    case(good, "the standby is up again") if not good else None
    return f"the database's standby is away for {span} s, and commits wait for it"


def fault_base_is_full(r):
    if not ROOT:
        return None
    span = r.choice((1, 3, 6))
    with database.lock:
        path = database.lead.data + "/filler"
        as_postgres("dd", "if=/dev/zero", "of=" + path, "bs=8k").wait(60)
        room = shutil.disk_usage(database.lead.data).free
        time.sleep(span)
        os.unlink(path)
        good = database.again()
    if room > FULL_BELOW:
        note(f"the disk was not full: {room} bytes")
    case(good, "the database is up again") if not good else None
    return f"the disk of the database is full for {span} s"


faults = (fault_kill, fault_kill, fault_kill_leader, fault_kill_leader, fault_kill_both, fault_end, fault_stop, fault_stop, fault_way, fault_way, fault_way,
          fault_base_dies, fault_base_stops, fault_base_fails_over, fault_standby_dies, fault_base_is_full)
kinds = collections.Counter()


def fault_run(number):
    r = random.Random(SEED * 1000003 + number)
    time.sleep(r.choice((0, 0.1, 0.5, 1.5)))
    fault = r.choice(faults)
    try:
        words = fault(r)
    except (OSError, subprocess.SubprocessError) as error:
        words = f"{fault.__name__}: {error}"
        wrong("a fault could not be made", words)
    if words:
        kinds[fault.__name__[6:]] += 1
        note(f"{time.monotonic() - start:7.1f} s, fault {number}: {words}")


def calm():
    """All that was acknowledged ends, and one leads."""
    pauses.set()
    with database.lock:
        good = database.again()
    if not good:
        return case(False, "the database is up again")
    ends = time.monotonic() + CALM_SPAN
    while (unended or looked_at or submitting.is_set()) and time.monotonic() < ends:
        time.sleep(0.2)
    soon(lambda: sum(leads(m) for m in matchmakers) == 1 and sum(has_queue(c) for c in customers) == 1)
    for group, test in ((matchmakers, leads), (customers, has_queue)):
        if sum(test(one) for one in group) != 1:
            wrong("not one of two leads when all is whole", ", ".join(f"{one.name}: {test(one)}" for one in group))
    if unended or submitting.is_set():
        wrong("jobs that were acknowledged do not end", f"{len(unended)} after {CALM_SPAN} s: " + ", ".join(
            f"{job.id}: {ask_any(customers, 'GET', f'/v1/jobs/{job.id}')[1][:500]!r}" for job in list(unended)[:3]))
        return False
    tokens_check()
    history_check()
    pauses.clear()
    return not wrongs


def history_check():
    """Some of those that ended long ago: they are there still."""
    for id in rng.sample(sorted(jobs), min(30, len(jobs))):
        status, answer = ask_any(customers, "GET", f"/v1/jobs/{id}")
        if status == 404 or (status == 200 and json.loads(answer).get("State") != "Cleared"):
            wrong("a job that was acknowledged is lost", f"{id}, {jobs[id].key}, which had ended: {status} {answer[:300]}")
        figures["jobs that were looked at later"] += status == 200


def starts_check():
    """What providers have begun, by their own logs."""
    for provider in providers:
        with open(provider.log, encoding="utf-8", errors="replace") as log:
            for line in log:
                found = re.search(r" event=job\.start .* job=(\d+)$", line)
                if found:
                    begun[int(found[1])] += 1
    for id, job in jobs.items():
        if 0 < job.tries < begun[id]:
            wrong("a job is begun more often than its customer knows", f"{id}: {begun[id]} times, {job.tries} tries")


def run():
    done = 0
    while done < FAULTS:
        two = [threading.Thread(target=fault_run, args=(done + i,)) for i in range(2 if rng.random() < 0.3 and done + 2 <= FAULTS else 1)]
        for one in two:
            one.start()
        for one in two:
            one.join()
        before, done = done, done + len(two)
        if before // CALM_AFTER != done // CALM_AFTER and not calm():
            return done
    calm()
    return done


start = time.monotonic()
proxy = None
database = Database()
db_log = None
threads = []
try:
    os.chmod(work, 0o711)
    os.makedirs("db", 0o755)
    os.chmod("db", 0o755)
    if ROOT:
        shutil.chown("db", "postgres", "postgres")
    db_log = open("db.log", "ab")
    if case(database.make(), "a database with a synchronous standby comes up"):
        proxy = ways_make([d.name for d in daemons if d.way])
        soon(lambda: os.path.exists(f"{work}/way/heron/two/.s.PGSQL.5432"))
        if case(up(), "a pool comes up: two matchmakers, two customers of one queue, two providers"):
            threads = [threading.Thread(target=target, daemon=True) for target in (keep_all, submit_all, look_all, look_twice, make_tokens)]
            for thread in threads:
                thread.start()
            count = run()
            starts_check()
            note(f"{count} faults in {time.monotonic() - start:.0f} s: " + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())))
            note(", ".join(f"{n} {k}" for k, n in sorted(figures.items())))
            case(count == FAULTS, f"there were {FAULTS} faults")
            case(figures["jobs that ended"] == len(jobs) > 0, f"each of {len(jobs)} jobs that were acknowledged has ended")
            for sentence in ("a job that was acknowledged is lost", "jobs that were acknowledged do not end", "a job ends otherwise than it should",
                             "an output is not what the job made", "a number is given twice", "a submission that is repeated is another job",
                             "a submission that is good, and perhaps repeated, is refused", "a job is begun again and does not say why",
                             "a job is begun more often than its customer knows", "a job runs twice at a time", "a result is taken twice",
                             "a token that was made is refused", "a token that was revoked is good", "not one of two leads when all is whole",
                             "a daemon ends by a signal that nobody sent", "a fault could not be made"):
                case(not wrongs[sentence], f"never: {sentence} ({wrongs[sentence]})")
finally:
    over.set()
    for thread in threads:
        thread.join(30)
    for daemon in (*customers, *providers, *matchmakers):
        daemon.end()
    for server in (database.lead, database.other):
        server.die(signal.SIGINT)
    if proxy:
        proxy.kill()
        proxy.wait()
    if db_log:
        db_log.close()
    if ROOT:
        for server in (database.lead, database.other):
            subprocess.run(["umount", "-l", server.data], stderr=subprocess.DEVNULL, check=False)
    if (failures or wrongs) and os.environ.get("FAULTS_KEEP"):
        note(f"all of it is in {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
print(f"1..{cases}")
sys.exit(failures > 0)
