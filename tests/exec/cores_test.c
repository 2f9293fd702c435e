/* Which processors claims are given, on machines that are made up: hwloc's order, threads after cores, one NUMA node where it fits. */
#include "common/tap.h"

#include "exec/cores.h"
#include "lang/base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARES_MAX 64
#define PROCESSORS 32 /* of the largest machine here */

static struct cores cores;
static struct cores_share shares[SHARES_MAX];
static uint32_t share_count;

static void machine(const char *synthetic, const char *allowed)
{
    cores_read(&cores, synthetic, allowed);
    share_count = 0;
}

static struct cores_share *give(double amount)
{
    const struct cores_share *given[SHARES_MAX];

    for (uint32_t i = 0; i < share_count; i++)
        given[i] = &shares[i];
    cores_choose(&cores, amount, given, share_count, 0, &shares[share_count]);
    return &shares[share_count++];
}

/* The processors of a share as a list; "none". */
static const char *said(const struct cores_share *share)
{
    static char text[1024];
    uint64_t mask[CORES_MAX / 64];
    size_t len = 0;

    if (share->amount <= 0)
        return "none";
    cores_mask(share, mask);
    for (uint32_t i = 0; i < CORES_MAX && len < 1000; i++)
        if (mask[i / 64] >> (i % 64) & 1)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", len ? "," : "", (unsigned)i);
    return text;
}

static void gets(double amount, const char *wanted, const char *sentence)
{
    const char *got = said(give(amount));

    if (!tap_ok(!strcmp(got, wanted), "%s", sentence))
        tap_diag("%g of %u processors: %s, and not %s", amount, (unsigned)cores.count, got, wanted);
}

static void check_small(void)
{
    machine("core:2 pu:1", NULL);
    tap_ok(cores.count == 2 && cores.nodes == 1, "a machine of two processors has two");
    gets(1, "0", "the first claim gets the first processor");
    gets(1, "1", "the second gets the other");
    gets(1, "none", "a third gets none: it may use all");
    shares[0].amount = 0;
    gets(1, "0", "what is given back is given to the next");
    machine("core:2 pu:1", NULL);
    gets(2, "0,1", "a claim of the whole machine has all of it");
    gets(0.5, "none", "beside it there is nothing");
    machine("core:2 pu:1", NULL);
    gets(3, "none", "more processors than there are cannot be given");
    gets(0, "none", "a claim without a limit has none");
    gets(0.0 / 0.0, "none", "nor has one whose limit is no number");
    machine("core:2 pu:1", "7");
    gets(1, "none", "where we may use no processor there is none to give");
    machine("no machine", NULL);
    gets(1, "none", "nor where the machine cannot be made out");
}

static void check_parts(void)
{
    machine("core:2 pu:1", NULL);
    gets(0.5, "0", "half a processor is of the first");
    gets(0.5, "0", "the other half goes to the next who wants one, so that whole ones stay whole");
    gets(1, "1", "and a whole one is there for who wants that");
    gets(0.25, "none", "then nothing is left");
    machine("core:4 pu:1", NULL);
    gets(1.5, "0,1", "one and a half are a whole one and a part of another");
    gets(0.75, "2", "a part that does not fit beside it has its own");
    gets(0.5, "1", "one that does is there");
    gets(0.25, "2", "and fills up the fullest that has room");
    gets(1, "3", "the last whole one is given whole");
    machine("core:4 pu:1", NULL);
    for (int i = 0; i < 30; i++)
        give(0.1);
    gets(1, "3", "thirty tenths are three processors");
}

static void check_large(void)
{
    uint64_t all = 0, mask[CORES_MAX / 64];
    bool apart = true;

    machine("core:16 pu:1", NULL);
    for (int i = 0; i < 16; i++) {
        cores_mask(give(1), mask);
        apart &= !(all & mask[0]);
        all |= mask[0];
    }
    tap_ok(apart && all == 0xffff, "sixteen claims on sixteen processors have one each");
    machine("core:16 pu:1", "3,5,9-10");
    tap_ok(cores.count == 4, "only those that we may use are counted");
    gets(2, "3,5", "and given");
    gets(2, "9,10", "until none is left");
    gets(1, "none", "those that we may not use are never given");
}

