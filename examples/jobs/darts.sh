# darts.sh COUNT: throws darts at a square, and counts those in the circle. Which throws: $BERTH_INDEX.
echo "throwing $1 darts" >"$BERTH_STATUS"
awk -v seed="$((BERTH_INDEX + 1))" -v n="$1" 'BEGIN {
  srand(seed)
  for (i = 0; i < n; i++) { x = rand(); y = rand(); hits += x * x + y * y < 1 }
  printf "%.4f\n", 4 * hits / n
}' >"pi.$BERTH_INDEX"
echo "job $BERTH_JOB, number $BERTH_INDEX of the sweep, says $(cat "pi.$BERTH_INDEX")"
