/* kit.c: units, dimensions and the schema, and the file that adds to them. */
#include "match/grdl/kit.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 5

struct facts {
    struct grdl_kit *kit;
    unsigned count;
    unsigned line;
    struct err *err;
};

static int fact_unit(struct facts *facts, char **words)
{
    return grdl_units_add(facts->kit->units, words[1], words[2], words[3], facts->err);
}

static int fact_dimension(struct facts *facts, char **words)
{
    grdl_consumer_name(facts->kit->consumer, words[1], words[2]);
    return 0;
}

static int fact_default(struct facts *facts, char **words)
{
    grdl_consumer_default(facts->kit->consumer, words[1], words[2]);
    return 0;
}

static int fact_operation(struct facts *facts, char **words)
{
    grdl_consumer_operation(facts->kit->consumer, words[1], words[2]);
    return 0;
}

static int fact_same(struct facts *facts, char **words)
{
    grdl_consumer_same(facts->kit->consumer, words[1], words[2]);
    return 0;
}

static int fact_single(struct facts *facts, char **words)
{
    grdl_consumer_single(facts->kit->consumer, words[1]);
    return 0;
}

/* `dimensions`: how many of the words after the first name a dimension. */
static const struct fact {
    const char *word, *wanted;
    int words, dimensions;
    int (*take)(struct facts *facts, char **words);
} fact_rows[] = {
    {"unit", "unit NAME CATEGORY FACTOR", 4, 0, fact_unit},
    {"dimension", "dimension NAME TYPE", 3, 1, fact_dimension},
    {"default", "default DIMENSION TYPE", 3, 1, fact_default},
    {"operation", "operation DIMENSION TYPE", 3, 1, fact_operation},
    {"same", "same DIMENSION DIMENSION", 3, 2, fact_same},
    {"single", "single DIMENSION", 2, 1, fact_single},
};

/* Cuts the line into words, up to a comment; more than WORDS_MAX count as that. */
static int words_cut(char *line, char **words)
{
    int count = 0;
    char *at = line + strcspn(line, "#");

    *at = '\0';
    for (at = line; *(at += strspn(at, " \t\r"));) {
        if (count < WORDS_MAX)
            words[count++] = at;
        at += strcspn(at, " \t\r");
        if (*at)
            *at++ = '\0';
    }
    return count;
}

/* Takes a line: its fact in a first turn; in a second turn, when the schema is there and `know` is set, the schema learns the dimensions that it
 * names. */
static int line_take(struct facts *facts, char *line, bool know)
{
    char *words[WORDS_MAX];
    int count = words_cut(line, words);

    if (!count)
        return 0;
    for (size_t i = 0; i < sizeof fact_rows / sizeof *fact_rows; i++) {
        const struct fact *row = &fact_rows[i];

        if (strcmp(words[0], row->word) != 0)
            continue;
        if (count != row->words)
            return err_set(facts->err, "expected %s", row->wanted);
        for (int n = 1; n < count; n++)
            if (strlen(words[n]) > GRDL_NAME_MAX)
                return err_set(facts->err, "a name has at most %d bytes", GRDL_NAME_MAX);
        if (!know && ++facts->count > GRDL_FACTS_MAX)
            return err_set(facts->err, "more than %d lines", GRDL_FACTS_MAX);
        for (int n = 1; know && n <= row->dimensions; n++)
            grdl_schema_know(facts->kit->schema, words[n]);
        return know ? 0 : row->take(facts, words);
    }
    return err_set(facts->err, "expected unit, dimension, default, operation, same or single, got '%.60s'", words[0]);
}

static int text_take(struct facts *facts, const char *text, size_t len, bool know)
{
    char *copy = mem_dup(text, len), *line = copy, *next;
    int taken = 0;

    if (memchr(text, '\0', len))
        taken = err_at(facts->err, 1, 1, "there is a NUL");
    for (facts->line = 1; line && taken == 0; line = next, facts->line++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        taken = line_take(facts, line, know);
        if (taken < 0 && facts->err)
            facts->err->line = facts->line, facts->err->column = 1;
    }
    free(copy);
    return taken;
}

struct grdl_kit *grdl_kit_new(enum grdl_comparator comparator, const char *text, size_t len, struct err *err)
{
    struct grdl_kit *kit = mem_alloc(sizeof *kit);
    struct facts facts = {.kit = kit, .err = err};

    *kit = (struct grdl_kit){.units = grdl_units_new()};
    kit->consumer = grdl_consumer_new(kit->units, comparator);
    if (len && text_take(&facts, text, len, false) < 0) {
        grdl_kit_free(kit);
        return NULL;
    }
    kit->schema = grdl_schema_new(kit->units);
    if (len)
        text_take(&facts, text, len, true);
    return kit;
}

void grdl_kit_free(struct grdl_kit *kit)
{
    if (!kit)
        return;
    grdl_schema_free(kit->schema);
    grdl_consumer_free(kit->consumer);
    grdl_units_free(kit->units);
    free(kit);
}
