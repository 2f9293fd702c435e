#!/bin/bash
# waits_live_test.sh: why a job waits, in the words that people read and the codes that programs read: each reason, from a matchmaker that was told
# of machines as providers tell it. Then a real pool whose only machine is full. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid
export TZ=UTC

: >up
setsid "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" >up 2>matchmaker.err &
groups="$groups $!"
disown
for _ in $(seq 200); do [ -S "$work/state/matchmaker.sock" ] && curl -s --unix-socket "$work/state/matchmaker.sock" http://m/readyz >/dev/null && break; sleep 0.05; done
ask() { curl -sS -m 20 --unix-socket "$work/state/matchmaker.sock" "http://matchmaker$1" "${@:2}"; }
put() { ask "/v1/ads/$1" -X PUT -H 'Content-Type: application/classad' -d "$2" >put.out || cat put.out >&2; }
gone() { for id in "$@"; do ask "/v1/ads/$id" -X DELETE >/dev/null; done; }
version=100
# stands ID STATE AD TOLD [FIELDS]: what a provider tells of its machine; the state is its place in the list of states
stands() {
  version=$((version + 1))
  ask /v1/ads -X POST -H 'Content-Type: application/classad' -d "[ Message = \"stands\"; Id = \"$1\"; Version = \"$(printf %016x $version)\"; Base = \"$(printf %016x $version)\"; State = \"$(printf %016x $2)\"; Since = 60000000; Until = ${until:--1}; Sure = true; Ad = $3; Told = $4; ${5-} ]" >stands.out
  grep -q 'Reason = "ok"' stands.out || cat stands.out >&2
}
idle=0 part=1 busy=2 owner=3 drained=4 sick=5
forget() { for id in "$@"; do stands "$id" 0 '[]' '[]' 'Gone = true;' 2>/dev/null; done; }
machine() { echo "[ Name = \"$1\"; Type = \"Machine\"; Cpus = $2; Memory = $3; ${4-} ]"; }
job='[ Type = "Job"; RequestCpus = 1; Constraint = other.Type == "Machine" && other.Cpus >= RequestCpus ]'
put job "$job"
why() { ask "/v1/ads/${1:-job}/why" -H 'Accept: text/plain' >words; cat words; }
first() { ask "/v1/ads/${1:-job}/why" -H 'Accept: application/json' >why.json; sed -n 's/.*"first": "\([a-z]*\)".*/\1/p' why.json; }
# says CODE LINE...: the code, and the lines that the words begin with; a line is a pattern of grep
says() {
  [ "$(first)" = "$1" ] || { echo "first is $(first)"; return 1; }
  why >/dev/null
  local n=0 line
  for line in "${@:2}"; do
    n=$((n + 1))
    sed -n "${n}p" words | grep -Eqx "$line" || { echo "line $n is not: $line"; cat words; return 1; }
  done
}

check 'where no machine has been heard of, that is said, and since when' says learns 'job: waits for a machine: none has been heard of since the matchmaker began, [0-9]+ s ago\.'

# --- in use
stands heron $busy "$(machine heron 4 8G)" '[ Used = [ Cpus = 4; Memory = 2G ]; Claims = { [ Claim = "00000000000000a1"; Job = 7; Ends = 720 ], [ Claim = "00000000000000a2"; Job = 8 ] } ]'
stands stork $busy "$(machine stork 2 8G)" '[ Used = [ Cpus = 2 ]; Claims = { [ Claim = "00000000000000a3"; Job = 9; Ends = 3000 ] } ]'
check 'a full pool is explained as a full one' says busy \
  'job: waits for a free machine: 2 machines fit, all their processors are in use \(heron 4 of 4, stork 2 of 2\)\.' \
  'The first claim that must end does so in 1[12] min\.'
