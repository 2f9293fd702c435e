/* route_examples.c: an example of each route of the customer, as /openapi.json shows it and examples_live_test.sh sends it (live/http/route.h). They begin in a
 * customer that has no jobs: the first submission is a workflow of three. */
#include "live/customerd/customerd_parts.h"

const struct route_example customerd_examples[] = {
    {"status", "", NULL, NULL, 200,
     "{\"Name\": \"desk\", \"Identity\": \"alice\", \"Matchmaker\": \"unix:/home/alice/.local/state/b"
     "erth/matchmaker.sock\", \"Connected\": true, \"Address\": \"192.0.2.7:7600\", \"Started\": 1795"
     "097685, \"Jobs\": 0, \"Waiting\": 0, \"Running\": 0, \"Held\": 0, \"Ended\": 0, \"History\": 0,"
     " \"Spool\": 0, \"FreeDisk\": 78419849216}",
     EXAMPLE_MORE},
    {"metrics", "", NULL, NULL, 200,
     "# TYPE berth_http_requests counter\n"
     "# HELP berth_http_requests HTTP requests answered.\n"
     "berth_http_requests_total{route=\"status\",status=\"2xx\"} 1\n",
     0},
    {"jobs.submit", "", "/v1/jobs?key=nightly-17",
     "[ Node = \"simulate\"; Cmd = \"sh\"; Args = { \"-c\", \"echo begun; sleep 600\" }; RequestCpus "
     "= 1; RequestMemory = 16777216; RequestDisk = 16777216 ]\n"
     "[ Node = \"fails\"; Cmd = \"false\"; RequestCpus = 1; RequestMemory = 16777216; RequestDisk = 1"
     "6777216 ]\n"
     "[ Node = \"collect\"; After = { \"simulate\" }; Cmd = \"true\" ]",
     201, "[{\"First\": 1, \"Count\": 1}]", 0},
    {"jobs.list", "jobs.submit", "/v1/jobs?ids=1-3&select=Job,State,Cmd", NULL, 200,
     "[{\"Cmd\": \"sh\", \"Job\": 1, \"State\": \"Waiting\"}]", EXAMPLE_MORE},
    {"jobs.get", "jobs.submit", "/v1/jobs/1", NULL, 200,
     "{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"RequestCpus\": 1, \"RequestM"
     "emory\": 16777216, \"RequestDisk\": 16777216, \"Type\": \"Job\", \"Owner\": \"alice\", \"Node\""
     ": \"simulate\", \"Workflow\": 1, \"Job\": 1, \"Index\": 0, \"State\": \"Waiting\", \"Since\": 0"
     ", \"Submitted\": 1795097716}",
     EXAMPLE_MORE},
    {"jobs.log", "jobs.submit", "/v1/jobs/1/log?offset=0", NULL, 200, "2026-11-19T14:15:16Z submitted\n", 0},
    {"jobs.patch", "jobs.submit", "/v1/jobs/3", "[ Priority = 7; Colour = \"green\" ]", 200,
     "{\"Cmd\": \"true\", \"Type\": \"Job\", \"Owner\": \"alice\", \"Priority\": 7, \"Colour\": \"gre"
     "en\", \"Node\": \"collect\", \"After\": [\"simulate\"], \"Workflow\": 1, \"Job\": 3, \"Index\":"
     " 0, \"State\": \"Blocked\", \"Since\": 0, \"Submitted\": 1795097716, \"WaitsFor\": [\"simulate\""
     "]}",
     EXAMPLE_MORE},
    {"jobs.files", "jobs.submit", "/v1/jobs/1/files", NULL, 200, "[]", 0},
    {"jobs.file", "jobs.submit", "/v1/jobs/1/files/log/stdout?offset=0", NULL, 200, "begun\n", 0},
    {"jobs.command", "jobs.file", "/v1/jobs/1/commands", "[ Command = \"peek\"; File = \"stdout\"; Lines = 10 ]", 201,
     "{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"peek\", \"Agent\": \"abf2949b998f1fc7\", "
     "\"Name\": \"heron\", \"Job\": 1, \"By\": \"alice\", \"Age\": 0, \"Left\": 86400, \"State\": \"w"
     "aiting\", \"What\": {\"Command\": \"peek\", \"File\": \"stdout\", \"Lines\": 10}}",
     EXAMPLE_MORE},
    {"commands.list", "jobs.command", NULL, NULL, 200,
     "[{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"peek\", \"Agent\": \"abf2949b998f1fc7\","
     " \"Name\": \"heron\", \"Job\": 1, \"By\": \"alice\", \"Age\": 0, \"State\": \"done\", \"Reason\""
     ": \"ok\", \"What\": {\"Command\": \"peek\", \"File\": \"stdout\", \"Lines\": 10}, \"Answer\": {"
     "\"Reason\": \"ok\", \"File\": \"stdout\", \"Size\": 6, \"Data\": \"YmVndW4K\"}}]",
     EXAMPLE_MORE},
    {"commands.get", "jobs.command", "/v1/commands/1?wait=20", NULL, 200,
     "{\"Type\": \"Command\", \"Number\": 1, \"Command\": \"peek\", \"Agent\": \"abf2949b998f1fc7\", "
     "\"Name\": \"heron\", \"Job\": 1, \"By\": \"alice\", \"Age\": 0, \"State\": \"done\", \"Reason\""
     ": \"ok\", \"What\": {\"Command\": \"peek\", \"File\": \"stdout\", \"Lines\": 10}, \"Answer\": {"
     "\"Reason\": \"ok\", \"File\": \"stdout\", \"Size\": 6, \"Data\": \"YmVndW4K\"}}",
     EXAMPLE_MORE},
    {"shells.open", "jobs.file", "/v1/jobs/1/shells", "[ Arguments = { \"cat\" } ]", 201,
     "{\"Type\": \"Shell\", \"Number\": 1, \"Job\": 1, \"By\": \"alice\", \"Program\": \"cat\", \"Ter"
     "minal\": false, \"State\": \"opening\", \"Attached\": true, \"Age\": 0}",
     EXAMPLE_MORE},
    {"shells.list", "shells.open", NULL, NULL, 200,
     "[{\"Type\": \"Shell\", \"Number\": 1, \"Job\": 1, \"By\": \"alice\", \"Program\": \"cat\", \"Te"
     "rminal\": false, \"State\": \"running\", \"Attached\": true, \"Age\": 0}]",
     EXAMPLE_MORE},
    {"shells.put", "shells.open", "/v1/shells/1", "[ At = 0; Input = \"bHMK\"; Ends = true ]", 200,
     "{\"State\": \"running\", \"Taken\": 3}", EXAMPLE_MORE},
    {"shells.get", "shells.put", "/v1/shells/1?out=0&err=0&wait=5", NULL, 200,
     "{\"State\": \"running\", \"OutAt\": 0, \"Out\": \"bHMK\"}", EXAMPLE_MORE},
    {"submissions", "jobs.submit", "/v1/submissions?constraint=Jobs%20%3D%3D%203", NULL, 200,
     "[{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"Submission\": 1, \"Last\": "
     "3, \"Jobs\": 3, \"Owner\": \"alice\", \"Submitted\": 1795097716, \"Waiting\": 1, \"Running\": 1"
     ", \"Held\": 0, \"Succeeded\": 0, \"Failed\": 1, \"Removed\": 0, \"Workflow\": 1}]",
     EXAMPLE_MORE},
    {"submissions.get", "jobs.submit", "/v1/submissions/1", NULL, 200,
     "{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"Submission\": 1, \"Last\": 3"
     ", \"Jobs\": 3, \"Owner\": \"alice\", \"Submitted\": 1795097716, \"Waiting\": 1, \"Running\": 1,"
     " \"Held\": 0, \"Succeeded\": 0, \"Failed\": 1, \"Removed\": 0, \"Workflow\": 1}",
     EXAMPLE_MORE},
    {"submissions.patch", "jobs.patch", "/v1/submissions/1", "[ Priority = 3 ]", 200,
     "{\"Changed\": 2, \"Unchanged\": 1, \"Missing\": 0}", EXAMPLE_MORE},
    {"summary", "jobs.submit", "/v1/summary?ids=1-3", NULL, 200,
     "{\"Changes\": 1795097685330729, \"Total\": 3, \"Waiting\": 0, \"Ready\": 0, \"Scheduled\": 1, \""
     "Running\": 0, \"Held\": 0, \"Done\": 0, \"Failed\": 1, \"Aborted\": 0, \"Cancelled\": 0, \"Bloc"
     "ked\": 1, \"Stuck\": 0}",
     0},
    {"workflows", "jobs.submit", NULL, NULL, 200,
     "[{\"Workflow\": 1, \"Owner\": \"alice\", \"Submitted\": 1795097716, \"Jobs\": 3, \"Done\": 0, \""
     "Running\": 1, \"Waiting\": 0, \"Blocked\": 1, \"Stuck\": 0, \"Failed\": 1, \"Held\": 0, \"Remov"
     "ed\": 0}]",
     EXAMPLE_MORE},
    {"workflows.get", "jobs.submit", "/v1/workflows/1", NULL, 200,
     "{\"Workflow\": 1, \"Owner\": \"alice\", \"Submitted\": 1795097716, \"Jobs\": 3, \"Done\": 0, \""
     "Running\": 1, \"Waiting\": 0, \"Blocked\": 1, \"Stuck\": 0, \"Failed\": 1, \"Held\": 0, \"Remov"
     "ed\": 0}",
     EXAMPLE_MORE},
    {"workflows.patch", "submissions.patch", "/v1/workflows/1", "[ Priority = 4 ]", 200,
     "{\"Changed\": 2, \"Unchanged\": 1, \"Missing\": 0}", EXAMPLE_MORE},
    {"jobs.rescue", "jobs.submit", "/v1/jobs/2/rescue", NULL, 200,
     "{\"Cmd\": \"false\", \"RequestCpus\": 1, \"RequestMemory\": 16777216, \"RequestDisk\": 16777216"
     ", \"Type\": \"Job\", \"Owner\": \"alice\", \"Node\": \"fails\", \"Workflow\": 1, \"Job\": 2, \""
     "Index\": 0, \"State\": \"Waiting\", \"Since\": 0, \"Submitted\": 1795097716, \"Request\": \"f77"
     "cfee92f05fbcf\"}",
     EXAMPLE_MORE},
    {"jobs.vacate", "jobs.command commands.get shells.get workflows.patch", "/v1/jobs/1/vacate", NULL, 200,
     "{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"RequestCpus\": 1, \"RequestM"
     "emory\": 16777216, \"RequestDisk\": 16777216, \"Type\": \"Job\", \"Owner\": \"alice\", \"Priori"
     "ty\": 4, \"Node\": \"simulate\", \"Workflow\": 1, \"Job\": 1, \"Index\": 0, \"State\": \"Schedu"
     "led\", \"Since\": 0}",
     EXAMPLE_MORE},
    {"jobs.hold", "jobs.vacate", "/v1/jobs/1/hold", NULL, 200,
     "{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"RequestCpus\": 1, \"RequestM"
     "emory\": 16777216, \"RequestDisk\": 16777216, \"Type\": \"Job\", \"Owner\": \"alice\", \"Priori"
     "ty\": 4, \"Node\": \"simulate\", \"Workflow\": 1, \"Job\": 1, \"Index\": 0, \"State\": \"Held\""
     ", \"Since\": 0}",
     EXAMPLE_MORE},
    {"jobs.release", "jobs.hold", "/v1/jobs/1/release", NULL, 200,
     "{\"Cmd\": \"sh\", \"Args\": [\"-c\", \"echo begun; sleep 600\"], \"RequestCpus\": 1, \"RequestM"
     "emory\": 16777216, \"RequestDisk\": 16777216, \"Type\": \"Job\", \"Owner\": \"alice\", \"Priori"
     "ty\": 4, \"Node\": \"simulate\", \"Workflow\": 1, \"Job\": 1, \"Index\": 0, \"State\": \"Waitin"
     "g\", \"Since\": 0}",
     EXAMPLE_MORE},
    {"submissions.hold", "jobs.release", "/v1/submissions/1/hold", NULL, 200,
     "{\"Changed\": 2, \"Unchanged\": 1, \"Missing\": 0}", EXAMPLE_MORE},
    {"submissions.release", "submissions.hold", "/v1/submissions/1/release", NULL, 200,
     "{\"Changed\": 2, \"Unchanged\": 1, \"Missing\": 0}", EXAMPLE_MORE},
    {"submissions.vacate", "submissions.release", "/v1/submissions/1/vacate", NULL, 200,
     "{\"Changed\": 0, \"Unchanged\": 3, \"Missing\": 0}", EXAMPLE_MORE},
    {"submissions.rescue", "submissions.vacate", "/v1/submissions/1/rescue", NULL, 200,
     "{\"Changed\": 1, \"Unchanged\": 2, \"Missing\": 0}", EXAMPLE_MORE},
    {"workflows.hold", "submissions.rescue", "/v1/workflows/1/hold", NULL, 200,
     "{\"Changed\": 3, \"Unchanged\": 0, \"Missing\": 0}", EXAMPLE_MORE},
    {"workflows.release", "workflows.hold", "/v1/workflows/1/release", NULL, 200,
     "{\"Changed\": 3, \"Unchanged\": 0, \"Missing\": 0}", EXAMPLE_MORE},
    {"workflows.vacate", "workflows.release", "/v1/workflows/1/vacate", NULL, 200,
     "{\"Changed\": 0, \"Unchanged\": 3, \"Missing\": 0}", EXAMPLE_MORE},
    {"workflows.rescue", "workflows.vacate", "/v1/workflows/1/rescue", NULL, 200,
     "{\"Changed\": 0, \"Unchanged\": 3, \"Missing\": 0}", EXAMPLE_MORE},
    {"control", "workflows.rescue", NULL, "[ Verb = \"hold\"; Ids = \"1-3\"; Why = \"the disk is full\" ]", 200,
     "{\"Changed\": 3, \"Unchanged\": 0, \"Missing\": 0}", EXAMPLE_MORE},
    {"jobs.delete", "control", "/v1/jobs/3", NULL, 204, NULL, 0},
    {"submissions.delete", "jobs.delete", "/v1/submissions/1?from=2", NULL, 200,
     "{\"Changed\": 1, \"Unchanged\": 1, \"Missing\": 0}", EXAMPLE_MORE},
    {"workflows.delete", "submissions.delete", "/v1/workflows/1", NULL, 200,
     "{\"Changed\": 1, \"Unchanged\": 2, \"Missing\": 0}", EXAMPLE_MORE},
    {"history", "jobs.files.drop", "/v1/history?ids=1-3&select=Job,State,Cmd", NULL, 200,
     "[{\"Cmd\": \"true\", \"Job\": 3, \"State\": \"Cancelled\"}]", EXAMPLE_MORE},
    {"jobs.files.drop", "workflows.delete", "/v1/jobs/3/files", NULL, 204, NULL, 0},
    {"audit", "jobs.delete", "/v1/audit?limit=100", NULL, 200,
     "[{\"Type\": \"Audit\", \"Number\": 1, \"Time\": 1795097716, \"By\": \"alice\", \"What\": \"jobs"
     ".submit\", \"About\": \"1-3\", \"Result\": \"done\", \"Detail\": \"3 jobs, a workflow\", \"Coun"
     "t\": 1}]",
     EXAMPLE_MORE},
    {"spool.put", "", "/v1/spool/896f3620f3e0847528310d1b3b42cf98e8e89e19bd14b025b793b557b874ea58?offset=0&size=5",
     "land\n", 201, "{\"Have\": 5}", 0},
    {"spool.get", "spool.put", "/v1/spool/896f3620f3e0847528310d1b3b42cf98e8e89e19bd14b025b793b557b874ea58", NULL, 200,
     "{\"Have\": 5}", 0},
    {"secrets", "", NULL, "[ Secrets = { [ Name = \"token\"; Bytes = \"aHVudGVyMg\" ] } ]", 201,
     "{\"Id\": \"928b435d8e40344d\"}", 0},
    {"crons.add", "", NULL,
     "[ Schedule = \"0 8 * * mon-fri\"; JobAd = [ Cmd = \"true\"; RequestCpus = 1; RequestMemory = 16"
     "777216; RequestDisk = 16777216 ] ]",
     201,
     "{\"Cron\": 1, \"Owner\": \"alice\", \"Schedule\": \"0 8 * * mon-fri\", \"Missed\": \"run\", \"O"
     "verlap\": \"skip\", \"Held\": false, \"Created\": 1795097717, \"Runs\": 0, \"Skipped\": 0, \"Ne"
     "xt\": 1795161600}",
     EXAMPLE_MORE},
    {"crons.list", "crons.add", NULL, NULL, 200,
     "[{\"Cron\": 1, \"Owner\": \"alice\", \"Schedule\": \"0 8 * * mon-fri\", \"Missed\": \"run\", \""
     "Overlap\": \"skip\", \"Held\": false, \"Created\": 1795097717, \"Runs\": 0, \"Skipped\": 0, \"N"
     "ext\": 1795161600}]",
     EXAMPLE_MORE},
    {"crons.get", "crons.add", "/v1/crons/1", NULL, 200,
     "{\"Cron\": 1, \"Owner\": \"alice\", \"Schedule\": \"0 8 * * mon-fri\", \"Missed\": \"run\", \"O"
     "verlap\": \"skip\", \"Held\": false, \"Created\": 1795097717, \"Runs\": 0, \"Skipped\": 0, \"Ne"
     "xt\": 1795161600, \"JobAd\": {\"Cmd\": \"true\", \"RequestCpus\": 1, \"RequestMemory\": 1677721"
     "6, \"RequestDisk\": 16777216}}",
     EXAMPLE_MORE},
    {"crons.hold", "crons.get", "/v1/crons/1/hold", NULL, 200,
     "{\"Cron\": 1, \"Owner\": \"alice\", \"Schedule\": \"0 8 * * mon-fri\", \"Missed\": \"run\", \"O"
     "verlap\": \"skip\", \"Held\": true, \"Created\": 1795097717, \"Runs\": 0, \"Skipped\": 0}",
     EXAMPLE_MORE},
    {"crons.release", "crons.hold", "/v1/crons/1/release", NULL, 200,
     "{\"Cron\": 1, \"Owner\": \"alice\", \"Schedule\": \"0 8 * * mon-fri\", \"Missed\": \"run\", \"O"
     "verlap\": \"skip\", \"Held\": false, \"Created\": 1795097717, \"Runs\": 0, \"Skipped\": 0, \"Ne"
     "xt\": 1795161600}",
     EXAMPLE_MORE},
    {"crons.delete", "crons.release crons.list", "/v1/crons/1", NULL, 204, NULL, 0},
    {"copies", "", NULL, NULL, 200, "[]", 0},
    {"token", "", NULL, NULL, 403,
     "{\"type\": \"about:blank\", \"title\": \"Forbidden\", \"status\": 403, \"detail\": \"tokens are"
     " lent to users of this machine, by the customer's socket\", \"request\": \"2a\"}",
     0},
    {.id = NULL},
};
