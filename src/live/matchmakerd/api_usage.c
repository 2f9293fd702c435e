/* api_usage.c: what was used, added up as it is asked for: by user, group or machine, by month, or both.
 *
 *     rows of the book -> those of the months, and that the caller may see -> a sum for each name and month -> a list
 *
 * Both halves are done in slices. Who is no administrator sees the use of his own account; machines are for administrators, for who uses one tells how much
 * others do. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "pool/matchmaker/groups.h"
#include "pool/protocol/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_SLICE 200
#define MONTH_WORD 8 /* "2026-11", or "before" */

enum by { BY_USER, BY_GROUP, BY_MACHINE, BY_NOTHING };

static const char *const by_words[] = {
    [BY_USER] = "user", [BY_GROUP] = "group", [BY_MACHINE] = "machine", [BY_NOTHING] = "month"};
static const char *const by_attributes[] = {[BY_USER] = "User", [BY_GROUP] = "Group", [BY_MACHINE] = "Machine"};

struct sum {
    const char *key; /* month and name */
    uint32_t place;
};

struct usage_scan {
    struct collection collection; /* first: it begins with the scan */
    bool listed;                  /* the collection has answered, and is done */
    enum by by;
    bool months;                                  /* a sum a month */
    int64_t since, until;                         /* months; 0: from the beginning, to the end */
    char user[TEXT_MAX + 1], group[TEXT_MAX + 1]; /* "" for all */
    struct textmap keys;                          /* a sum has its key's place */
    struct usage_amounts *sums;
    uint32_t room;
    struct sum *order; /* by month and name; NULL: not sorted yet */
    uint32_t next;
};

/* ---------------------------------------------------------------------------------------------------- what is asked for */

/* Reads 2026-11 or 2026-11-18, which is in that month. */
static bool month_read(struct request *request, const char *name, int64_t *ret)
{
    const char *text = request_query(request, name);
    int year, month, day = 1, end = 0, whole = 0;

    *ret = 0;
    if (!text || !*text)
        return true;
    if (strspn(text, "0123456789-") == strlen(text) &&
        sscanf(text, "%4d-%2d%n-%2d%n", &year, &month, &end, &day, &whole) >= 2 &&
        ((end == 7 && !text[7]) || (whole == 10 && !text[10])) && year >= 1970 && month >= 1 && month <= 12 &&
        day >= 1 && day <= 31) {
        *ret = year * 100 + month;
        return true;
    }
    request_problem(request, 400, "%s: expected a month, 2026-11, or a day, 2026-11-18, which stands for its month",
                    name);
    return false;
}

/* Reads "user", "group", "machine" or "month", or one of the first three and the last: "user,month". */
static bool by_read(struct request *request, struct usage_scan *usage)
{
    const char *text = request_query(request, "by"), *comma;
    size_t len;

    usage->by = BY_USER;
    if (!text || !*text)
        return true;
    comma = strchr(text, ',');
    len = comma ? (size_t)(comma - text) : strlen(text);
    for (usage->by = BY_USER; usage->by <= BY_NOTHING; usage->by++)
        if (strlen(by_words[usage->by]) == len && !memcmp(text, by_words[usage->by], len))
            break;
    usage->months = usage->by == BY_NOTHING || (comma && !strcmp(comma, ",month"));
    if (usage->by <= BY_NOTHING && (!comma || (usage->months && usage->by != BY_NOTHING)))
        return true;
    request_problem(request, 400, "by: expected user, group, machine or month, or one of these and month: user,month");
    return false;
}

static bool name_read(struct request *request, const char *name, char ret[TEXT_MAX + 1])
{
    const char *text = request_query(request, name);

    snprintf(ret, TEXT_MAX + 1, "%s", text ? text : "");
    if (!text || strlen(text) <= TEXT_MAX)
        return true;
    request_problem(request, 400, "%s: a name has up to %d bytes", name, TEXT_MAX);
    return false;
}

