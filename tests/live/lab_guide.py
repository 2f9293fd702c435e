#!/usr/bin/env python3
"""lab_guide.py GUIDE NET SPACES WORK: does what a guide says, line by line, on machines that are network namespaces. Prints TAP.

A block of the guide that begins with ```console HOST is typed on that machine:

    # command              a prompt, # or $; each is a test: its status is 0, and it prints what stands below it
    > more of it           lines of its standard input or of the command, as a shell asks for them
    what it prints         "..." stands for anything, alone in a line for any lines; nothing below the command: whatever it prints

Whatever looks like a code (berth-AfTW...) or a name in angle brackets (<ID>) is learnt where it is printed first, and put in where it is typed.
The machines of the guide have the addresses 10.0.0.N, and theirs here NET.N; /var/lib/berth, /etc/berth and /home are folders of their own in
WORK. A command that only looks is tried again for a while, since nobody reads as fast as this.

lab_guide.py systemctl VERB UNIT: what systemd would do, by the units of packaging/, for one machine.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import time

SOURCE = os.environ.pop("BERTH_SOURCE", None) or os.environ["LAB_SOURCE"]  # berth would ask what that variable is
LOOKS = re.compile(r"berth (agents|ads|status|jobs|users|claims|matches|history|token list|agent \S+ status|why|machines)\b")
PATIENCE = 20  # seconds


# ------------------------------------------------------------------------------------------------------------- systemctl

def unit_read(name, here):
    """The command, and the environment, of a unit."""
    stem, _, instance = name.removesuffix(".service").partition("@")
    path = os.path.join(SOURCE, "packaging", stem + ("@" if instance else "") + ".service.in")
    text = here(open(path).read().replace("%S", "/var/lib").replace("%i", instance))
    fields = [line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#")]
    command = next(value for key, value in fields if key == "ExecStart").split()
    environment = dict(value.split("=", 1) for key, value in fields if key == "Environment")
    if any(key == "User" for key, _ in fields) and instance:
        environment["XDG_STATE_HOME"] = os.environ["HOME"] + "/.local/state"
    return [os.environ["BERTH"]] + command[1:], environment


def unit_start(name, here):
    command, environment = unit_read(name, here)
    folder = here("/run")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".notify")
    if os.path.exists(path):
        os.unlink(path)
    ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ear.bind(path)
    ear.settimeout(PATIENCE)
    log = open(os.path.join(folder, name + ".log"), "ab")
    process = subprocess.Popen(command, env={**os.environ, **environment, "NOTIFY_SOCKET": path}, stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log, start_new_session=True)
    open(os.path.join(folder, name + ".pid"), "w").write(str(process.pid))
    try:
        while b"READY=1" not in ear.recv(4096):
            pass
    except socket.timeout:
        sys.exit(f"Job for {name}.service failed: {open(log.name).read()[-400:]}")


def unit_pid(name, here):
    try:
        return int(open(os.path.join(here("/run"), name + ".pid")).read())
    except FileNotFoundError:
        return None


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def unit_stop(name, here):
    pid = unit_pid(name, here)
    if pid is None or not alive(pid):
        return
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    os.unlink(os.path.join(here("/run"), name + ".pid"))


def systemctl(words, here):
    now = "--now" in words
    verb, *names = [word for word in words if word != "--now"]
    for name in names:
        if verb == "reload":
            os.kill(unit_pid(name, here), signal.SIGHUP)
        if verb in ("stop", "restart") or (verb == "disable" and now):
            unit_stop(name, here)
        if verb in ("start", "restart") or (verb == "enable" and now):
            unit_start(name, here)


def places(net, folder):
    """What a text of the guide is on a machine of ours."""
    def here(text):
        text = re.sub(r"\b10\.0\.0\.(\d)", net + r".\1", text)
        return re.sub(r"(?<![\w/.])/(var/lib/berth|etc/berth|run|home/\w+|srv/backup)\b", folder + r"/\1", text)
    return here


# ----------------------------------------------------------------------------------------------------------------- hosts

class Host:
    """A machine: a shell in its namespace, with a name and folders of its own."""

    def __init__(self, name, net, space, work):
        self.name, self.folder = name, os.path.join(work, name)
        self.here = places(net, self.folder)
        for part in ("bin", "home", "etc/berth", "run", "var/lib", "srv/backup"):
            os.makedirs(os.path.join(self.folder, part))
        os.symlink(os.environ["BERTH"], os.path.join(self.folder, "bin/berth"))
        shim = os.path.join(self.folder, "bin/systemctl")
        with open(shim, "w") as file:
            file.write(f'#!/bin/sh\nexec python3 {__file__} systemctl "{net}" "{self.folder}" "$@"\n')
        os.chmod(shim, 0o755)
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": f"{self.folder}/home", "USER": "root",
                       "BERTH_CONFIG": f"{self.folder}/etc/berth/berth.ad", "HISTFILE": "/dev/null", "LAB_SOURCE": SOURCE}
        open(environment["BERTH_CONFIG"], "w").write("[ ]\n")
        self.shell = subprocess.Popen(["ip", "netns", "exec", space, "unshare", "--uts", "bash", "--noprofile", "--norc"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
                                      cwd=f"{self.folder}/home", env=environment)
        self.type("#", f"hostname {name}")

    def type(self, prompt, command):
        """Types a command, and returns its status and what it has printed. Root's state is in /var/lib, that of others in their home."""
        path = os.path.join(self.folder, "typed")
        with open(path, "w") as file:
            file.write(f"export XDG_STATE_HOME={self.folder}/{'var/lib' if prompt == '#' else 'home/.local/state'}\n{command}\n")
        self.shell.stdin.write(f". {path} </dev/null; s=$?; echo; echo said=$s\n")
        lines = []
        for line in self.shell.stdout:
            if line.startswith("said="):
                return int(line[5:]), lines[:-1] if lines and not lines[-1] else lines
            lines.append(line.rstrip("\n"))
        return 255, lines + ["the shell has ended"]


