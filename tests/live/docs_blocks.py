#!/usr/bin/env python3
"""docs_blocks.py LIST [PAGE...]: every command block of README.md and of the pages of docs/ is run, in order, each page in a folder and a pool of its own. Prints TAP.
docs_blocks.py --one LIST PAGE: this page alone; below its TAP, without numbers, stands a line of JSON: what was not run.

Pages mostly wait for their pools, so several run at once, those with the most commands first; each is a process of its own, which docs_blocks_test.sh starts.

A block is fenced, or set in by four blanks. A command in it is a line after a prompt (`$ ` or `# `; what stands below it is what it prints), a line of a
block of `sh`, or one that begins with a name of PROGRAMS; a comment behind it is left off. It is to end with status 0 within a minute, and the heading of
a table that the page shows is to be the heading that is printed. A daemon (`berth pool`, ...) is to say that it is up, and goes on; the next of its kind
ends it. What shows only how a command is called (in command-line.md, where it has placeholders) is held against the help of that command.

LIST says what else a page needs, in paragraphs that begin with `page NAME`; the lines below are, and each must be of use:
    | COMMAND            typed before the first command of the page, or before the one that was named last by `at`; together
    at TEXT              what follows with | is typed before the command that begins with TEXT
    as PATTERN -> TEXT   put in where the page has words that the reader replaces (Python's regular expressions)
    status N TEXT        the command that begins with TEXT ends with that status
    by TEST: TEXT        that test runs it: TEXT is how commands begin, or `console` for all blocks of that kind, or * for all
                         that are left; the test's file names the page
    not TEXT: WHY        it cannot run here; these are counted and printed. The options of berth in it are held against its help all the same

A page runs in a namespace of its own for networks and mounts: port 7600 is free, and /etc, /srv and /var/lib/berth may be written. It wants root there."""
import concurrent.futures
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BERTH, SOURCE = os.path.realpath(os.environ.pop("BERTH")), os.path.realpath(os.environ.pop("BERTH_SOURCE"))
PROGRAMS = re.compile(r"(build/|build-soak/)?berth |ask |curl |(sudo )?apt |apt-get |systemctl |journalctl |\./dev |tools/|tests/|cc |for |seq |parallel |docker |pass |"
                      r"mkdir |cp |cat |sed |tar |snakemake |condor_\w+ |sbatch |python3 |echo |spin |unshare |chrt |valgrind |PATH=|[A-Z_]+=\S+ ([A-Z_]+=\S+ )*\S*(berth|sh)\b")
DAEMON = re.compile(r"(?:build/)?berth (pool|matchmaker|customer|provider|provide|join)\b(?!.*(--only|--help))")
HEADING = re.compile(r" *[A-Z][A-Z_%]*( +[A-Z][A-Z_%]*)+ *$")
PLACES = re.compile(r"\[|[A-Z]{2,}|\.\.\.")
MINUTE = 60
SLOW = 3  # seconds: what takes longer is told
AT_ONCE = 3 * (os.cpu_count() or 1)  # pages
HELPERS = r"""
machine() { until [ -n "$(berth ads --kind offers -c 'Cpus >= 1' --json)" ]; do sleep 0.1; done; }    # the pool has a machine, with a processor free
quick() { printf '[ Cmd = "/bin/true"; Args = { "%s" }; RequestMemory = 16M; RequestDisk = 16M; RequestCpus = 0.1 ]\n' "$@"; }  # an ad of a short job
pad() { while [ "$(quick | berth submit - --terse | cut -d. -f1)" -lt "$(($1 - 1))" ]; do :; done; machine; }    # the next job has that number
stands() { until berth jobs --word "$1" | grep -qx "$2"; do sleep 0.1; done; }                       # that job is running, success, failed
"""

def tap(ok, sentence, why=""):
    print(f"{'ok' if ok else 'not ok'} - {' '.join(sentence.split())[:160].replace('#', '')}", flush=True)
    if not ok:
        print("".join(f"# {line}\n" for line in why.rstrip().split("\n")[-30:]), end="", flush=True)


# -------------------------------------------------------------------------------------------------------------- pages

class Command:
    def __init__(self, kind, line, text, prompt):
        self.kind, self.line, self.text, self.prompt, self.prints = kind, line, text, prompt, []


def blocks(path):
    """(line, kind, lines) of each block; the kind of one that is set in is ''."""
    lines = open(path, encoding="utf-8").read().split("\n")
    at = 0
    while at < len(lines):
        if lines[at].startswith("```"):
            end = lines.index("```", at + 1)
            yield at + 2, lines[at][3:].split(" ")[0] or "text", lines[at + 1:end]
            at = end + 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or (not lines[end] and lines[end + 1:end + 2] and lines[end + 1].startswith("    "))):
                end += 1
            yield at + 1, "", [line[4:] for line in lines[at:end]]
            at = end
        else:
            at += 1