/* May the caller see what is asked for? Then a caller who sees only his own is not shown more. */
static bool scope_check(struct request *request, struct usage_scan *usage)
{
    const char *self = request_identity(request);
    int len = (int)account_len(self, strlen(self));

    if (request_any(request))
        return true;
    if (usage->by == BY_MACHINE) {
        request_problem(request, 403,
                        "what was used of machines is for administrators; --by user, group or month tells your own");
        return false;
    }
    if (*usage->user && ((size_t)len != strlen(usage->user) || strncmp(usage->user, self, (size_t)len) != 0)) {
        request_problem(request, 403, "what another has used is for administrators");
        return false;
    }
    snprintf(usage->user, sizeof usage->user, "%.*s", len, self);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- adding up */

static bool row_is_wanted(const struct usage_scan *usage, const struct usage_row *row, const char *user,
                          size_t group_len)
{
    if (row->of_machine != (usage->by == BY_MACHINE) || (usage->since && row->month < usage->since) ||
        (usage->until && row->month > usage->until))
        return false;
    return row->of_machine ||
           ((!*usage->user || !strcmp(usage->user, user)) &&
            (!*usage->group || (strlen(usage->group) == group_len && !memcmp(usage->group, row->name, group_len))));
}

static bool usage_step(struct scan *scan)
{
    struct usage_scan *usage = (struct usage_scan *)scan;
    const struct usage_row *row;
    const char *mark, *user, *name = "";
    char key[16 + TEXT_MAX];
    uint32_t place, before = usage->room;
    size_t group_len;
    int len;

    if (!matchmaker_next_usage(request_matchmakerd(scan->request)->matchmaker, scan->from, &row, &scan->from))
        return false;
    mark = row->of_machine ? NULL : strchr(row->name, GROUPS_MARK);
    user = mark ? mark + 1 : row->name;
    group_len = mark ? (size_t)(mark - row->name) : 0;
    if (!row_is_wanted(usage, row, user, group_len))
        return true;
    if (usage->by != BY_NOTHING)
        name = usage->by == BY_GROUP && !mark ? "<none>" : usage->by == BY_GROUP ? row->name : user;
    len = snprintf(key, sizeof key, "%06lld%.*s", usage->months ? (long long)row->month : 0LL,
                   usage->by == BY_GROUP && mark ? (int)group_len : TEXT_MAX, name);
    place = textmap_add(&usage->keys, key, (size_t)len);
    if (place >= usage->room) {
        usage->room = place + place / 2 + 16;
        usage->sums = mem_grow(usage->sums, usage->room * sizeof *usage->sums);
        memset(usage->sums + before, 0, (usage->room - before) * sizeof *usage->sums);
    }
    usage_amounts_add(&usage->sums[place], &row->amounts);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- the list */

static void month_print(const char *key, char ret[MONTH_WORD])
{
    if (!memcmp(key, "000000", 6))
        snprintf(ret, MONTH_WORD, "before");
    else
        snprintf(ret, MONTH_WORD, "%.4s-%.2s", key, key + 4);
}

static struct tree *usage_ad(const struct usage_scan *usage, uint32_t place)
{
    const char *key = textmap_text(&usage->keys, place);
    const struct usage_amounts *amounts = &usage->sums[place];
    char month[MONTH_WORD];
    struct maker maker;

    maker_init(&maker, request_matchmakerd(usage->collection.request)->symbols);
    maker_text(&maker, "Type", "Usage");
    if (usage->months) {
        month_print(key, month);
        maker_text(&maker, "Month", month);
    }
    if (usage->by != BY_NOTHING)
        maker_text(&maker, by_attributes[usage->by], key + 6);
    maker_integer(&maker, "Claims", amounts->claims);
    maker_integer(&maker, "Jobs", amounts->jobs);
    maker_real(&maker, "Wall", (double)amounts->wall / 1000);
    maker_real(&maker, "Cpu", (double)amounts->cpu / 1000);
    maker_real(&maker, "Normalised", (double)amounts->normal / 1000);
    maker_real(&maker, "CpusHeld", (double)amounts->cpus / 1000);
    maker_real(&maker, "GpusHeld", (double)amounts->gpus / 1000);
    maker_real(&maker, "UnitsHeld", (double)amounts->units / 1000);
    maker_integer(&maker, "Memory", amounts->memory);
    maker_integer(&maker, "BytesIn", amounts->taken);
    maker_integer(&maker, "BytesOut", amounts->brought);
    return maker_seal(&maker);
}

static int sum_compare(const void *a, const void *b)
{
    return strcmp(((const struct sum *)a)->key, ((const struct sum *)b)->key);
}

static void usage_sort(struct usage_scan *usage)
{
    usage->order = mem_alloc((usage->keys.places + 1) * sizeof *usage->order);
    for (uint32_t i = 0; i < usage->keys.places; i++)
        usage->order[i] = (struct sum){textmap_text(&usage->keys, i), i};
    qsort(usage->order, usage->keys.places, sizeof *usage->order, sum_compare);
}

/* Adds some rows to the answer; true while there are more. */
static bool usage_more(struct scan *scan)
{
    struct usage_scan *usage = (struct usage_scan *)scan;

    if (!usage->order)
        usage_sort(usage);
    for (int i = 0; i < ROWS_A_SLICE; i++)
        if (usage->next == usage->keys.places ||
            !collection_add(&usage->collection, usage_ad(usage, usage->order[usage->next++].place)))
            return false;
    return true;
}

static void usage_finish(struct scan *scan)
{
    struct usage_scan *usage = (struct usage_scan *)scan;

    usage->listed = true;
    collection_end(&usage->collection);
}

static void usage_done(struct scan *scan)
{
    struct usage_scan *usage = (struct usage_scan *)scan;

    if (!usage->listed)
        collection_done(&usage->collection);
    textmap_done(&usage->keys);
    free(usage->sums);
    free(usage->order);
}

void api_usage(struct request *request)
{
    struct usage_scan *usage = mem_alloc(sizeof *usage);

    *usage = (struct usage_scan){.by = BY_USER};
    if (!by_read(request, usage) || !month_read(request, "since", &usage->since) ||
        !month_read(request, "until", &usage->until) || !name_read(request, "user", usage->user) ||
        !name_read(request, "group", usage->group) || !scope_check(request, usage) ||
        !collection_begin(&usage->collection, request)) {
        free(usage);
        return;
    }
    textmap_init(&usage->keys, request->number);
    usage->collection.scan =
        (struct scan){.step = usage_step, .more = usage_more, .finish = usage_finish, .done = usage_done};
    scan_start(&usage->collection.scan, request);
}
