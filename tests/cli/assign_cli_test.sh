#!/bin/sh
# assign_cli_test.sh: berth assign as a user runs it, on the examples that are shipped and on ads that are wrong. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
examples=$BERTH_SOURCE/examples/assign

# assign NAME [OPTIONS]: on an example.
assign() {
  name=$1
  shift
  run "$berth" assign -r "$examples/$name.ad" -o "$examples/$name-clusters.ad" "$@"
}

# ------------------------------------------------------------------------------------------------------------- examples

assign figure1.1
expect 'figure 1.1: without a policy it is first come, first served, and job 3 finds no room' 0 'REQUEST  OFFER
job1     A
job2     A'
for policy in srfm lbm optimal; do
  assign figure1.1 --policy $policy
  expect "figure 1.1: $policy places all three" 0 'REQUEST  OFFER
job1     B
job2     B
job3     A'
done
assign figure1.1 --policy srfm --json
expect 'as JSON, an object a pair' 0 '{"request": "job1", "offer": "B"}
{"request": "job2", "offer": "B"}
{"request": "job3", "offer": "A"}'
for policy in fcfs srfm lbm optimal; do
  assign table4.1 --policy $policy --quantities Slots --json
  json "table 4.1: $policy makes four matches" 0 'len(rows) == 4 and len({r["request"] for r in rows}) == 4 and len({r["offer"] for r in rows}) == 4'
done
assign figure4.3 --policy lbm
expect 'figure 4.3: job 1 on cluster 1, job 2 on cluster 2' 0 'REQUEST  OFFER
job1     cluster1
job2     cluster2'
assign table4.1 --policy singles --quantities Slots
expect 'singles alone leaves out who has a choice' 0 'REQUEST  OFFER
J1       C2
J2       C1
J5       C3'
assign table4.1 --policy singles-minsum --quantities Slots --json
json 'and by turns with minsum it makes four' 0 'len(rows) == 4'
assign figure1.1 --policy optimal --stats --json
json 'the last object tells how good the result is' 0 'rows[-1]["placed"] == 3 and rows[-1]["bound"] == 3 and rows[-1]["gap"] == 0 and rows[-1]["exact"] == "yes" and rows[-1]["fell_back"] == "no"'

# ------------------------------------------------------------------------------------------------------------ quantities

echo '[ Name = "a"; RequestCpus = 2; Cpus = 99 ] [ Name = "b"; Cpus = 2 ] [ Name = "c"; Memory = 5 ]' >jobs.ad
echo '[ Name = "m"; Cpus = 3 ]' >machines.ad
run "$berth" assign -r jobs.ad -o machines.ad
expect 'RequestX is asked for, else X; what is not asked for is 0, and what an offer does not tell has no limit' 0 'REQUEST  OFFER
a        m
c        m'
run "$berth" assign -r jobs.ad -o machines.ad --quantities Memory
expect 'only the quantities that are named count' 0 'REQUEST  OFFER
a        m
b        m
c        m'
run "$berth" assign -r jobs.ad -o machines.ad --quantities 'Cpus,,Memory'
expect 'names of quantities are names' 2 '' "berth: assign: --quantities: expected names of attributes with commas between, got 'Cpus,,Memory' (\`berth help assign\` lists the options)"
echo '[ Name = "n"; Cpus = 1; Count = 4 ]' >many.ad
run "$berth" assign -r many.ad -o machines.ad
expect 'a request with a Count is placed so often' 0 'REQUEST  OFFER
n        m
n        m
n        m'
run "$berth" assign -r many.ad -r jobs.ad -o machines.ad -o machines.ad --json
json 'several files are read in their order' 0 'len(rows) > 0 and rows[0]["request"] == "n"'
echo '[ Name = "big"; Cpus = 4 ]' >big.ad
run "$berth" assign --desires -r big.ad -o machines.ad
expect 'nobody fits anything: no desire, and status 1' 1 ''
printf '[ Name = "j"; Cpus = 2; Memory = 30; Disk = 500; Count = 3 ] [ Name = "k"; Cpus = 9 ]' >asks.ad
printf '[ Name = "c"; Cpus = 8; Memory = 60; Disk = 1000 ] [ Name = "d"; Cpus = 4; Memory = 60 ] [ Name = "e"; Cpus = 1 ]' >haves.ad
run "$berth" assign --desires -r asks.ad -o haves.ad
expect 'the desire is what is asked for by what there is, of what is limited, once for a Count' 0 'REQUEST  OFFER  DESIRE
j        c      0.0625
j        d        0.25'
run "$berth" assign -r big.ad -o machines.ad
expect 'nothing is placed: status 1' 1 ''
run "$berth" assign --json -r big.ad -o machines.ad
expect 'and no line' 1 ''
echo '[ Cpus = 1; Rank = other.Mips ]' >likes.ad
echo '[ Name = "slow"; Cpus = 1; Mips = 1 ] [ Name = "fast"; Cpus = 1; Mips = 9 ]' >speeds.ad
for policy in fcfs optimal minsum; do
  run "$berth" assign --policy $policy -r likes.ad -o speeds.ad
  expect "$policy follows the rank; an ad without a name is called by its place" 0 'REQUEST  OFFER