clauseless() { [ "$(wc -l <words)" = 2 ]; }
check 'and no clause is blamed for it' clauseless
json() { grep -q '"verdict": "not-now"' why.json && grep -q '"machines": 2, "data": {"named": \[{"name": "heron", "state": "Busy", .*"ends": 7[12][0-9], "Cpus": {"used": 4, "all": 4}' why.json && grep -q '"start": {"kind": "limit", "to": 7[0-9]*, "on": "heron"}' why.json; }
check 'programs are told the same' json
counted() { ask /v1/reasons >reasons; grep -q 'Code = "busy"; Reason = "waits for a free machine: 2 machines fit, all their processors are in use (heron 4 of 4, stork 2 of 2)"; Requests = 1; Units = 1; Example = "job"' reasons; }
check 'and so is who asks why anything waits' counted
gauge() { for _ in $(seq 300); do ask /metrics -H 'Accept: application/openmetrics-text' | grep -qx 'berth_waiting_units{reason="busy"} 1' && return 0; sleep 0.1; done; return 1; }
check 'and the gauges' gauge
stands heron $busy "$(machine heron 4 8G)" '[ Used = [ Cpus = 4 ]; Claims = { [ Claim = "00000000000000a1"; Job = 7 ] } ]'
forget stork
check 'where nothing must end, that is said' says busy \
  'job: waits for a free machine: 1 machine fits, all its processors are in use \(heron 4 of 4\)\.' 'Nothing that runs there has a time limit\.'
stands heron $part "$(machine heron 4 8G)" '[ Used = [ Cpus = 1; Memory = 6G ]; Claims = { [ Claim = "00000000000000a1"; Job = 7 ] } ]'
put job '[ Type = "Job"; RequestCpus = 1; RequestMemory = 4G; Constraint = other.Type == "Machine" && other.Cpus >= RequestCpus && other.Memory >= RequestMemory ]'
check 'where a part is left, what of it is too little is said' says busy \
  'job: waits for a free machine: 1 machine fits, what is left of its memory is not enough \(heron 2 of 8 GiB left\)\.'
put job "$job"

# --- others come first
stands heron $busy "$(machine heron 4 8G)" '[ Used = [ Cpus = 4 ]; Claims = { [ Claim = "00000000000000a1"; Job = 7 ] } ]'
ask /v1/users/ann -X PUT -H 'Content-Type: application/classad' -d '[ Factor = 0.001 ]' >/dev/null
put ann '[ Type = "Job"; Owner = "ann"; Count = 3; Constraint = other.Type == "Machine" ]'
check 'those who come first are counted' says busy 'job: waits for a free machine: .*' '3 jobs of 1 other user come first by share\. Nothing that runs there has a time limit\.'
behind() { first >/dev/null; grep -q '"start": {"kind": "unknown", "why": "nothing that runs there has a time limit"}' why.json && for n in 1 2 3 4; do stands "m$n" $busy "$(machine "m$n" 4 8G)" "[ Used = [ Cpus = 4 ]; Claims = { [ Claim = \"00000000000000b$n\"; Job = 7; Ends = ${n}000 ] } ]"; done && first >/dev/null && grep -Eq '"start": \{"kind": "limit", "to": (4000|39[89][0-9]), "on": "m4"\}' why.json && forget m4 && first >/dev/null && grep -q '"start": {"kind": "unknown", "why": "more jobs come first than claims there must end"}' why.json; }
check 'when it may start is told behind those who come first' behind
forget m1 m2 m3
gone ann

