/* submit_rows.c: the keys of a submit file, a row each. A row says how its key is translated, or with which words it is refused or passed over;
 * docs/submit-languages.md shows them. */
#include "lang/form/submit_job.h"

#include <string.h>

#define KIB 1024
#define MIB (1024 * 1024)

/* ------------------------------------------------------------------------------------------------------------ the rows */

#define LATER \
    "what shall happen later to a job is not carried over: look with 'berth jobs -c', act with 'berth hold' and 'berth rm'"
#define GRID "a job of that sort is not carried over"

const struct submit_key submit_keys[] = {
    {"universe", NULL, NULL, submit_key_universe, FIXED, 0},
    {"executable", "cmd", "Cmd", submit_key_executable, FIXED, 0},
    {"arguments", "args", "Args", submit_key_arguments, COMPUTED, 0},
    {"input", "stdin", "In", submit_key_input, FIXED, 0},
    {"transfer_input_files", "transferinputfiles", "Inputs", submit_key_inputs, FIXED, 0},
    {"transfer_output_files", "transferoutputfiles", "Outputs", submit_key_outputs, COMPUTED, 0},
    {"output", "stdout", "Out", submit_key_stream, COMPUTED, 0},
    {"error", "stderr", "Err", submit_key_stream, COMPUTED, 0},
    {"initialdir", "initial_dir", "Iwd", submit_key_iwd, FIXED, 0},
    {"request_cpus", "requestcpus", "RequestCpus", submit_key_expr, FIXED, 0},
    {"request_memory", "requestmemory", "RequestMemory", submit_key_size, FIXED, MIB},
    {"request_disk", "requestdisk", "RequestDisk", submit_key_size, FIXED, KIB},
    {"request_gpus", "requestgpus", "RequestGpus", submit_key_expr, FIXED, 0},
    {"rank", "preferences", "Rank", submit_key_rank, FIXED, 0},
    {"max_retries", NULL, "MaxRetries", submit_key_whole, FIXED, 0},
    {"allowed_execute_duration", NULL, "TimeLimit", submit_key_whole, FIXED, 0},
    {"kill_sig", NULL, "WarnSignal", submit_key_signal, FIXED, 0},
    {"accounting_group", "acct_group", "AccountingGroup", submit_key_text, FIXED, 0},
    {"concurrency_limits", NULL, "ConcurrencyLimits", submit_key_text, FIXED, 0},
    {"priority", "prio", "Priority", submit_key_expr, FIXED, 0},
    {"job_batch_name", "batch_name", "JobBatchName", submit_key_text, COMPUTED, 0},
    {"description", NULL, "JobDescription", submit_key_text, COMPUTED, 0},

    /* read elsewhere */
    {"requirements", NULL, NULL, submit_key_quiet, COMPUTED, 0},
    {"environment", "env", NULL, submit_key_quiet, COMPUTED, 0},
    {"getenv", "get_env", NULL, submit_key_quiet, COMPUTED, 0},
    {"transfer_executable", NULL, NULL, submit_key_quiet, COMPUTED, 0},
    {"preserve_relative_paths", NULL, NULL, submit_key_quiet, COMPUTED, 0},

    /* always so here */
    {"should_transfer_files", NULL, NULL, submit_key_transfer, FIXED, 0},
    {"when_to_transfer_output", NULL, NULL, submit_key_when, FIXED, 0},
    {"notification", NULL, "nobody is written to; 'berth wait' waits, the pool's 'Notify' calls a program",
     submit_key_notification, FIXED, 0},
    {"success_exit_code", NULL, "expected 0: a job that ends with another status has failed here", submit_key_zero,
     FIXED, 0},
    {"transfer_output", NULL, NULL, submit_key_quiet, FIXED, 0},
    {"transfer_error", NULL, NULL, submit_key_quiet, FIXED, 0},
    {"transfer_input", NULL, NULL, submit_key_quiet, FIXED, 0},
    {"copy_to_spool", NULL, NULL, submit_key_quiet, FIXED, 0},
    {"skip_filechecks", NULL, NULL, submit_key_quiet, FIXED, 0},
    {"queue", NULL, NULL, submit_key_quiet, COMPUTED, 0},

    /* passed over, with a remark */
    {"log", NULL, "no file is written: 'berth logs --events ID' shows it", submit_key_passed, COMPUTED, 0},
    {"log_xml", NULL, "no file is written", submit_key_passed, COMPUTED, 0},
    {"notify_user", NULL, "nobody is written to", submit_key_passed, COMPUTED, 0},
    {"stream_output", NULL, "it comes when the job has ended; 'berth logs -f' shows it before", submit_key_passed,
     COMPUTED, 0},
    {"stream_error", NULL, "it comes when the job has ended; 'berth logs -f' shows it before", submit_key_passed,
     COMPUTED, 0},
    {"stream_input", NULL, "it is sent as a whole", submit_key_passed, COMPUTED, 0},
    {"on_exit_hold", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"on_exit_hold_reason", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"on_exit_hold_subcode", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"on_exit_remove", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_hold", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_hold_reason", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_hold_subcode", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_release", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_remove", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"periodic_vacate", NULL, LATER, submit_key_passed, COMPUTED, 0},
    {"leave_in_queue", NULL, "what is over is in 'berth history'", submit_key_passed, COMPUTED, 0},
    {"retry_until", NULL, "a try that ends with status 0 is the last", submit_key_passed, COMPUTED, 0},
    {"allowed_job_duration", NULL, "only the time of one try is limited: allowed_execute_duration", submit_key_passed,
     COMPUTED, 0},
    {"job_lease_duration", NULL, "leases are the pool's", submit_key_passed, COMPUTED, 0},
    {"job_max_vacate_time", NULL, "the setting 'Grace' of the machine holds", submit_key_passed, COMPUTED, 0},
    {"kill_sig_timeout", NULL, "the setting 'Grace' of the machine holds", submit_key_passed, COMPUTED, 0},
    {"remove_kill_sig", NULL, "kill_sig is sent", submit_key_passed, COMPUTED, 0},
    {"hold_kill_sig", NULL, "kill_sig is sent", submit_key_passed, COMPUTED, 0},
    {"want_graceful_removal", NULL, "a job is always warned first", submit_key_quiet, COMPUTED, 0},
    {"accounting_group_user", NULL, "it is charged to who submits it", submit_key_passed, COMPUTED, 0},
    {"nice_user", NULL, "shares decide: docs/shares.md", submit_key_passed, COMPUTED, 0},
    {"max_idle", NULL, "all are submitted at once: a sweep is one ad", submit_key_passed, COMPUTED, 0},
    {"max_materialize", NULL, "all are submitted at once: a sweep is one ad", submit_key_passed, COMPUTED, 0},
    {"coresize", NULL, "it is the machine's matter", submit_key_passed, COMPUTED, 0},
    {"run_as_owner", NULL, "the sandbox decides: docs/sandbox.md", submit_key_passed, COMPUTED, 0},
    {"load_profile", NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"email_attributes", NULL, "nobody is written to", submit_key_passed, COMPUTED, 0},
    {"job_ad_information_attrs", NULL, "the log of a job says what it says", submit_key_passed, COMPUTED, 0},
    {"keep_claim_idle", NULL, "claims are the customer's matter", submit_key_passed, COMPUTED, 0},
    {"next_job_start_delay", NULL, "jobs start when they can", submit_key_passed, COMPUTED, 0},
    {"image_size", NULL, "it is that of the program's file", submit_key_passed, COMPUTED, 0},
    {"want_io_proxy", NULL, "there is none", submit_key_passed, COMPUTED, 0},

    /* refused: without it the job would be a different one */
    {"append_files", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"checkpoint_exit_code", NULL, GRID ": '+Checkpoint' and '+CheckpointPeriod' keep its files (docs/jobs.md)",
     submit_key_refused, COMPUTED, 0},
    {"concurrency_limits_expr", NULL, "what is computed is not carried over: concurrency_limits is", submit_key_refused,
     COMPUTED, 0},
    {"container_image", NULL, "containers are not carried over", submit_key_refused, COMPUTED, 0},
    {"docker_image", NULL, "containers are not carried over", submit_key_refused, COMPUTED, 0},
    {"cron_minute", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"cron_hour", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"cron_day_of_month", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"cron_day_of_week", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"cron_month", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"deferral_time", NULL, "jobs that start at a time are not carried over", submit_key_refused, COMPUTED, 0},
    {"hold", NULL, "a job that waits from the start is not carried over: 'berth hold ID' holds it", submit_key_refused,
     COMPUTED, 0},
    {"noop_job", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"grid_resource", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"machine_count", NULL, GRID ": docs/gangs.md says how several machines are asked for", submit_key_refused,
     COMPUTED, 0},
    {"node_count", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"output_destination", NULL, "outputs come to initialdir", submit_key_refused, COMPUTED, 0},
    {"public_input_files", NULL, "not carried over: name them in transfer_input_files", submit_key_refused, COMPUTED,
     0},
    {"require_gpus", NULL, "not carried over: say it of the machine in requirements", submit_key_refused, COMPUTED, 0},
    {"gpus_minimum_capability", NULL, "not carried over: say it of the machine in requirements", submit_key_refused,
     COMPUTED, 0},
    {"gpus_minimum_memory", NULL, "not carried over: say it of the machine in requirements", submit_key_refused,
     COMPUTED, 0},
    {"gpus_minimum_runtime", NULL, "not carried over: say it of the machine in requirements", submit_key_refused,
     COMPUTED, 0},
    {"transfer_output_remaps", NULL, "files come by their own names: this is not carried over", submit_key_refused,
     COMPUTED, 0},
    {"transfer_checkpoint_files", NULL, "not carried over: '+Checkpoint = { \"name\" }' names them", submit_key_refused,
     COMPUTED, 0},
    {"transfer_plugins", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"use_oauth_services", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"use_scitokens", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"use_x509userproxy", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"x509userproxy", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"vm_type", NULL, GRID, submit_key_refused, COMPUTED, 0},
    {"want_docker", NULL, GRID, submit_key_refused, COMPUTED, 0},
};

const size_t submit_key_count = sizeof submit_keys / sizeof *submit_keys;

/* Attributes that a key makes: with `+` they would be there twice, or in another unit. */
static const char *const made[] = {
    "Cmd",   "Args",        "Env",           "In",          "Inputs",      "Outputs", "Out",          "Err",
    "Iwd",   "RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus", "Rank",    "Requirements", "Constraint",
    "Count", "Owner",       "Type",          "JobIndex",    "JobId"};

struct submit_macro *submit_key_macro(const struct submit_reader *reader, const struct submit_key *key)
{
    struct submit_macro *macro = submit_macro(reader, key->name, strlen(key->name));

    return macro || !key->also ? macro : submit_macro(reader, key->also, strlen(key->also));
}

bool submit_key_is_known(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < submit_key_count; i++)
        if (submit_same(name, len, submit_keys[i].name) ||
            (submit_keys[i].also && submit_same(name, len, submit_keys[i].also)))
            return true;
    return false;
}

bool submit_is_made(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (submit_same(name, len, made[i]))
            return true;
    return false;
}
