/* usage_book_test.c: what was used is counted once, by account, machine and month, whoever begins anew, repeats, is late or lies. */
#include "shares_world.h"

#include "pool/matchmaker/tally.h"

#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define MACHINE "[Type=\"Machine\";Name=\"node1\";Cpus=8;Benchmark=200000.0;Constraint=true]"
#define JOB "[Type=\"Job\";Owner=\"alice\";Constraint=true]"

/* The row of an account or machine in a month (0: in all months together); nothing in it when there is none. */
static struct usage_amounts used(struct pool *pool, int64_t month, bool of_machine, const char *name)
{
    struct usage_amounts sum = {0};
    const struct usage_row *row;

    for (uint32_t from = 0; matchmaker_next_usage(pool->role, from, &row, &from);)
        if ((!month || row->month == month) && row->of_machine == of_machine && !strcmp(row->name, name))
            usage_amounts_add(&sum, &row->amounts);
    return sum;
}

static struct usage_amounts alice(struct pool *pool)
{
    return used(pool, 0, false, "alice");
}

/* A pool in which alice has a claim. */
static struct pool *claimed(void)
{
    struct pool *pool = pool_new(NULL);

    put(pool, ALICE, 1, true, JOB);
    machines(pool, 0, 1, MACHINE);
    pass(pool, SECOND);
    if (pool->told_count != 1)
        printf("Bail out! there is no claim\n");
    return pool;
}

static enum reason tell(struct pool *pool, const struct report *what)
{
    const struct told *told = &pool->told[0];
    struct message message = {.kind = MESSAGE_REPORT, .u.report = *what};

    message.u.report.claim = told->claim;
    message.u.report.gang = told->gang;
    message.u.report.receipt = told->receipt;
    return say(pool, told->provider, &message)->u.got.reason;
}

static void use_is_counted_for_the_account_and_the_machine(void)
{
    struct pool *pool = claimed();
    struct usage_amounts mine, its;

    pass(pool, 10 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 10 * SECOND, .used = 10 * SECOND});
    pass(pool, 10 * SECOND);
    tell(pool, &(struct report){.life = 1,
                                .wall = 20 * SECOND,
                                .cpu = 15 * SECOND,
                                .jobs = 1,
                                .memory = 1 << 20,
                                .taken = 100,
                                .brought = 7,
                                .over = true});
    pass(pool, 3 * SECOND);
    mine = alice(pool);
    its = used(pool, 0, true, "node1");
    tap_ok(mine.claims == 1 && mine.jobs == 1 && mine.wall == 20000 && mine.cpu == 15000,
           "a claim and its job are counted");
    tap_ok(mine.cpus == 160000 && mine.gpus == 0 && mine.units == 20000, "and the processors that it was given");
    tap_ok(mine.normal == 30000, "processor time is also counted by the machine's speed");
    tap_ok(mine.memory == 1 << 20 && mine.taken == 100 && mine.brought == 7, "and memory, and what was moved");
    tap_ok(memcmp(&mine, &its, sizeof mine) == 0, "the machine has the same");
    pool_restart(pool);
    its = alice(pool);
    tap_ok(memcmp(&mine, &its, sizeof mine) == 0, "a restart forgets nothing");
    pool_free(pool, "counting");
}

static void the_last_report_is_answered_when_it_is_on_disk(void)
{
    struct report last = {.life = 1, .wall = 20 * SECOND, .cpu = SECOND, .jobs = 1, .over = true}, bare = last;
    struct pool *pool = claimed();

    pass(pool, 30 * SECOND);
    tap_ok(tell(pool, &last) == REASON_WAIT && tell(pool, &last) == REASON_WAIT,
           "the last report is to be kept until it is on disk here");
    pass(pool, 3 * SECOND);
    tap_ok(tell(pool, &last) == REASON_OK && tell(pool, &last) == REASON_OK, "and then it is said to be");
    tap_ok(alice(pool).wall == 20000 && alice(pool).jobs == 1 && alice(pool).claims == 1, "it counts once");
    pool_free(pool, "the last report");
    pool = claimed();
    bare.life = bare.wall = 0;
    tap_ok(tell(pool, &bare) == REASON_OK, "an agent of an earlier version keeps none, and hears the same as ever");
    pool_free(pool, "the last report of an earlier version");
}

