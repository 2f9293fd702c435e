/* cron_terms.c: a job that comes again, as its ad says or as it was typed. */
#include "cli/jobs/cron_terms.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define WORDS_MAX 256

/* Of the rule, and of the ad of its job. */
static const struct {
    const char *rule, *ad;
} parts[] = {{"Schedule", "CronSchedule"}, {"Missed", "CronMissed"}, {"Overlap", "CronOverlap"}};
#define PARTS (sizeof parts / sizeof *parts)

bool cron_terms_said(const struct tree *ad)
{
    return ad_find(ad, parts[0].ad) != NULL;
}

void cron_terms_tell(const struct tree *ad, bool json)
{
    int64_t id = 0, next = 0;
    struct rows rows;
    struct buf out;

    if (json) {
        rows_init(&rows, ROWS_JSON, NULL, 0);
        rows_add(&rows, (struct tree *)(uintptr_t)ad);
        rows_finish(&rows);
        rows_done(&rows);
        return;
    }
    buf_init(&out);
    ad_integer(ad, "Cron", &id);
    buf_addf(&out, "cron %" PRId64, id);
    if (ad_integer(ad, "Next", &next)) {
        buf_adds(&out, ": the next time is ");
        moment_say(&out, next, (int64_t)time(NULL));
    } else {
        buf_adds(&out, " is held");
    }
    buf_addc(&out, '\n');
    output_write(&out);
    buf_done(&out);
}

/* The body of the call; NULL after a report. */
static struct tree *rule_make(struct connection *customer, struct tree *ad, const struct cron_terms *terms)
{
    const char *const typed[PARTS] = {terms->schedule, terms->missed, terms->overlap};
    const char *names[PARTS];
    char words[WORDS_MAX];
    struct maker maker;
    struct tree *job;

    for (size_t i = 0; i < PARTS; i++) {
        names[i] = parts[i].ad;
        if (ad_find(ad, parts[i].ad) && !ad_text(ad, parts[i].ad, words, sizeof words)) {
            report("%s: expected a text", parts[i].ad);
            return NULL;
        }
    }
    maker_init(&maker, customer->symbols);
    for (size_t i = 0; i < PARTS; i++)
        maker_text(&maker, parts[i].rule,
                   typed[i]                                        ? typed[i]
                   : ad_text(ad, parts[i].ad, words, sizeof words) ? words
                                                                   : NULL);
    job = ad_without_all(ad, names, PARTS);
    maker_ad(&maker, "JobAd", job);
    tree_unref(job);
    return maker_seal(&maker);
}

int cron_terms_send(struct connection *customer, struct tree *ad, const struct cron_terms *terms, bool json)
{
    struct connection_ask ask = {.method = "POST", .path = "/v1/crons"};
    struct tree *body = rule_make(customer, ad, terms), *answer = NULL;
    int status;

    if (!body)
        return STATUS_BAD;
    ask.body = body;
    status = connection_fetch_ad(customer, &ask, &answer);
    if (status == STATUS_DONE)
        cron_terms_tell(answer, json);
    tree_unref(answer);
    tree_unref(body);
    return status;
}
