#!/bin/bash
# worker.sh: a provider in thirty lines: offers this machine, and runs the jobs of one claim after another. What it has in common with
# customer.sh, which speaks the other side, is in agent.sh beside it.
#
#     worker.sh POOL FILE NAME          the token in FILE has the scopes ad:write and claim
#     PULL=1 worker.sh POOL FILE NAME   asks for a job when it is free, and does not advertise
#
# What a real provider does better: it evaluates its own constraint, remembers its claims, and runs jobs where they can do no harm.
. "$(dirname "$0")/agent.sh" && id='' job='' dir=$(mktemp -d)
stop() { [ -z "$job" ] || kill -KILL -- "-$job" 2>/dev/null; job=''; } # with all that it started
trap 'stop; rm -rf "$dir"' EXIT && trap exit INT TERM
launch() { # the next number only: what is said again changes nothing
  [[ $(get Number "$said") > $number && -z $job && $said =~ [[\;]Cmd=\"(([^\"\\]|\\.)*)\" ]] || return
  (cd "$(mktemp -d "$dir/XXXXXX")" && exec setsid sh -c "$(plain "${BASH_REMATCH[1]}")" >"$dir/output" 2>&1 </dev/null) & job=$!
  number=$(get Number "$said") task=$(get Job "$said") status='' began=$SECONDS
}
watch() { # an acknowledged heart beat renews the lease, counted from when it was sent; the result is told until it is heard
  if sent=$SECONDS && [ -z "$status" ] && kill -0 "$job" 2>/dev/null; then case $(beat) in ok) ends=$((sent + 60)) ;; unknown | released) ends=0 ;; esac
  else
    [ -n "$status" ] || { wait "$job"; status=$? took=$((SECONDS - began)); }
    case $(result "$number" "$task" "$status" "$took" "$dir/output") in '' | wait) ;; *) stop ;; esac
  fi
}
while stop && { [ -z "$id" ] || [ -n "${PULL:-}" ] || ask "/v1/ads/$id" -X DELETE 2>/dev/null || :; }; do # each offer has a key, and two minutes to be claimed
  id=$(openssl rand -hex 8) key=$(openssl rand -hex 32) nonce=$zeros state=free claim='' boss='' epoch=$(word 0) lease='' number='' ends=$((SECONDS + 120))
  ad="[Type=\"Machine\";Name=\"$name\";Cpus=$(nproc);Lifetime=150;Constraint=other.Type==\"Job\"]"
  if [ -n "${PULL:-}" ]; then # what is not stored need not be withdrawn, and who is matched has ten seconds to come
    until [ -n "$(ask "/v1/pull?id=$id" -H "Berth-Key: $key" --data-binary "$ad")" ]; do sleep 1; done; ends=$((SECONDS + 10))
  else ask "/v1/ads/$id" -X PUT -H "Berth-Key: $key" --data-binary "$ad" >/dev/null || { id='' ends=0; sleep 5; }; fi
  while ((SECONDS < ends)); do
    while read -r letter; do letter_open "$letter" && case $([ "$(get Claim "$said")$from" = "$claim$boss" ] && echo $state):$(get Message "$said") in
      *:verify) verify_answer && state=verified claim=$(get Claim "$said") boss=$from ends=$((SECONDS + 10)) ;;
      verified:commit | pinned:commit) state=pinned epoch=$(get Epoch "$said") lease=${lease:-$((SECONDS + 60))} ends=$((lease - 45)); claimed ok ;;
      pinned:activate | claimed:activate) state=claimed ends=$lease; claimed ok ;;
      claimed:start) launch; claimed ok ;;
      ?*:release | verified:abort | pinned:abort) stop; ends=0; claimed released ;;
      :commit | :activate | :start | :release | :abort) claimed unknown ;; # attach is not answered: the customer waits for the lease
    esac; done < <(letters $([ -n "$job" ] && echo 2 || echo 20))
    [ -z "$job" ] || watch
  done; done
