/* customerd_routes.c: the routes of the customer. What is not in the table does not exist. */
#include "live/customerd/customerd_parts.h"
#include "live/http/represent.h"

#define ADS TYPE_CLASSAD " " TYPE_JSON
#define TEXT "text/plain"
#define BYTES "application/octet-stream"

const struct customerd_route customerd_routes[] = {
    {"status", HTTP_GET, "/v1/status", SCOPE_JOB_OWN, VISIT_NONE, "", ADS, api_customer_status},
    {"metrics", HTTP_GET, "/metrics", SCOPE_JOB_OWN, VISIT_NONE, "", "application/openmetrics-text",
     api_customer_metrics},
    {"jobs.submit", HTTP_POST, "/v1/jobs", SCOPE_JOB_SUBMIT, VISIT_SUBMISSION, "key force", ADS, api_jobs_submit},
    {"jobs.list", HTTP_GET, "/v1/jobs", SCOPE_JOB_OWN, VISIT_NONE, "constraint select limit cursor ids", ADS,
     api_jobs_list},
    {"jobs.get", HTTP_GET, "/v1/jobs/{id}", SCOPE_JOB_OWN, VISIT_NONE, "", ADS, api_job_get},
    {"jobs.log", HTTP_GET, "/v1/jobs/{id}/log", SCOPE_JOB_OWN, VISIT_NONE, "offset wait", TEXT, api_job_log},
    {"jobs.files", HTTP_GET, "/v1/jobs/{id}/files", SCOPE_JOB_OWN, VISIT_NONE, "", ADS, api_job_files},
    {"jobs.file", HTTP_GET, "/v1/jobs/{id}/files/{kind}/{name...}", SCOPE_JOB_OWN, VISIT_NONE, "offset wait", BYTES,
     api_job_file},
    {"jobs.command", HTTP_POST, "/v1/jobs/{id}/commands", SCOPE_JOB_OWN, VISIT_AD, "", ADS, api_job_command},
    {"commands.list", HTTP_GET, "/v1/commands", SCOPE_JOB_OWN, VISIT_NONE, "constraint limit", ADS, api_job_commands},
    {"commands.get", HTTP_GET, "/v1/commands/{number}", SCOPE_JOB_OWN, VISIT_NONE, "wait", ADS, api_job_command_get},
    {"summary", HTTP_GET, "/v1/summary", SCOPE_JOB_OWN, VISIT_NONE, "ids after wait", ADS, api_summary},
    {"workflows", HTTP_GET, "/v1/workflows", SCOPE_JOB_OWN, VISIT_NONE, "limit cursor", ADS, api_workflows},
    {"control", HTTP_POST, "/v1/control", SCOPE_JOB_OWN, VISIT_AD, "", ADS, api_control},
    {"history", HTTP_GET, "/v1/history", SCOPE_JOB_OWN, VISIT_NONE, "constraint select limit cursor", ADS, api_history},
    {"spool.head", HTTP_HEAD, "/v1/spool/{hash}", SCOPE_JOB_SUBMIT, VISIT_NONE, "", ADS, api_spool_head},
    {"spool.get", HTTP_GET, "/v1/spool/{hash}", SCOPE_JOB_SUBMIT, VISIT_NONE, "", ADS, api_spool_head},
    {"spool.put", HTTP_PUT, "/v1/spool/{hash}", SCOPE_JOB_SUBMIT, VISIT_PIECE, "offset size", ADS, api_spool_put},
};
const size_t customerd_route_count = sizeof customerd_routes / sizeof *customerd_routes;
