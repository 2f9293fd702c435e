#!/bin/bash
# memory_live_test.sh: matchmaker, customer and provider reach the bound on their memory: what is new is refused, what is there goes on, and with room
# again all is taken as before. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl
export BERTH_STATE=$work/state ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1:allocator_release_to_os_interval_ms=100

# soon COMMAND...: it succeeds within forty seconds.
soon() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
echo '[ MemoryMax = 0 ]' >berth.ad
setsid "$berth" pool --listen 127.0.0.1:0 --config berth.ad --set Unprotected=true --set 'AdBytesPerIdentity="1 GiB"' --set RequestsPerSecond=100000 >up 2>pool.err &
groups="$groups $!"
disown
soon grep -q 'To end it' up
machine() { "$berth" ads --json -c 'Type == "Machine"' | grep .; }
soon machine

# ask ROLE CURL-WORDS...: the status alone; the answer's head is in `head`, its body in `answer`.
declare -A socket=([matchmaker]=state/matchmaker.sock [customer]=state/customer/customer.sock [provider]=state/provider/provider.sock)
ask() { curl -sS -m 60 -o answer -D head -w '%{http_code}\n' --unix-socket "${socket[$1]}" "${@:2}"; }
number() { curl -sS -m 60 --unix-socket "${socket[$1]}" http://role/metrics | sed -n "s/^$2 //p"; }
# bound ROLE MEBIBYTES: that much more than it has now; 0: what it is by default.
bound() {
  local most=0
  [ "$2" = 0 ] || most=$(($(number "$1" berth_memory_bytes) + $2 * 1048576))
  echo "[ MemoryMax = $most ]" >berth.ad
  for process in $(sed -n 's/.* process \([0-9]*\),.*/\1/p' up); do kill -HUP "$process"; done
  [ "$2" = 0 ] || soon bound_is "$1" "$most"
  [ "$2" != 0 ] || soon full_is "$1" 0
}
bound_is() { [ "$(number "$1" berth_memory_max_bytes)" = "$2" ]; }
full_is() { [ "$(number "$1" berth_memory_full)" = "$2" ]; }
refused() { { grep -i '^Retry-After: 5' head && grep '"detail":"MemoryMax: this service has as much in memory as it may' answer; } || { cat head answer; false; }; }
filler=$(head -c 100000 /dev/zero | tr '\0' x)

half() { [ "$(number "$1" berth_memory_max_bytes)" -le $(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 512)) ]; }
for role in matchmaker customer provider; do check "the bound of a $role is half of the machine where no other is set" half $role; done

