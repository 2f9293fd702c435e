/* inquiry.c: who is asked about the files of a job, by what name the try is known there, and by what right. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "sys/encoding.h"
#include "sys/names.h"

#include <string.h>

void question_begin(struct maker *maker, const struct providerd *providerd, const char *ask,
                    const struct inquiry *inquiry)
{
    char digits[2 * KEY_BYTES + 1];

    maker_init(maker, providerd->daemon.symbols);
    maker_text(maker, "Ask", ask);
    maker_word(maker, "Claim", inquiry->claim);
    maker_word(maker, "Number", inquiry->number);
    maker_integer(maker, "Job", (int64_t)inquiry->job);
    if (inquiry->member)
        maker_integer(maker, "Member", inquiry->member);
    if (pass_is_none(&inquiry->pass))
        return;
    hex_print(inquiry->pass.bytes, KEY_BYTES, digits);
    maker_text(maker, "Pass", digits);
    maker_text(maker, "Provider", providerd->daemon.name); /* the customer may never have heard of us */
}

void inquiry_of(const struct tenant_view *tenant, struct inquiry *ret)
{
    *ret = (struct inquiry){.customer = tenant->duty.customer,
                            .claim = tenant->duty.line,
                            .number = tenant->number,
                            .job = tenant->job,
                            .pass = tenant->duty.pass};
}

void inquiry_write(struct maker *maker, const struct inquiry *inquiry, uint64_t claim)
{
    char digits[2 * KEY_BYTES + 1];

    maker_word(maker, "Superior", inquiry->customer); /* as it was called when that was the same */
    maker_integer(maker, "Job", (int64_t)inquiry->job);
    if (inquiry->claim != claim)
        maker_word(maker, "Line", inquiry->claim);
    if (inquiry->member)
        maker_integer(maker, "Member", inquiry->member);
    if (pass_is_none(&inquiry->pass))
        return;
    hex_print(inquiry->pass.bytes, KEY_BYTES, digits);
    maker_text(maker, "Pass", digits);
}

bool inquiry_read(const struct tree *row, uint64_t claim, uint64_t number, struct inquiry *ret)
{
    const char *text;
    size_t len;
    int64_t job, member;

    *ret = (struct inquiry){.claim = claim, .number = number};
    if (!ad_string(row, "Superior", &text, &len) || len != 16 || !ad_integer(row, "Job", &job))
        return false;
    ret->customer = id_number(text, len);
    ret->job = (uint64_t)job;
    ad_word(row, "Line", &ret->claim);
    if (ad_integer(row, "Member", &member) && member > 0 && member < UINT32_MAX)
        ret->member = (uint32_t)member;
    if (ad_string(row, "Pass", &text, &len) && len == 2 * (size_t)KEY_BYTES)
        hex_read(text, len, ret->pass.bytes, KEY_BYTES);
    return true;
}
