#!/bin/sh
# maintenance.sh MACHINE COMMAND...: takes a machine out of the pool, waits until nothing runs there, runs the command (ssh to it, say), and
# lets it work again. A machine that is away gets its orders when it is back, within a day.
set -eu
machine=${1:?the name of a machine, as berth agents shows it}
shift
berth agent "$machine" drain --wait 1d
until berth agent "$machine" status --json | grep -q '"Staging": 0, "Running": 0, "Held": 0'; do
  sleep 5
done
"$@"
berth agent "$machine" resume --wait 1d
