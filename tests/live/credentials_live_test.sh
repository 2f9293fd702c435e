#!/bin/sh
# credentials_live_test.sh: a proxy and tokens that a submit file names come to the job as secrets; and what stands in $$(...) is filled in by its machine. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
unset X509_USER_PROXY BEARER_TOKEN_FILE _CONDOR_CREDS XDG_RUNTIME_DIR
. "$BERTH_SOURCE/tests/common/says.sh"
setsid "$berth" pool --listen 127.0.0.1:0 >pool.up 2>pool.err &
pool=$!
pids="$pids $pool"
up() { grep -q 'is up' pool.up; }
holds 'a pool is up' soon up
mkdir bin && "$berth" condor install bin >/dev/null
PATH=$PWD/bin:$PATH
held() { [ "$(condor_q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }

# ------------------------------------------------------------------------------------------------------------ what the machine says

printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'echo \$\$(Memory) \$\$(Nothing:other) \$\$([Cpus >= 1]) \$WHERE'\"" \
  'environment = "WHERE=$$(Arch)"' 'output = told' 'queue' >told.sub
run condor_submit -terse told.sub
run timeout 100 "$berth" wait 1
holds 'arguments and variables say what the machine says of itself, in units of HTCondor' grep -q -E '^[1-9][0-9]* other true .*(X86_64|x86_64|aarch64|AARCH64)$' told
printf '%s\n' 'executable = /bin/echo' 'transfer_executable = false' 'arguments = $$(NoSuchThing)' 'queue' >lacks.sub
run condor_submit -terse lacks.sub
holds 'a job is held whose machine does not say it' soon held 2.0
reason() { condor_q 2.0 -af HoldReason | grep -q 'Args: cannot expand'; }
holds 'for that' reason

# ------------------------------------------------------------------------------------------------------------------- credentials

machine_takes() { listed 'ads -c Type=="Machine"' 'rows[0].get("TakesSecrets")'; }
if machine_takes; then
  printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'cat \$X509_USER_PROXY \$_CONDOR_CREDS/cern.use; ls \$_CONDOR_CREDS'\"" \
    'x509userproxy = proxy.pem' 'use_oauth_services = cern' 'output = creds' 'queue' >creds.sub
  run condor_submit creds.sub
  holds 'a proxy that is not there is missed when the job is submitted' grep -q 'the credential cern.use is not there\|the credential x509up is not there' err
  holds 'and nothing is submitted' [ "$status" = 1 ]
  echo sesame-1 >proxy.pem
  mkdir -p config/berth/credentials
  echo sesame-2 >config/berth/credentials/cern.use
  run condor_submit -terse creds.sub
  run timeout 100 "$berth" wait 3
  holds 'the job finds both by the variables that it knows' [ "$(cat creds)" = 'sesame-1
sesame-2
cern.use
x509up' ]
  run "$berth" job 3 --json
  holds 'its ad has neither' sh -c '! grep -q sesame out'
  printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'cat \$BEARER_TOKEN_FILE'\"" 'use_scitokens = true' 'output = bearer' 'queue' >bearer.sub
  echo eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2V4YW1wbGUub3JnIiwic3ViIjoiYSJ9.c2VzYW1l >mine
  run env BEARER_TOKEN_FILE="$PWD/mine" condor_submit -terse bearer.sub
  run timeout 100 "$berth" wait 4
  holds 'a token is taken from where BEARER_TOKEN_FILE says, and is there again' cmp bearer mine
else
  echo '# machines take no secrets here'
fi

kill -s TERM -- "-$pool"
wait "$pool" 2>/dev/null
echo "1..$count"
[ $failures = 0 ]
