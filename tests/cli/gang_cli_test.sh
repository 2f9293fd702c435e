#!/bin/sh
# gang_cli_test.sh: berth gang as a user runs it, on the examples that are shipped and on ads that are wrong. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
gangs=$BERTH_SOURCE/examples/gangs
algorithms='naive lr rl lrc rlc dyn dyns dynsr auto'

# gang NAME [OPTIONS]: on an example.
gang() {
  name=$1
  shift
  run "$berth" gang -r "$gangs/$name.ad" -o "$gangs/$name-pool.ad" "$@"
}

# ------------------------------------------------------------------------------------------------------------- examples

gang figure8
expect 'figure 8: the best host alone on its subnet is given up for two that are together' 0 'ROOT  MEMBERS
pair  Host1=viper Host2=mamba'

gang figure10
expect 'figure 10: a service brings its machine and its licence, and refuses a rival' 0 'ROOT     MEMBERS
scene42  server=render1(cpu=leo license=lic2)'
gang figure10 --json
expect 'a nested gang as JSON' 0 '{"root": "scene42", "members": {"server": {"offer": "render1", "port": "request", "members": {"cpu": {"offer": "leo", "port": "other", "members": {}}, "license": {"offer": "lic2", "port": "other", "members": {}}}}}}'

echo '[ Name = "two"; Ports = { [ Label = a; Constraint = a.X == 1 ], [ Label = b; Constraint = b.X == 2 ] } ]' >two.ad
echo '[ Name = "one"; X = 1 ]' >one-pool.ad
echo '[ Name = "other"; X = 2 ]' >other-pool.ad
run "$berth" gang -r two.ad -o one-pool.ad -o other-pool.ad
expect 'the offers of several files are taken' 0 'ROOT  MEMBERS
two   a=one b=other'
run "$berth" match -r two.ad -o one-pool.ad -o other-pool.ad
expect 'where one file is wanted a second is refused' 2 '' "berth: match: --offers: expected one file, and there are 'one-pool.ad' and 'other-pool.ad' (\`berth help match\` lists the options)"

gang figure11
expect 'figure 11: two nodes are one machine to their customer; a tentative yes is refuted for another' 0 'ROOT    MEMBERS
medium  machine=smp(cpu1=marlin.1 cpu2=marlin.2)'
gang figure11 --json
json 'the parent link is the last port' 0 'rows[0]["members"]["machine"]["port"] == "request"'

gang figure30
expect 'figures 28 to 30 as they are printed make no gang, and the status is 1' 1 ''
gang figure30 --json
expect 'no gang is no line' 1 ''

gang figure32
expect 'figure 32: the gang of a job, a machine and a licence' 0 'ROOT  MEMBERS
job1  Cpu=leo License=lic2'
gang figure32 --json
expect 'and as JSON' 0 '{"root": "job1", "members": {"Cpu": {"offer": "leo", "port": "Job", "members": {}}, "License": {"offer": "lic2", "port": "Job", "members": {}}}}'
for algorithm in $algorithms; do
  for figure in figure8 figure10 figure11 figure32; do
    gang $figure --algorithm $algorithm --preferences off --seed 1
    mv out $figure.$algorithm
  done
  holds "$algorithm finds the gang of figure 32" sh -c "printf 'ROOT  MEMBERS\njob1  Cpu=leo License=lic2\n' | diff - figure32.$algorithm"
  holds "$algorithm finds the gang of figure 10" sh -c "printf 'ROOT     MEMBERS\nscene42  server=render1(cpu=leo license=lic2)\n' | diff - figure10.$algorithm"
  holds "$algorithm finds two nodes for figure 11, in any order" grep -Eqx \
    'medium  machine=smp\(cpu1=marlin.1 cpu2=marlin.2\)|medium  machine=smp\(cpu1=marlin.2 cpu2=marlin.1\)' figure11.$algorithm
  holds "$algorithm finds two hosts on one subnet for figure 8" grep -Eqx \
    'pair  Host1=(asp Host2=(viper|mamba)|viper Host2=(asp|mamba)|mamba Host2=(asp|viper))' figure8.$algorithm
  gang figure30 --algorithm $algorithm
  expect "$algorithm finds no gang where there is none" 1 ''
done

gang network
expect 'a link is in one gang after another, until too little of it is left' 0 'ROOT   MEMBERS
copy1  cpu=m4 link=uplink
copy2  cpu=m3 link=uplink
copy4  cpu=m2 link=uplink'