# --- not there
stands heron $drained "$(machine heron 4 8G)" '[]'
check 'a machine that was drained' says drained 'job: waits for a machine that takes no more jobs: heron fits and was drained\.'
stands heron $sick "$(machine heron 4 8G)" '[ Words = "no room for files" ]'
check 'a machine that is not well, in its own words' says sick 'job: waits for a machine that cannot run jobs now: heron fits and is not well: no room for files\.'
stands heron $owner "$(machine heron 4 8G 'Constraint = KeyboardIdle > 900 && other.RequestCpus <= 4; KeyboardIdle = 3')" '[ Words = "no counterpart can satisfy KeyboardIdle > 900 (KeyboardIdle is 3)" ]'
check 'an owner who lets nobody in now' says owner 'job: waits for an owner: heron lets nobody in: no counterpart can satisfy KeyboardIdle > 900 \(KeyboardIdle is 3\)\.'
back=$(($(date +%s) + 3590))
"$berth" token create --state "$work/state" --subject zoe --scope 'ad:read match' --lifetime 1h --no-delegation --out zoe.token >/dev/null
url=$(sed -n 's/.*\(http:..[0-9.:]*\).*/\1/p' up | head -n 1)
as_zoe() { curl -sS -m 20 -H "Authorization: Bearer $(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' zoe.token)" "$url$1"; }
unsaid() { ask /v1/machines | grep 'KeyboardIdle is 3' && as_zoe /v1/machines >zoes && as_zoe /v1/reasons >>zoes && grep 'Name = "heron"' zoes && ! grep Keyboard zoes; }
check 'but others are not told that somebody types there' unsaid
until=3600000000 stands heron $owner "$(machine heron 4 8G "Constraint = time() >= $back && other.RequestCpus <= 4")" '[]'
check 'and until when, where that is known' says owner 'job: waits for an owner: heron lets nobody in until [0-9][0-9]:[0-9][0-9]\.'
not_before() { grep -Eq '"start": \{"kind": "limit", "from": 3(600|5[0-9][0-9]), "on": "heron"\}' why.json; }
check 'it is told that nothing begins before' not_before
until=3600000000 stands heron $owner "$(machine heron 4 8G 'Constraint = false')" '[]'
check 'one that does not open then either is not waited for in vain' says refuses 'job: waits for an owner to accept it: .*'
stands heron $owner "$(machine heron 4 8G 'Constraint = other.RequestCpus > 100')" '[]'
check 'an owner who would not take it in any case refuses it' says refuses 'job: waits for an owner to accept it: 1 machine fits, and its owner refuses it \(heron\)\.'
stands heron $idle "$(machine heron 4 8G)" '[]' 'Pulls = true;'
check 'a machine that asks by itself' says pull 'job: waits for a machine to ask for it: 1 machine fits and asks for jobs by itself \(heron\)\.'
forget heron
stands egret $busy "$(machine egret 4 8G 'Lifetime = 1')" '[ Used = [ Cpus = 4 ] ]'
away() { for _ in $(seq 40); do [ "$(first)" = away ] && break; sleep 0.1; done; says away 'job: waits for a machine that is away: egret fits and is away: not heard of for [0-9]+ s\.'; }
check 'a machine that is not heard of' away
stands heron $busy "$(machine heron 4 8G)" '[ Used = [ Cpus = 4 ] ]'
check 'what else holds follows the first reason' says busy 'job: waits for a free machine: 1 machine fits, .*' 'Nothing .*' 'Besides, 1 machine that would fit is away \(egret\)\.'
forget egret

# --- nobody would take it
put job '[ Type = "Job"; RequestCpus = 64; Constraint = other.Type == "Machine" && other.Cpus >= RequestCpus ]'
check 'clauses come where nothing would fit even if idle' says nofit 'job: waits for a machine that fits: none of the 1 that is known would, even when idle\.' \
  'The matchmaker began .* ago, and may not have heard of all machines yet\.' ' +alone +left +clause'
edits() { grep -qx 'No offer satisfies other.Cpus >= RequestCpus; without that, 1 would match.' words; }
check 'with what would open it' edits
put job "$job"

# --- limits and quotas
ask /v1/shares -X PUT -H 'Content-Type: application/classad' -d '[ Limits = [ matlab = 1 ] ]' >/dev/null
put job '[ Type = "Job"; ConcurrencyLimits = "matlab:2"; Constraint = other.Type == "Machine" ]'
held() { for _ in $(seq 40); do [ "$(first)" = never ] && break; sleep 0.1; done; says never 'job: asks for more of a limit than there is: that never comes\.'; }
put crane "$(machine crane 1 1G)"
check 'more of a limit than there is' held
gone crane
put job "$job"

