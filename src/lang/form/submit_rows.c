/* submit_rows.c: the keys of a submit file, a row each. A row says how its key is translated, or with which words it is refused or passed over. The
 * table in docs/from-htcondor.md is printed from these rows.
 *
 * HTCondor takes a key by several names: most often its own (periodic_release) and that of the attribute it makes (PeriodicRelease). All of them are
 * in the row, so that none is taken for a macro of the user's own. */
#include "lang/form/submit_job.h"

#include <string.h>

#define KIB 1024
#define MIB (1024 * 1024)
#define CRON_WORDS \
    "as in crontab, in local time. With `on_exit_remove = false` a job each time, as by `berth cron add --missed skip`; else one job, at the next"

/* ------------------------------------------------------------------------------------------------------------ the rows */

const struct submit_key submit_keys[] = {
    /* what a job is */
    {"universe", "JobUniverse", NULL,
     "`vanilla` or 5; `parallel` or 11, with `machine_count`; `container`, with `container_image` or `docker_image`; `local` and `scheduler` run on the submit host, with the rights of the user who submits them on the customer's socket (docs/submit-host.md); `docker`, with `docker_image`",
     submit_key_universe, FIXED, 0},
    {"executable", "cmd", "Cmd",
     "a name without a slash is a file here; it is carried along, and may be executed there whatever its mode is here",
     submit_key_executable, FIXED, 0},
    {"transfer_executable", "TransferExecutable", NULL,
     "false: `TransferExecutable = false`, the program is the machine's", submit_key_quiet, COMPUTED, 0},
    {"arguments", "args arguments2", "Args",
     "the old syntax (blanks, `\\\"`) and the new (`\"a 'b c'\"`); `arguments2` is the new one", submit_key_arguments,
     COMPUTED, 0},
    {"environment", "env environment2", NULL, "`Env`: the old syntax (`A=1;B=2`) and the new", submit_key_quiet,
     COMPUTED, 0},
    {"getenv", "get_env", NULL,
     "`Env`: variables by name or by pattern (`OMP_*, !OMP_PROC_BIND`), taken when it is submitted; `true` is all of them, up to 64 KiB, but for those that the job has of its own: `HOME`, `PWD`, `OLDPWD`, `TMPDIR`, `TMP`, `TEMP`, `SHLVL`, `_`, `BERTH_*`",
     submit_key_quiet, COMPUTED, 0},
    {"input", "stdin", "In", "`/dev/null` is none", submit_key_input, FIXED, 0},
    {"transfer_input_files", "TransferInputFiles", "Inputs",
     "a file is called by the last part of its name; `folder/` is what is in it. A URL is fetched by the machine, and the job asks for the network then: http, https, file, and others where owners name a client",
     submit_key_inputs, FIXED, 0},
    {"preserve_relative_paths", "PreserveRelativePaths", NULL, "true: inputs keep their paths", submit_key_quiet,
     COMPUTED, 0},
    {"transfer_output_files", "TransferOutputFiles", "Outputs",
     "files and folders; `a/b` comes as `b`, as in HTCondor; `\"\"` is none. A job that is over and lacks one is held",
     submit_key_outputs, COMPUTED, 0},
    {"output", "stdout", "Out", "from `initialdir`; `/dev/null` is none", submit_key_stream, COMPUTED, 0},
    {"error", "stderr", "Err", "as `output`", submit_key_stream, COMPUTED, 0},
    {"transfer_output_remaps", "TransferOutputRemaps", "OutputTo",
     "where outputs go; `file:///x` is `/x` here, to other URLs the machine brings them (`OutputUrls`): http, https, and others where owners name a client",
     submit_key_remaps, COMPUTED, 0},
    {"initialdir", "initial_dir job_iwd Iwd", "Iwd", "inputs are looked up from there, and outputs go there",
     submit_key_iwd, FIXED, 0},

    /* what it asks for */
    {"request_cpus", "RequestCpus", "RequestCpus", "a number, or an expression", submit_key_expr, FIXED, 0},
    {"request_memory", "RequestMemory", "RequestMemory", "MiB, or with a letter: `2G`; bytes here", submit_key_size,
     FIXED, MIB},
    {"request_disk", "RequestDisk", "RequestDisk", "KiB, or with a letter; bytes here", submit_key_size, FIXED, KIB},
    {"request_gpus", "RequestGpus", "RequestGpus", "a number, or an expression", submit_key_expr, FIXED, 0},
    {"require_gpus", "RequireGPUs", "RequireGpus", "of each of them, in names and units of GPUs here", submit_key_gpu,
     FIXED, 0},
    {"gpus_minimum_capability", "GPUsMinCapability", NULL, "a clause of `RequireGpus`", submit_key_gpu, FIXED, 0},
    {"gpus_maximum_capability", "GPUsMaxCapability", NULL, "a clause of `RequireGpus`", submit_key_gpu, FIXED, 0},
    {"gpus_minimum_memory", "GPUsMinMemory", NULL, "a clause of `RequireGpus`; MiB, or with a letter: `40G`",
     submit_key_gpu, FIXED, MIB},
    {"requirements", NULL, NULL, "`Constraint`, in names and units of machines here", submit_key_quiet, COMPUTED, 0},
    {"rank", "preferences", "Rank", "likewise", submit_key_rank, FIXED, 0},
    {"concurrency_limits", "ConcurrencyLimits", "ConcurrencyLimits", NULL, submit_key_text, FIXED, 0},
    {"accounting_group", "acct_group AcctGroup", "AccountingGroup", NULL, submit_key_text, FIXED, 0},
    {"priority", "prio JobPrio", "Priority", NULL, submit_key_expr, FIXED, 0},
    {"want_job_networking", "WantJobNetworking", "Network",
     "a job has the network only if it asks for it, and the owner of the machine lets it", submit_key_flag, FIXED, 0},
    {"machine_count", "MachineCount node_count NodeCount", "Processes",
     "1; several machines with `universe = parallel`", submit_key_machines, FIXED, 0},

    /* how it ends */
    {"max_retries", "JobMaxRetries", "MaxRetries", NULL, submit_key_whole, FIXED, 0},
    {"success_exit_code", "JobSuccessExitCode SuccessExitCode", "SuccessExitCode",
     "a try that ends with this status is the last, instead of one that ends with 0", submit_key_whole, FIXED, 0},
    {"allowed_execute_duration", "AllowedExecuteDuration", "TimeLimit",
     "a try that takes longer ends, and has failed; it is not held", submit_key_whole, FIXED, 0},
    {"kill_sig", "KillSig", "WarnSignal", "by name or by number", submit_key_signal, FIXED, 0},
    {"on_exit_remove", "OnExitRemove OnExitRemoveCheck", "OnExitRemove",
     "false: the job is run again; with `cron_minute` and its likes, each time", submit_key_leaves, FIXED, 0},
    {"on_exit_hold", "OnExitHold OnExitHoldCheck", "OnExitHold", "true: the job is held", submit_key_policy, FIXED, 0},
    {"on_exit_hold_reason", "OnExitHoldReason", "OnExitHoldReason", "the words with which it is held then",
     submit_key_later, FIXED, 0},
    {"on_exit_hold_subcode", "OnExitHoldSubCode", "OnExitHoldSubCode", "and the number", submit_key_later, FIXED, 0},
    {"checkpoint_exit_code", "CheckpointExitCode", "CheckpointExitCode",
     "a try that ends with this status is begun again at once, with the files of transfer_checkpoint_files as it left them",
     submit_key_whole, FIXED, 0},
    {"transfer_checkpoint_files", "TransferCheckpoint", "Checkpoint",
     "kept from try to try; a file that is an output as well is kept, too", submit_key_checkpoint, COMPUTED, 0},
    {"periodic_hold", "PeriodicHold PeriodicHoldCheck", "PeriodicHold",
     "looked at each minute (`PolicyPeriod`); true: the job is held", submit_key_later, FIXED, 0},
    {"periodic_hold_reason", "PeriodicHoldReason", "PeriodicHoldReason", "the words with which it is held then",
     submit_key_later, FIXED, 0},
    {"periodic_hold_subcode", "PeriodicHoldSubCode", "PeriodicHoldSubCode", "and the number", submit_key_later, FIXED,
     0},
    {"periodic_release", "PeriodicRelease PeriodicReleaseCheck", "PeriodicRelease",
     "likewise; true: a held job waits again", submit_key_later, FIXED, 0},
    {"periodic_remove", "PeriodicRemove PeriodicRemoveCheck", "PeriodicRemove", "likewise; true: the job is removed",
     submit_key_later, FIXED, 0},
    {"periodic_vacate", "PeriodicVacate PeriodicVacateCheck", "PeriodicVacate",
     "likewise; true: a running job leaves its machine, and waits again", submit_key_later, FIXED, 0},
    {"leave_in_queue", "LeaveJobInQueue", NULL, "what is over is in 'berth history'", submit_key_passed, COMPUTED, 0},
    {"retry_until", "RetryUntil", "RetryUnless",
     "a status, or an expression (`RetryUntil`): a try that ends so is the last", submit_key_until, FIXED, 0},
    {"allowed_job_duration", "AllowedJobDuration", NULL,
     "only the time of one try is limited: allowed_execute_duration", submit_key_passed, COMPUTED, 0},
    {"job_lease_duration", "JobLeaseDuration", NULL, "leases are the pool's", submit_key_passed, COMPUTED, 0},
    {"job_max_vacate_time", "JobMaxVacateTime", NULL, "the setting 'Grace' of the machine holds", submit_key_passed,
     COMPUTED, 0},
    {"kill_sig_timeout", "KillSigTimeout", NULL, "the setting 'Grace' of the machine holds", submit_key_passed,
     COMPUTED, 0},
    {"remove_kill_sig", "RemoveKillSig", NULL, "kill_sig is sent", submit_key_passed, COMPUTED, 0},
    {"hold_kill_sig", "HoldKillSig", NULL, "kill_sig is sent", submit_key_passed, COMPUTED, 0},
    {"want_graceful_removal", "WantGracefulRemoval", NULL, "a job is always warned first", submit_key_quiet, COMPUTED,
     0},
    {"max_job_retirement_time", "MaxJobRetirementTime", NULL, "the owner of the machine decides", submit_key_passed,
     COMPUTED, 0},

    /* what it is called, and what is told of it */
    {"batch_name", "JobBatchName job_batch_name", "JobBatchName", NULL, submit_key_text, COMPUTED, 0},
    {"description", "JobDescription", "JobDescription", NULL, submit_key_text, COMPUTED, 0},
    {"log", "UserLog", "UserLog",
     "HTCondor's event log, from `initialdir`, written with the rights of who submits it on the customer's machine; `/dev/null` is none",
     submit_key_log, COMPUTED, 0},
    {"log_xml", "UserLogUseXML", NULL, "the log is written as text", submit_key_passed, COMPUTED, 0},
    {"notification", "JobNotification", NULL,
     "nobody is written to; 'berth wait' waits, the pool's 'Notify' calls a program", submit_key_notification, FIXED,
     0},
    {"notify_user", "NotifyUser", NULL, "nobody is written to", submit_key_passed, COMPUTED, 0},
    {"email_attributes", "EmailAttributes", NULL, "nobody is written to", submit_key_passed, COMPUTED, 0},
    {"job_ad_information_attrs", "JobAdInformationAttrs", NULL, "the log says what it says", submit_key_passed,
     COMPUTED, 0},
    {"stream_output", "StreamOut", NULL, "it comes when the job has ended; 'berth logs -f' shows it before",
     submit_key_passed, COMPUTED, 0},
    {"stream_error", "StreamErr", NULL, "it comes when the job has ended; 'berth logs -f' shows it before",
     submit_key_passed, COMPUTED, 0},
    {"stream_input", "StreamIn", NULL, "it is sent as a whole", submit_key_passed, COMPUTED, 0},
    {"submit_event_notes", "SubmitEventNotes", "SubmitEventNotes", "a line of the log", submit_key_text, COMPUTED, 0},
    {"submit_event_user_notes", "SubmitEventUserNotes", "SubmitEventUserNotes", "a line of the log", submit_key_text,
     COMPUTED, 0},
    {"ulog_execute_attrs", NULL, NULL, "the log says what it says", submit_key_passed, COMPUTED, 0},
    {"dagman_log", NULL, NULL, "a workflow has no log of its own", submit_key_quiet, COMPUTED, 0},

    /* how files travel */
    {"should_transfer_files", "ShouldTransferFiles", NULL,
     "`NO`: `ShareFiles = true`, on machines that share the folder; else files travel", submit_key_transfer, FIXED, 0},
    {"when_to_transfer_output", "WhenToTransferOutput", NULL,
     "`ON_EXIT`: outputs come whenever it has ended, and those that it names have to be there (`OutputsNeeded`); `ON_SUCCESS`: only if it ended well must they be there; others are a warning",
     submit_key_when, FIXED, 0},
    {"transfer_output", "TransferOut", NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"transfer_error", "TransferErr", NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"transfer_input", "TransferIn", NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"copy_to_spool", "CopyToSpool", NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"skip_filechecks", NULL, NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"allow_arguments_v1", NULL, NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"allow_environment_v1", NULL, NULL, "it is so in any case", submit_key_quiet, COMPUTED, 0},
    {"encrypt_input_files", "EncryptInputFiles", NULL, "files travel as the pool has it", submit_key_quiet, COMPUTED,
     0},
    {"encrypt_output_files", "EncryptOutputFiles", NULL, "files travel as the pool has it", submit_key_quiet, COMPUTED,
     0},
    {"dont_encrypt_input_files", "DontEncryptInputFiles", NULL, "files travel as the pool has it", submit_key_quiet,
     COMPUTED, 0},
    {"dont_encrypt_output_files", "DontEncryptOutputFiles", NULL, "files travel as the pool has it", submit_key_quiet,
     COMPUTED, 0},
    {"max_transfer_input_mb", "MaxTransferInputMB", NULL, "the pool's limits hold", submit_key_passed, COMPUTED, 0},
    {"max_transfer_output_mb", "MaxTransferOutputMB", NULL, "the pool's limits hold", submit_key_passed, COMPUTED, 0},
    {"remote_initialdir", "RemoteIwd", NULL, "a job runs in a folder of its own", submit_key_passed, COMPUTED, 0},

    /* what the job does without */
    {"accounting_group_user", "AcctGroupUser", NULL, "it is charged to who submits it", submit_key_passed, COMPUTED, 0},
    {"nice_user", "NiceUser", NULL, "shares decide: docs/shares.md", submit_key_passed, COMPUTED, 0},
    {"max_idle", "JobMaterializeMaxIdle materialize_max_idle", NULL, "all are submitted at once: a sweep is one ad",
     submit_key_passed, COMPUTED, 0},
    {"max_materialize", "JobMaterializeLimit materialize_limit", NULL, "all are submitted at once: a sweep is one ad",
     submit_key_passed, COMPUTED, 0},
    {"core_size", "coresize", NULL, "it is the machine's matter", submit_key_passed, COMPUTED, 0},
    {"run_as_owner", "RunAsOwner", "RunAs", "true: `\"owner\"`, on machines that allow it", submit_key_owner, FIXED, 0},
    {"load_profile", "LoadProfile", NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"keep_claim_idle", "KeepClaimIdle", NULL, "claims are the customer's matter", submit_key_passed, COMPUTED, 0},
    {"next_job_start_delay", "NextJobStartDelay", NULL, "jobs start when they can", submit_key_passed, COMPUTED, 0},
    {"image_size", "ImageSize", NULL, "it is that of the program's file", submit_key_passed, COMPUTED, 0},
    {"disk_usage", "DiskUsage", NULL, "request_disk says what is needed", submit_key_passed, COMPUTED, 0},
    {"memory_usage", "MemoryUsage", NULL, "request_memory says what is needed", submit_key_passed, COMPUTED, 0},
    {"want_io_proxy", "WantIOProxy", NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"job_machine_attrs", NULL, NULL, "the history says where a job ran", submit_key_passed, COMPUTED, 0},
    {"job_machine_attrs_history_length", NULL, NULL, "the history says where a job ran", submit_key_passed, COMPUTED,
     0},
    {"match_list_length", NULL, NULL, "the history says where a job ran", submit_key_passed, COMPUTED, 0},
    {"want_remote_io", "WantRemoteIO", NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"rendezvousdir", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"buffer_files", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"buffer_size", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"buffer_block_size", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"compress_files", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"fetch_files", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"local_files", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"file_remaps", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"stack_size", NULL, NULL, "only jobs of the standard universe have it", submit_key_passed, COMPUTED, 0},
    {"batch_id", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"jobset", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"primary_unix_group", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"batch_queue", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"batch_project", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"batch_runtime", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},
    {"batch_extra_submit_args", NULL, NULL, "there is none", submit_key_passed, COMPUTED, 0},

    /* refused: without it the job would be a different one */
    {"container_image", "ContainerImage SingularityImage", "Image",
     "a `.sif`, squashfs or tar file (`file:///` before it is left out), which is carried along, a path from the root to a folder of the machine, the URL of a file, which the machine fetches for each job, or `docker://NAME` in a registry, whose digest is looked up when it is submitted",
     submit_key_image, FIXED, 0},
    {"docker_image", "DockerImage", "Image", "`docker://NAME`, in a registry, as for `container_image`",
     submit_key_docker, FIXED, 0},
    {"want_docker", "WantDocker", NULL, "`docker_image` says it", submit_key_quiet, COMPUTED, 0},
    {"want_container", "WantContainer", NULL, "`container_image` says it", submit_key_quiet, COMPUTED, 0},
    {"docker_network_type", "DockerNetworkType", NULL, "it goes with a container", submit_key_passed, COMPUTED, 0},
    {"docker_pull_policy", "DockerPullPolicy", NULL, "it goes with a container", submit_key_passed, COMPUTED, 0},
    {"docker_override_entrypoint", "DockerOverrideEntrypoint", NULL, "it goes with a container", submit_key_passed,
     COMPUTED, 0},
    {"transfer_container", "TransferContainer", NULL, "it goes with a container", submit_key_passed, COMPUTED, 0},
    {"container_target_dir", "ContainerTargetDir", NULL, "it goes with a container", submit_key_passed, COMPUTED, 0},
    {"container_service_names", "ContainerServiceNames", NULL, "it goes with a container", submit_key_passed, COMPUTED,
     0},
    {"mount_under_scratch", "MountUnderScratch", NULL, "it goes with a container", submit_key_passed, COMPUTED, 0},
    {"gpus_minimum_runtime", "GPUsMinRuntime", NULL, "not carried over: say it of the machine in requirements",
     submit_key_refused, COMPUTED, 0},
    {"deferral_time", "DeferralTime", "NotBefore",
     "seconds since 1970, or an expression. The job is not offered to machines before, and has one as soon as it can after; HTCondor gives it a machine before, where it stands idle until then",
     submit_key_expr, FIXED, 0},
    {"deferral_window", "DeferralWindow", "FinishBy",
     "so many seconds after `deferral_time`: a job that waits then is given up (`Aborted`), and not held. Without it, or with 0, a job that begins late is run all the same",
     submit_key_window, FIXED, 0},
    {"deferral_prep_time", "DeferralPrepTime", NULL, "a job that is not offered before its time needs none",
     submit_key_passed, COMPUTED, 0},
    {"cron_minute", "CronMinute", "CronSchedule", CRON_WORDS, submit_key_cron, FIXED, 0},
    {"cron_hour", "CronHour", "CronSchedule", "likewise", submit_key_cron, FIXED, 1},
    {"cron_day_of_month", "CronDayOfMonth", "CronSchedule", "likewise", submit_key_cron, FIXED, 2},
    {"cron_month", "CronMonth", "CronSchedule", "likewise", submit_key_cron, FIXED, 3},
    {"cron_day_of_week", "CronDayOfWeek", "CronSchedule", "likewise", submit_key_cron, FIXED, 4},
    {"cron_window", "CronWindow", "QueueLimit",
     "so many seconds after its time a job that waits is given up (`Aborted`), and not held. Without it, or with 0, a job that begins late is run all the same",
     submit_key_cron_window, FIXED, 0},
    {"cron_prep_time", "CronPrepTime", NULL, "a job that is not offered before its time needs none", submit_key_passed,
     COMPUTED, 0},
    {"hold", NULL, NULL, "a job that waits from the start is not carried over: 'berth hold ID' holds it",
     submit_key_refused, COMPUTED, 0},
    {"append_files", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"checkpoint_destination", "CheckpointDestination", NULL, "a job of that sort is not carried over",
     submit_key_refused, COMPUTED, 0},
    {"concurrency_limits_expr", NULL, NULL, "what is computed is not carried over: concurrency_limits is",
     submit_key_refused, COMPUTED, 0},
    {"noop_job", "IsNoopJob", NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"output_destination", "OutputDestination", "OutputUrls",
     "what transfer_output_files names is brought there by the machine, and the job asks for the network then: http, https, and others where owners name a client",
     submit_key_quiet, COMPUTED, 0},
    {"public_input_files", "PublicInputFiles", NULL, "not carried over: name them in transfer_input_files",
     submit_key_refused, COMPUTED, 0},
    {"exit_requirements", "ExitRequirements", NULL, "not carried over: on_exit_remove says it", submit_key_refused,
     COMPUTED, 0},
    {"skip_if_dataflow", "SkipIfDataflow", NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED,
     0},
    {"retry_request_memory", "RetryRequestMemory", NULL,
     "not carried over: request_memory may be an expression over JobTry, how often it was begun", submit_key_refused,
     COMPUTED, 0},
    {"retry_request_memory_increase", "RetryRequestMemoryIncrease", NULL,
     "not carried over: request_memory may be an expression over JobTry, how often it was begun", submit_key_refused,
     COMPUTED, 0},
    {"retry_request_memory_max", "RetryRequestMemoryMax", NULL,
     "not carried over: request_memory may be an expression over JobTry, how often it was begun", submit_key_refused,
     COMPUTED, 0},
    {"grid_resource", "GridResource", NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"transfer_plugins", "TransferPlugins", NULL,
     "machines fetch http, https and file by themselves, and others by clients that their owners name (UrlClients, UrlPutClients)",
     submit_key_refused, COMPUTED, 0},
    {"use_oauth_services", "UseOAuthServices", NULL,
     "secrets `SERVICE.use`, or `SERVICE_HANDLE.use` for `SERVICE_oauth_permissions_HANDLE`: from `~/.config/berth/credentials`, else the token of `$BEARER_TOKEN_FILE`; the job finds them in `$_CONDOR_CREDS`",
     submit_key_oauth, FIXED, 0},
    {"use_scitokens", "use_scitoken", NULL,
     "true: a secret, `scitokens.use`, from where `$BEARER_TOKEN_FILE` says; the job finds it there, too",
     submit_key_scitoken, FIXED, 0},
    {"scitokens_file", NULL, NULL, "the file that is read for it", submit_key_scitoken, FIXED, 0},
    {"use_x509userproxy", NULL, NULL,
     "true: a secret, `x509up`, from `$X509_USER_PROXY` or `/tmp/x509up_uUID`; the job finds it by `$X509_USER_PROXY`",
     submit_key_proxy, FIXED, 0},
    {"x509userproxy", NULL, NULL, "the file that is read for it", submit_key_proxy, FIXED, 0},
    {"vm_type", "VM_Type", NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"parallel_script_shadow", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"parallel_script_starter", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"tool_daemon_cmd", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"jar_files", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"java_vm_args", "java_vm_arguments", NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED,
     0},
    {"common_input_files", NULL, NULL, "a job of that sort is not carried over", submit_key_refused, COMPUTED, 0},
    {"queue", NULL, NULL, "how many jobs, for which items", submit_key_quiet, COMPUTED, 0},
};

