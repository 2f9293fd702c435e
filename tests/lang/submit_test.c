/* submit_test.c: files in other people's languages become ads of jobs: runs the text tables tests/lang/submit/NAME.txt.
 *
 *     # the case's sentence               a paragraph a case
 *     | executable = fit                  a line of the file
 *     file   items.txt a 1\nb 2           another file that there is
 *     names  a.dat b.dat d/               what there is to be matched; with a slash: a folder
 *
 *     ad     [ Cmd = "./fit" ]            an ad that it makes, in order; Constraint counts only where it is given
 *     note   3:7: log: no file            a remark, in order: how it begins
 *     fail   2:1: expected                it is refused: how the message begins
 *
 * The language is that of the table's name up to a dash. The world: run.sub in /home/ada/run, machines like X86_64 and LINUX, HOME, LANG and variables of
 * OpenMP, 14 November 2023, a chance that is the same every time. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/form/submit.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>

#define LINES_MAX 64

struct test {
    char sentence[300];
    int line;
    struct buf text;
    const char *files[LINES_MAX], *names, *ads[LINES_MAX], *notes[LINES_MAX], *fail;
    size_t file_count, ad_count, note_count;
};

struct run {
    struct symbols *symbols;
    const struct test *test;
    struct buf why;
    size_t ads, notes;
    uint64_t drawn;
};

/* --------------------------------------------------------------------------------------------------------------- world */

static int world_file(void *user, const char *name, struct buf *ret, struct err *err)
{
    const struct run *run = user;

    for (size_t i = 0; i < run->test->file_count; i++) {
        const char *text = run->test->files[i];
        size_t len = strcspn(text, " ");

        if (strlen(name) != len || memcmp(name, text, len) != 0)
            continue;
        for (const char *at = text + len + 1; *at; at++)
            if (at[0] == '\\' && at[1] == 'n') {
                buf_addc(ret, '\n');
                at++;
            } else {
                buf_addc(ret, *at);
            }
        return 0;
    }
    return err_set(err, "there is no such file");
}