# --- gangs
put gang '[ Type = "Job"; Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ] } ]'
formed() { [ "$(first gang)" = busy ] && why gang | grep -qx 'gang: waits for free machines: its gang would form if nothing of them were in use.'; }
check 'a gang whose members are in use' formed
port_busy() { grep -qx 'Port cpu waits for a free machine: 1 machine fits, all its processors are in use (heron 4 of 4).' words && grep -q '"reasons": \[{"code": "busy", .*{"code": "port", "text": "its port cpu waits for a free machine: .*"data": {"label": "cpu", "reason": "busy", "reasons": \[{"code": "busy", .*"name": "heron"' why.json; }
check 'and each port says by which machines' port_busy
forget heron
unformed() { [ "$(first gang)" = forms ]; }
check 'and one for which there is nobody' unformed
port_says() { [ "$(first gang)" = "$1" ] || { first gang; return 1; }; why gang >/dev/null; local line; for line in "${@:2}"; do grep -Eqx "$line" words || { echo "no line: $line"; cat words; return 1; }; done; }
put gang '[ Type = "Job"; Ports = { [ Label = cpu; RequestCpus = 1; Constraint = cpu.Type == "Machine" && cpu.Cpus >= 1 ], [ Label = disk; Site = cpu.Name; Constraint = disk.Type == "Machine" && disk.Cpus == 2 && disk.Room == cpu.Room ] } ]'
stands heron $busy "$(machine heron 4 8G 'Room = 1')" '[ Used = [ Cpus = 4 ] ]'
stands stork $owner "$(machine stork 2 8G 'Room = 1; Constraint = KeyboardIdle > 900 && other.Site isnt 3; KeyboardIdle = 3')" '[ Words = "somebody types" ]'
check 'a port whose machines are for their owners alone' port_says port 'gang: its port disk waits for an owner: stork lets nobody in: somebody types\.' 'Port cpu waits for a free machine: 1 machine fits, all its processors are in use \(heron 4 of 4\)\.'
clauses_no() { ! grep -q alone words; }
check 'of which no clause is blamed' clauses_no
port_json() { grep -q '"first": "port", "reasons": \[{"code": "port", "text": "its port disk waits for an owner: .*"data": {"label": "disk", "reason": "owner", .*"data": {"label": "cpu", "reason": "busy"' why.json; }
check 'the port that nobody can fill comes first' port_json
gang_counted() { ask /v1/reasons | grep -q 'Code = "port"; Reason = "its port disk waits for an owner: stork lets nobody in: somebody types"; Requests = 1; Units = 1; Example = "gang"'; }
check 'and it is counted so' gang_counted
stands stork $drained "$(machine stork 2 8G 'Room = 1')" '[]'
check 'that were drained' port_says port 'gang: its port disk waits for a machine that takes no more jobs: stork fits and was drained\.'
stands stork $busy "$(machine stork 3 8G 'Room = 1')" '[ Used = [ Cpus = 3 ] ]'
check 'that are too small' port_says forms 'gang: its port disk waits for a machine that fits: none of the 2 that are known would, even when idle\.' ' +0 +0  disk.Cpus == 2'
stands stork $busy "$(machine stork 2 8G 'Room = 2')" '[ Used = [ Cpus = 2 ] ]'
check 'ports of which each could be filled, but not together' port_says forms 'gang: gets no gang from 2 offers now\.' 'Ports cpu and disk cannot be filled together; any fewer ports can\.'
stands stork $busy "$(machine stork 2 8G 'Room = 1')" '[ Used = [ Cpus = 2 ] ]'
check 'and together, if nothing were in use' port_says busy 'gang: waits for free machines: .*' 'Port cpu waits for a free machine: 2 machines fit, .*' 'Port disk waits for a free machine: 1 machine fits, .*'
busy_counted() { ask /v1/reasons | grep -q 'Code = "busy"; Reason = "waits for free machines: its gang would form if nothing of them were in use"; Requests = 1'; }
check 'which is counted, too' busy_counted
put gang '[ Type = "Job"; Ports = { [ Label = node; Count = 3; Constraint = node.Type == "Machine" ] } ]'
check 'a port for several machines' port_says forms 'gang: its port node wants 3 machines, and waits for more machines that fit: 2 are known\.'
forget heron stork
gone gang

