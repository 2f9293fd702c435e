/* user_writer.c: berth user-writer UID and berth user-log UID: what a customer starts to write into the folders of a user. They are not for people, so no list
 * has them. */
#include "live/customerd/user_writer.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "live/customerd/log_writer.h"

#include <stdlib.h>
#include <string.h>

static bool is_user(int word_count, char **words)
{
    size_t len = word_count == 1 ? strlen(words[0]) : 0;

    return len && len <= 10 && strspn(words[0], "0123456789") == len && strtoull(words[0], NULL, 10) <= UINT32_MAX;
}

int command_user_log(int word_count, char **words)
{
    if (!is_user(word_count, words) && (word_count != 1 || strcmp(words[0], LOG_WRITER_SELF) != 0)) {
        report("user-log: expected a user's id; customers start this by themselves");
        return STATUS_BAD;
    }
    return log_writer_main(words[0]) == 0 ? STATUS_DONE : STATUS_BAD;
}

int command_user_writer(int word_count, char **words)
{
    if (!is_user(word_count, words)) {
        report("user-writer: expected a user's id; customers start this by themselves");
        return STATUS_BAD;
    }
    return user_writer_main((uint32_t)strtoull(words[0], NULL, 10)) == 0 ? STATUS_DONE : STATUS_BAD;
}
