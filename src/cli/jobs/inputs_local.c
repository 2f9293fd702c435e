/* inputs_local.c: the files of a job that runs on the submit host: they stay where they are.
 *
 *     Universe = "local"; Cmd = "./merge"; In = "list"    ->    Cmd = "/home/ada/run/./merge"; LocalIn = "/home/ada/run/list"; Inputs = {} */
#include "cli/jobs/inputs.h"

#include "cli/jobs/program.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void path_print(struct buf *out, const char *attribute, const char *folder, const char *text)
{
    char *path = file_in(folder, text), here[PATH_MAX];
    struct buf whole;

    buf_init(&whole);
    if (*path != '/' && getcwd(here, sizeof here))
        buf_addf(&whole, "%s/", here);
    buf_adds(&whole, path);
    buf_addf(out, "%s = ", attribute);
    print_string(out, whole.text, whole.len, PRINT_PLAIN);
    buf_adds(out, ";\n");
    buf_done(&whole);
    free(path);
}

int inputs_local(const struct tree *ad, const char *folder, const char *name, struct buf *out)
{
    const char *text, *flaw;
    bool missing;
    char *word, *path;
    size_t len;

    if (!ad_string(ad, "Cmd", &text, &len) || !len) {
        report("%s: Cmd: expected the name of a program", name);
        return -1;
    }
    word = mem_dup(text, len);
    path = file_in(folder, word);
    flaw = strchr(word, '/') ? program_flaw(path, &missing) : NULL; /* one without is a program of this machine */
    if (flaw)
        report("%s: %s: %s", name, path, flaw);
    else if (strchr(word, '/'))
        path_print(out, "Cmd", folder, word);
    free(path);
    free(word);
    if (!flaw && ad_string(ad, "In", &text, &len) && len) {
        word = mem_dup(text, len);
        path_print(out, "LocalIn", folder, word);
        buf_adds(out, "In = \"in\";\n");
        free(word);
    }
    buf_adds(out, "Inputs = {};\nOutputs = {};\n");
    return flaw ? -1 : 0;
}