def plain(text):
    """Without the comment behind it: what follows `#`, or three blanks, outside of quotes."""
    quote = ""
    for at, each in enumerate(text):
        if quote:
            quote = "" if each == quote else quote
        elif each in "'\"":
            quote = each
        elif re.match(r" +# | {3,}", text[at:]):
            return text[:at]
    return text


def commands(line, kind, lines):
    if kind not in ("", "sh", "console"):
        return
    prompts = kind == "console" or (kind == "" and any(re.match(r"[$#] ", each) for each in lines))
    if kind == "" and not prompts and not PROGRAMS.match(lines[0]):
        return
    last, on = None, False
    for number, each in enumerate(lines, line):
        if prompts:
            if re.match(r"[$#] ", each):
                last = Command(kind, number, each[2:], each[0])
                yield last
            elif last and each.startswith("> "):
                last.text += "\n" + each[2:]
            elif last:
                last.prints.append(each)
        elif on:
            last.text = last.text[:-1] + " " + plain(each).strip()
            on = last.text.endswith("\\")
        elif each.strip() and not each.startswith("#") and (kind == "sh" or PROGRAMS.match(each)):
            last = Command(kind, number, plain(each), None)
            on = last.text.endswith("\\")
            yield last
        elif last and kind == "" and each.startswith("     ") and PLACES.search(last.text):
            last.text += " " + each.strip()


# --------------------------------------------------------------------------------------------------------------- list

class Page:
    def __init__(self, name):
        self.name, self.before, self.replaced, self.status, self.by, self.left, self.used = name, {"": []}, [], {}, {}, {}, set()


def list_read(path):
    pages, page, at = {}, None, ""
    for line in open(path, encoding="utf-8").read().split("\n"):
        word, _, rest = line.strip().partition(" ")
        if not word or line.startswith("#"):
            continue
        if word == "page":
            page, at = pages.setdefault(rest, Page(rest)), ""
        elif word == "|":
            page.before[at].append(rest)
        elif word == "at":
            at = rest
            page.before.setdefault(at, [])
        elif word == "as":
            page.replaced.append(tuple(rest.split(" -> ", 1)))
        elif word == "status":
            number, text = rest.split(" ", 1)
            page.status[text] = int(number)
        elif word == "by":
            test, text = rest.split(": ", 1)
            page.by[text] = test
        elif word == "not":
            text, why = rest.rsplit(": ", 1)
            page.left[text] = why
        else:
            sys.exit(f"{path}: what is this? {line}")
    return pages


def find(page, table, command):
    """The key of the table that the command begins with, the longest first; then its kind, then *."""
    for key in sorted(table, key=lambda each: (each == "*", each == "console", -len(each))):
        if key and (command.text.startswith(key) or key in ("*", command.kind)):
            page.used.add(key)
            return key
    return None


# ---------------------------------------------------------------------------------------------------------------- help

helps = {}