gang licenses
expect 'of two licences the first is taken, while it is there' 0 'ROOT   MEMBERS
ada    cpu=m1 matlab=matlab-1
grace  cpu=m2 octave=octave-1'
gang licenses --json
json 'of alternatives only what was chosen is there' 0 '[sorted(r["members"]) for r in rows] == [["cpu", "matlab"], ["cpu", "octave"]]'

gang optional
expect 'an optional member is taken where it can be had, and is no reason to fail' 0 'ROOT    MEMBERS
train1  cpu=m2 gpu=gpu1
train2  cpu=m1'
gang optional --json
json 'an optional port that is not filled is left out' 0 '[sorted(r["members"]) for r in rows] == [["cpu", "gpu"], ["cpu"]]'

gang set
expect 'a set has the processors together, of as few nodes as will do, behind one switch' 0 'ROOT        MEMBERS
simulation  switch=west node={w2 w5}'
gang set --json
expect 'a set is a list' 0 '{"root": "simulation", "members": {"switch": {"offer": "west", "port": "other", "members": {}}, "node": [{"offer": "w2", "port": "other", "members": {}}, {"offer": "w5", "port": "other", "members": {}}]}}'
cat >fleet.ad <<'END'
[ Name = "a"; Speed = 10; Cpus = 1 ]
[ Name = "b"; Speed = 9; Cpus = 1 ]
[ Name = "c"; Speed = 8; Cpus = 9 ]
END
# fleet PORTS [OPTIONS]: a request with these ports, in front of those three.
fleet() {
  printf '[ Name = "s"; Ports = { %s } ]\n' "$1" >fleet-root.ad
  shift
  run "$berth" gang -r fleet-root.ad -o fleet.ad "$@"
}
mean='[ Label = node; Count = { 1, 3 }; Constraint = sum(node.Cpus) >= 10 && SetSize <= 2; Rank = sum(node.Speed) / SetSize ]'
fleet "$mean"
expect 'the best set is found, whatever its members are alone' 0 'ROOT  MEMBERS
s     node={a c}'
fleet "$mean" --set greedy
expect 'a greedy search adds the best one at a time, and can miss all sets' 1 ''
fleet '[ Label = node; Count = { 1, 3 }; Constraint = sum(node.Cpus) >= 10; Rank = sum(node.Speed) ]' --set greedy
expect 'but finds what lies on its way' 0 'ROOT  MEMBERS
s     node={a b c}'
fleet '[ Label = node; Count = 2; Constraint = node.Speed > 0; Rank = -node.Speed ]'
expect 'a rank that says nothing of the set is for each member' 0 'ROOT  MEMBERS
s     node={c b}'
fleet '[ Label = node; Count = { 1, 2 }; Constraint = node.Speed > 0 ]'
expect 'without a rank of the set it is as large as it can be' 0 'ROOT  MEMBERS
s     node={a b}'
fleet '[ Label = node; Count = 2; Constraint = node.Speed < 10 ], [ Label = head; Constraint = sum(node.Cpus) == head.Speed ]'
expect 'a port behind it speaks of the set as a whole' 0 'ROOT  MEMBERS
s     node={b c} head=a'
fleet '[ Label = node; Count = 2; Requirements = sum(node.Cpus) =?= 10 ]' -d condor
expect 'sets work in the condor dialect' 0 'ROOT  MEMBERS
s     node={a c}'
fleet '[ Label = node; Count = 4; Constraint = node.Speed > 0 ]'
expect 'too few for a set are none' 1 ''

# --------------------------------------------------------------------------------------------------------- groups, sharing

fleet '[ Choose = { 1, 2 }; Ports = { [ Label = p; Constraint = p.Speed == 10 ],
  [ Choose = 1; Ports = { [ Label = q; Constraint = q.Speed == 7 ], [ Label = r; Constraint = r.Speed == 8 ] } ],
  [ Label = t; Constraint = t.Speed == 9 ] } ]'
expect 'of a group as many are filled as may be, from the left; a group in it is one entry' 0 'ROOT  MEMBERS
s     p=a r=c'
fleet '[ Choose = 2; Ports = { [ Label = p; Constraint = p.Speed == 7 ], [ Label = q; Constraint = q.Speed == 9 ] } ]'
expect 'a group with too few that can be filled makes no gang' 1 ''
fleet '[ Essential = false; Choose = 2; Ports = { [ Label = p; Constraint = p.Speed == 7 ], [ Label = q; Constraint = q.Speed == 9 ] } ],
  [ Label = t; Constraint = t.Speed == 9 ]'
