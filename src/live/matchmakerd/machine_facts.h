/* machine_facts.h: what a machine's record says in numbers and names: for lists, gauges and reasons; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_MACHINE_FACTS_H
#define BERTH_LIVE_MATCHMAKERD_MACHINE_FACTS_H

#include "lang/ad/make.h"
#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

enum machine_amount { AMOUNT_CPUS, AMOUNT_MEMORY, AMOUNT_DISK, AMOUNT_GPUS, AMOUNTS };

#define MACHINE_NAME_MAX 80

struct machine_facts {
    char name[MACHINE_NAME_MAX + 1]; /* its Name; else the id of its ad */
    bool is_machine;                 /* its Type is Machine */
    struct {
        double all, used;
        bool known; /* the ad says how much there is */
    } amounts[AMOUNTS];
    uint32_t claims;    /* that hold something of it */
    uint32_t elsewhere; /* of these, claims that other pools have made */
    int64_t first_end;  /* how long until the first claim must end, in seconds; -1: none must */
    const char *words;  /* lent by the record: why it stands so; NULL: nothing is said */
    size_t words_len;
};

void machine_facts(const struct machine_view *view, int64_t now, struct machine_facts *ret);
void machine_sizes(const struct machine_view *view, struct machine_facts *ret); /* only is_machine and the amounts */

struct machine_claim {
    uint64_t claim;          /* 0: it cannot be read */
    int64_t job;             /* -1: not told */
    int64_t end;             /* in how many seconds it must end; -1: it need not */
    double amounts[AMOUNTS]; /* what it has of the machine; -1: not told */
};

/* One claim of what the machine told: place from 0 on; false when there are no more. */
bool machine_claim(const struct machine_view *view, int64_t now, uint32_t place, struct machine_claim *ret);

/* Adds an amount to an ad that is made. */
void machine_amount_add(struct maker *maker, const char *name, double amount);

/* The name of an amount in the ad of a machine: "Cpus"; and of its use in a row: "CpusUsed". */
extern const char *const machine_amounts[AMOUNTS], *const machine_amounts_used[AMOUNTS];

#ifdef __cplusplus
}
#endif
#endif
