#!/bin/sh
# maintenance.sh MACHINE COMMAND...: takes a machine out of the pool, waits until nothing runs there and no files wait to leave it, runs the
# command (ssh to it, say), and lets it work again. A machine that is away gets its orders when it is back, within a day.
set -eu
machine=${1:?the name of a machine, as berth agents shows it}
shift
berth agent "$machine" drain --wait 1d
# What there still is, such as "0 staging, 2 running, 0 held, 1 to send, 0 to store"; nothing while the machine is away.
left() {
  berth agent "$machine" status --json |
    sed -n 's/.*"Staging": \([0-9]*\), "Running": \([0-9]*\), "Held": \([0-9]*\), "Outgoing": \([0-9]*\), "Transfers": \([0-9]*\).*/\1 staging, \2 running, \3 held, \4 to send, \5 to store/p'
}
said=
until now=$(left) && [ "$now" = '0 staging, 0 running, 0 held, 0 to send, 0 to store' ]; do
  [ "$now" = "$said" ] || echo "waiting for $machine: ${now:-it does not answer}"
  said=$now
  sleep 5
done
"$@" || {
  status=$?
  echo "$machine stays drained: the command has failed with status $status; 'berth agent $machine resume' lets it work again" >&2
  exit "$status"
}
berth agent "$machine" resume --wait 1d
