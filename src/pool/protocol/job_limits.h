/* job_limits.h: the limits of a job, what it gets when it does not say, and the names of files that have a meaning. */
#ifndef BERTH_POOL_PROTOCOL_JOB_LIMITS_H
#define BERTH_POOL_PROTOCOL_JOB_LIMITS_H

#include <stdint.h>

#define JOB_ARGUMENTS_MAX 65536          /* arguments, and variables, of a job */
#define JOB_ARGUMENT_BYTES (1024 * 1024) /* of all of them */
#define JOB_FILES_MAX 10000              /* of a job: inputs, outputs, checkpoint files, each */
#define JOB_CPUS 1                       /* this and the next three: of a job that does not say */
#define JOB_MEMORY (INT64_C(512) << 20)
#define JOB_DISK (INT64_C(1) << 30)
#define JOB_PROCESSES 256
#define JOB_UMASK 022       /* of one that runs as the user who sent it, and does not say */
#define JOB_STDOUT "stdout" /* what the job writes goes there, in its folder */
#define JOB_STDERR "stderr"
#define JOB_STATUS ".berth-status" /* the file in which a job writes a line about itself */

#endif
