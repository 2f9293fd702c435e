#!/bin/bash
# completion_test.sh: what shells complete, from the tables of help and from a real pool: by the function that bash gets, at a real prompt of bash, and
# in zsh and fish, which `./dev` installs for the tests. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
mkdir bin && ln -s "$berth" bin/berth
export PATH="$work/bin:$PATH"

# completed SENTENCE WANTED WORD...: these are offered in the place of the last word, and no others.
completed() {
  local sentence=$1 want=$2
  shift 2
  timeout 20 berth completion words "$@" 2>err | cut -f1 | tr '\n' ' ' >got
  { echo "wanted: $want" && cat got err; } >why
  [ "$(cat got)" = "${want:+$want }" ]
  result $? "$sentence"
}

# ------------------------------------------------------------------------------------------------------------- by the tables

completed 'commands are completed' 'jobs job join' j
completed 'all of them' "$(berth help --all | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ' | sed 's/ $//')" ''
completed 'options of a command' '--state' jobs --sta
completed 'all that its help has' "$(berth help run | sed -n '/^Options:/,/^$/s/^  .*\(--[a-z-]*\).*/\1/p' | awk '{print $1}' | tr '\n' ' ' | sed 's/ $//')" run -
completed 'words that a usage spells out' 'drain resume status' agent heron ''
completed 'behind the words that they go with' ':files' job 5 peek ''
completed 'commands of a command' 'check backup restore move repair' store ''
completed 'files' ':files' store check ''
completed 'folders are the values of some options' ':folders' store check --state ''
completed 'with a letter, too' ':files' match -r ''
completed 'dialects of others' 'classic condor' eval -d ''
completed 'in one word, which bash takes apart' 'condor' eval --dialect = co
completed 'settings' 'Lease' config Lea
completed 'settings that are set' 'Lease=' pool --set lea
completed 'functions' 'strcat strcmp' help strc
completed 'the program of a run' ':programs' run -m 2G ''
completed 'what stands behind it is its own' ':files' run ls -
completed 'a command that there is not has nothing' '' nothing ''
completed 'without a pool there are no jobs, and nothing is said' '' logs ''
run berth completion words logs ''
expect 'nothing at all' 0 ''
run berth completion
expect 'completion wants a shell' 2 '' 'berth: completion wants the name of your shell: bash, zsh or fish'
run berth completion tcsh
expect 'one that is known' 2 '' 'berth: completion wants the name of your shell: bash, zsh or fish'

# --------------------------------------------------------------------------------------------------------------- from a pool

berth pool --listen 127.0.0.1:0 >up 2>pool.err </dev/null &
pids=$!
soon grep -q 'To end it' up
offered() { [ -n "$(berth ads --json)" ]; }
soon offered
machine=$(berth ads --json --select Name | sed -n 's/.*"Name": "\([^"]*\)".*/\1/p')
echo '[ Cmd = "/bin/sleep"; Args = { "600" }; Constraint = false ]' >never.ad
berth submit --force never.ad never.ad >/dev/null 2>&1
completed 'jobs are completed' '1 2' wait ''
completed 'a list of them goes on' '1 2' rm 1 ''
completed 'machines' "$machine" machine ''
# Names that a machine may have, and no shell should see: an option, what a shell expands, what acts on a terminal.
if command -v curl >/dev/null; then
  liar() { printf '[Type="Machine";Name="%b"]' "$2" | curl -sS -m 20 --unix-socket "$work/state/matchmaker.sock" -X PUT --data-binary @- "http://pool/v1/ads/$1"; }
  { liar option --quiet; liar braces 'a{b,c}'; liar red '\0302\023331m'; liar good 'liar'; } >lies 2>&1
  completed 'machines, and none whose name would do something' "$machine liar" machine ''
  for id in option braces red good; do curl -sS -m 20 --unix-socket "$work/state/matchmaker.sock" -X DELETE "http://pool/v1/ads/$id" >>lies; done
fi
completed 'offers' "$machine" ads "${machine%?}"
completed 'agents' "$machine.customer" agent "$machine."
completed 'users' "$(id -un)" users "$(id -un | cut -c1-3)"
completed 'attributes of machines, in expressions' OpSysVersion ads -c OpSysV
completed 'attributes of jobs, where it is about jobs' RequestDisk jobs -c requestd
BERTH_STATE=$work/elsewhere completed 'the pool of the options before' '1 2' wait --state "$work/state" ''

# ---------------------------------------------------------------------------------------------------------------- in shells

cat >prompt.py <<'END'
# prompt.py SHELL SETUP TYPED WANTED ARGUMENT...: at a real prompt of that shell, TYPED (a tab is one) makes the line contain WANTED.
import os, pty, select, sys, time
shell, setup, typed, wanted = sys.argv[1:5]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM='xterm', PS1='ready> ', HOME=os.environ['HOME'])
    os.execvp(shell, [shell] + sys.argv[5:])
seen = b''
def until(text, span):
    global seen
    end = time.time() + span
    while text.encode() not in seen and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
    return text.encode() in seen
os.write(fd, (setup + '; echo is-se"t"\n').encode())
good = until('is-set', 20)
seen = b''
time.sleep(0.3)
os.write(fd, typed.encode())
good = until(wanted, 20) and good
os.close(fd)
os.waitpid(pid, 0)
print(seen.decode(errors='replace'))
sys.exit(0 if good else 1)
END
prompt() { # SENTENCE SHELL SETUP TYPED WANTED ARGUMENT...
  local sentence=$1
  shift
  holds "$sentence" timeout 60 python3 prompt.py "$@"
}
tab=$(printf '\t')
prompt 'bash completes a command at its prompt' bash 'source <(berth completion bash)' "berth hist$tab" 'berth history ' --norc --noprofile -i
prompt 'and shows the jobs' bash 'source <(berth completion bash)' "berth wait $tab$tab" '1  2' --norc --noprofile -i
prompt 'and files, where there are files' bash 'source <(berth completion bash)' "berth submit nev$tab" 'berth submit never.ad ' --norc --noprofile -i
prompt 'also of an alias' bash "alias b$$=berth; source <(berth completion bash); complete -F _berth b$$" "b$$ hist$tab" "b$$ history " --norc --noprofile -i
skip() { count=$((count + 1)) && echo "ok $count - $1 # SKIP $2 is not here"; }
if command -v zsh >/dev/null; then
  prompt 'zsh completes a command' zsh 'autoload -U compinit; compinit -u; source <(berth completion zsh)' "berth hist$tab" 'berth history' -f -i
  prompt 'and shows the jobs' zsh 'autoload -U compinit; compinit -u; source <(berth completion zsh)' "berth wait $tab" 'sleep 600' -f -i
else
  skip 'zsh completes a command' zsh
fi
if command -v fish >/dev/null; then
  run fish -c 'berth completion fish | source; complete -C "berth hist"'
  says 'fish completes a command' 0 'history*list the jobs*' ''
  run fish -c 'berth completion fish | source; complete -C "berth wait "'
  says 'and shows the jobs' 0 '1*sleep 600
2*sleep 600' ''
else
  skip 'fish completes a command' fish
fi

echo "1..$count"
[ $failures = 0 ]