def help_of(words):
    key = " ".join(words)
    if key not in helps:
        done = subprocess.run([BERTH, *words, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=MINUTE)
        helps[key] = done.stdout if done.returncode == 0 else ""
    return helps[key]


def options_are_there(text):
    """Is each berth command in it one that there is, with options that its help has? Returns what is not."""
    wrong = []
    for part in re.split(r"[;&\n]|\|\||(?<=\S) \| (?=(?:build/)?berth\b)", text):
        found = re.match(r"\s*(?:[A-Z_]+=\S+ |chrt -f 10 )*(?:build/|build-soak/)?berth ([a-z][a-z ]*)(.*)$", part, re.S)
        if not found:
            continue
        words = found.group(1).split()
        known = help_of(words[:1])
        if not known:
            wrong.append(f"there is no command `berth {words[0]}`")
            continue
        for rest in words[1:2]:
            known += help_of([words[0], rest])
        own = re.split(r" -- ", found.group(2))[0]
        wrong += [f"berth {words[0]} has no option {option}" for option in re.findall(r"(?<![\w'\"-])(--[a-z][a-z-]+)", own) if option not in known]
    return wrong


# ------------------------------------------------------------------------------------------------------------- session

class Session:
    """A shell in a folder of its own, and the daemons that were started in it."""

    def __init__(self, work, name):
        self.folder = os.path.join(work, name.replace("/", "-"))
        self.home, self.daemons, self.number = os.path.join(self.folder, "home"), {}, 0
        here = os.path.join(self.folder, "here")
        for part in ("home", "here/build", "bin", "tmp"):
            os.makedirs(os.path.join(self.folder, part))
        os.symlink(BERTH, os.path.join(self.folder, "bin/berth"))
        os.symlink(BERTH, os.path.join(here, "build/berth"))
        with open(os.path.join(self.folder, "bin/curl"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shutil.which("curl")} --fail-with-body "$@"\n')  # what is refused is told by its status
        os.chmod(os.path.join(self.folder, "bin/curl"), 0o755)
        shutil.copytree(os.path.join(SOURCE, "examples"), os.path.join(here, "examples"))
        for part in ("tools", "tests", "docs", "python", "src", "packaging"):
            os.symlink(os.path.join(SOURCE, part), os.path.join(here, part))
        for part in ("/var/lib/berth", "/srv", "/etc/berth"):
            for each in glob.glob(part + "/*"):
                shutil.rmtree(each) if os.path.isdir(each) else os.unlink(each)
        environment = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": self.home, "XDG_STATE_HOME": self.home + "/.local/state", "LANG": "C.UTF-8",
                       "USER": "alice", "TMPDIR": os.path.join(self.folder, "tmp"), "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
                       "BUILD": os.path.dirname(BERTH), "SOURCE": SOURCE,
                       **{key: value for key, value in os.environ.items() if "SAN_OPTIONS" in key}}
        self.shell = subprocess.Popen(["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                      cwd=here, env=environment, start_new_session=True)
        self.type(HELPERS)

    def file(self, name):
        return os.path.join(self.folder, f"{self.number}.{name}")

    def type(self, command):
        """Its status and what it printed; -1 when it is not over in time."""
        self.number += 1
        with open(self.file("sh"), "w", encoding="utf-8") as file:
            file.write(command + "\n")
        self.shell.stdin.write(f". {self.file('sh')} >{self.file('out')} 2>&1 </dev/null; echo $?\n")
        self.shell.stdin.flush()
        ready, _, _ = select.select([self.shell.stdout], [], [], MINUTE)
        status = self.shell.stdout.readline() if ready else ""
        return (int(status), self.said()) if status else (-1, "it is not over after a minute, or its shell has ended\n" + self.said())

    def said(self):
        return open(self.file("out"), encoding="utf-8", errors="replace").read() if os.path.exists(self.file("out")) else ""

    def daemon(self, kind, command):
        """Started, and up: 0 and what it said. It goes on."""
        for other in {"pool": list(self.daemons), "matchmaker": ["matchmaker", "pool"]}.get(kind, [kind]):
            self.stop(other)
        status, said = self.type(f"{command.rstrip('& ')} & echo $! >\"$TMPDIR\"/daemon")
        if status:
            return status, said
        self.daemons[kind] = pid = int(open(os.path.join(self.folder, "tmp/daemon")).read())
        end = time.monotonic() + MINUTE
        while not re.search(r"\bis up\b|\bare up\b|keeps|offers", self.said()):
            if time.monotonic() > end or not alive(pid):
                return 1, "it is not up\n" + self.said()
            time.sleep(0.05)
        return 0, self.said()

    def stop(self, kind):
        pid = self.daemons.pop(kind, None)
        if pid and alive(pid):
            end = os.pidfd_open(pid)
            os.kill(pid, signal.SIGTERM)
            select.select([end], [], [], 20)
            os.close(end)

    def done(self):
        for kind in list(self.daemons):
            self.stop(kind)
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def step(session, text):
    """A command, or a daemon, or the word `stop KIND`."""
    if text.startswith("stop "):
        session.stop(text[5:])
        return 0, ""
    kind = DAEMON.match(text)
    return session.daemon(kind.group(1), text) if kind else session.type(text)


def page_run(work, page, typed):
    session = Session(work, page.name)
    try:
        for text in page.before[""]:
            status, said = step(session, text)
            if status:
                tap(False, f"{page.name}: what the page needs is made ready: {text}", f"status {status}\n{said}")
                return
        for command in typed:
            text = command.text
            key = find(page, page.before, command)
            for each in page.before.pop(key, []) if key else []:
                status, said = step(session, each)
                if status:
                    tap(False, f"{page.name}:{command.line}: what it needs is made ready: {each}", f"status {status}\n{said}")
                    return
            for pattern, put in page.replaced:
                text, times = re.subn(pattern, put, text)
                if times:
                    page.used.add(pattern)
            key = find(page, page.status, command)
            want = page.status[key] if key else 0
            began = time.monotonic()
            status, said = step(session, text)
            took = time.monotonic() - began
            headings = [" ".join(line.split()) for line in command.prints if HEADING.match(line)]
            printed = [" ".join(line.split()) for line in said.split("\n")]
            missing = [line for line in headings if line not in printed]
            tap(status == want and not missing, f"{page.name}:{command.line}: {command.text}",
                f"status {status}, expected {want}\n{said}" + "".join(f"the page has this heading: {line}\n" for line in missing))
            if took >= SLOW:
                print(f"# {page.name}:{command.line}: {took:.1f} s")
            if status == -1:
                return  # the shell is not free for the next
    finally:
        session.done()


# ---------------------------------------------------------------------------------------------------------------- main

def page_commands(name):
    return [command for line, kind, lines in blocks(os.path.join(SOURCE, name)) for command in commands(line, kind, lines)]


def one(path, name):
    """Checks and runs a page."""
    if os.environ.pop("SPACE", "") != "own":
        sys.exit("docs_blocks.py: docs_blocks_test.sh starts it, in a namespace of its own: it empties /etc/berth")
    pages, left, theirs, typed, work = list_read(path), [], 0, [], tempfile.mkdtemp()
    page, found = pages.get(name, Page(name)), page_commands(name)
    for command in found:
        key = find(page, page.by, command)
        reason = find(page, page.left, command) if key in (None, "*") else None
        if name == "docs/command-line.md" and not command.prompt and PLACES.search(command.text):
            wrong = options_are_there(command.text.replace(" | ", "\nberth ") if "--" not in command.text else command.text)
            tap(not wrong, f"{name}:{command.line}: it is called so: {command.text}", "\n".join(wrong))
        elif reason:
            left.append(page.left[reason])
            wrong = options_are_there(command.text)
            if "berth " in command.text:
                tap(not wrong, f"{name}:{command.line}: has options that there are: {command.text}", "\n".join(wrong))
        elif key:
            theirs += 1
        else:
            typed.append(command)
    if typed:
        page_run(work, page, typed)
    for test in set(page.by.values()):
        files = glob.glob(f"{SOURCE}/tests/*/{test}*")
        loop = rf"\b{os.path.basename(name)[:-3]}\b(?s:.*)docs/\$page.md"
        named = [file for file in files if re.search(rf"{re.escape(name)}|{loop}", open(file, errors="replace").read())]
        tap(bool(named), f"{name}: {test} is a test that reads this page", f"{files}")
    unused = [key for table in (page.before, page.status, page.by, page.left) for key in table if key and key not in page.used and table.get(key) != []]
    unused += [pattern for pattern, _ in page.replaced if pattern not in page.used]
    if found or name in pages:
        tap(not unused, f"{name}: nothing is said in {os.path.basename(path)} of what the page no longer has", "\n".join(unused))
    shutil.rmtree(work, ignore_errors=True)
    print(json.dumps({"left": left, "theirs": theirs}))


def page_start(name):
    """What it printed, and the seconds that it took."""
    began = time.monotonic()
    done = subprocess.run([SOURCE + "/tests/live/docs_blocks_test.sh", "--one", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "BERTH": BERTH, "BERTH_SOURCE": SOURCE})
    return done.stdout.splitlines(), time.monotonic() - began


def main(path, *wanted):
    names = [os.path.relpath(each, SOURCE) for each in [SOURCE + "/README.md", *sorted(glob.glob(SOURCE + "/docs/**/*.md", recursive=True))]]
    listed = list_read(path)
    sizes = {name: len(page_commands(name)) for name in wanted or names}
    count = failures = theirs = 0
    left = []

    def say(ok, rest):
        nonlocal count, failures
        count += 1
        failures += not ok
        print(f"{'ok' if ok else 'not ok'} {count} - {rest}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(page_start, name): name for name in sorted(sizes, key=lambda name: -sizes[name]) if sizes[name] or name in listed}
        for each in concurrent.futures.as_completed(running):
            lines, took = each.result()
            name, over = running[each], bool(lines) and lines[-1].startswith("{")
            for line in lines[:-1] if over else lines:
                found = re.match(r"(not )?ok - (.*)", line)
                if found:
                    say(not found.group(1), found.group(2))
                else:
                    print(line)
            say(over, f"{name} was gone through to its end")
            print(f"# {name}: {took:.1f} s", flush=True)
            if over:
                told = json.loads(lines[-1])
                theirs += told["theirs"]
                left += [(name, why) for why in told["left"]]
    for name in listed:
        say(name in names, f"{name} is a page")
    for name, why in sorted(dict.fromkeys(left)):
        print(f"# not here: {name}, commands: {left.count((name, why))}: {why}")
    print(f"# {len(left)} commands cannot run here, {theirs} are run by other tests")
    print(f"1..{count}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(one(*sys.argv[2:]) if sys.argv[1] == "--one" else main(*sys.argv[1:]))
