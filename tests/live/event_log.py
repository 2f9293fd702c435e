"""event_log.py LOG [EXPRESSION]: reads a job event log strictly, as programs that follow such logs do, and checks that what it tells of each job can be: it is
submitted once, runs before it ends, ends once. EXPRESSION is Python over `jobs`, a dictionary CLUSTER.PROC -> list of event numbers, and `events`."""
import re
import sys

HEAD = re.compile(r"^(\d{3}) \((\d{3,})\.(\d{3,})\.(\d{3})\) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (.*)$")
USAGE = r"\t\tUsr \d+ \d\d:\d\d:\d\d, Sys \d+ \d\d:\d\d:\d\d  -  (Run|Total) (Remote|Local) Usage"
BYTES = r"\t\d+  -  (Run|Total) Bytes (Sent|Received) By Job"
TABLE = [r"\tPartitionable Resources :    Usage  Request Allocated"] + [r"\t   %s *:[ .\d]*" % re.escape(n) for n in ("Cpus", "Disk (KB)", "Memory (MB)")]
STATUS = r"\t\(1\) Normal termination \(return value \d+\)|\t\(0\) Abnormal termination \(signal \d+\)"
CORE = r"\t\(0\) No core file"
# of each event its words, and its lines: a pattern each, or in brackets one that may be missing
FORMS = {
    0: (r"Job submitted from host: <[^<>:]+:\d+\?.*>", ["(    .*)", "(    .*)"]),
    1: (r"Job executing on host: <[^<>:]+:\d+\?.*>", [r"\tSlotName: \S+", r"(\tCpus = \d+)", r"(\tDisk = \d+)", r"(\tMemory = \d+)"]),
    4: (r"Job was evicted\.", [r"\t\([01]\) Job (was (not )?checkpointed\.|terminated and was requeued)", USAGE, USAGE, BYTES, BYTES, "(%s)" % STATUS, "(%s)" % CORE] + ["(%s)" % t for t in TABLE]),
    5: (r"Job terminated\.", [STATUS, "(%s)" % CORE] + [USAGE] * 4 + [BYTES] * 4 + TABLE + ["()", r"(\tJob terminated of its own accord at \S+Z with (exit-code|signal) \d+\.)"]),
    6: (r"Image size of job updated: \d+", [r"\t\d+  -  MemoryUsage of job \(MB\)", r"\t\d+  -  ResidentSetSize of job \(KB\)"]),
    7: (r"Shadow exception!", [r"\t.+", BYTES, BYTES]),
    9: (r"Job was aborted\.", [r"\t.+"]),
    12: (r"Job was held\.", [r"\t.+", r"\tCode \d+ Subcode \d+"]),
    13: (r"Job was released\.", [r"(\t.+)"]),
}


def lines_fit(lines, forms):
    lines = list(lines)
    for form in forms:
        maybe = form.startswith("(") and form.endswith(")") and not form.startswith("(?")
        if lines and re.fullmatch(form, lines[0]):
            lines.pop(0)
        elif not maybe:
            return False
    return not lines


def read(path):
    with open(path, newline="") as log:
        text = log.read()
    assert not text or text.endswith("...\n"), "the last event is not whole"
    for event in re.split(r"(?m)^\.\.\.\n", text)[:-1]:
        first, *lines = event.rstrip("\n").split("\n")
        head = HEAD.match(first)
        assert head, "no head of an event: %r" % first
        number, words = int(head[1]), head[6]
        assert number in FORMS, "an event that nobody knows: %r" % first
        assert re.fullmatch(FORMS[number][0], words) and lines_fit(lines, FORMS[number][1]), "not the form of event %03d: %r" % (number, event)
        yield "%d.%d" % (int(head[2]), int(head[3])), number, event


def follows(told):
    """Can these events be those of one job, in this order?"""
    state = None
    for number in told:
        before, state = state, {0: "waits", 1: "runs", 4: "waits", 5: "over", 7: "waits", 9: "over", 12: "held", 13: "waits"}.get(number, state)
        good = {0: (None,), 1: ("waits",), 4: ("runs",), 5: ("runs",), 6: ("runs",), 7: ("waits", "runs"), 9: ("waits", "held"), 12: ("waits",), 13: ("held",)}
        if before not in good[number]:
            return False
    return True


events, jobs = list(read(sys.argv[1])), {}
for job, number, event in events:
    jobs.setdefault(job, []).append(number)
for job, told in jobs.items():
    assert follows(told), "%s: %s" % (job, told)
if len(sys.argv) > 2:
    assert eval(sys.argv[2]), jobs