expect 'unless it is optional: then it stays empty' 0 'ROOT  MEMBERS
s     t=b'
fleet '[ Label = p; Constraint = q.Speed == 8 ], [ Label = q; Constraint = q.Speed == 8 ]'
expect 'a label is not known in the ports before it' 1 ''

fleet '[ Label = p; Constraint = p.Speed == 8 ], [ Label = q; Constraint = q.Speed == 8 ]'
expect 'an ad is in a gang once' 1 ''
for algorithm in $algorithms; do
  fleet '[ Label = p; Constraint = p.Speed == 8 ], [ Label = q; Share = true; Constraint = q.Speed == 8 ]' \
    --algorithm "$algorithm" --preferences off
  expect "unless the port shares it, by $algorithm" 0 'ROOT  MEMBERS
s     p=c q=c'
done

# ---------------------------------------------------------------------------------------------------------- preferences

cat >job.ad <<'END'
[ Name = "job"; Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine"; Rank = cpu.Mips ] } ]
[ Name = "next"; Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine"; Rank = cpu.Mips ] } ]
END
cat >machines.ad <<'END'
[ Name = "slow"; Type = "Machine"; Mips = 100 ]
[ Type = "Machine"; Mips = 300 ]
[ Name = "quick"; Type = "Machine"; Mips = 200 ]
END
run "$berth" gang -r job.ad -o machines.ad
expect 'the best is taken first; an ad without a name is called by its place in its file' 0 'ROOT  MEMBERS
job   cpu=#2
next  cpu=quick'
run "$berth" gang -r job.ad -o machines.ad --preferences off --json
json 'without preferences any that fit are taken' 0 'len(rows) == 2 and rows[0]["members"]["cpu"]["offer"] != rows[1]["members"]["cpu"]["offer"]'
cat >alike.ad <<'END'
[ Name = "one"; K = 1 ]
[ Name = "two"; K = 2 ]
[ Name = "three"; K = 1 ]
END
echo '[ Name = "r"; Ports = { [ Label = p; Constraint = p.K > 0 ], [ Label = q; Constraint = q.K > 0 ], [ Label = s; Constraint = s.K > 0 ] } ]' >three.ad
run "$berth" gang -r three.ad -o alike.ad
expect 'of equal candidates the first is taken, also when others are just like it' 0 'ROOT  MEMBERS
r     p=one q=two s=three'
echo '[ RootOrder = Name; DockingVector = { -label.Mips } ]' >policy.ad
run "$berth" gang -r job.ad -o machines.ad --policy policy.ad
expect 'a policy says who is served first, and with what' 0 'ROOT  MEMBERS
next  cpu=slow
job   cpu=quick'

echo '[ Name = "alone"; Ports = { [ Label = cpu; Essential = false; Constraint = false ] } ]' >alone.ad
run "$berth" gang -r alone.ad -o machines.ad
expect 'a gang may be its root alone, when all of its ports are optional' 0 'ROOT   MEMBERS
alone  -'
run "$berth" gang -r alone.ad -o machines.ad --json
expect 'and as JSON' 0 '{"root": "alone", "members": {}}'

printf '[ Name = "a b\\"c"; Ports = { [ Label = "cpu"; Constraint = cpu.Mips == 300 ] } ]' |
  "$berth" gang -r - -o machines.ad --json >out 2>err
status=$?
expect 'a label may be a string, a name anything; requests may come from standard input' 0 \
  '{"root": "a b\"c", "members": {"cpu": {"offer": "#2", "port": "other", "members": {}}}}'

# -------------------------------------------------------------------------------------------------- statistics, budgets

gang figure32 --stats --json
json '--stats is one more object' 0 '(len(rows) == 2 and rows[0]["root"] == "job1" and
  sorted(rows[1]) == ["evaluations", "gangs", "gave_up", "nodes", "probes", "roots", "seconds"] and
  rows[1]["gangs"] == 1 and rows[1]["roots"] == 1 and rows[1]["gave_up"] == 0 and rows[1]["nodes"] >= 2 and
  type(rows[1]["seconds"]) == float and 0 <= rows[1]["seconds"] < 20)'
gang figure30 --stats --json
json 'also when there is no gang' 1 'len(rows) == 1 and rows[0]["gangs"] == 0 and rows[0]["roots"] == 1'
gang figure32 --stats
says 'as a table it stands below that of the gangs' 0 'ROOT  MEMBERS
job1  Cpu=leo License=lic2

GANGS  ROOTS  GAVE_UP  PROBES  EVALUATIONS  NODES *SECONDS
*[0-9].[0-9][0-9][0-9][0-9][0-9][0-9]' ''
gang figure30 --stats
says 'or alone' 1 'GANGS  ROOTS  GAVE_UP  PROBES  EVALUATIONS  NODES *SECONDS
*' ''
gang figure32 --stats --json --algorithm naive
json 'naive asks no index, and evaluates' 0 'rows[1]["probes"] == 0 and rows[1]["evaluations"] > 0'
gang figure32 --stats --json --algorithm lr
json 'lr asks the index' 0 'rows[1]["probes"] > 0'

gang figure8 --nodes 1
expect 'a search that tries more than it may is given up, and told' 1 '' 'berth: gave up: pair after 1 candidate'
gang figure8 --nodes 1 --stats --json
json 'and counted' 1 'rows[-1]["gave_up"] == 1 and rows[-1]["gangs"] == 0 and rows[-1]["nodes"] <= 1'

# Nothing less than trying would find out that no six of forty make it come true: the last port asks for a remainder that there is not.
awk 'BEGIN {
  printf "[ Name = \"hard\"; Ports = { "
  for (i = 1; i <= 5; i++) printf "[ Label = p%d; Constraint = p%d.V > 0 ], ", i, i
  print "[ Label = p6; Constraint = (p1.V * 7 + p2.V * 11 + p3.V * 13 + p4.V * 17 + p5.V * 19 + p6.V * 23) % 97 == 98 ] } ]"
  print "[ Name = \"easy\"; Ports = { [ Label = p; Constraint = p.V == 8 ] } ]"
}' >hard.ad
awk 'BEGIN { for (i = 1; i <= 40; i++) printf "[ Name = \"n%d\"; V = %d ]\n", i, i }' >numbers.ad
for algorithm in $algorithms; do
  run "$berth" gang -r hard.ad -o numbers.ad --algorithm $algorithm --nodes 5000
  expect "$algorithm gives up, never hangs, and goes on with the next" 0 'ROOT  MEMBERS