const size_t submit_key_count = sizeof submit_keys / sizeof *submit_keys;
_Static_assert(sizeof submit_keys / sizeof *submit_keys <= SUBMIT_KEYS_MAX, "a reader notes the macro of each key");

/* Attributes that a key makes: with `+` they would be there twice, or in another unit. */
static const char *const made[] = {
    "Cmd",   "Args",        "Env",           "In",          "Inputs",      "Outputs", "Out",          "Err",
    "Iwd",   "RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus", "Rank",    "Requirements", "Constraint",
    "Count", "Owner",       "Type",          "JobIndex",    "JobId"};

/* Is that one of the words? */
static bool is_among(const char *name, size_t len, const char *words)
{
    while (words && *words) {
        size_t word = strcspn(words, " ");

        if (word == len) {
            size_t same = 0;

            while (same < len && (name[same] | 0x20) == (words[same] | 0x20) && name[same] != ' ')
                same++;
            if (same == len)
                return true;
        }
        words += word + strspn(words + word, " ");
    }
    return false;
}

const struct submit_key *submit_key_find(const char *name, size_t len)
{
    for (size_t i = 0; i < submit_key_count; i++)
        if (submit_same(name, len, submit_keys[i].name) || is_among(name, len, submit_keys[i].also))
            return &submit_keys[i];
    return NULL;
}