# --- an offer with ports that a plain job cannot dock at
put service '[ Name = "service"; Ports = { [ Label = client; Constraint = client.Type == "Client" ], [ Label = box; Constraint = box.Type == "Storage" ] } ]'
stands heron $busy "$(machine heron 4 8G)" '[ Used = [ Cpus = 4 ] ]'
check 'is left aside' says busy 'job: waits for a free machine: 1 machine fits, all its processors are in use \(heron 4 of 4\)\.'
aside() { grep -q '"ported": 1' why.json && grep -q '"machines": 1, "first": "busy"' why.json && ask /v1/reasons | grep -q 'Code = "busy"'; }
check 'and told of' aside
forget heron
gone service

# --- what may be had now
gone job
put heron "$(machine heron 4 8G)"
if_changed() { ask '/v1/match?why' -X POST -H 'Content-Type: application/classad' -H 'Accept: text/plain' -d "$job" | head -1 | grep -x 'ad: matches 1 of 1 offer.'; }
check 'what would match now is said to' if_changed
put plover "$(machine plover 77 8G)"
put lone '[ Type = "Job"; Constraint = other.Cpus == 77 ]'
claimed() { for _ in $(seq 40); do [ "$(first lone)" = claiming ] && break; sleep 0.1; done; why lone | grep -Eqx 'lone: is being claimed: 1 machine was found for it, and its claim is awaited\.'; }
check 'a request that was matched, and whose claim is awaited' claimed
claims() { grep -q '"code": "claiming", .*"data": {"units": 1}' why.json && ask /v1/reasons | grep -q 'Code = "claiming"; Reason = "a machine was found for it, and is being claimed"; Requests = 1; Units = 1; Example = "lone"'; }
check 'programs are told so' claims
gone lone plover

# --- a policy that its owner keeps to himself
stands heron $busy "$(machine heron 4 8G 'ShowPolicy = false; Constraint = other.Secret == 42')" '[ Used = [ Cpus = 4 ] ]'
url=$(sed -n 's/^Berth matchmaker is up: //p' up)
"$berth" token create --state "$work/state" --subject bob --scope 'ad:read match' --no-delegation --lifetime 1d -o bob.token >/dev/null
token=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' bob.token)
asks() { curl -sS -m 20 "$url/v1/match?why" -H "Authorization: Bearer $token" -H "Accept: $1" -H 'Content-Type: application/classad' -d "$job"; }
secret() { asks text/plain >told && asks application/json >>told && grep -q 'its owner refuses it (heron)' told && grep -q '"first": "refuses"' told && ! grep -q Secret told; }
check 'others are told that it refuses, and not why' secret
own() { ask '/v1/match?why' -X POST -H 'Accept: text/plain' -H 'Content-Type: application/classad' -d "$job" | grep -q 'other.Secret == 42'; }
check 'its owner is told' own
ganged='[ Type = "Job"; Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ], [ Label = disk; Constraint = disk.Type == "Machine" ] } ]'
stands heron $busy "$(machine heron 4 8G 'ShowPolicy = false; Constraint = other.Secret == 42')" '[ Used = [ Cpus = 4 ] ]'
put heron "$(machine heron 4 8G 'ShowPolicy = false; Constraint = other.Secret == 42')"
secret_gang() { job=$ganged asks text/plain >told && job=$ganged asks application/json >>told && grep -q heron told && ! grep -q Secret told; }
check 'nor are they told by the explanation of a gang' secret_gang
own_gang() { ask '/v1/match?why' -X POST -H 'Accept: text/plain' -H 'Content-Type: application/classad' -d "$ganged" | grep -q 'other.Secret == 42'; }
check 'which tells its owner' own_gang
secret_offer() { for of in text/plain application/json; do curl -sS -m 20 "$url/v1/ads/heron/why" -H "Authorization: Bearer $token" -H "Accept: $of"; done >told && [ -s told ] && ! grep -q Secret told; }
check 'nor by the explanation of the offer itself' secret_offer
put slip "$(machine slip 9 8G 'Preempts = true; ShowPolicy = false; Constraint = other.Secret == 42')"
wide='[ Type = "Job"; Constraint = other.Cpus == 9 ]'
secret_second() { job=$wide asks text/plain >told && job=$wide asks application/json >>told && grep -q slip told && ! grep -q Secret told; }
check 'nor that of an offer beside a claim' secret_second
gone slip
forget heron