easy  p=n8' 'berth: gave up: hard after 5000 candidates'
done

# Twenty nodes: more sets of ten than may be tried.
awk 'BEGIN { for (i = 1; i <= 20; i++) printf "[ Name = \"s%02d\"; V = %d ]\n", i, i % 7 }' >sets.ad
echo '[ Name = "set"; Ports = { [ Label = n; Count = 10; Rank = -sum(n.V) ] } ]' >set.ad
run "$berth" gang -r set.ad -o sets.ad --nodes 500
expect 'a set that may not be the best is taken, and that is told' 0 'ROOT  MEMBERS
set   n={s07 s14 s01 s08 s15 s02 s09 s16 s03 s10}' 'berth: 1 gang may not be the best: the search ended after 500 candidates; --nodes searches longer'

echo '[ Name = "may"; Ports = { [ Label = n; Constraint = n.V == 1 ], [ Choose = { 0, 1 }; Ports = { [ Label = x; Constraint = x.V == 9 ] } ] } ]' >may.ad
run "$berth" gang -r may.ad -o sets.ad
expect 'a group of which none need be chosen may stay empty' 0 'ROOT  MEMBERS
may   n=s01'
run "$berth" match -r may.ad -o sets.ad
expect 'match says that it does not look at ports' 0 'REQUEST  OFFER  RANK
may      s01       0' 'berth: may.ad: ads with Ports are matched here as if they had none; `berth gang` fills them'
run "$berth" why -r may.ad -o sets.ad --name s09
expect 'why does not explain an offer to its owner as if there were no ports' 2 '' \
  'berth: s09 is asked for by ports: why explains a gang to the request, with --name and its name'

# ----------------------------------------------------------------------------------------------------------- wrong ports

# refuses SENTENCE PORTS REASON: of an ad on the second line, as a request and as an offer.
refuses() {
  printf '[ Name = "fine" ]\n[ Name = "wrong"; Ports = %s ]\n' "$2" >wrong.ad
  run "$berth" gang -r wrong.ad -o machines.ad
  expect "$1" 2 '' "wrong.ad:2:1: $3"
  run "$berth" gang -r job.ad -o wrong.ad
  expect "$1, in an offer too" 2 '' "wrong.ad:2:1: $3"
}
refuses 'ports that are no list are refused' '[ Label = cpu ]' 'Ports is not a list of ads'
refuses 'an empty list' '{}' 'Ports is not a list of ads'
refuses 'a list of something else' '{ [ Label = cpu ], 7 }' 'port 2 is not an ad'
refuses 'a port without a label' '{ [ Label = cpu ], [ Constraint = true ] }' 'port 2 has no Label'
for label in 3 '"two words"' '""' 'self.cpu'; do
  refuses "a label that is no name, $label" "{ [ Label = $label ] }" \
    'the Label of port 1 is neither a name nor a string that could be one'
