#!/bin/sh
# gang_figures_test.sh: what docs/gangs.md says of the figures of chapter 5, in small pools: the counts that berth bench gang prints. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

"$berth" bench gang --machines 200 --algorithm all --rounds 1 >base 2>err || exit 1
"$berth" bench gang --machines 200 --algorithm all --rounds 1 --duds >duds 2>err || exit 1
"$berth" bench gang --workload skewed --machines 50 --algorithm all --rounds 1 >skewed 2>err || exit 1

cat >figures.py <<'END'
import json, sys
def rows(name): return [json.loads(line) for line in open(name)]
def at(name, algorithm, percent, key):
    return [r[key] for r in rows(name) if r['algorithm'] == algorithm and r['licenses'] == r['machines'] * percent // 100]
def base(algorithm, percent, key='probes'): return at('base', algorithm, percent, key)
def duds(algorithm, percent): return at('duds', algorithm, percent, 'probes')
def rises(numbers): return all(a < b for a, b in zip(numbers, numbers[1:]))
def each(test, *lists): return all(test(*values) for values in zip(*lists))
skewed = {r['algorithm']: r for r in rows('skewed')}
assert eval(sys.argv[1])
END
figure() { holds "$1" python3 figures.py "$2"; }

figure 'every algorithm makes gangs in both regimes' 'all(r["gangs"] >= 100 and r["gave_up"] == 0 for r in rows("base")) and len(rows("base")) == 72'
figure 'scarce licences: naive tries the more, the higher the selectivity is' 'rises(base("naive", 50, "evaluations"))'
figure 'with a licence for each machine that hardly matters' 'max(base("naive", 100, "evaluations")) < 1.15 * min(base("naive", 100, "evaluations"))'
figure 'naive puts in those that lr finds' 'base("naive", 50, "nodes") == base("lr", 50, "nodes") and base("naive", 100, "nodes") == base("lr", 100, "nodes")'
figure 'lr: every test confirms a probe' 'each(lambda e, p: e <= p, base("lr", 50, "evaluations") + base("lr", 100, "evaluations"), base("lr", 50) + base("lr", 100))'
figure 'lr: with scarce licences selectivity matters, and else not at all' 'rises(base("lr", 50)) and len(set(base("lr", 100))) == 1'
figure 'dyn does twice the probes of lr in the easy case, and fewer in the hard one' 'each(lambda d, l: 1.5 * l < d < 2.5 * l, base("dyn", 100), base("lr", 100)) and each(lambda d, l: d < l, base("dyn", 50), base("lr", 50))'
figure 'rl is good where lr is not, and the reverse' 'each(lambda r, l: r < l, base("rl", 50), base("lr", 50)) and each(lambda r, l: r > 5 * l, base("rl", 100), base("lr", 100))'
figure 'the checks of lrc and rlc help' 'each(lambda c, l: c < l, base("lrc", 50), base("lr", 50)) and each(lambda c, l: c < l, base("rlc", 100), base("rl", 100))'
figure 'lrc is as dyn at selectivity 1 alone, where licences are scarce' 'base("lrc", 50)[0] == base("dyn", 50)[0] and each(lambda c, d: c > d, base("lrc", 50)[1:], base("dyn", 50)[1:])'
figure 'with duds lrc and rlc are as lr and rl, and their two probes a job' 'each(lambda c, l: c == l + 400, duds("lrc", 50), duds("lr", 50)) and each(lambda c, l: c == l + 400, duds("rlc", 100), duds("rl", 100))'
figure 'dyn hardly notices duds' 'each(lambda w, d: w < 1.5 * d, duds("dyn", 50), base("dyn", 50))'
figure 'dyns does more probes than dyn where licences are plenty, the more the higher the selectivity, and no more where they are not' 'rises(base("dyns", 100)) and base("dyns", 100)[0] == base("dyn", 100)[0] and each(lambda s, d: s <= d, base("dyns", 50), base("dyn", 50))'
figure 'dynsr makes fewer gangs where licences are plenty, and as many where they are not' 'each(lambda r, s: r < s, base("dynsr", 100, "gangs"), base("dyns", 100, "gangs")) and base("dynsr", 50, "gangs") == base("dyns", 50, "gangs")'
figure 'auto takes at most three probes a job, and makes the most gangs' 'max(base("auto", 50) + base("auto", 100)) <= 600 and each(lambda a, d: a > d, base("auto", 100, "gangs"), base("dyn", 100, "gangs")) and base("auto", 50, "gangs") == [100] * 4'
figure 'on the skewed pool all nine make all gangs, naive too' 'len(skewed) == 9 and all(r["gangs"] == 10 and r["gave_up"] == 0 for r in skewed.values())'
figure 'there dyn does ten times the probes of dyns' 'skewed["dyn"]["probes"] > 10 * skewed["dyns"]["probes"]'

echo "1..$count"
[ $failures = 0 ]