struct submit_macro *submit_key_macro(const struct submit_reader *reader, const struct submit_key *key)
{
    struct submit_macro *macro = submit_macro(reader, key->name, strlen(key->name));

    for (const char *also = key->also; !macro && also && *also;) {
        size_t len = strcspn(also, " ");

        macro = submit_macro(reader, also, len);
        also += len + strspn(also + len, " ");
    }
    return macro;
}

bool submit_key_is_known(const char *name)
{
    return submit_key_find(name, strlen(name)) != NULL;
}

bool submit_is_made(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (submit_same(name, len, made[i]))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------- the page */

/* What becomes of the key, as a page says it. */
static void key_print(struct buf *out, const struct submit_key *key)
{
    const char *words = key->words ? key->words : "";

    if (key->write == submit_key_refused)
        buf_addf(out, "refused: %s", words);
    else if (key->write == submit_key_passed || key->write == submit_key_notification)
        buf_addf(out, "a warning: %s", words);
    else if (key->attribute)
        buf_addf(out, "`%s`%s%s", key->attribute, *words ? ": " : "", words);
    else
        buf_adds(out, words);
}

void submit_commands_print(struct buf *out)
{
    buf_adds(out, "| command | also written | what becomes of it |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < submit_key_count; i++) {
        buf_addf(out, "| `%s` | ", submit_keys[i].name);
        for (const char *also = submit_keys[i].also; also && *also;) {
            size_t len = strcspn(also, " ");

            buf_addf(out, "%s`%.*s`", also == submit_keys[i].also ? "" : ", ", (int)len, also);
            also += len + strspn(also + len, " ");
        }
        buf_adds(out, " | ");
        key_print(out, &submit_keys[i]);
        buf_adds(out, " |\n");
    }
}