/* hwloc numbers the processors of such a machine in its own order: 0 and 1 are the threads of the first core. */
static void check_nodes(void)
{
    machine("numa:2 core:8 pu:2", NULL);
    tap_ok(cores.count == 32 && cores.nodes == 2, "two nodes of eight cores with two threads have 32 processors");
    gets(2, "0,2", "two processors are two cores, not two threads of one");
    gets(1, "4", "the next core is the next claim's");
    gets(4, "6,8,10,12", "a node that is in use already comes first");
    gets(12, "16,17,18,19,20,21,22,23,24,26,28,30", "what does not fit there any more is of the other node alone");
    gets(9, "1,3,5,7,9,11,13,14,15", "the threads of cores that are in use come last");
    gets(4, "25,27,29,31", "and so on, until all are given");
    gets(1, "none", "then none is left");
    machine("numa:2 core:8 pu:2", NULL);
    give(10);
    give(10);
    gets(10, "5,7,9,11,13,15,21,23,25,27", "a claim that fits into no node has processors of both");
}

static bool is_apart(void)
{
    double used[PROCESSORS] = {0};

    for (uint32_t i = 0; i < share_count; i++) {
        if (shares[i].amount <= 0)
            continue;
        if (!cores_share_is_good(&shares[i]))
            return false;
        for (uint32_t n = 0; n < PROCESSORS; n++)
            used[n] += shares[i].whole[0] >> n & 1;
        if (shares[i].part >= PROCESSORS)
            return false;
        if (shares[i].part >= 0)
            used[shares[i].part] += shares[i].amount - (double)(int)shares[i].amount;
    }
    for (uint32_t n = 0; n < PROCESSORS; n++)
        if (used[n] > 1 + 1e-6)
            return false;
    return true;
}

/* Claims come and go in any order: what is given is never given twice, and what is free is given. */
static void check_any(void)
{
    static const char *const machines[] = {"core:2 pu:1", "core:16 pu:1", "numa:2 core:8 pu:2", "numa:4 core:2 pu:4"};
    const char *seed = getenv("BERTH_SEED");
    uint64_t state = seed ? strtoull(seed, NULL, 10) : 11, refused = 0, wrong = 0;

    for (uint64_t round = 0; round < 4000; round++) {
        uint64_t dice = rng_mix(state + round);
        const struct cores_share *given[SHARES_MAX];
        double amount = (double)(dice >> 8 & 15) / 2, used = 0;
        uint32_t at = (uint32_t)(dice >> 16) % 24;

        if (round % 1000 == 0) {
            machine(machines[round / 1000], NULL);
            share_count = 24;
            memset(shares, 0, sizeof shares);
        }
        for (uint32_t i = 0; i < share_count; i++)
            given[i] = &shares[i];
        if (shares[at].amount > 0) {
            shares[at].amount = 0;
            continue;
        }
        for (uint32_t i = 0; i < share_count; i++)
            used += shares[i].amount > 0 ? (double)(int)(shares[i].amount + 0.5) : 0; /* halves as whole ones */
        cores_choose(&cores, amount, given, share_count, (uint32_t)(dice >> 32), &shares[at]);
        refused += amount > 0 && shares[at].amount <= 0 && used + (double)(int)(amount + 0.5) <= cores.count;
        wrong += !is_apart();
    }
    if (!tap_ok(!wrong && !refused, "what is given is never given twice, and what is free is given"))
        tap_diag("BERTH_SEED=%llu: %llu given twice, %llu refused", (unsigned long long)state,
                 (unsigned long long)wrong, (unsigned long long)refused);
}

static void check_records(void)
{
    struct cores_share share = {.part = -1};
    bool refused = !cores_share_is_good(&share);

    share = (struct cores_share){.amount = 1, .part = -1, .whole = {3}};
    refused &= !cores_share_is_good(&share);
    share = (struct cores_share){.amount = 1.5, .part = CORES_MAX, .whole = {1}};
    refused &= !cores_share_is_good(&share);
    share = (struct cores_share){.amount = 1.5, .part = 0, .whole = {1}};
    refused &= !cores_share_is_good(&share);
    share = (struct cores_share){.amount = 0.0 / 0.0, .part = -1, .whole = {1}};
    refused &= !cores_share_is_good(&share);
    share = (struct cores_share){.amount = 1.5, .part = 1, .whole = {1}};
    tap_ok(refused && cores_share_is_good(&share), "a share that nobody can have been given is none");
}

int main(void)
{
    check_small();
    check_parts();
    check_large();
    check_nodes();
    check_any();
    check_records();
    return tap_done();
}