done
refuses 'a label that is there already, in whatever case' '{ [ Label = cpu ], [ Label = lic ], [ Label = CPU ] }' \
  'ports 1 and 3 have the same Label, CPU'
refuses 'and in a group' '{ [ Label = cpu ], [ Choose = 1; Ports = { [ Label = a ], [ Label = cpu ] } ] }' \
  'ports 1 and 3 have the same Label, cpu'
for given in 0 -1 257 1.5 '"two"' '{ 2 }' '{ 3, 2 }' '{ 1, 300 }' '{ 0, 0 }' '{ 1, 2, 3 }'; do
  refuses "a Count of $given" "{ [ Label = cpu; Count = $given ] }" \
    'the Count of port 1 is neither a number from 1 to 256 nor { least, most }'
done
refuses 'a group that does not say how many to choose' '{ [ Ports = { [ Label = a ], [ Label = b ] } ] }' \
  'the group at port 1 has no Choose'
for given in 0 3 '{ 2, 1 }' '"one"'; do
  refuses "a Choose of $given" "{ [ Choose = $given; Ports = { [ Label = a ], [ Label = b ] } ] }" \
    'the Choose of the group at port 1 is neither a number from 1 to 2, its entries, nor { least, most }'
done
refuses 'a group without entries' '{ [ Choose = 1; Ports = {} ] }' 'the Ports of the group at port 1 are not a list of ads'
printf '[ Residual = 7 ]\n' >wrong.ad
run "$berth" gang -r job.ad -o wrong.ad
expect 'a residual that is no ad' 2 '' 'wrong.ad:1:1: Residual is not written as an ad: [ Cpus = Cpus - other.RequestCpus ]'
printf '[ a = (1 ]\n' >wrong.ad
run "$berth" gang -r job.ad -o wrong.ad
expect 'an ad that does not parse is refused with its place' 2 '' "wrong.ad:1:10: expected ')' to close '(' at 1:7"

# ----------------------------------------------------------------------------------------------------------- the options

run "$berth" gang -r job.ad
expect 'gang wants both files' 2 '' 'berth: gang wants -r FILE with the requests and -o FILE with the offers'
run "$berth" gang -r job.ad -o machines.ad more
expect 'and nothing else' 2 '' 'berth: gang wants -r FILE with the requests and -o FILE with the offers'
run "$berth" gang -r - -o -
expect 'not both from standard input' 2 '' 'berth: standard input can be the requests or the offers, not both'
run "$berth" gang -r none.ad -o machines.ad
expect 'a file that is not there is named' 2 '' 'none.ad: No such file or directory'
# wrong OPTION ARGUMENT EXPECTED
wrong() {
  run "$berth" gang -r job.ad -o machines.ad "$1" "$2"
  expect "$1 takes no $2" 2 '' "berth: gang: $1: expected $3, got '$2' (\`berth help gang\` lists the options)"
}
wrong --algorithm magic 'naive, lr, rl, lrc, rlc, dyn, dyns, dynsr or auto'
wrong --preferences maybe 'on or off'
wrong --set lucky 'greedy or exact'
wrong --nodes 0 'a number from 1 to 1000000000'
run "$berth" gang -r job.ad -o machines.ad --algorithm dyn --preferences on
expect 'only auto knows preferences' 2 '' 'berth: --preferences on wants --algorithm auto: dyn takes any gang that fits'
: >empty.ad
run "$berth" gang -r empty.ad -o machines.ad
expect 'no requests, no gangs' 1 ''
run "$berth" gang -r job.ad -o empty.ad
expect 'no offers, no gangs' 1 ''
run "$berth" help gang
holds 'help tells of it' grep -q 'berth gang \[OPTIONS\] -r FILE -o FILE' out

# ------------------------------------------------------------------------------------------------------------ the manual

console "$BERTH_SOURCE/docs/gangs.md"
holds 'the manual has examples' [ $example -gt 8 ]
rm -r manual bin
console "$BERTH_SOURCE/docs/jobs.md"
holds 'also of a job with ports' [ $example -gt 2 ]

echo "1..$count"
[ $failures = 0 ]