static void nothing_counts_twice(void)
{
    struct pool *pool = claimed();

    pass(pool, 30 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 20 * SECOND, .cpu = SECOND, .jobs = 1});
    tell(pool, &(struct report){.life = 1, .wall = 20 * SECOND, .cpu = SECOND, .jobs = 1});
    tell(pool, &(struct report){.life = 1, .wall = 10 * SECOND});
    pass(pool, 15 * SECOND);
    tap_ok(alice(pool).wall == 20000 && alice(pool).jobs == 1 && alice(pool).cpu == 1000,
           "a report that comes again, or out of order, adds nothing");
    pool_restart(pool);
    tell(pool, &(struct report){.life = 1, .wall = 50 * SECOND, .cpu = SECOND, .jobs = 1});
    pass(pool, 2 * MINUTE);
    tap_ok(alice(pool).wall == 50000 && alice(pool).jobs == 1 && alice(pool).claims == 1,
           "after a restart of the matchmaker only what is new counts, with what was used meanwhile");
    tell(pool, &(struct report){.life = 2, .wall = 5 * SECOND, .cpu = 2 * SECOND, .jobs = 1});
    tell(pool, &(struct report){.life = 1, .wall = 55 * SECOND, .cpu = SECOND, .jobs = 1});
    pass(pool, 2 * MINUTE);
    tap_ok(alice(pool).wall == 55000 && alice(pool).jobs == 2 && alice(pool).cpu == 3000,
           "a provider that has begun anew counts from 0, and what its earlier life says late is known");
    tell(pool, &(struct report){.life = 2, .wall = 6 * SECOND, .cpu = 2 * SECOND, .jobs = 1, .over = true});
    tell(pool, &(struct report){.life = 2, .wall = 9 * SECOND, .cpu = 2 * SECOND, .jobs = 1, .over = true});
    pass(pool, 3 * SECOND);
    tap_ok(alice(pool).wall == 56000, "of a claim that is over nothing more counts");
    pool_restart(pool);
    tell(pool, &(struct report){.life = 2, .wall = 6 * SECOND, .cpu = 2 * SECOND, .jobs = 1, .over = true});
    tell(pool, &(struct report){.life = 3, .wall = 6 * SECOND, .cpu = 2 * SECOND, .jobs = 1, .over = true});
    pass(pool, 3 * SECOND);
    tap_ok(alice(pool).wall == 56000 && alice(pool).jobs == 2 && alice(pool).claims == 1,
           "nor when its last report is repeated to the next life of the matchmaker");
    pool_free(pool, "once");
}

static void what_is_told_late_counts(void)
{
    struct pool *pool = claimed();

    pass(pool, 20 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 20 * SECOND});
    pass(pool, 10 * MINUTE);
    tap_ok(matchmaker_counts(pool->role).claims == 0, "a claim that falls silent is given up");
    tell(pool, &(struct report){.life = 1, .wall = 9 * MINUTE, .cpu = MINUTE, .jobs = 1});
    tell(pool, &(struct report){.life = 1, .wall = 10 * MINUTE, .cpu = MINUTE, .jobs = 1, .over = true});
    tell(pool, &(struct report){.life = 1, .wall = 11 * MINUTE, .cpu = MINUTE, .jobs = 1, .over = true});
    pass(pool, 3 * SECOND);
    tap_ok(alice(pool).wall == 600000 && alice(pool).cpu == 60000 && alice(pool).claims == 1,
           "what its provider tells later counts, up to the end, once");
    pool_free(pool, "late");
}

