#!/bin/sh
# gang_why_cli_test.sh: berth why for requests and offers with ports, as a user runs it. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

cat >jobs.ad <<'END'
[ Name = "pair"; Ports = { [ Label = Host1; Constraint = Host1.Type == "Machine" ],
    [ Label = Host2; Constraint = Host2.Type == "Machine" && Host2.Subnet == Host1.Subnet ] } ]
[ Name = "one"; Ports = { [ Label = Host; Constraint = Host.Type == "Machine"; Rank = Host.Mips ] } ]
[ Name = "plain"; Constraint = other.Type == "Machine"; Rank = other.Mips ]
END
cat >pool.ad <<'END'
[ Name = "m1"; Type = "Machine"; Subnet = 5; Mips = 10 ]
[ Name = "m2"; Type = "Machine"; Subnet = 6; Mips = 20 ]
END
pair='pair: gets no gang from 2 offers now.
Port Host1: 2 of 2 offers fit.
Port Host2: 2 of 2 offers fit.
  tested only when somebody docks: Host2.Subnet == Host1.Subnet
Ports Host1 and Host2 cannot be filled together; any fewer ports can.
The search died at port Host2, with Host1 = m1: Host2.Subnet == Host1.Subnet  (that is, Host2.Subnet == 5) is true of nobody who is left; 1 offer that fits is in the gang already.'
one='one: gets a gang from 2 offers: Host = m2.'
plain='plain: matches 2 of 2 offers.
It gets m2 rather than m1 by self.Rank: 20 against 10.
     alone     left  clause
         2        2  jobs.ad:4:32  other.Type == "Machine"'

run "$berth" why -r jobs.ad -o pool.ad --name pair
expect 'a request with ports is explained as a gang' 1 "$pair"
run "$berth" why -r jobs.ad -o pool.ad --name one
expect 'the gang that it gets is the best, and the status is 0' 0 "$one"
run "$berth" why -r jobs.ad -o pool.ad --name plain
expect 'a request without ports in a pool without ports is explained as before' 0 "$plain"
run "$berth" why -r jobs.ad -o pool.ad
expect 'all are explained, a blank line between them' 1 "$pair

$one

$plain"
run "$berth" why --json -r jobs.ad -o pool.ad --name one
expect 'a gang as JSON' 0 '{"version": 1, "request": "one", "verdict": "matches", "offers": 2, "broken": 0, "gang": {"Host": "m2"}, "ports": [], "together": [], "smallest": false, "minimal": false, "died": null}'
run "$berth" why --json -r jobs.ad -o pool.ad --name pair
says 'no gang as JSON' 1 '{"version": 1, "request": "pair", "verdict": "not-now", *"together": \["Host1", "Host2"\], "smallest": true, "minimal": true, "died": {"port": "Host2", "docked": {"Host1": "m1"}, "fitting": 0, "taken": 1, "clause": "Host2.Subnet == Host1.Subnet", "means": "Host2.Subnet == 5", *' ''

echo '[ Name = "m3"; Type = "Machine"; Ports = { [ Label = job; Constraint = job.Owner == "ann" ] } ]' >>pool.ad
run "$berth" why -r jobs.ad -o pool.ad --name plain
expect 'an offer at whose ports it could not dock changes nothing for a request without ports but a line' 0 "$(echo "$plain" | sed '1a\
1 more has ports, and it could dock at none of them.')"
run "$berth" why --json -r jobs.ad -o pool.ad --name plain
says 'which is a field of the JSON' 0 '{"version": 1, "request": "plain", "verdict": "matches", *"offers": 2, *"ported": 1, *' ''
echo '[ Name = "anns"; Owner = "ann"; Constraint = other.Type == "Machine"; Rank = other.Mips ]' >>jobs.ad
run "$berth" why -r jobs.ad -o pool.ad --name anns
expect 'where it could dock at one, it is explained as a gang of one port' 0 \
  'anns: gets a gang from 3 offers: other = m2.'
tail -n 1 pool.ad >ported.ad
run "$berth" why -r jobs.ad -o ported.ad --name plain
says 'and so it is where all offers have ports' 1 "plain: gets no gang from 1 offer now.
Port other: 0 of 1 offer fit.
$(tail -n +3 out)" ''

echo '[ Name = "bad"; Ports = { [ Lable = x ] } ]' >bad.ad
run "$berth" why -r bad.ad -o pool.ad
expect 'ports that are not in order are refused' 2 '' 'berth: bad.ad: bad: port 1 has no Label'

echo "1..$count"
[ $failures = 0 ]
