/* user_runner.c: berth user-runner UID: what a customer starts to run a job of its own host for a user. It is not for people, so no list has it. */
#include "live/customerd/user_runner.h"

#include "cli/term/command.h"
#include "cli/term/report.h"

#include <stdlib.h>
#include <string.h>

int command_user_runner(int word_count, char **words)
{
    size_t len = word_count == 1 ? strlen(words[0]) : 0;

    if (!len || len > 10 || strspn(words[0], "0123456789") != len || strtoull(words[0], NULL, 10) > UINT32_MAX) {
        report("user-runner: expected a user's id; customers start this by themselves");
        return STATUS_BAD;
    }
    return user_runner_main((uint32_t)strtoull(words[0], NULL, 10)) == 0 ? STATUS_DONE : STATUS_BAD;
}