/* A customer that cannot have its whole gang lets its claims go before they are active, and takes them again while the match holds. */
static void a_claim_that_is_let_go_and_taken_again_counts(void)
{
    struct pool *pool = claimed();
    struct report begins = {.life = 1}, over = {.life = 1, .over = true};

    tell(pool, &begins);
    tell(pool, &over);
    tap_ok(matchmaker_counts(pool->role).claims == 0, "a claim that is let go before it is active is over");
    pass(pool, 3 * SECOND);
    tap_ok(tell(pool, &over) == REASON_OK && matchmaker_counts(pool->role).claims == 0, "also when that is said again");
    tell(pool, &begins);
    tap_ok(matchmaker_counts(pool->role).claims == 1, "it is taken again by the same match, and counts as a claim");
    pass(pool, 20 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 20 * SECOND, .used = 20 * SECOND});
    tap_ok(matchmaker_counts(pool->role).claims == 1, "it goes on");
    over.wall = 25 * SECOND, over.jobs = 1;
    pass(pool, 5 * SECOND);
    tell(pool, &over);
    pass(pool, 3 * SECOND);
    tap_ok(tell(pool, &over) == REASON_OK && matchmaker_counts(pool->role).claims == 0, "until it is over for good");
    tell(pool, &begins);
    tap_ok(matchmaker_counts(pool->role).claims == 0, "and then it does not begin again");
    tap_ok(alice(pool).wall == 25000 && alice(pool).jobs == 1 && alice(pool).claims == 1 && alice(pool).cpus == 200000,
           "what it used counts, once, with the processors of its match");
    pool_free(pool, "let go and taken again");
    pool = claimed();
    tell(pool, &begins);
    over.wall = 0, over.jobs = 0;
    tell(pool, &over);
    pass(pool, 10 * SECOND);
    over.wall = 5 * SECOND, over.jobs = 1;
    tell(pool, &over);
    pass(pool, 3 * SECOND);
    tap_ok(tell(pool, &over) == REASON_OK && alice(pool).wall == 5000 && alice(pool).jobs == 1,
           "also if nothing was heard of it but its end");
    pool_free(pool, "only its end");
}

static void a_month_has_what_was_told_in_it(void)
{
    struct pool *pool = claimed();

    tap_ok(usage_month(0) == 197001 && usage_month(INT64_C(1709251199)) == 202402 &&
               usage_month(INT64_C(1709251200)) == 202403 && usage_month(INT64_C(1798761599)) == 202612 &&
               usage_month(INT64_C(1798761600)) == 202701 && usage_month(-5) == 197001 &&
               usage_month(INT64_MAX / SECOND) == 999912,
           "months are those of the calendar, in UTC, leap years with them, and no clock makes another");
    pool->env.wall = INT64_C(1798761590) * SECOND; /* ten seconds before 2027 */
    tell(pool, &(struct report){.life = 1, .wall = 1 * SECOND});
    pass(pool, 5 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 6 * SECOND});
    pass(pool, 15 * SECOND);
    tell(pool, &(struct report){.life = 1, .wall = 21 * SECOND, .over = true});
    pass(pool, 3 * SECOND);
    tap_ok(used(pool, 202612, false, "alice").wall == 6000 && used(pool, 202701, false, "alice").wall == 15000 &&
               used(pool, 202612, true, "node1").wall == 6000,
           "a claim over the turn of the year counts in both, each second once");
    tap_ok(used(pool, 0, false, "alice").claims == 1, "as one claim");
    pool_free(pool, "months");
}

static void a_clock_that_jumps_loses_and_doubles_nothing(void)
{
    struct pool *pool = claimed();

    for (int i = 1; i <= 40; i++) {
        pass(pool, 10 * SECOND);
        pool->env.wall += i % 2 ? 400 * DAY : -400 * DAY;
        tell(pool, &(struct report){.life = 1, .wall = i * 10 * SECOND});
    }
    pool_restart(pool);
    pool->env.wall -= 3000 * DAY;
    tell(pool, &(struct report){.life = 1, .wall = 410 * SECOND, .over = true});
    pass(pool, 3 * SECOND);
    tap_ok(alice(pool).wall == 410000, "all is counted once, in one month or another");
    pool_free(pool, "clocks");
}

