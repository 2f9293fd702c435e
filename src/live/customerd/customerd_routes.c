/* customerd_routes.c: the routes of the customer. A path that is not in the table does not exist; the routes that every agent has come beside it. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/shells.h"

#define ADS TYPE_CLASSAD " " TYPE_JSON
#define TEXT "text/plain"
#define BYTES "application/octet-stream"
#define METRICS_TYPE_ONLY "application/openmetrics-text"
#define READ (SCOPE_JOB_OWN | SCOPE_JOB_ANY | SCOPE_JOB_READ)
#define MODIFY (SCOPE_JOB_OWN | SCOPE_JOB_ANY | SCOPE_JOB_MODIFY)

static const struct route routes[] = {
    {"status", HTTP_GET, "/v1/status", READ, BODY_NONE, ROUTE_BODY, "", "200 304", ADS,
     "The customer's own ad: how many jobs it has, and how they stand.", api_customer_status, 0},
    {"metrics", HTTP_GET, "/metrics", READ | SCOPE_AD_READ, BODY_NONE, ROUTE_BODY, "", "200", METRICS_TYPE_ONLY,
     "Numbers for a monitoring system (OpenMetrics).", api_customer_metrics, ROUTE_NEAR},
    {"jobs.submit", HTTP_POST, "/v1/jobs", SCOPE_JOB_SUBMIT, BODY_ADS, ROUTE_SUBMISSION, "key force secrets",
     "200 201 400 403 409 413 415 429", ADS, "Submits jobs, all of them or none.", api_jobs_submit, ROUTE_AUDITED},
    {"jobs.list", HTTP_GET, "/v1/jobs", READ, BODY_NONE, ROUTE_BODY, "constraint select limit cursor ids alone",
     "200 400", ADS, "One's jobs that are not in the history.", api_jobs_list, 0},
    {"jobs.get", HTTP_GET, "/v1/jobs/{id}", READ, BODY_NONE, ROUTE_BODY, "", "200 304 404", ADS, "A job.", api_job_get,
     0},
    {"jobs.log", HTTP_GET, "/v1/jobs/{id}/log", READ, BODY_NONE, ROUTE_BODY, "offset wait", "200 400 404", TEXT,
     "What happened to a job, in words, from that byte on.", api_job_log, 0},
    {"jobs.files", HTTP_GET, "/v1/jobs/{id}/files", READ, BODY_NONE, ROUTE_BODY, "", "200 404", ADS,
     "The files that a job has left.", api_job_files, 0},
    {"jobs.files.drop", HTTP_DELETE, "/v1/jobs/{id}/files", MODIFY, BODY_NONE, ROUTE_BODY, "", "204 404 409", "",
     "Removes the files that a job in the history has left.", api_job_files_drop, ROUTE_AUDITED},
    {"jobs.file", HTTP_GET, "/v1/jobs/{id}/files/{kind}/{name...}", READ, BODY_NONE, ROUTE_BODY, "offset wait",
     "200 400 404", BYTES, "Bytes of a file that a job has left, or is writing.", api_job_file, ROUTE_FILE},
    {"jobs.command", HTTP_POST, "/v1/jobs/{id}/commands", MODIFY, BODY_AD, ROUTE_BODY, "",
     "201 400 404 409 413 415 429", ADS,
     "Takes a command for a job that runs: it waits until the provider has carried it out.", api_job_command,
     ROUTE_AUDITED},
    {"commands.list", HTTP_GET, "/v1/commands", READ, BODY_NONE, ROUTE_BODY, "constraint limit", "200 400", ADS,
     "Commands that wait for providers, and those that were answered lately.", api_job_commands, 0},
    {"commands.get", HTTP_GET, "/v1/commands/{number}", READ, BODY_NONE, ROUTE_BODY, "wait", "200 304 400 404", ADS,
     "A command, at once or when it was answered.", api_job_command_get, 0},
    {"shells.open", HTTP_POST, "/v1/jobs/{id}/shells", MODIFY, BODY_AD, ROUTE_BODY, "", "201 400 404 409 413 415 429",
     ADS, "Begins a command in the sandbox of a job that runs.", api_shell_open, ROUTE_AUDITED},
    {"shells.list", HTTP_GET, "/v1/shells", MODIFY, BODY_NONE, ROUTE_BODY, "", "200", ADS,
     "One's commands in the sandboxes of jobs.", api_shells, 0},
    {"shells.get", HTTP_GET, "/v1/shells/{number}", MODIFY, BODY_NONE, ROUTE_BODY, "out err wait", "200 400 404", ADS,
     "What such a command has said from those places on, at once or when there is something.", api_shell_get, 0},
    {"shells.put", HTTP_PUT, "/v1/shells/{number}", MODIFY, BODY_AD, ROUTE_BODY, "", "200 400 404 413 415", ADS,
     "What is typed to it, the size of its window, a signal, or its end.", api_shell_put, 0},
    {"submissions", HTTP_GET, "/v1/submissions", READ, BODY_NONE, ROUTE_BODY, "limit cursor", "200 400", ADS,
     "How far submissions are: of each that has jobs in the queue, how many of all its jobs stand how.",
     api_submissions, 0},
    {"summary", HTTP_GET, "/v1/summary", READ, BODY_NONE, ROUTE_BODY, "ids after wait", "200 304 400", ADS,
     "How many jobs stand how, at once or when that has changed.", api_summary, 0},
    {"workflows", HTTP_GET, "/v1/workflows", READ, BODY_NONE, ROUTE_BODY, "limit cursor", "200 400", ADS,
     "How far workflows are.", api_workflows, 0},
    {"control", HTTP_POST, "/v1/control", MODIFY | SCOPE_JOB_CANCEL, BODY_AD, ROUTE_BODY, "", "200 400 403 413 415",
     ADS, "Holds, releases, removes or rescues jobs.", api_control, ROUTE_AUDITED},
    {"history", HTTP_GET, "/v1/history", READ, BODY_NONE, ROUTE_BODY, "constraint select limit cursor ids", "200 400",
     ADS, "Jobs that are over, the last first; with ids those, by their numbers.", api_history, 0},
    {"audit", HTTP_GET, "/v1/audit", READ, BODY_NONE, ROUTE_BODY, "constraint select limit cursor", "200 400", ADS,
     "What was changed here, by whom, from where and when; of others than administrators what they did themselves.",
     api_customer_audit, 0},
    {"spool.get", HTTP_GET, "/v1/spool/{hash}", SCOPE_JOB_SUBMIT, BODY_NONE, ROUTE_BODY, "", "200 400 404", ADS,
     "How much of a file the spool has.", api_spool_head, 0},
    {"spool.put", HTTP_PUT, "/v1/spool/{hash}", SCOPE_JOB_SUBMIT, BODY_BYTES, SPOOL_PIECE_MAX, "offset size",
     "200 201 400 403 413 422 429", ADS, "A piece of a file for the spool.", api_spool_put, 0},
    {"secrets", HTTP_POST, "/v1/secrets", SCOPE_JOB_SUBMIT, BODY_AD, ROUTE_BODY, "", "201 400 403 413 415 429 503", ADS,
     "Keeps secrets for jobs that are to be submitted; they are not shown again.", api_secrets, 0},
    {"token", HTTP_POST, "/v1/token", SCOPE_JOB_SUBMIT, BODY_NONE, ROUTE_BODY, "", "201 403 503", ADS,
     "A token with which a user of this machine may ask the pool, and nothing else.", api_user_token, ROUTE_AUDITED},
};

static const struct parameter parameters[] = {
    {"constraint", "string", "an expression that is true of what is asked for"},
    {"select", "string", "names of the attributes that are wanted, with commas between"},
    {"limit", "integer", "how many, at most"},
    {"cursor", "string", "where to go on: from the link `next` of the answer before"},
    {"ids", "string", "numbers of jobs"},
    {"alone", "boolean", "only jobs that were submitted alone"},
    {"offset", "integer", "where in the file to begin"},
    {"out", "integer", "bytes of its output that were read"},
    {"err", "integer", "bytes of its errors that were read"},
    {"size", "integer", "how large the whole file is"},
    {"key", "string", "of the submission: with the same one it is not submitted twice"},
    {"force", "boolean", "submit also what nobody could run now"},
    {"secrets", "string", "the Id of the secrets that these jobs read, from /v1/secrets"},
    {"after", "integer", "the number of changes that was seen last"},
    {"wait", "integer", "seconds to wait for a change"},
};

const struct route_table customerd_routes = {
    "Berth customer", "Keeps jobs, and finds machines for them.", routes, sizeof routes / sizeof *routes,
    parameters,       sizeof parameters / sizeof *parameters,
};
