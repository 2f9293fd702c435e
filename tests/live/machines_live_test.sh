#!/bin/bash
# machines_live_test.sh: how machines stand, as the pool tells it, whether or not they have room: each state, who sees what, a machine that is
# killed, one that pulls, one that tells nothing, and a matchmaker that begins anew. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl iconv setsid
umask 077
# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq 200); do "$@" && return; sleep 0.3; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
ended() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
ask() { curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" "http://pool$1" "${@:2}"; }
# of NAME WORDS: the row of that machine has them.
of() { ask "/v1/machines" | grep "Name = \"$1\"" | grep -- "$2"; }
as() { "$berth" "${@:2}" --pool "http://$address" --token "$1.token"; }

export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock" BERTH_LIFETIME=12
machine='ad:read ad:write claim match' person='ad:read ad:write claim match job:submit job:own'
address=127.0.0.1:0
pool() {
  start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up &&
    address=$(sed -n 's/.*http:..\([0-9.:]*\).*/\1/p' pool.up | head -1)
}
provider() { start "$1" "$berth" provider --state "$work/$1" --set AgentName="$1" --set Unprotected=true --set OwnerPolicy="$work/$1.ad" "${@:2}"; }

# stork's owner lets people in two hours from now, for two hours.
begun=$(date +%H:%M) opens=$(date -d '+2 hours' +%H:%M) closes=$(date -d '+4 hours' +%H:%M) both='&&'
[[ $opens < $closes ]] || both='||'
echo '[ Cpus = 2; Memory = 1G; ShowPolicy = false ]' >heron.ad
echo "[ Cpus = 1; Memory = 512M; Constraint = other.Type == \"Job\" && (dayTime() >= '$opens:00' $both dayTime() < '$closes:00') ]" >stork.ad
echo '[ Cpus = 1; Memory = 512M ]' | tee crane.ad >swift.ad
up() {
  pool && mkdir -p alice/customer heron/provider stork/provider crane/provider swift/provider &&
    token alice "$person job:any serve" alice/customer/token && token bob "$person" bob.token && cp alice/customer/token alice.token &&
    for name in heron stork crane swift; do token machine/$name "$machine" $name/provider/token || return; done && cp heron/provider/token heron.token &&
    start alice "$berth" customer --state "$work/alice" && soon test -S alice/customer/customer.sock &&
    provider heron && provider stork && provider crane && provider swift --pull
}
check 'a pool of four machines is up' up

# ---------------------------------------------------------------------------------------------------------------------- states

check 'a machine with nothing to do is Idle' soon of heron 'State = "Idle".*Cpus = 2; CpusUsed = 0;.*Jobs = 0;'
check 'one that pulls is known as well, though it offers nothing' soon of swift 'State = "Idle"; Pulls = true;'
check 'one whose owner lets nobody in is an Owner machine' soon of stork 'State = "Owner"'
check 'all four are known' soon of crane 'State = "Idle"'
"$berth" machines >list
back() { grep "^stork  *Owner  *0 of 1  *0 of 512 MiB .* until $opens\$" list && "$berth" machine stork >stork.out && grep -x "stork: Owner: back at $opens" stork.out && grep -x "  policy  *lets nobody in until $opens" stork.out; }
check 'it is said when that ends' back
itself() { "$berth" agent stork status >out && grep -x 'stork: its owner lets nobody in now' out && grep "^  state  *Owner: back at $opens, for [0-9]* s\$" out; }
check 'the machine says so itself' itself
noted() { grep -x 'swift  *Idle .* pulls' list && grep -x 'NAME  *STATE  *CPUS  *MEMORY  *GPUS  *LOAD  *JOBS  *OWNER  *SINCE  *NOTE' list; }
check 'the table has notes' noted
totals() { grep -x '4 machines: 3 Idle, 1 Owner; in use: 0 of 5 processors, 0 of 2.5 GiB of memory\(, 0 of [0-9]* GPUs\)*' list && grep '^The matchmaker began .* ago: not all machines may have been heard of yet\.$' list; }
check 'and ends with how many there are, and whether that may be all' totals
names() { ask "/v1/machines?order=name&select=Name&$1" | sed 's/[^"]*"\([^"]*\)".*/\1/' | tr '\n' ' '; }
by_name() {
  local name; for name in pc10 pc9 pc2; do ask /v1/ads/$name -X PUT -d "[Type=\"Machine\";Name=\"$name\";Cpus=1;Lifetime=100;Constraint=false]" || return; done
  [ "$("$berth" machines -c 'Name != "none"' --json | sed 's/^{"name": "\([^"]*\)".*/\1/' | tr '\n' ' ')" = 'crane heron pc2 pc9 pc10 stork swift ' ] &&
    [ "$("$berth" machines -n 3 | sed -n '2,4s/ .*//p' | tr '\n' ' ')" = 'crane heron pc2 ' ] &&
    [ "$(names 'limit=4') $(names 'limit=4&cursor=4')" = 'crane heron pc2 pc9  pc10 stork swift ' ] && ask '/v1/machines?order=size' | grep 'order: expected name' &&
    for name in pc10 pc9 pc2; do ask /v1/ads/$name -X DELETE || return; done
}
check "they come by name, numbers by value, and so do their pages where a program asks for that" by_name

# job CPUS: one of alice's on heron, which must end in a quarter of an hour.
job() {
  echo "[ Cmd = \"sleep\"; Args = { \"600\" }; Outputs = {}; RequestCpus = $1; RequestMemory = 128M; RequestDisk = 1M; TimeLimit = 900; Constraint = other.Type == \"Machine\" && other.Name == \"heron\" ]" >job.ad
  "$berth" submit --force job.ad
}
part() { job 1 && soon of heron 'State = "Part".*Cpus = 2; CpusUsed = 1; Memory = 1073741824; MemoryUsed = 134217728;.*Jobs = 1;.*Ends = 8[0-9][0-9];'; }
check 'a job takes a part of one' part
ends() { of heron . | sed -n 's/.*Ends = \([0-9]*\);.*/\1/p'; }
nearer() { local first; first=$(ends) && sleep 6 && [ "$(ends)" -le $((first - 5)) ] && [ "$(ends)" -ge $((first - 20)) ]; } # its ad has been renewed meanwhile
check 'and when it must end comes nearer' nearer
busy() { job 1 && soon of heron 'State = "Busy".*CpusUsed = 2;.*Jobs = 2;' && ! ask '/v1/ads?kind=offers' | grep heron; }
check 'two take all of it: it offers nothing, and is Busy' busy
until_when() { "$berth" machines -c 'State == "Busy"' >busy.out && grep 'heron  *Busy  *2 of 2  *0.2 of 1 GiB .* 2  machine/heron .* first ends in 1[0-5] min' busy.out && grep '^1 machine: 1 Busy' busy.out; }
check 'it is said when the first of them must end' until_when
none() { "$berth" machines -c 'State == "Sick"' >none.out; [ $? = 1 ] && grep '^0 machines' none.out; }
check 'of those that are not there there are none, with status 1' none
json() { "$berth" machines --json | grep '"name": "heron", "type": "Machine", "state": "Busy".*"cpus": 2, "cpus_used": 2, .*"jobs": 2,' && "$berth" machine heron --json | grep '"Claims"' && "$berth" machine heron --long | grep -x 'State = "Busy"'; }
check 'programs are told the same' json
figures() { ask /metrics >out && for line in 'machines{state="Busy"} 1' 'machines{state="Owner"} 1' 'machine_processors{kind="all"} 5' 'machine_processors{kind="used"} 2' 'machine_memory_bytes{kind="used"} 268435456' 'machine_gpus{kind="used"} 0'; do grep -qxF "berth_$line" out || { echo "$line"; return 1; }; done; }
check 'and Prometheus, in sums' soon figures
glance() { ask /v1/overview | grep 'Machines = \[ Known = 4; Idle = 2; Part = 0; Busy = 1; Owner = 1; .* Cpus = 5; CpusUsed = 2;'; }
check 'and so is who looks at the pool at a glance' soon glance
unknown() { "$berth" machine herno >out 2>&1; [ $? = 1 ] && grep -x "berth: no machine 'herno' is known; did you mean 'heron'?" out; }
check 'of a name that is not known the nearest is told' unknown

# ---------------------------------------------------------------------------------------------------------------- who sees what

hers() { as alice machine heron >out && [ "$(grep -c 'job [12] of alice for .*, must end in 1[0-5] min' out)" = 2 ]; }
check 'a user sees her jobs there' soon hers
his() { as bob machine heron >out && grep -x '  jobs  *2 of others' out && ! grep -i alice out; }
check 'another sees how many there are' his
owners() { as heron machine heron >out && grep 'job 1 of alice' out; }
check 'the owner of the machine sees them all' owners

hidden() { as bob machine heron >out && grep -x '  takes  *its owner does not show whom' out && ! grep 'Roomy' out; }
check 'a policy that an owner does not show is not shown' hidden
shown() { as heron machine heron | grep '^  takes .*other.Type' && "$berth" machine heron | grep '^  takes .*other.Type'; }
check 'but to him and to administrators' shown

# Ads of the same sort, put in by hand: an offer that hides its policy, and one of a machine on which a job of alice runs.
secret() { curl -sS -m 20 -H "Authorization: Bearer $(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$1.bearer")" "http://$address/v1/ads$2" "${@:3}"; }
puts() {
  for name in alice bob machine/heron; do "$berth" token create --subject "$name" --scope "ad:read ad:write" --no-delegation --lifetime 1d --out "${name#*/}.bearer" || return; done
  secret heron /secret -X PUT -o body -w '%{http_code}' -d '[Type="Thing";Name="secret";ShowPolicy=false;Constraint=other.Type=="Job";Rank=3;RemoteUser="physics~alice";CurrentRank=1]' | grep 201
}
check 'an offer may say so too' puts
list() { secret bob '?constraint=Name==%22secret%22' >out && grep CurrentRank out && ! grep 'Constraint\|Rank = 3\|RemoteUser' out; }
check 'in lists of offers others see neither its policy nor whose job runs there' list
one() { secret bob /secret >out && grep CurrentRank out && ! grep 'Constraint\|Rank = 3\|RemoteUser' out; }
check 'nor in the ad itself' one
queries() { ! secret bob '?constraint=Constraint%20isnt%20undefined%7C%7CRank%20==%203%7C%7CRemoteUser%20isnt%20undefined' | grep secret && secret heron '?constraint=Rank==3' | grep RemoteUser; }
check 'nor can they find it by that, as its owner does' queries
tenants() { secret alice /secret >out && grep RemoteUser out && ! grep Constraint out && ask /v1/ads/secret | grep 'Constraint.*RemoteUser'; }
check 'whose job it is sees that, and an administrator everything' tenants

whole() { curl -sS -m 20 -H "Authorization: Bearer $(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$1.bearer")" "http://$address/v1/machines/$2"; }
amounts() { whole bob heron >out && [ "$(grep -o 'User = "alice"; Cpus = 1; Memory = 134217728' out | wc -l)" = 2 ] && ! grep 'Job = [12]' out; }
check 'of jobs of others one sees whose they are and how much they have, and no more' amounts
ask /v1/ads/desk -X PUT -d '[Type="Machine";Name="desk";Cpus=1;Lifetime=100;KeyboardIdle=3;KeybrdIdle=relTime(3);ConsoleIdle=3;Users=1;LoadAvg=0.5;Constraint=false]' >/dev/null
presence() { whole bob desk >out && grep 'LoadAvg = 0.5' out && ! grep 'Idle = \|Users = ' out && ask /v1/machines/desk | grep 'KeyboardIdle = 3.*ConsoleIdle = 3.*Users = 1'; }
check 'whether somebody sits at a machine is for its owner and administrators' presence
offered() {
  secret bob /desk >out && grep 'LoadAvg = 0.5' out && ! grep 'Idle = \|Users = ' out && secret bob '?select=Name,Users,KeyboardIdle' >out && grep 'Name = "desk"' out && ! grep 'Users\|Idle' out &&
    [ -z "$(secret bob '?constraint=KeyboardIdle==3' | grep desk)" ] && ask '/v1/ads?constraint=KeyboardIdle==3' | grep 'Name = "desk".*Users = 1'
}
check 'that holds for what it offers as well, and nobody else can find it by that' offered
resource() { curl -sS -m 20 -D head -o body -w '%{http_code}\n' -H "Authorization: Bearer $(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$1.bearer")" "${@:3}" "http://$address/v1/machines/$2"; }
tagged() {
  resource bob desk | grep 200 && grep -i '^Last-Modified: .* GMT' head && grep -i '^Cache-Control: private, no-cache' head && tag=$(sed -n 's/^ETag: \(W.*"\).*/\1/p' head) &&
    sleep 1.2 && resource bob desk -H "If-None-Match: $tag" | grep 304
}
check 'a machine has a tag, and who has it is told that it is unchanged while only time goes by' tagged
changed() { ask /v1/ads/desk -X PUT -d '[Type="Machine";Name="desk";Cpus=1;Memory=2G;Software={"perl","python"};Odd={};Lifetime=100;KeyboardIdle=3;Constraint=other.Cpus>Cpus]' && resource bob desk -H "If-None-Match: $tag" | grep 200 && ! grep -F "$tag" head; }
check 'when it says something else it has another' changed
event() {
  resource bob desk && tag=$(sed -n 's/^ETag: \(W.*"\).*/\1/p' head) || return
  resource bob 'desk?wait=25' -H "If-None-Match: $tag" -w '%{http_code} %{time_total}\n' >waited &
  ask /v1/ads/desk -X PUT -d '[Type="Machine";Name="desk";Cpus=1;Memory=2G;Software={"perl","python"};Odd={};Lifetime=100;KeyboardIdle=3;LoadAvg=0.7;Constraint=other.Cpus>Cpus]' && wait $! &&
    cat waited && grep -F 'LoadAvg = 0.7' body && awk '$1 != 200 || $2 >= 24 { exit 1 }' waited
}
check 'who waits for another tag is answered when the machine changes' event
links() { resource bob desk && grep -i '^Link: </v1/machines/desk>; rel="self", </v1/agents/[0-9a-f]*>; rel="agent"' head && ! grep 'rel="command"' head && ask /v1/machines/desk -D head && grep 'rel="command"; method="POST"' head && ! grep 'rel="forget"' head; }
check 'it has links, and to commands for who may give them' links
as_resource() {
  resource bob desk -H 'Accept: application/grdl+xml' | grep 200 && grep -i '^Content-Type: application/grdl+xml' head && cp body desk.xml && [ "$(grep -c '<Software>' desk.xml)" = 2 ] && ! grep 'Keyboard\|Odd\|reqs' desk.xml &&
    "$berth" grdl validate desk.xml && resource bob desk -H 'Accept: application/grdl+json' | grep 200 && grep '"python"' body
}
check 'it is given as a GRDL resource: what of it is a value, as far as one may know it' as_resource
echo '<task name="fit"><reqs><Memory match="ge">1073741824</Memory><Software>perl</Software></reqs></task>' >fit.xml
echo '<task name="large"><reqs><Memory match="ge">3221225472</Memory></reqs></task>' >large.xml
meets() { "$berth" grdl match --kind one-way fit.xml desk.xml | grep 'fit  *desk' && ! "$berth" grdl match --kind one-way large.xml desk.xml | grep desk; }
check 'so that requirements can be met with it' meets
as_xml() {
  ask /v1/ads/desk -H 'Accept: application/classad+xml' -D head >one.xml && grep -i '^Content-Type: application/classad+xml' head && "$berth" convert --to classad one.xml >one.ad && ask /v1/ads/desk | "$berth" convert --to classad | cmp - one.ad && grep Software one.ad &&
    ask /v1/machines -H 'Accept: application/classad+xml' >all.xml && "$berth" convert --to classad all.xml >all.ads && [ "$(grep -c . all.ads)" = "$(ask /v1/machines | grep -c .)" ] && [ "$(grep -c . all.ads)" -gt 3 ]
}
check 'ads and lists are given as XML as well, which says the same' as_xml
jobs_as_xml() {
  curl -sS -m 20 -H 'Accept: application/classad+xml' --unix-socket alice/customer/customer.sock http://customer/v1/jobs >jobs.xml && "$berth" convert --to classad jobs.xml | grep 'Job = 1' && "$berth" convert --to classad jobs.xml | grep 'Job = 2' &&
    curl -sS -m 20 -H 'Accept: application/classad+xml' --unix-socket alice/customer/customer.sock http://customer/v1/jobs/2 | "$berth" convert --to classad | grep 'Job = 2' &&
    curl -sS -m 20 -o /dev/null -w '%{http_code}' -X PATCH -H 'Content-Type: application/classad+xml' -d '<c></c>' --unix-socket alice/customer/customer.sock http://customer/v1/jobs/2 | grep 415
}
check 'so are jobs; they are not changed by it' jobs_as_xml
ask /v1/ads/desk -X DELETE

"$berth" agent crane drain --wait 20 >/dev/null
check 'a machine that takes no more is Drained' soon of crane 'State = "Drained"'
kill -KILL "$(cat crane.pid)"
older() {
  ask /v1/ads/older -X PUT -d '[Type="Machine";Name="older";Cpus=3;Lifetime=100;Constraint=other.Type=="Job"]' && of older 'State = "Idle".*Cpus = 3; CpusUsed = 0;' &&
    ask /v1/ads/older -X DELETE && ! of older .
}
check 'of one that tells nothing its ad is all, and goes with it' older
# A name whose 80th byte is the first half of a character, and one that would turn a terminal red.
long=$(printf 'x%.0s' $(seq 79))
names() {
  printf '[Type="Machine";Name="%sé and more"]' "$long" | ask /v1/ads/long -X PUT --data-binary @- && printf '[Type="Machine";Name="\302\23331mred\033[0m"]' | ask /v1/ads/red -X PUT --data-binary @- &&
    "$berth" machines >named && ask /v1/ads/long -X DELETE && ask /v1/ads/red -X DELETE && grep "^$long  *Idle" named && grep '^??31mred?\[0m  *Idle' named && iconv -f UTF-8 -t UTF-8 named
}
check 'a long name is cut at the end of a character, and none controls a terminal' names
check 'one that is killed is Away after a lifetime' soon of crane 'State = "Away"'
away() { "$berth" machines >out && grep 'crane  *Away .* last heard 1[0-9] s ago' out && grep '^4 machines: 1 Idle, 1 Busy, 1 Owner, 1 Away; in use: 2 of 4 processors' out; }
check 'which is said, and what it has is counted no more' away
forget() { curl -sS -m 20 -o body -w '%{http_code}' -X DELETE -H "Authorization: Bearer $(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$1.bearer")" "http://$address/v1/machines/$2"; }
forgotten() {
  "$berth" token create --subject auditor --scope 'ad:read ad:write audit' --no-delegation --lifetime 1d --out auditor.bearer && "$berth" token create --subject machine/crane --scope 'ad:read ad:write' --no-delegation --lifetime 1d --out crane.bearer &&
    ask /v1/machines/crane | grep Away && ask /v1/machines/crane -D head -o body && grep '</v1/machines/crane>; rel="forget"; method="DELETE"' head && [ "$(forget bob crane)" = 403 ] && [ "$(forget auditor crane)" = 403 ] && [ "$(forget heron heron)" = 409 ] && [ "$(forget heron nobody)" = 404 ] &&
    secret bob /anew -X PUT -o body -d '[Type="Machine";Name="crane";Cpus=1;Lifetime=100;Constraint=false]' && [ "$(forget bob crane)" = 409 ] && of crane Away && [ "$(forget crane crane)" = 204 ] &&
    ! of crane Away && of crane . && ask /v1/audit | grep 'machines.forget.*crane' && ask /v1/ads/anew -X DELETE && ! of crane .
}
check 'its owner lets it be forgotten, also if there is another of its name, and none that is there; who may see everything does not' forgotten

# ------------------------------------------------------------------------------------------------------------------ a restart

again() { kill -KILL "$(cat pool.pid)" && soon ended pool && pool && soon of heron 'State = "Busy".*Jobs = 2;.*Ends = 8' && soon of stork 'State = "Owner"' && soon of swift 'Pulls = true'; }
check 'a matchmaker that begins anew hears of all, also of those that offer nothing' again
still() { sleep 1 && of heron 'State = "Busy"' && of stork 'State = "Owner".*Until = [67]'; }
check 'and keeps them' still
"$berth" rm 1 2 >/dev/null
check 'when the jobs are gone the machine is Idle again' soon of heron 'State = "Idle".*CpusUsed = 0;.*Jobs = 0;'

# rail's owner waits for something that no clock brings.
echo '[ Cpus = 1; Memory = 512M; Constraint = other.Type == "Job" && LoadAvg < -1 ]' >rail.ad
waits() {
  mkdir -p rail/provider && token machine/rail "$machine" rail/provider/token && provider rail && soon of rail 'State = "Owner"' && "$berth" agent rail status >out &&
    grep -x 'rail: its owner lets nobody in now' out && grep '^  state  *Owner: no counterpart can satisfy LoadAvg < -1 (LoadAvg is [0-9.]*), for [0-9]* s$' out
}
check 'an owner who waits for something that has no time says what' waits
# What is false now: it opens later today, or has closed for today (where midnight is between now and then).
closed=">= "
[[ $opens > $begun ]] || closed="< "
why_timed() { "$berth" agent stork status >out && grep "^  state  *Owner: back at" out && grep "^  why  *no counterpart can satisfy .*[dD]ayTime() $closed" out; }
check 'one whose time is known says why' why_timed
taken_out() { "$berth" token revoke machine/rail && ! of rail . && of stork . && sleep 6 && ! of rail .; }
check 'one whose token is revoked is known no more, though it goes on saying how it stands' taken_out

echo "1..$count"
exit $((failures > 0))