static void liars_gain_little(void)
{
    struct pool *pool = claimed();
    struct usage_amounts sum;

    pass(pool, 10 * SECOND);
    tap_ok(tell(pool, &(struct report){.life = 1, .wall = -5 * SECOND}) == REASON_INVALID &&
               tell(pool, &(struct report){.life = 1, .cpu = -1}) == REASON_INVALID &&
               tell(pool, &(struct report){.life = 1, .memory = INT64_MIN}) == REASON_INVALID &&
               tell(pool, &(struct report){.life = 1, .taken = -1}) == REASON_INVALID,
           "use that is negative is refused");
    for (uint64_t life = 1; life < 20; life++)
        tell(pool, &(struct report){.life = life,
                                    .wall = INT64_MAX,
                                    .cpu = INT64_MAX,
                                    .memory = INT64_MAX,
                                    .taken = INT64_MAX,
                                    .brought = INT64_MAX,
                                    .jobs = INT64_MAX});
    tell(pool, &(struct report){.life = UINT64_MAX, .wall = INT64_MAX, .cpu = INT64_MAX, .over = true});
    pass(pool, 3 * SECOND);
    sum = alice(pool);
    tap_ok(sum.wall <= (10000 + 2000) + pool->spans.lease / 1000,
           "a claim was active for no longer than there was time, whatever is said");
    tap_ok(sum.cpu <= sum.wall * 8 && sum.normal <= sum.cpu * 2, "its jobs used no more than all processors could");
    tap_ok(sum.taken <= sum.wall * 1000 * TALLY_RATE + TALLY_ROOM && sum.jobs <= sum.wall + 1,
           "nor was more moved, or run, than there was time for");
    pool_free(pool, "liars");
}

static void without_a_receipt_nothing_counts(void)
{
    struct pool *pool = claimed();
    struct told stolen = pool->told[0];
    struct message message = {.kind = MESSAGE_REPORT};

    pass(pool, 10 * SECOND);
    message.u.report = (struct report){.claim = 4711, .life = 1, .wall = SECOND, .receipt = stolen.receipt};
    text_set(&message.u.report.owner, "bob", 3);
    tap_ok(say(pool, stolen.provider, &message)->u.got.reason == REASON_UNKNOWN,
           "a claim that was never matched is not known");
    message.u.report.claim = stolen.claim;
    tap_ok(say(pool, stolen.provider + 1, &message)->u.got.reason == REASON_IDENTITY,
           "nor may another tell of one that was");
    pool_restart(pool);
    tap_ok(say(pool, stolen.provider + 1, &message)->u.got.reason == REASON_IDENTITY,
           "also not to the next life, by a stolen receipt");
    message.u.report.receipt = NULL;
    tap_ok(say(pool, stolen.provider, &message)->u.got.reason == REASON_UNKNOWN, "and nobody without one");
    pass(pool, 3 * SECOND);
    tap_ok(used(pool, 0, false, "bob").wall == 0 && alice(pool).wall == 0, "nobody has used anything");
    pool_free(pool, "receipts");
}

static void older_providers_count(void)
{
    struct pool *pool = claimed();

    for (int i = 0; i < 3; i++) {
        pass(pool, 20 * SECOND);
        tell(pool, &(struct report){.used = 20 * SECOND});
    }
    tell(pool, &(struct report){.over = true});
    pass(pool, 3 * SECOND);
    tap_ok(alice(pool).wall == 60000 && alice(pool).claims == 1 && alice(pool).cpu == 0,
           "of providers that tell no totals the time is counted, as before");
    pool_free(pool, "older providers");
}

/* --------------------------------------------------------------------------------------------------------- the book */

struct disk {
    struct record rows[70000];
    uint32_t count;
};

static void disk_take(struct disk *disk, const struct effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct record *record = &effects->items[i].record;
        uint32_t at = 0;

        while (at < disk->count && disk->rows[at].key != record->key)
            at++;
        if (record->removed)
            disk->rows[at] = disk->rows[--disk->count];
        else
            disk->rows[at] = *record, disk->count += at == disk->count;
    }
}

static struct usage_amounts book_sum(const struct usage_book *book, int64_t month, const char *name)
{
    struct usage_amounts sum = {0};

    for (uint32_t i = 0; i < book->room; i++)
        if (book->rows[i].name && book->rows[i].month == month && !strcmp(book->rows[i].name, name))
            usage_amounts_add(&sum, &book->rows[i].amounts);
    return sum;
}

/* Do accounts and machines add up to the same? */
static bool book_agrees(const struct usage_book *book)
{
    struct usage_amounts sums[2] = {{0}, {0}};

    for (uint32_t i = 0; i < book->room; i++)
        if (book->rows[i].name)
            usage_amounts_add(&sums[book->rows[i].of_machine], &book->rows[i].amounts);
    return memcmp(&sums[0], &sums[1], sizeof sums[0]) == 0;
}