# --- hostile words
stands evil $sick "[ Name = \"ev\\033[31mil\"; Type = \"Machine\"; Cpus = 1000 ]" '[ Words = "\033[2Jgone"; Used = 7; Claims = "many" ]'
put job '[ Type = "Job"; Constraint = other.Cpus == 1000 ]'
tame() { why >/dev/null; ! grep -q "$(printf "\033")" words && [ "$(first)" = sick ]; }
check 'what a machine says of itself does not control a terminal' tame
forget evil
gone job heron

# --- all who wait are settled together
: >gather.up
setsid "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/gather" --set Assignment=srfm --set CycleInterval=300 >gather.up 2>gather.err &
groups="$groups $!"
disown
for _ in $(seq 200); do [ -S "$work/gather/matchmaker.sock" ] && curl -s --unix-socket "$work/gather/matchmaker.sock" http://m/readyz >/dev/null && break; sleep 0.05; done
ask() { curl -sS -m 20 --unix-socket "$work/gather/matchmaker.sock" "http://matchmaker$1" "${@:2}"; }
put heron "$(machine heron 4 8G)"
put job "$job"
check 'a job that is settled with all who come' says window 'job: matches 1 of 1 offer\.'
settles() { grep -Eqx 'All who wait are settled together, every 5 min: next in [45] min\.' words; }
check 'is told when that is' settles
settled() { grep -q '"first": "window", "reasons": \[{"code": "window", "text": "waits for those who come with it: all who wait are settled together, every 5 min: next in .*", "machines": 0, "data": {"span": 300, "in": [0-9]*}' why.json && ask /v1/reasons | grep -q 'Code = "window"; Reason = "waits for those who come with it: '; }
check 'and programs are told so' settled
gone heron
check 'but where nothing is free, that comes first' says learns