# The customer.
jobs() { for i in $(seq 100); do echo "[ Cmd = \"/bin/true\"; Constraint = other.Name == \"nobody\"; Outputs = {}; N = $1 * 1000 + $i; Text = \"$filler\" ]"; done >jobs.ad; }
fill_customer() {
  for n in $(seq 60); do
    jobs "$n"
    [ "$(ask customer -X POST --data-binary @jobs.ad http://role/v1/jobs)" = 201 ] || return 0
  done
  return 1
}
check 'its bound is set while the customer runs' bound customer 60
large() { for n in $(seq 10); do jobs "$n" && cat jobs.ad; done >large.ad; }
large
before=$(number customer berth_memory_bytes)
grows() { [ "$(ask customer -X POST --data-binary @large.ad http://role/v1/jobs)" = 503 ] && refused; }
check 'a body that is let in, and is more than there is memory for, is refused while it is read' grows
rm large.ad
gone() { [ "$(number customer berth_memory_bytes)" -le $((before + 8 * 1048576)) ]; }
check 'and leaves none of its hundred megabytes in memory' soon gone
fill_customer
status=$(sed -n 's/^HTTP[^ ]* \([0-9]*\) .*/\1/p' head | tail -n 1) # behind a 100, where the body is large
check 'jobs are taken until there is no memory for more, and then refused with 503' [ "$status" = 503 ]
check 'the answer says why, and when to try again' refused
before=$(number customer berth_memory_bytes)
many() { for _ in $(seq 20); do [ "$(ask customer -X POST --data-binary @jobs.ad http://role/v1/jobs)" = 503 ] || return 1; done; }
check 'so are all that come' many
stays() { [ "$(number customer berth_memory_bytes)" -le $((before + 4 * 1048576)) ]; }
check 'whose two hundred megabytes take no memory' stays
counted() { [ "$(number customer berth_memory_refusals_total)" -ge 21 ] && full_is customer 1; }
check 'that is counted' counted
check 'and told in the log' grep 'level=warning .*event=memory.full' state/log/customer.log
submit() { "$berth" submit --force jobs.ad 2>&1 | grep 'MemoryMax: '; }
check 'the command says so too' submit
looks() { "$berth" jobs >/dev/null && "$berth" job 1 | grep '^Job 1: '; }
check 'what is there can be looked at' looks
holds() { "$berth" hold 1 && "$berth" job 1 | grep Held; }
check 'and changed' holds
check 'with a higher bound jobs are taken again' bound customer 0
takes() { [ "$(ask customer -X POST --data-binary @jobs.ad http://role/v1/jobs)" = 201 ]; }
check 'by those who were refused' takes
check 'which is told as well' grep 'level=info .*event=memory.room' state/log/customer.log