static void old_months_are_folded(void)
{
    struct usage_amounts one = {.claims = 1, .wall = 1000, .memory = 5};
    struct disk *disk = calloc(1, sizeof *disk);
    struct usage_book book, again;
    struct effects effects;
    const char *why = "";
    uint32_t rows = 0, writes = 0;

    usage_book_init(&book, 1);
    effects_init(&effects);
    for (int64_t i = 0; i < 130; i++) {
        int64_t month = (2000 + i / 12) * 100 + i % 12 + 1;

        for (int machine = 0; machine < 20; machine++) {
            char name[16];

            snprintf(name, sizeof name, "m%d", machine);
            usage_book_add(&book, month, machine % 2 ? "alice" : "bob", name, &one);
        }
        usage_book_write(&book, &effects);
        disk_take(disk, &effects);
        effects_reset(&effects);
    }
    while (usage_book_is_dirty(&book) && writes++ < 1000) {
        usage_book_write(&book, &effects);
        disk_take(disk, &effects);
        effects_reset(&effects);
    }
    tap_ok(book_sum(&book, 201010, "m3").claims == 1 && book_sum(&book, 201010, "alice").claims == 10,
           "the newest month has its machines");
    tap_ok(book_sum(&book, 200901, "m3").claims == 0 && book_sum(&book, 200901, USAGE_ALL).claims == 20 &&
               book_sum(&book, 200901, "bob").claims == 10,
           "an older one only its accounts, and all machines together");
    tap_ok(book_sum(&book, 200001, "alice").claims == 0 && book_sum(&book, 0, "alice").claims == 100 &&
               book_sum(&book, 0, "alice").memory == 5,
           "those before ten years are one");
    tap_ok(usage_book_valid(&book, &why) && book_agrees(&book), "and it all adds up: %s", why);
    usage_book_init(&again, 2);
    for (uint32_t i = 0; i < disk->count; i++)
        usage_book_load(&again, &disk->rows[i]);
    for (uint32_t i = 0; i < book.room; i++)
        if (book.rows[i].name) {
            struct usage_amounts sum = book_sum(&again, book.rows[i].month, book.rows[i].name);

            rows += memcmp(&sum, &book.rows[i].amounts, sizeof sum) == 0;
        }
    tap_ok(rows == disk->count && rows == book.names.count && usage_book_valid(&again, &why),
           "the rows on disk say the same");
    usage_book_done(&again);
    usage_book_done(&book);
    effects_done(&effects);
    free(disk);
}

static void strangers_do_not_fill_it(void)
{
    struct usage_amounts one = {.claims = 1};
    struct usage_book book;
    const char *why = "";

    usage_book_init(&book, 1);
    for (int i = 0; i < USAGE_NAMES_MAX + 1000; i++) {
        char name[16];

        snprintf(name, sizeof name, "m%d", i);
        usage_book_add(&book, 202611, "alice", name, &one);
    }
    tap_ok(book.names.count == USAGE_NAMES_MAX + 2 && book_sum(&book, 202611, USAGE_OTHERS).claims == 1000,
           "machines beyond the bound of a month share a row");
    usage_book_add(&book, 202611, "alice", "m5", &one);
    tap_ok(book_sum(&book, 202611, "m5").claims == 2 && usage_book_valid(&book, &why), "those that have one keep it");
    one.wall = INT64_MAX;
    for (int i = 0; i < 9; i++)
        usage_book_add(&book, 202611, "alice", "m5", &one);
    tap_ok(book_sum(&book, 202611, "alice").wall == USAGE_AMOUNT_MAX, "sums end where numbers do");
    usage_book_done(&book);
}

int main(void)
{
    use_is_counted_for_the_account_and_the_machine();
    the_last_report_is_answered_when_it_is_on_disk();
    nothing_counts_twice();
    what_is_told_late_counts();
    a_claim_that_is_let_go_and_taken_again_counts();
    a_month_has_what_was_told_in_it();
    a_clock_that_jumps_loses_and_doubles_nothing();
    liars_gain_little();
    without_a_receipt_nothing_counts();
    older_providers_count();
    old_months_are_folded();
    strangers_do_not_fill_it();
    return tap_done();
}
