# counter.sh END: counts to END, a step a second. Where it is goes to the file `at`, from which the next try goes on.
end=$1
at=0
[ ! -f at ] || at=$(cat at)
echo "beginning at $at"

# Into another file first, then renamed: whoever fetches `at` finds the old one or the new one, and never half of one.
save() { echo "$at" >at.new && mv at.new at; }
trap save USR1
trap 'save; echo "stopped at $at"; exit 143' TERM

while [ "$at" -lt "$end" ]; do
  sleep 1 & # a shell takes signals while it waits, not while a program runs before it
  wait $!
  at=$((at + 1))
  echo "$at of $end" >"$BERTH_STATUS"
done
echo "counted to $at" >counted
echo "done"
