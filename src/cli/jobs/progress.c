/* progress.c: berth progress: in a job, says how far it is, by its line of status. */
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/number.h"
#include "pool/protocol/job_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads "0.4", or "40%". */
static bool part_read(const char *text, double *ret)
{
    const char *words;
    size_t len = strlen(text), taken;

    if (len && text[len - 1] == '%')
        return progress_read(text, ret, &words);
    taken = len && strchr("0123456789.", *text) ? number_parse_real(text, len, ret) : 0;
    return taken == len && len && *ret >= 0 && *ret <= 1;
}

/* Puts the line in the place of the one before, whole: whoever reads the file sees the one or the other. */
static int line_put(const char *file, const struct buf *line)
{
    struct buf fresh;
    int fd, status = STATUS_BAD;

    buf_init(&fresh);
    buf_addf(&fresh, "%s.%ld", file, (long)getpid());
    fd = open(buf_string(&fresh), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0 || write(fd, line->text, line->len) != (ssize_t)line->len) {
        report("%s: %s", buf_string(&fresh), strerror(errno));
    } else if (rename(buf_string(&fresh), file) < 0) {
        report("%s: %s", file, strerror(errno));
    } else {
        status = STATUS_DONE;
    }
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status != STATUS_DONE)
        unlink(buf_string(&fresh));
    buf_done(&fresh);
    return status;
}

static int progress_run(const void *given, int word_count, char **words)
{
    const char *file = getenv("BERTH_STATUS");
    struct buf line, rest;
    double part;
    int status;

    (void)given;
    if (word_count < 1 || !part_read(words[0], &part)) {
        report("progress wants how much is done, from 0 to 1 or as 40%%, and words if you like");
        return STATUS_BAD;
    }
    if (!file || !*file) {
        report("progress is for jobs: there is no BERTH_STATUS here");
        return STATUS_BAD;
    }
    buf_init(&line);
    buf_init(&rest);
    for (int i = 1; i < word_count; i++)
        buf_addf(&rest, "%s%s", i > 1 ? " " : "", words[i]);
    progress_print(&line, part, buf_string(&rest));
    buf_addc(&line, '\n');
    status = line_put(file, &line);
    buf_done(&line);
    buf_done(&rest);
    return status;
}

const struct command command_progress = {
    .name = "progress",
    .summary = "in a job: say how far it is",
    .usage = "PART [WORDS...]",
    .about =
        "A job says so of itself: PART is from 0 to 1, or a percentage. It becomes the job's line of status, in the file that "
        "BERTH_STATUS names; `echo '40% epoch 12' >\"$BERTH_STATUS\"` does the same where there is no berth in the sandbox. The "
        "machine looks at it every ten seconds, however often it is written. `berth jobs`, `berth job` and the page show "
        "it, and the job's log has a line for each tenth.",
    .examples = {{"berth progress 0.4 epoch 12", NULL}, {"berth progress 87.5%", NULL}},
    .run = progress_run,
};