# ----------------------------------------------------------------------------------------------------------------- guide

def guide_read(path):
    """The steps: host, prompt, command, the lines that it is to print, and the number of its line."""
    steps, host = [], None
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if line.startswith("```"):
            host = line.split()[1] if line.startswith("```console ") and host is None else None
        elif host and line[:2] in ("# ", "$ "):
            steps.append((host, line[0], [line[2:]], [], number))
        elif host and line[:2] in ("> ", ">"):
            steps[-1][2].append(line[2:])
        elif host:
            steps[-1][3].append(line)
    return steps


LEARNT = re.compile(r"berth-\w{4}\.\.\.|<[A-Z]+>")


def pattern_of(line, known, names):
    """A line of the guide as a pattern; a name that is not known yet is learnt."""
    out, at = "", 0
    for found in re.finditer(LEARNT.pattern + r"|\.\.\.| +", line):
        word = found.group()
        out += re.escape(line[at:found.start()])
        if word == "...":
            out += ".*"
        elif word.isspace():
            out += " +" if len(word) > 1 or out else " *"
        elif word in known:
            out += re.escape(known[word])
        else:
            names.append(word)
            out += r"(\S+)"
        at = found.end()
    return out + re.escape(line[at:])


def line_follows(line, wanted, known):
    """Does a line look as the guide has it? Then what is learnt by that."""
    names = []
    found = re.fullmatch(pattern_of(wanted, known, names) + " *", line)
    return dict(zip(names, found.groups())) if found else None


def follows(lines, wanted, known):
    """The same of all lines. A line of dots takes as few lines as will do."""
    if not wanted:
        return None if lines else {}
    if wanted[0] == "...":
        ends = (follows(lines[at:], wanted[1:], known) for at in range(len(lines) + 1))
        return next((learnt for learnt in ends if learnt is not None), None)
    learnt = line_follows(lines[0], wanted[0], known) if lines else None
    rest = follows(lines[1:], wanted[1:], known) if learnt is not None else None
    return {**learnt, **rest} if rest is not None else None


def step_do(host, prompt, command, wanted, known):
    command = host.here(LEARNT.sub(lambda found: known.get(found.group(), found.group()), command))
    wanted = [host.here(line) for line in wanted]
    end = time.monotonic() + PATIENCE
    while True:
        status, lines = host.type(prompt, command)
        learnt = follows(lines, wanted, known) if wanted else {}
        if status == 0 and learnt is not None:
            return learnt, status, lines
        if not LOOKS.match(command) or time.monotonic() > end:
            return None, status, lines
        time.sleep(0.15)


def main(guide, net, spaces, work):
    hosts, known, failed = {}, {}, False
    steps = guide_read(guide)
    spaces = dict(word.split("=") for word in spaces.split())
    for number, (name, prompt, command, wanted, line) in enumerate(steps, 1):
        command = "\n".join(command)
        if name not in hosts:
            hosts[name] = Host(name, net, spaces[name], work)
        begun = time.monotonic()
        learnt, status, lines = step_do(hosts[name], prompt, command, wanted, known)
        took = time.monotonic() - begun
        print(f"{'ok' if learnt is not None else 'not ok'} {number} - {name}: {command.splitlines()[0]}", flush=True)
        if took > 1:
            print(f"# {took:.1f} s")
        if os.environ.get("LAB_SHOW"):  # for who writes the guide
            print("".join(f"#   {text}\n" for text in lines), end="")
        if learnt is None:
            failed = True
            for text in [f"line {line} of the guide, status {status}; it printed:"] + lines + ["and the guide has:"] + wanted:
                print("# " + text)
        else:
            known.update(learnt)
    print(f"1..{len(steps)}")
    if failed:
        for name, host in hosts.items():
            for file in sorted(os.listdir(host.here("/run"))):
                if file.endswith(".log"):
                    for text in open(os.path.join(host.here("/run"), file), errors="replace").read().splitlines()[-12:]:
                        print(f"# {name} {file}: {text}")
    for host in hosts.values():
        host.shell.stdin.close()
        host.shell.wait()
    return 1 if failed or not steps else 0


if __name__ == "__main__":
    if sys.argv[1] == "systemctl":
        systemctl(sys.argv[4:], places(sys.argv[2], sys.argv[3]))
    else:
        sys.exit(main(*sys.argv[1:5]))
