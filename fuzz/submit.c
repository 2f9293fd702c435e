/* submit.c (fuzzer): submit files and JDL from any text.
 *
 * Law: what is refused has a reason and a place within the text; every remark has a place and words; every ad that comes can be printed
 * and read again; nothing is left of a name when it is gone.
 *
 *     byte 0   bit 0: JDL; bit 1: there are no files, names and variables; bit 2: two items share an ad already;
 *              bit 3: commands are run; bit 4: a command is appended */
#include "lang/form/submit.h"
#include "fuzz.h"

struct seen {
    unsigned lines;
    struct symbols *symbols;
};

static int any_file(void *user, const char *name, struct buf *ret, struct err *err)
{
    (void)user;
    if (*name == 'x')
        return err_set(err, "no");
    buf_adds(ret, "a 1\nb, 2 3\n# c\n");
    return 0;
}

static int any_match(void *user, const char *pattern, enum submit_match what, struct buf *ret, struct err *err)
{
    (void)user;
    (void)err;
    buf_addf(ret, "%s\n%.3s.%d\n", pattern, pattern, (int)what);
    return 0;
}

static const char *any_variable(void *user, const char *name)
{
    (void)user;
    return *name == 'N' ? NULL : name;
}

static const char *const any_variables[] = {"PATH=/bin", "Path=x", "N=1", "=", "OMP_X=a b", NULL};

static int any_command(void *user, const char *command, struct buf *ret, struct err *err)
{
    (void)user;
    if (*command == 'x')
        return err_set(err, "no");
    buf_addf(ret, "%s\nexecutable = a\nqueue\n", command);
    return 0;
}

static uint64_t any_random(void *user)
{
    (void)user;
    return 7;
}

static void any_remark(void *user, const struct err *remark)
{
    const struct seen *seen = user;

    if (!remark->line || remark->line > seen->lines || !*remark->text)
        fuzz_broken("a remark has a place and words");
}

static int any_ad(void *user, struct tree *ad, unsigned line)
{
    const struct seen *seen = user;
    struct err err = {0};
    struct tree *back;
    struct buf text;

    if (!line || line > seen->lines)
        fuzz_broken("an ad has a line");
    buf_init(&text);
    if (form_write_ad(&text, FORM_CLASSAD, ad, &err) < 0)
        fuzz_broken("an ad can be printed");
    back = form_parse(seen->symbols, &dialect_classic, FORM_CLASSAD, NULL, text.text, text.len, &err);
    if (!back || !tree_equal(ad, tree_root(ad), back, tree_root(back)))
        fuzz_broken("an ad is read as it was printed");
    tree_unref(back);
    buf_done(&text);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    static size_t names;
    struct seen seen = {.lines = 1};
    struct submit_world world = {
        .user = &seen, .remark = any_remark, .folder = "/f", .arch = "A", .system = "S", .ads_max = 50};
    static const struct submit_given appended = {"+x", "$(y)"};
    struct err err = {0};
    char *copy;

    if (!size)
        return 0;
    if (!symbols) {
        symbols = names_new(0);
        names = symbols_count(symbols);
    }
    seen.symbols = symbols;
    world.fold_from = data[0] & 4 ? 2 : 0;
    for (size_t i = 1; i < size; i++)
        seen.lines += data[i] == '\n';
    if (!(data[0] & 2)) {
        world.file = any_file;
        world.match = any_match;
        world.variable = any_variable;
        world.variables = any_variables;
        world.random = any_random;
        world.file_name = "f.sub";
        world.now = 1700000000;
        world.date = (struct submit_date){2023, 11, 14};
        world.command = data[0] & 8 ? any_command : NULL;
        world.appended = &appended;
        world.appended_count = data[0] & 16 ? 1 : 0;
    }
    copy = malloc(size); /* of its exact length, so that reading past its end is seen */
    memcpy(copy, data + 1, size - 1);
    submit_recognise(NULL, copy, size - 1);
    if ((data[0] & 1 ? jdl_read : submit_read)(symbols, &world, copy, size - 1, any_ad, &seen, &err) < 0 &&
        (!*err.text || !err.line || err.line > seen.lines))
        fuzz_broken("what is refused has a reason, and a place");
    free(copy);
    if (symbols_count(symbols) != names)
        fuzz_broken("no name is left");
    return 0;
}
