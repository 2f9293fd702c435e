#!/bin/bash
# customer.sh: a customer with one job: asks for a machine, claims the one that it is given, and has a command run there.
#
#     customer.sh POOL FILE NAME COMMAND          the token in FILE has the scopes ad:write and claim
#
# Prints what the command prints and ends with its status; 124 when no machine came within two minutes, 125 when the claim was lost.
# What a real customer does better: it remembers its jobs and claims, evaluates its own constraint, and runs a lost job again.
. "$(dirname "$0")/agent.sh"
command=${4//\\/\\\\} && command=${command//\"/\\\"} && command=${command//$'\n'/\\n}
ad="[Type=\"Job\";Cmd=\"$command\";Constraint=other.Type==\"Machine\"]" id='' claim='' agent='' state=asking
withdraw() { [ -z "$id" ] || ask "/v1/ads/$id" -X DELETE 2>/dev/null; }
trap withdraw EXIT
trap 'exit 130' INT TERM
advertise() { # under a new id: what was matched before is no longer asked for
  withdraw
  id=$(openssl rand -hex 8)
  ask "/v1/ads/$id?kind=request" -X PUT --data-binary "$ad" >/dev/null
}
step() { # MESSAGE [FIELDS]: the next of the claim; said again, with the same number, when no answer came
  sequence=$((sequence + 1)) reason=''
  for _ in 1 2 3; do
    [ -n "$reason" ] || reason=$(get Reason "$(tell "$agent" "[Message=\"$1\";Claim=\"$claim\";Epoch=\"$(word 1)\";Sequence=\"$(word $sequence)\"${2-}]")")
  done
  [ "$reason" = ok ]
}
ready() { # the machine may have to send somebody away first
  until step activate || [ "$reason" != wait ]; do sleep 1; done
  [ "$reason" = ok ]
}
take() { # a match names the machine, its agent, its offer, and the ticket by which we are let in
  local edge=${1#*Edges=\{}
  claim=$(get Claim "$edge") agent=$(get Agent "$edge") sequence=0
  verify_ask "$agent" "$(get Gang "$1")" "$claim" "$(get Offer "$edge")" "$(get Ticket "$edge")" "$ad" &&
    step commit ";Collect=7500000" && ready && step start ";Job=\"$(word 1)\";Number=\"$(word 1)\";Ad=$ad"
}
advertise || exit 2
deadline=$((SECONDS + 120))
while ((SECONDS < deadline)); do
  while read -r letter; do
    if ! letter_open "$letter"; then
      [ $state = asking ] && [ "$(get Kind "$letter")" = match ] && [ "$(get Id "$letter")" = "$id" ] || continue
      if take "$letter"; then state=running deadline=$((SECONDS + 66)); else
        echo "customer.sh: $agent refused: ${reason:-no answer}" >&2
        tell "$agent" "[Message=\"abort\";Claim=\"$claim\"]" >/dev/null
        advertise
      fi
    elif [ $state = running ] && [ "$from$(get Claim "$said")" = "$agent$claim" ]; then
      case $(get Message "$said") in
        beat) # acknowledged; when none comes for a lease and a margin the machine is given up
          deadline=$((SECONDS + 66))
          answer "[Message=\"beaten\";Claim=\"$claim\";Reason=\"ok\";Sent=$(get Sent "$said");Clock=${SECONDS}000000]" ;;
        result)
          answer "[Message=\"claimed\";Claim=\"$claim\";Epoch=\"$(word 1)\";Reason=\"ok\"]"
          get Output "$envelope" | base64 -d
          status=$(get Status "$said")
          step release
          exit "$status" ;;
        left) answer "[Message=\"claimed\";Claim=\"$claim\";Epoch=\"$(word 1)\";Reason=\"ok\"]"; exit 125 ;;
        ask) answer "[Message=\"claimed\";Claim=\"$claim\";Epoch=\"$(word 1)\";Reason=\"activate\"]" ;;
      esac
    fi
  done < <(letters 5)
done
[ $state = asking ] && exit 124 || exit 125