static int world_match(void *user, const char *pattern, enum submit_match what, struct buf *ret, struct err *err)
{
    const struct run *run = user;
    char all[500], *rest;

    (void)err;
    snprintf(all, sizeof all, "%s", run->test->names ? run->test->names : "");
    for (char *name = strtok_r(all, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        bool folder = name[strlen(name) - 1] == '/';

        if (folder)
            name[strlen(name) - 1] = '\0';
        if (fnmatch(pattern, name, FNM_PATHNAME) == 0 &&
            (what == SUBMIT_MATCH_ANY || folder == (what == SUBMIT_MATCH_FOLDERS)))
            buf_addf(ret, "%s\n", name);
    }
    return 0;
}

static const char *world_variable(void *user, const char *name)
{
    (void)user;
    return !strcmp(name, "HOME")              ? "/home/ada"
           : !strcmp(name, "LANG")            ? "C.UTF-8"
           : !strcmp(name, "OMP_NUM_THREADS") ? "4"
                                              : NULL;
}

static const char *const world_variables[] = {"HOME=/home/ada", "OMP_NUM_THREADS=4", "OMP_PLACES=cores", "LANG=C.UTF-8",
                                              NULL};

/* A chance that is the same every time. */
static uint64_t world_random(void *user)
{
    struct run *run = user;

    return ++run->drawn;
}

/* ------------------------------------------------------------------------------------------------------------ comparing */

static void remark_check(void *user, const struct err *remark)
{
    struct run *run = user;
    char text[600];

    snprintf(text, sizeof text, "%u:%u: %s", remark->line, remark->column, remark->text);
    if (run->notes >= run->test->note_count)
        buf_addf(&run->why, "not expected: note %s\n", text);
    else if (strncmp(text, run->test->notes[run->notes], strlen(run->test->notes[run->notes])) != 0)
        buf_addf(&run->why, "got:      note %s\nexpected: note %s\n", text, run->test->notes[run->notes]);
    run->notes++;
}

static bool same_attributes(const struct tree *got, const struct tree *want)
{
    const struct expr *parts = tree_parts(want, tree_root(want));
    uint32_t count = tree_root(want)->u.run.count;

    for (uint32_t i = 0; i < count; i++) {
        const struct expr *mine = tree_find(got, tree_root(got), parts[i].label);

        if (!mine || !tree_equal(got, mine, want, &parts[i]))
            return false;
    }
    return tree_root(got)->u.run.count == count + (!tree_find(want, tree_root(want), NAME_CONSTRAINT) &&
                                                   tree_find(got, tree_root(got), NAME_CONSTRAINT) != NULL);
}

static int ad_check(void *user, struct tree *ad, unsigned line)
{
    struct run *run = user;
    const char *wanted = run->ads < run->test->ad_count ? run->test->ads[run->ads] : NULL;
    struct tree *want = NULL;
    struct build build;
    struct err err = {0};

    (void)line;
    build_init(&build, run->symbols, &dialect_classic);
    if (wanted)
        want = parse_ad(&build, NULL, wanted, strlen(wanted), &err);
    if (!want || !same_attributes(ad, want)) {
        buf_adds(&run->why, "got:      ");
        print_tree(&run->why, ad, PRINT_PLAIN);
        buf_addf(&run->why, "\nexpected: %s %s\n", wanted ? wanted : "no more ads", err.text);
    }
    run->ads++;
    tree_unref(want);
    build_done(&build);
    return 0;
}

/* Local time is an hour ahead of UTC. */
static int64_t world_offset(void *user, int64_t moment)
{
    (void)user, (void)moment;
    return 3600;
}

static void test_run(struct test *test, bool jdl)
{
    struct run run = {.symbols = names_new(0), .test = test};
    struct submit_world world = {.user = &run,
                                 .file = world_file,
                                 .match = world_match,
                                 .variable = world_variable,
                                 .variables = world_variables,
                                 .random = world_random,
                                 .file_name = "run.sub",
                                 .date = {2023, 11, 14},
                                 .remark = remark_check,
                                 .folder = "/home/ada/run",
                                 .arch = "X86_64",
                                 .system = "LINUX",
                                 .now = 1700000000,
                                 .offset = world_offset};
    size_t names = symbols_count(run.symbols);
    char text[600] = "";
    struct err err = {0};
    int result;

    buf_init(&run.why);
    result = (jdl ? jdl_read : submit_read)(run.symbols, &world, buf_string(&test->text), test->text.len, ad_check,
                                            &run, &err);
    if (result < 0)
        snprintf(text, sizeof text, "%u:%u: %s", err.line, err.column, err.text);
    if ((result < 0) != (test->fail != NULL) || (test->fail && strncmp(text, test->fail, strlen(test->fail)) != 0))
        buf_addf(&run.why, "got:      fail %s\nexpected: fail %s\n", text, test->fail ? test->fail : "");
    if (!test->fail && run.ads != test->ad_count)
        buf_addf(&run.why, "got %zu ads, expected %zu\n", run.ads, test->ad_count);
    if (run.notes != test->note_count)
        buf_addf(&run.why, "got %zu notes, expected %zu\n", run.notes, test->note_count);
    if (symbols_count(run.symbols) != names)
        buf_adds(&run.why, "names are held by nobody\n");
    if (!tap_ok(!run.why.len, "%s (line %d)", test->sentence, test->line))
        tap_diag("%s", buf_string(&run.why));
    buf_done(&run.why);
    symbols_free(run.symbols);
}

/* --------------------------------------------------------------------------------------------------------------- tables */

static bool takes(const char *line, const char *key, const char **ret)
{
    size_t len = strlen(key);

    if (strncmp(line, key, len) != 0 || line[len] != ' ')
        return false;
    *ret = line + len + strspn(line + len, " ");
    return true;
}

static bool test_line(struct test *test, char *line, int number)
{
    const char *rest;

    if (*line == '#' && !test->text.len) {
        size_t len = strlen(test->sentence);

        test->line = test->line ? test->line : number;
        snprintf(test->sentence + len, sizeof test->sentence - len, "%s%s", len ? " " : "",
                 line + 1 + strspn(line + 1, " "));
        return true;
    }
    if (*line == '|') {
        buf_adds(&test->text, line + 1 + (line[1] == ' '));
        buf_addc(&test->text, '\n');
        return true;
    }
    if (takes(line, "file", &rest))
        test->files[test->file_count++] = rest;
    else if (takes(line, "names", &rest))
        test->names = rest;
    else if (takes(line, "ad", &rest))
        test->ads[test->ad_count++] = rest;
    else if (takes(line, "note", &rest))
        test->notes[test->note_count++] = rest;
    else if (takes(line, "fail", &rest))
        test->fail = rest;
    else
        return false;
    return true;
}

static void table_run(const char *path)
{
    bool jdl = strstr(path, "/jdl") != NULL;
    struct test test = {.line = 0};
    int number = 0, cases = 0;
    FILE *file = fopen(path, "r");
    char *line = NULL, *kept[2000];
    size_t room = 0, kept_count = 0;

    while (file && kept_count < sizeof kept / sizeof *kept) {
        bool more = getline(&line, &room, file) >= 0;

        number++;
        if (more)
            line[strcspn(line, "\n")] = '\0';
        if (more && *line) {
            kept[kept_count] = strdup(line);
            if (!test_line(&test, kept[kept_count++], number))
                tap_ok(false, "%s:%d: a line that is understood", path, number);
            continue;
        }
        if (test.text.len) {
            test_run(&test, jdl);
            cases++;
        }
        buf_done(&test.text);
        test = (struct test){.line = 0};
        if (!more)
            break;
    }
    tap_ok(cases > 0, "%s has cases", strrchr(path, '/') + 1);
    while (kept_count)
        free(kept[--kept_count]);
    free(line);
    if (file)
        fclose(file);
}

static void check_recognised(void)
{
    static const struct {
        const char *sentence, *name, *text;
        enum submit_language language;
    } rows[] = {
        {"a file .jdl in brackets is JDL", "x.jdl", "# a job\n\n[\nExecutable = \"a\";\nqueue 5\n]", SUBMIT_JDL},
        {"one without brackets, too", "x.jdl", "Executable = \"a\";\n", SUBMIT_JDL},
        {"but HTCondor's users call theirs so as well", "x.jdl", "Universe = vanilla\nExecutable = a\nQueue 10\n",
         SUBMIT_SUBMIT},
        {"a line queue decides, whatever a file is called", "x.condor", "cmd = a\n  QUEUE\n", SUBMIT_SUBMIT},
        {"an ad is none", "x", "Cmd = \"a\"\nQueue = 5\n", SUBMIT_AD},
        {"nor what is called so", "x.ad", "[ Cmd = \"a\" ]\nqueue", SUBMIT_AD},
        {"JDL is known without its ending", "x", "[ Executable = \"a\"; ]", SUBMIT_JDL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(submit_recognise(rows[i].name, rows[i].text, strlen(rows[i].text)) == rows[i].language, "%s",
               rows[i].sentence);
}

int main(void)
{
    char pattern[500];
    glob_t files;

    snprintf(pattern, sizeof pattern, "%s/tests/lang/submit/*.txt",
             getenv("BERTH_SOURCE") ? getenv("BERTH_SOURCE") : ".");
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            table_run(files.gl_pathv[i]);
        globfree(&files);
    } else {
        tap_ok(false, "there are tables");
    }
    check_recognised();
    return tap_done();
}