#1       fast'
done

# ------------------------------------------------------------------------------------------------------------- bad input

printf '[ Name = "good"; Cpus = 1 ]\n[ Name = "bad"; RequestCpus = -1 ]\n[ Name = "gang"; Ports = { [ Label = x ] } ]\n' >mixed.ad
run "$berth" assign -r mixed.ad -o machines.ad
expect 'who cannot take part is told of with file and line, and the others are placed' 0 'REQUEST  OFFER
good     m' 'berth: mixed.ad:2: request bad takes no part: its RequestCpus is not an amount: expected a number from 0 on
berth: mixed.ad:3: request gang takes no part: it has Ports, and wants a gang: see berth gang'
printf '[ Name = "m"; Cpus = "three" ]\n' >odd.ad
run "$berth" assign -r jobs.ad -o odd.ad
expect 'an offer with an amount that is none gets nobody' 1 '' 'berth: odd.ad:1: offer m takes no part: its Cpus is not an amount: expected a number from 0 on'
run "$berth" assign -r jobs.ad
expect 'both sides are wanted' 2 '' 'berth: assign wants -r FILE with the requests and -o FILE with the offers'
run "$berth" assign -r jobs.ad -o machines.ad --policy srmf
expect 'a wrong policy is told what was meant' 2 '' "berth: assign: --policy: there is no policy 'srmf'; did you mean 'srfm'? (\`berth help assign\` lists the options)"
echo '[ Name = ' >broken.ad
run "$berth" assign -r broken.ad -o machines.ad
expect 'an ad that cannot be read: where' 2 '' 'broken.ad:2:1: expected an expression, got the end'
echo '[ Cpus = 1; Count = 3000000 ]' >huge.ad
run "$berth" assign -r huge.ad -o machines.ad
expect 'more requests than there may be' 2 '' 'berth: request 1: with their Count these are more than 2000000 requests'

# A search that cannot end soon: it stops, and says how far it may be from the best.
python3 - >hard.ad <<'PY'
for i in range(60):
    print('[ Name = "j%d"; Cpus = %d; Memory = %d; Rank = other.Mips * %d ]' % (i, 3 + i * 7 % 11, 5 + i * 5 % 13, 1 + i % 3))
PY
python3 - >hard-clusters.ad <<'PY'
for i in range(12):
    print('[ Name = "c%d"; Cpus = %d; Memory = %d; Mips = %d ]' % (i, 23 + i % 5, 29 + i % 7, 1 + i * 3 % 7))
PY
run "$berth" assign --policy optimal --work 500 -r hard.ad -o hard-clusters.ad --stats --json
json 'optimal under a limit of work has a bound' 0 'rows[-1]["exact"] == "no" and 0 < rows[-1]["gap"] < 0.3 and rows[-1]["placed"] <= rows[-1]["bound"]'
holds 'and says so' grep -q 'gap' err
cp out first.out
run "$berth" assign --policy optimal --work 500 -r hard.ad -o hard-clusters.ad --stats --json
holds 'and is the same each time' sh -c 'sed "s/\"seconds.*//" first.out >one; sed "s/\"seconds.*//" out >two; cmp one two'

run "$berth" bench assign --ads 60 --machines 20 --kinds 10 --cluster-kinds 5 --rounds 1
json 'bench assign prints a row for the problem and one for each policy' 0 '[r["name"] for r in rows] == ["assign-build"] + ["assign-" + p for p in "fcfs sjf ljf srfm lbm minsum singles singles-minsum optimal".split()] and all(r["placed"] <= 60 for r in rows[1:])'

# A hundred clusters of five kinds. Filled one by one, what stays free is in pieces too small for who is left: 1.8 percent below the bound.
python3 - <<'PY'
import random
some = random.Random(7)
with open('many.ad', 'w') as jobs, open('many-clusters.ad', 'w') as clusters:
    for i in range(60):
        print('[ Name = "j%d"; Count = %d; Cpus = %d; Memory = %d ]' % (i, some.randint(5, 30), some.choice([1, some.randint(2, 30)]), some.randint(1, 10)), file=jobs)
    for i in range(100):
        print('[ Name = "c%d"; Cpus = %d; Memory = %d ]' % (i, [23, 37, 41, 58, 89][i % 5], [90, 70, 100, 80, 120][i % 5]), file=clusters)
PY
run "$berth" assign --policy optimal --work 5000 -r many.ad -o many-clusters.ad --stats --json
json 'optimal is within one percent of its bound' 0 'rows[-1]["gap"] < 0.01 and rows[-1]["placed"] <= rows[-1]["bound"]'

# ------------------------------------------------------------------------------------------------------------ the manual

run "$berth" help assign
holds 'help tells of it' grep -q 'berth assign \[OPTIONS\]' out
console "$BERTH_SOURCE/docs/assign.md"
holds 'the manual has examples' [ $example -gt 6 ]

echo "1..$count"
[ $failures = 0 ]