# --- a real pool, full; its owner refuses some jobs only when they are to be started
echo '[ Constraint = other.Type == "Job" && Fits && (isUndefined(other.JobId) || other.Wary isnt true) ]' >wary.ad
: >pool.up
BERTH_STATE="$work/pool" setsid "$berth" pool --listen 127.0.0.1:0 --set Unprotected=true --set Window=3 --set "OwnerPolicy=$work/wary.ad" >pool.up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 200); do grep -q 'To end it' pool.up && break; sleep 0.1; done
export BERTH_STATE="$work/pool"
soon() { for _ in $(seq 300); do "$@" >soon.out 2>&1 && return 0; sleep 0.1; done; cat soon.out; return 1; }
echo '[ Cmd = "sleep"; Args = "300"; Outputs = {}; RequestCpus = 1; TimeLimit = 600 ]' >one.ad
has_cpus() { curl -s --unix-socket "$work/pool/matchmaker.sock" http://m/v1/machines | grep -q ' Cpus = [0-9]'; }
soon has_cpus
cpus=$(curl -s --unix-socket "$work/pool/matchmaker.sock" http://m/v1/machines | sed -n 's/.* Cpus = \([0-9]*\);.*/\1/p')
sed "s/RequestCpus = 1;/RequestCpus = $cpus;/" one.ad >all.ad
"$berth" submit all.ad >first.out
runs() { "$berth" why 1 | grep -Eq '^job 1 runs on .* since [0-9][0-9]:[0-9][0-9]\.$'; }
check 'why of a job that runs says where, and since when' soon runs
full() { "$berth" submit all.ad 2>&1 | grep -E '^berth: the job waits for a free machine: 1 machine fits, all its processors are in use \(.* [0-9]+ of [0-9]+\)$'; }
known() { curl -s --unix-socket "$work/pool/matchmaker.sock" http://m/v1/machines | grep -q 'State = "Busy".*Ends = '; }
check 'the machine is known to be busy' soon known
check 'who submits to a full pool is told that it is full' full
impossible() { "$berth" submit "$BERTH_SOURCE/examples/jobs/impossible.ad" >impossible.out 2>&1; [ $? = 1 ] && grep -q '^berth: the job matches no machine of the pool, even when idle; nothing was submitted' impossible.out && ! "$berth" job 3 >impossible.job 2>&1; }
check 'a job that no machine could run is not submitted, though the only one is in use' impossible
told() { "$berth" why 2 >why2; [ $? = 1 ] && grep -Eqx 'job 2: waits for a free machine: 1 machine fits, all its processors are in use \(.* [0-9]+ of [0-9]+\)\.' why2 && grep -Eqx 'The first claim that must end does so in (9|10) min\.' why2; }
check 'and who asks why' told
shown() { "$berth" job 2 | grep -Eqx 'job 2: waits for a free machine: .*'; }
check 'and who looks at the job' shown
"$berth" hold 2 >/dev/null
is_held() { "$berth" why 2 | grep -qx 'job 2 is held: held by its user.'; }
check 'why of a job that is held' is_held
"$berth" rm 1 >/dev/null
over() { "$berth" why 1 | grep -qx 'job 1 is over: Removed.'; }
check 'why of a job that is over' soon over

# --- a machine that does not answer when it is claimed, and then too late
"$berth" rm 2 >/dev/null
free() { curl -s --unix-socket "$work/pool/matchmaker.sock" http://m/v1/machines | grep -q 'State = "Idle"'; }
check 'the machine is free again' soon free
provider=$(sed -n 's/.*provider  *process \([0-9]*\).*/\1/p' pool.up | head -1)
kill -STOP "$provider"
echo '[ Cmd = "true"; Outputs = {}; RequestCpus = 1 ]' >short.ad
"$berth" submit short.ad >/dev/null 2>&1
awaits() { "$berth" why 3 >why3 && grep -qx 'job 3 is being claimed: a machine was found for it, and has not agreed yet.' why3 && "$berth" why --json 3 | grep -q '"verdict": "matches", "first": "claiming"'; }
check 'why of a job whose machine has not agreed yet' soon awaits
rejects() { "$berth" why 3 | grep -Eqx 'job 3 was not claimed by those that were found for it: (1 claim came to nothing|[0-9]+ claims in turn came to nothing; the last), at .*: the window is over\.'; }
rejects_json() { "$berth" why --json 3 | grep -Eq '"reasons": \[(\{"code": "claiming", .*\}, )?\{"code": "rejected", "text": "[0-9]+ claims? .*", "machines": 0, "data": \{"times": [0-9]+, "machine": ".*", "why": "the window is over"\}'; }
# It shows between two claims, and while the next is under way.
check 'and of one whose machine did not agree in time' soon rejects
check 'in JSON as well' soon rejects_json
kill -CONT "$provider"
done_3() { "$berth" why 3 | grep -qx 'job 3 is over: Succeeded.'; }
check 'which is claimed when it answers again' soon done_3
echo '[ Cmd = "true"; Outputs = {}; RequestCpus = 1; Wary = true ]' >wary_job.ad
"$berth" submit --force wary_job.ad >/dev/null 2>&1
rests() { "$berth" why 4 | grep -Eqx 'job 4 is offered again in [0-9]+ s: [0-9]+ claims in turn came to nothing; the last: refused by the constraint; offered again after a pause\.' && "$berth" why --json 4 | grep -Eq '"first": "early", "reasons": \[\{"code": "early", "text": "is offered again in .*", "machines": 0, "data": \{"in": [0-9]+, "times": [0-9]+, "machine": '; }
check 'why of a job that rests until it is offered again' soon rests

# --- how far a job is
cat >far.ad <<'END'
[ Cmd = "sh"; Args = { "-c", "echo '45.9% epoch 12' >\"$BERTH_STATUS\"; sleep 300" }; Outputs = {}; RequestCpus = 1; Fits = true ]
END
"$berth" submit far.ad >/dev/null 2>&1
far() { "$berth" jobs --only running >far.out && grep -q 'Running, 45%' far.out && "$berth" jobs --only running --json | grep -q '"progress": 0\.459}'; }
check 'a job says how far it is' soon far
logged() { curl -s --unix-socket "$work/pool/customer/customer.sock" http://c/v1/jobs/5/log | grep -q 'Z progress: 45\.9% epoch 12$'; }
check 'and its log does' soon logged
echo "1..$count"
[ $failures = 0 ]
