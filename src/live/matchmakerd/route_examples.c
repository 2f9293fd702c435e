/* route_examples.c: an example of each route of the matchmaker, as /openapi.json shows it and examples_live_test.sh sends it (live/http/route.h). The caller is
 * alice, who administers the pool; heron is a machine, desk her customer. */
#include "live/matchmakerd/routes.h"

const struct route_example matchmakerd_examples[] = {
    {"ads.put", "", "/v1/ads/desk%2D7", "[ Type = \"Storage\"; Name = \"se1\"; Memory = 1024; Constraint = false ]",
     201,
     "{\"Message\": \"advertised\", \"Id\": \"c2b5278e961ef337\", \"Version\": \"0000000000000001\", "
     "\"Reason\": \"ok\", \"Incarnation\": \"4416ec825e6f079b\", \"Settled\": \"0000000000000000\", \""
     "Span\": 0, \"Clock\": 14477867175}",
     0},
    {"ads.get", "ads.put", "/v1/ads/desk-7?select=Name,Memory", NULL, 200, "{\"Name\": \"se1\", \"Memory\": 1024}", 0},
    {"ads.list", "ads.put", "/v1/ads?constraint=Name%20%3D%3D%20%22se1%22&limit=10", NULL, 200,
     "[{\"Type\": \"Storage\", \"Name\": \"se1\", \"Memory\": 1024, \"Constraint\": false, \"Owner\":"
     " \"alice\", \"Identity\": \"alice\", \"Received\": 1795097717, \"AdId\": \"desk-7\"}]",
     EXAMPLE_MORE},
    {"ads.batch", "", NULL,
     "[ Message = \"advertise\"; Id = \"a\"; Ad = [ Memory = 1 ] ]\n"
     "[ Message = \"withdraw\"; Id = \"a\" ]",
     200,
     "[{\"Message\": \"advertised\", \"Id\": \"5e025f9ade9eaf3e\", \"Reason\": \"ok\", \"Incarnation\""
     ": \"4416ec825e6f079b\", \"Settled\": \"0000000000000000\", \"Span\": 0, \"Clock\": 14477869259}"
     "]",
     EXAMPLE_MORE},
    {"names", "ads.put", "/v1/names?prefix=Mem", NULL, 200, "[{\"Name\": \"Memory\", \"Ads\": 2}]", 0},
    {"ads.matches", "ads.put", "/v1/ads/desk-7/matches", NULL, 200, "[]", 0},
    {"ads.why", "ads.put", "/v1/ads/desk-7/why", NULL, 200,
     "{\"version\": 1, \"offer\": \"desk-7\", \"verdict\": \"never\", \"case\": \"refuses-everybody\""
     ", \"unseen\": 0, \"offers\": 0, \"fitting\": 0, \"accepting\": 0, \"matching\": 0, \"discarded\""
     ": false, \"clauses\": [{\"clause\": 0, \"text\": \"false\", \"means\": \"false\", \"attribute\""
     ": \"Constraint\", \"alone\": 0, \"left\": 0}], \"conflicts\": [{\"clauses\": [0], \"kind\": \"n"
     "ever-true\"}], \"blocking\": [{\"clauses\": [], \"offers\": false, \"opens\": 0}], \"blocking_c"
     "omplete\": true}",
     EXAMPLE_MORE},
    {"machines.list", "", "/v1/machines?order=name&limit=10", NULL, 200,
     "[{\"Name\": \"heron\", \"Type\": \"Machine\", \"State\": \"Part\", \"Pulls\": false, \"Since\":"
     " 1.547545, \"Heard\": 0.312041, \"Cpus\": 2, \"CpusUsed\": 1, \"Memory\": 25276514304, \"Memory"
     "Used\": 16777216, \"Disk\": 70616228659, \"DiskUsed\": 16777216, \"GpuCount\": 0, \"GpusUsed\":"
     " 0}]",
     EXAMPLE_MORE},
    {"machines.get", "", "/v1/machines/heron", NULL, 200,
     "{\"Name\": \"heron\", \"Type\": \"Machine\", \"State\": \"Part\", \"Pulls\": false, \"Since\": "
     "1.547968, \"Heard\": 0.312464, \"Cpus\": 2, \"CpusUsed\": 1, \"Memory\": 25276514304, \"MemoryU"
     "sed\": 16777216, \"Disk\": 70616228659, \"DiskUsed\": 16777216, \"GpuCount\": 0, \"GpusUsed\": "
     "0}",
     EXAMPLE_MORE},
    {"machines.forget", "", "/v1/machines/gone", NULL, 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"no machine"
     " of that name is known\", \"request\": \"2a\"}",
     0},
    {"reservations.list", "", NULL, NULL, 200, "[]", 0},
    {"reservations.get", "", "/v1/reservations/00000000000000ff", NULL, 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"no machine"
     " tells of a reservation of that number\", \"request\": \"2a\"}",
     0},
    {"match", "ads.put", NULL,
     "[ Type = \"Job\"; Cmd = \"true\"; Constraint = other.Name == \"heron\"; RequestCpus = 1; Reques"
     "tMemory = 16777216; RequestDisk = 16777216 ]",
     200, "[{\"Id\": \"d2006da54e7ac851\", \"Rank\": 0.0}]", 0},
    {"eval", "", NULL, "[ Left = \"[ Memory = 8 ]\"; Right = \"[ Need = 4 ]\"; Expression = \"Memory - other.Need\" ]",
     200,
     "{\"Value\": \"4\", \"Type\": \"integer\", \"Matches\": true, \"LeftConstraint\": \"true\", \"Ri"
     "ghtConstraint\": \"true\", \"LeftRank\": \"undefined\", \"RightRank\": \"undefined\"}",
     0},
    {"lint", "", NULL, "[ Text = \"[ Cmd = \\\"true\\\"; Constraint = other.Memry > 1 ]\" ]", 200,
     "{\"Language\": \"ad\", \"Count\": 1, \"Findings\": [], \"Remarks\": []}", EXAMPLE_MORE},
    {"functions", "", NULL, NULL, 200,
     "[{\"Name\": \"isUndefined\", \"Arguments\": \"V\", \"Help\": \"is V undefined?\", \"Classic\": "
     "true, \"Condor\": true}]",
     0},
    {"pull", "", "/v1/pull?id=crane", "[ Name = \"crane\"; Cpus = 1; Memory = 1024; Constraint = false ]", 204, NULL,
     0},
    {"policy.get", "", NULL, NULL, 200, "{}", 0},
    {"policy.put", "policy.get", NULL, "[ ]", 200, "{}", 0},
    {"policy.try", "policy.put", "/v1/policy/try?compare=true", "[ Constraint = true ]", 200, "[]", 0},
    {"matches.list", "", "/v1/matches?limit=10", NULL, 200,
     "[{\"Type\": \"Match\", \"Request\": \"c8448d26d635578b\", \"Offer\": \"d2006da54e7ac851\", \"Ow"
     "ner\": \"alice\", \"Provider\": \"machine/heron\", \"Gang\": \"4a8e966691757717\", \"Claim\": \""
     "1f4d776e85453362\", \"Age\": 1.569857}]",
     EXAMPLE_MORE},
    {"claims.list", "", "/v1/claims?limit=10", NULL, 200,
     "[{\"Type\": \"Claim\", \"Claim\": \"cb5b9986d1a3cc59\", \"Gang\": \"2bff03726a5899e2\", \"Owner"
     "\": \"alice\", \"Provider\": \"machine/heron\", \"State\": \"expected\", \"Age\": 0.390952, \"U"
     "sed\": 0.0}]",
     EXAMPLE_MORE},
    {"claims.report", "", NULL,
     "[Message=\"report\";Claim=\"00000000000000c1\";Gang=\"00000000000000a1\";Owner=\"alice\";Used=0"
     ";Over=false;Group=\"\";Limits=\"\";Weight=0]",
     200, "[{\"Message\": \"got\", \"Reason\": \"unknown\"}]", EXAMPLE_MORE},
    {"ends.tell", "", NULL,
     "[ Queue = \"00000000000000d1\"; Last = 64; Ended = \"57-63:done:EXITED:0 64:removed:RELEASED:0\""
     " ]",
     204, NULL, 0},
    {"ends.list", "ends.tell", "/v1/ends?queue=00000000000000d1", NULL, 200,
     "{\"Ended\": \"57-63:done:EXITED:0 64:removed:RELEASED:0\", \"Last\": 64}", 0},
    {"users.put", "", "/v1/users/zoe", "[ Factor = 2.0 ]", 200,
     "{\"Type\": \"User\", \"Name\": \"zoe\", \"Usage\": 0.0, \"Factor\": 2.0, \"Priority\": 1.0, \"C"
     "laims\": 0, \"Units\": 0.0}",
     EXAMPLE_MORE},
    {"users.get", "users.put", "/v1/users/zoe", NULL, 200,
     "{\"Type\": \"User\", \"Name\": \"zoe\", \"Usage\": 0.0, \"Factor\": 2.0, \"Priority\": 1.0, \"C"
     "laims\": 0, \"Units\": 0.0}",
     EXAMPLE_MORE},
    {"users.list", "users.put", "/v1/users?constraint=Name%20%3D%3D%20%22zoe%22", NULL, 200,
     "[{\"Type\": \"User\", \"Name\": \"zoe\", \"Usage\": 0.0, \"Factor\": 2.0, \"Priority\": 1.0, \""
     "Claims\": 0, \"Units\": 0.0}]",
     EXAMPLE_MORE},
    {"users.why", "users.put", "/v1/users/zoe/why", NULL, 200,
     "{\"Type\": \"UserWhy\", \"Name\": \"zoe\", \"Usage\": 0.0, \"HalfLife\": 86400.0, \"UsageLater\""
     ": 0.0, \"Factor\": 2.0, \"Units\": 0.0, \"Claims\": 0, \"Priority\": 1.0, \"Requests\": 0, \"Pl"
     "ace\": 0, \"Places\": 0, \"Ahead\": [], \"Holds\": []}",
     EXAMPLE_MORE},
    {"usage", "", "/v1/usage?by=user&since=2026-01&until=2026-12", NULL, 200,
     "[{\"Type\": \"Usage\", \"User\": \"alice\", \"Claims\": 3, \"Jobs\": 3, \"Wall\": 1.1, \"Cpu\":"
     " 0.018, \"Normalised\": 0.017, \"CpusHeld\": 1.1, \"GpusHeld\": 0.0, \"UnitsHeld\": 1.1, \"Memo"
     "ry\": 1667072, \"BytesIn\": 0, \"BytesOut\": 6}]",
     EXAMPLE_MORE},
    {"users.rights", "users.put", "/v1/users/zoe/rights", NULL, 200,
     "{\"Type\": \"Rights\", \"Name\": \"zoe\", \"Disabled\": false, \"Scope\": \"\", \"Tokens\": [],"
     " \"Accounts\": [{\"Type\": \"User\", \"Name\": \"zoe\", \"Usage\": 0.0, \"Factor\": 2.0, \"Prio"
     "rity\": 1.0, \"Claims\": 0}], \"Groups\": [], \"Agents\": 0, \"Ads\": 0, \"Limits\": {\"Request"
     "sPerSecond\": 100, \"AgentRequestsPerSecond\": 20000, \"AdsPerIdentity\": 20000, \"AdBytesPerId"
     "entity\": 67108864}}",
     EXAMPLE_MORE},
    {"users.disable", "users.rights users.why", "/v1/users/zoe/disabled", "[ Reason = \"has left\"; Now = false ]", 200,
     "{\"Type\": \"User\", \"Name\": \"zoe\", \"Disabled\": true, \"By\": \"alice\", \"At\": 17950977"
     "17, \"Reason\": \"has left\", \"Now\": false}",
     EXAMPLE_MORE},
    {"users.enable", "users.disable", "/v1/users/zoe/disabled", NULL, 200,
     "{\"Type\": \"User\", \"Name\": \"zoe\", \"Disabled\": false}", 0},
    {"shares.put", "", NULL,
     "[ Groups = { [ Name = \"physics\"; Quota = 1000; Surplus = true ] }; Limits = [ matlab = 4 ] ]", 200,
     "{\"Groups\": [{\"Name\": \"physics\", \"Quota\": 1000, \"Surplus\": true}], \"Limits\": {\"matl"
     "ab\": 4}}",
     0},
    {"shares.get", "shares.put", NULL, NULL, 200,
     "{\"Groups\": [{\"Name\": \"physics\", \"Quota\": 1000, \"Surplus\": true}], \"Limits\": {\"matl"
     "ab\": 4}}",
     0},
    {"groups.list", "shares.put", NULL, NULL, 200,
     "[{\"Type\": \"Group\", \"Name\": \"<none>\", \"Quota\": 0.0, \"Used\": 1.0, \"Surplus\": true, "
     "\"Pool\": 4.0}]",
     EXAMPLE_MORE},
    {"limits.list", "shares.put", NULL, NULL, 200,
     "[{\"Type\": \"Limit\", \"Name\": \"matlab\", \"Most\": 4, \"Used\": 0}]", EXAMPLE_MORE},
    {"agents.put", "", "/v1/agents/heron", "[ Role = \"provider\"; Host = \"heron.example.org\"; Version = \"1\" ]",
     200,
     "{\"Type\": \"Agent\", \"Identity\": \"alice\", \"Name\": \"heron\", \"Agent\": \"85d2db533499bd"
     "17\", \"Since\": 3e-06, \"LastWord\": 3e-06, \"Role\": \"provider\", \"ContactState\": \"none\""
     ", \"Connected\": false, \"Draining\": false, \"Ads\": 0, \"Letters\": 0, \"Knows\": \"usage\"}",
     EXAMPLE_MORE},
    {"agents.list", "agents.put", "/v1/agents?constraint=Name%20%3D%3D%20%22heron%22", NULL, 200,
     "[{\"Type\": \"Agent\", \"Identity\": \"machine/heron\", \"Name\": \"heron\", \"Agent\": \"abf29"
     "49b998f1fc7\", \"Since\": 31.057499, \"LastWord\": 0.333693, \"Role\": \"provider\", \"Contact\""
     ": \"http://192.0.2.7:7600\", \"ContactState\": \"good\", \"BoxKey\": \"007db6e91e2ded7d890b719a"
     "454033dc4fd2aa73a8a38b5f74ffde7204e14c25\", \"Connected\": true, \"Draining\": false, \"Ads\": "
     "1, \"Letters\": 5}]",
     EXAMPLE_MORE},
    {"agents.get", "agents.put", "/v1/agents/85d2db533499bd17", NULL, 200,
     "{\"Type\": \"Agent\", \"Identity\": \"alice\", \"Name\": \"heron\", \"Agent\": \"85d2db533499bd"
     "17\", \"Since\": 0.000861, \"LastWord\": 0.000861, \"Role\": \"provider\", \"ContactState\": \""
     "none\", \"Connected\": false, \"Draining\": false, \"Ads\": 0, \"Letters\": 0}",
     EXAMPLE_MORE},
    {"agents.policy", "agents.put", "/v1/agents/heron/policy", "[ By = \"alice\"; What = \"AlwaysIdle is true\" ]", 201,
     "{\"Name\": \"heron\"}", EXAMPLE_MORE},
    {"agents.command", "agents.put", "/v1/agents/85d2db533499bd17/commands",
     "[ Command = \"drain\"; Now = true; Lifetime = 60 ]", 201,
     "{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"drain\", \"Agent\": \"85d2db533499bd17\","
     " \"Name\": \"heron\", \"By\": \"alice\", \"Age\": 0, \"Left\": 60, \"State\": \"waiting\", \"Wh"
     "at\": {\"Command\": \"drain\", \"Now\": true}}",
     EXAMPLE_MORE},
    {"commands.list", "agents.command", NULL, NULL, 200,
     "[{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"drain\", \"Agent\": \"85d2db533499bd17\""
     ", \"Name\": \"heron\", \"By\": \"alice\", \"Age\": 0, \"Left\": 60, \"State\": \"waiting\", \"W"
     "hat\": {\"Command\": \"drain\", \"Now\": true}}]",
     EXAMPLE_MORE},
    {"commands.get", "agents.command", "/v1/commands/1", NULL, 200,
     "{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"drain\", \"Agent\": \"85d2db533499bd17\","
     " \"Name\": \"heron\", \"By\": \"alice\", \"Age\": 0, \"Left\": 60, \"State\": \"waiting\", \"Wh"
     "at\": {\"Command\": \"drain\", \"Now\": true}}",
     EXAMPLE_MORE},
    {"commands.answer", "agents.command", "/v1/commands/999", "[ Key = \"0011223344556677\"; Reason = \"ok\" ]", 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"no such co"
     "mmand waits for that agent\", \"request\": \"2a\"}",
     0},
    {"desks.list", "", NULL, NULL, 200,
     "[{\"Type\": \"Desk\", \"Agent\": \"d95821e7f8d0e5ba\", \"Identity\": \"alice\", \"Name\": \"des"
     "k\"}]",
     0},
    {"desk.get", "", "/v1/desk/d95821e7f8d0e5ba/summary", NULL, 200,
     "{\"Changes\": 1795097685330764, \"Total\": 0, \"Waiting\": 0, \"Ready\": 0, \"Scheduled\": 0, \""
     "Running\": 0, \"Held\": 0, \"Done\": 0, \"Failed\": 0, \"Aborted\": 0, \"Cancelled\": 0, \"Bloc"
     "ked\": 0, \"Stuck\": 0}",
     EXAMPLE_MORE},
    {"desk.post", "desk.get", "/v1/desk/d95821e7f8d0e5ba/control", "[ Verb = \"hold\"; Ids = \"1-3\" ]", 200,
     "{\"Changed\": 0, \"Unchanged\": 0, \"Missing\": 3}", EXAMPLE_MORE | EXAMPLE_AD},
    {"desk.put", "",
     "/v1/desk/d95821e7f8d0e5ba/spool/896f3620f3e0847528310d1b3b42cf98e8e89e19bd14b025b793b557b874ea58?offset=0&size=5",
     "land\n", 201, "{\"Have\": 5}", 0},
    {"events", "", "/v1/events?wait=0", NULL, 200, "[]", 0},
    {"relay", "", "/v1/relay/0123456789abcdef", "hello", 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"no such ag"
     "ent is known\", \"request\": \"2a\"}",
     0},
    {"relay.answer", "", "/v1/answers/1", "hello", 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"nobody wai"
     "ts for that answer\", \"request\": \"2a\"}",
     0},
    {"overview", "", NULL, NULL, 200,
     "{\"Type\": \"Overview\", \"Offers\": 1, \"Requests\": 0, \"Waiting\": 0, \"Claims\": 0, \"Match"
     "es\": 5, \"Cycles\": 20, \"Agents\": 4, \"Machines\": {\"Known\": 1, \"Idle\": 0, \"Part\": 1, "
     "\"Busy\": 0, \"Owner\": 0, \"Drained\": 0, \"Sick\": 0, \"Away\": 0, \"Cpus\": 2, \"CpusUsed\":"
     " 1, \"Memory\": 25276514304, \"MemoryUsed\": 16777216, \"Disk\": 70616228659, \"DiskUsed\": 167"
     "77216}, \"Kinds\": [{\"Kind\": \"Machine\", \"Offers\": 1, \"Parted\": 0, \"Taken\": 0}], \"Out"
     "comes\": []}",
     EXAMPLE_MORE},
    {"reasons", "", NULL, NULL, 200, "[]", EXAMPLE_MORE},
    {"series", "", "/v1/series?span=hour", NULL, 200,
     "{\"Span\": \"hour\", \"At\": [1795097684, 1795097694], \"Offers\": [0, 1], \"Claims\": [0, 0], "
     "\"Waiting\": [0, 0], \"Matches\": [0, 0]}",
     EXAMPLE_MORE},
    {"watch", "", NULL, NULL, 200,
     "{\"Type\": \"Overview\", \"Offers\": 1, \"Requests\": 0, \"Waiting\": 0, \"Claims\": 0, \"Match"
     "es\": 5, \"Cycles\": 20, \"Agents\": 4, \"Machines\": {\"Known\": 1, \"Idle\": 0, \"Part\": 1, "
     "\"Busy\": 0, \"Owner\": 0, \"Drained\": 0, \"Sick\": 0, \"Away\": 0, \"Cpus\": 2, \"CpusUsed\":"
     " 1, \"Memory\": 25276514304, \"MemoryUsed\": 16777216, \"Disk\": 70616228659, \"DiskUsed\": 167"
     "77216}, \"Kinds\": [{\"Kind\": \"Machine\", \"Offers\": 1, \"Parted\": 0, \"Taken\": 0}], \"Out"
     "comes\": []}",
     EXAMPLE_MORE},
    {"status", "", NULL, NULL, 200,
     "{\"Type\": \"Matchmaker\", \"Name\": \"pool\", \"Pool\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", "
     "\"Url\": \"http://192.0.2.7:7600\", \"Incarnation\": \"4416ec825e6f079b\", \"Up\": 33.14853, \""
     "Clock\": 1795097717, \"Ads\": 2, \"Agents\": 4, \"Machines\": 2, \"Learns\": 266.903496, \"Matc"
     "hes\": 5, \"Claims\": 0, \"Cycles\": 20}",
     EXAMPLE_MORE},
    {"files.put", "", "/v1/files/run7%2Fb.dat",
     "[ Size = 4096; Hash = \"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
     "\" ]",
     201,
     "{\"Name\": \"run7/b.dat\", \"Size\": 4096, \"Hash\": \"sha256:00112233445566778899aabbccddeeff0"
     "0112233445566778899aabbccddeeff\", \"Replicas\": [], \"Owner\": \"alice\"}",
     0},
    {"replicas.add", "files.put", "/v1/files/run7%2Fb.dat/replicas",
     "[Store = \"se1\"; Url = \"http://se1.example.org/data/run7/a.dat\"; Size = 4096; Hash = \"sha25"
     "6:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"]",
     200,
     "{\"Name\": \"run7/b.dat\", \"Size\": 4096, \"Hash\": \"sha256:00112233445566778899aabbccddeeff0"
     "0112233445566778899aabbccddeeff\", \"Replicas\": [{\"Store\": \"se1\", \"Url\": \"http://se1.ex"
     "ample.org/data/run7/a.dat\"}], \"Owner\": \"alice\"}",
     0},
    {"files.keep", "replicas.add", "/v1/files/run7%2Fb.dat", "[ Copies = 2; CopiesAt = { \"se1\", \"se2\" } ]", 200,
     "{\"Name\": \"run7/b.dat\", \"Size\": 4096, \"Hash\": \"sha256:00112233445566778899aabbccddeeff0"
     "0112233445566778899aabbccddeeff\", \"Replicas\": [{\"Store\": \"se1\", \"Url\": \"http://se1.ex"
     "ample.org/data/run7/a.dat\"}], \"Copies\": 2, \"CopiesAt\": [\"se1\", \"se2\"], \"Owner\": \"al"
     "ice\"}",
     0},
    {"files.list", "files.keep", "/v1/files?prefix=run7/", NULL, 200,
     "[{\"Name\": \"run7/b.dat\", \"Size\": 4096, \"Hash\": \"sha256:00112233445566778899aabbccddeeff"
     "00112233445566778899aabbccddeeff\", \"Replicas\": [{\"Store\": \"se1\", \"Url\": \"http://se1.e"
     "xample.org/data/run7/a.dat\"}], \"Copies\": 2, \"CopiesAt\": [\"se1\", \"se2\"], \"Owner\": \"a"
     "lice\"}]",
     0},
    {"files.get", "files.keep", "/v1/files/run7%2Fb.dat", NULL, 200,
     "{\"Name\": \"run7/b.dat\", \"Size\": 4096, \"Hash\": \"sha256:00112233445566778899aabbccddeeff0"
     "0112233445566778899aabbccddeeff\", \"Replicas\": [{\"Store\": \"se1\", \"Url\": \"http://se1.ex"
     "ample.org/data/run7/a.dat\"}], \"Copies\": 2, \"CopiesAt\": [\"se1\", \"se2\"], \"Owner\": \"al"
     "ice\"}",
     0},
    {"replicas.delete", "files.get files.list", "/v1/files/run7%2Fb.dat/replicas?store=se1", NULL, 204, NULL, 0},
    {"files.delete", "replicas.delete", "/v1/files/run7%2Fb.dat", NULL, 204, NULL, 0},
    {"config.put", "", "/v1/config/lab", "[ Lease = 60; Pin = 30 ]", 201, "{\"Lease\": 60, \"Pin\": 30}", 0},
    {"config.put.option", "config.put", "/v1/config/lab/Pin", "Lease / 2", 200,
     "{\"Lease\": 60, \"Pin\": \"/Expr(Lease / 2)/\"}", 0},
    {"config.get", "config.put.option", "/v1/config/lab", NULL, 200, "{\"Lease\": 60, \"Pin\": \"/Expr(Lease / 2)/\"}",
     0},
    {"config.option", "config.put.option", "/v1/config/lab/Pin", NULL, 200, "{\"Pin\": \"/Expr(Lease / 2)/\"}", 0},
    {"config.list", "config.put.option", NULL, NULL, 200,
     "[{\"Section\": \"lab\", \"Options\": 2, \"Revision\": 2, \"Time\": 1795097717, \"By\": \"alice\""
     "}]",
     EXAMPLE_MORE},
    {"config.past", "config.put.option", "/v1/revisions/lab", NULL, 200,
     "[{\"Number\": 1, \"Time\": 1795097717, \"By\": \"alice\", \"Section\": {\"Lease\": 60, \"Pin\":"
     " 30}}]",
     EXAMPLE_MORE},
    {"config.revision", "config.put.option", "/v1/revisions/lab/1", NULL, 200,
     "{\"Number\": 1, \"Time\": 1795097717, \"By\": \"alice\", \"Section\": {\"Lease\": 60, \"Pin\": "
     "30}}",
     EXAMPLE_MORE},
    {"config.back", "config.revision config.get config.option", "/v1/revisions/lab/1", NULL, 200,
     "{\"Lease\": 60, \"Pin\": 30}", 0},
    {"config.delete", "config.back config.list config.past", "/v1/config/lab", NULL, 204, NULL, 0},
    {"audit.list", "config.delete", "/v1/audit?constraint=About%20%3D%3D%20%22lab%22", NULL, 200,
     "[{\"Type\": \"Audit\", \"Number\": 11, \"Time\": 1795097717, \"By\": \"alice\", \"What\": \"con"
     "fig.put\", \"About\": \"lab\", \"Result\": \"done\", \"Count\": 1}]",
     EXAMPLE_MORE},
    {"tokens.create", "", NULL, "[ Subject = \"alice/laptop\"; Scope = \"ad:read\"; Lifetime = 3600 ]", 201,
     "{\"Token\": \"v4.public.eyJzdWIi\", \"Id\": \"6c2d0b7c2b4f858b7640591d16f1b060\", \"Subject\": "
     "\"alice/laptop\", \"Expires\": 1795101317, \"PoolId\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", \""
     "Pool\": \"http://192.0.2.7:7600\", \"Ca\": \"-----BEGIN CERTIFICATE-----\"}",
     EXAMPLE_MORE},
    {"tokens.list", "tokens.create", "/v1/tokens?constraint=Subject%20%3D%3D%20%22alice%2Flaptop%22", NULL, 200,
     "[{\"Type\": \"Token\", \"Id\": \"6c2d0b7c2b4f858b7640591d16f1b060\", \"Subject\": \"alice/lapto"
     "p\", \"Scope\": \"ad:read\", \"Issued\": 1795097717, \"Expires\": 1795101317, \"Delegable\": fa"
     "lse, \"By\": \"alice\", \"Revoked\": false}]",
     EXAMPLE_MORE},
    {"tokens.revoke", "", "/v1/tokens/00112233445566778899aabbccddeeff", NULL, 204, NULL, 0},
    {"tokens.renew", "", NULL, "[ Id = \"00112233445566778899aabbccddeeff\"; Proof = \"00\" ]", 403,
     "{\"type\": \"about:blank\", \"title\": \"Forbidden\", \"status\": 403, \"detail\": \"only who h"
     "olds the key of a token can have it renewed\", \"request\": \"2a\"}",
     0},
    {"tokens.lend", "", NULL, "[ Subject = \"bob\" ]", 201,
     "{\"Token\": \"v4.public.eyJzdWIi\", \"Id\": \"c56fdc1233d4c187496f41f8efefa0ad\", \"Subject\": "
     "\"bob\", \"Expires\": 1795140917, \"PoolId\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", \"Pool\": \""
     "http://192.0.2.7:7600\", \"Ca\": \"-----BEGIN CERTIFICATE-----\"}",
     EXAMPLE_MORE},
    {"tokens.exchange", "", NULL, "[ ]", 403,
     "{\"type\": \"about:blank\", \"title\": \"Forbidden\", \"status\": 403, \"detail\": \"only the t"
     "oken of an institute is exchanged: this one is the pool's already\", \"request\": \"2a\"}",
     0},
    {"whoami", "", NULL, NULL, 200,
     "{\"Subject\": \"alice\", \"Scope\": \"ad:read ad:write job:submit job:own job:any claim match c"
     "onfig serve operate audit admin\", \"Expires\": 1795184084}",
     0},
    {"links.create", "", NULL, NULL, 201,
     "{\"Link\": \"http://192.0.2.7:7600/#k=ecf1ed9cd94b4fef0928f5201e47a73a\", \"Ends\": 1795098317}", 0},
    {"codes.create", "", "/v1/codes?customer=alice", NULL, 201, "{\"Code\": \"berth-AQAB\", \"Expires\": 1795101317}",
     0},
    {"keys", "", NULL, NULL, 200,
     "{\"PoolId\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", \"Keys\": [{\"Id\": \"3303521c26072f066033e6"
     "927a93dac9\", \"Key\": \"9eb076e47671955907fad266c7740ac3cccfd138f781284b885404020b612266\"}], "
     "\"BoxKey\": \"16e32bc68c4d5d1594ec5bce391d10549f62a5aa061090bc8d3b455844c8812a\", \"Ca\": \"---"
     "--BEGIN CERTIFICATE-----\", \"Revoked\": [\"00112233445566778899aabbccddeeff\"], \"Disabled\": "
     "[]}",
     EXAMPLE_MORE},
    {"join", "", NULL,
     "[ Secret = \"00112233445566778899aabbccddeeff\"; Key = \"00112233445566778899aabbccddeeff001122"
     "33445566778899aabbccddeeff\"; Name = \"crane\" ]",
     403,
     "{\"type\": \"about:blank\", \"title\": \"Forbidden\", \"status\": 403, \"detail\": \"no such co"
     "de\", \"request\": \"2a\"}",
     0},
    {"session", "", NULL, "[ Code = \"00112233445566778899aabbccddeeff\" ]", 403,
     "{\"type\": \"about:blank\", \"title\": \"Forbidden\", \"status\": 403, \"detail\": \"Code: this"
     " link was used before, or its time is over; ask for another one\", \"request\": \"2a\"}",
     0},
    {"signin", "", "/v1/signin?issuer=nobody", NULL, 302, NULL, 0},
    {"signin.callback", "", "/v1/signin/callback?state=0011&code=0011", NULL, 302, NULL, 0},
    {"root", "", NULL, NULL, 200,
     "{\"Name\": \"pool\", \"PoolId\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", \"Incarnation\": \"4416e"
     "c825e6f079b\"}",
     EXAMPLE_MORE},
    {"page", "", NULL, NULL, 200, "<!doctype html>\n", 0},
    {"page.asset", "", "/assets/nothing.js", NULL, 404,
     "{\"type\": \"about:blank\", \"title\": \"Not Found\", \"status\": 404, \"detail\": \"there is n"
     "o such file\", \"request\": \"2a\"}",
     0},
    {"openapi", "", NULL, NULL, 200, "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"Berth\"}, \"paths\": {}}",
     EXAMPLE_MORE},
    {"healthz", "", NULL, NULL, 200, "ok\n", 0},
    {"readyz", "", NULL, NULL, 200, "ready\n", 0},
    {"metrics", "", NULL, NULL, 200,
     "# TYPE berth_cycles counter\n"
     "# HELP berth_cycles Matchmaking cycles.\n"
     "berth_cycles_total 20\n",
     0},
    {"keys.rotate", "keys tokens.create", NULL, NULL, 200,
     "{\"PoolId\": \"a1d8605e576c26bdc2ea9e5c54ec781d\", \"Keys\": [{\"Id\": \"cc436526545700bd1cc3d6"
     "7f6053b6a2\", \"Key\": \"bde70de8b785ba7ee176f55270705e3eda8560cc02b632aec158f84f4cd9144c\"}], "
     "\"BoxKey\": \"16e32bc68c4d5d1594ec5bce391d10549f62a5aa061090bc8d3b455844c8812a\", \"Ca\": \"---"
     "--BEGIN CERTIFICATE-----\", \"Revoked\": [\"00112233445566778899aabbccddeeff\"], \"Disabled\": "
     "[]}",
     EXAMPLE_MORE},
    {"ads.delete", "ads.get ads.list ads.why ads.matches names", "/v1/ads/desk-7", NULL, 204, NULL, 0},
    {.id = NULL},
};