# The matchmaker.
put() { ask matchmaker -X PUT --data-binary @ad "http://role/v1/ads/$1"; }
ad() { echo "[ Type = \"Thing\"; Serial = $1; Text = \"$filler\" ]" >ad; }
fill_matchmaker() {
  for n in $(seq 2000); do
    ad "$n"
    [ "$(put "thing$n")" = 201 ] || return 0
    last=$n
  done
  return 1
}
entry='Size = 1; Hash = "sha256:0000000000000000000000000000000000000000000000000000000000000000"'
early() { [ "$(ask matchmaker -X PUT -d "[ $entry ]" http://role/v1/files/early)" = 201 ]; }
check 'a file is in the catalogue' early
last=0
check 'the bound of the matchmaker is set' bound matchmaker 40 # below what it takes of one agent, 64
check 'ads are taken until there is no memory for more' fill_matchmaker
check 'then new ones are refused, with when to try again' refused
check 'after some hundred' [ "$last" -gt 100 ]
replaced() { ad 7 && [ "$(put thing1)" = 200 ]; }
check 'one that is there may be replaced' replaced
renewed() { [ "$(ask matchmaker -X PUT -H 'If-Match: *' http://role/v1/ads/thing2)" = 200 ]; }
check 'and renewed' renewed
file() { [ "$(ask matchmaker -X PUT -d "[ $entry ]" http://role/v1/files/x)" = 503 ] && refused; }
check 'files are not entered' file
wish() { [ "$(ask matchmaker -X PATCH -d '[ Copies = 1; CopiesAt = { "se1", "se2" } ]' http://role/v1/files/early)" = 503 ] && refused; }
check 'nor which stores are to have them, which is kept with them' wish
check 'the machine stays in the pool' machine
gone() { for n in $(seq "$last"); do [ "$(ask matchmaker -X DELETE "http://role/v1/ads/thing$n")" = 204 ] || return 1; done; }
check 'ads can be withdrawn' gone
roomy() { put "thing$last" | grep 201; }
check 'and then new ones are taken: the memory was given back' soon roomy

# The provider.
full() { echo '[ MemoryMax = 1000000 ]' >berth.ad && kill -HUP "$(sed -n 's/ *provider *process \([0-9]*\),.*/\1/p' up)"; }
check 'the bound of the provider is set to less than it has' full
sick() { "$berth" machines | grep 'Sick .*MemoryMax: the provider has as much in memory as it may'; }
check 'it takes no more jobs, and says why' soon sick
check 'with a higher bound it tries itself' bound provider 0
runs() { timeout 120 "$berth" run -- echo ran | grep '^ran$'; }
check 'and jobs run again' runs

# A provider of its own, which jobs fill: each brings a hundred kilobytes that it has to keep while the job runs.
mkdir -p fat && mkdir -m 700 fat/provider && echo '[ MemoryMax = 0 ]' >fat.ad && echo '[ Cpus = 100 ]' >owner.ad
"$berth" token create --subject machine/fat --scope 'ad:read ad:write claim match' --lifetime 1d --out fat/provider/token >/dev/null
setsid "$berth" provider --state "$work/fat" --config fat.ad --set AgentName=fat --set Name=fat --set Unprotected=true --set OwnerPolicy="$work/owner.ad" >fat.up 2>fat.err &
fat=$!
groups="$groups $fat"
disown
socket[fat]=fat/provider/provider.sock
wide() { "$berth" ads fat --json | grep '"Cpus": *100,'; }
check 'a provider with places for a hundred jobs joins the pool' soon wide
# fill_provider NUMBER SECONDS: so many jobs that sleep so long are submitted there.
fill_provider() {
  for i in $(seq "$1"); do
    echo "[ Cmd = \"sleep\"; Args = { \"$2\" }; Outputs = {}; RequestMemory = 1M; RequestDisk = 1M; Constraint = other.Name == \"fat\"; N = $i; Text = \"$filler\" ]"
  done >many.ad && first=$("$berth" submit --force many.ad | sed -n 's/.* submitted: \([0-9]*\).*/\1/p') && [ -n "$first" ]
}
runs_there() { [ "$("$berth" jobs --json -c 'State == "Running"' | wc -l)" -ge "$1" ]; }
fill_provider 1 1000 && soon runs_there 1 # what the first job needs besides is not the jobs' own
bound_fat() { echo "[ MemoryMax = $1 ]" >fat.ad && kill -HUP "$fat" && soon bound_is fat "$1"; }
check 'it may have eight megabytes more than it has' bound_fat $(($(number fat berth_memory_bytes) + 8 * 1048576))
check 'seventy jobs are submitted, with seven megabytes and what else each costs' fill_provider 70 1000
check 'as they come it has as much as it may' soon full_is fat 1
fat_sick() { "$berth" machines | grep '^fat .*MemoryMax: the provider has as much in memory as it may'; }
check 'it says that it takes no more' soon fat_sick
check 'thirty more are submitted' fill_provider 30 1000
settled() { before=$("$berth" jobs --json -c 'State == "Running"' | wc -l) && sleep 3 && [ "$("$berth" jobs --json -c 'State == "Running"' | wc -l)" = "$before" ]; }
check 'and takes no more' soon settled
some() { echo "$before run" && [ "$before" -ge 3 ] && [ "$before" -le 90 ]; }
check 'some of the hundred run, and others do not' some
bounded() { echo "$(number fat berth_memory_bytes) of $(number fat berth_memory_max_bytes)" && [ "$(number fat berth_memory_bytes)" -le "$(($(number fat berth_memory_max_bytes) + 8 * 1048576))" ]; }
sanitized() { ldd "$berth" | grep -q libasan; }
sanitized || check 'so that it has not much more than it may' soon bounded # what the sanitizer has for itself counts, too
lives() { "$berth" rm --all >/dev/null && soon none_run; }
none_run() { runs_there 0 && ! runs_there 1; }
check 'jobs there are looked after: they are ended where they are removed' lives
# The sanitizer keeps what is freed: with it there is room when the bound is raised, as an operator would.
sanitized && bound_fat $(($(number fat berth_memory_bytes) + 64 * 1048576)) >/dev/null
check 'then it has room again, and takes jobs' soon full_is fat 0
again() { fill_provider 1 0 && timeout 120 "$berth" wait "$first"; }
check 'which run' again

echo "1..$count"
exit $((failures > 0))
