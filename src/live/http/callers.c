/* callers.c: the identities that have called. */
#include "live/http/callers.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

void callers_init(struct callers *callers, uint64_t seed)
{
    *callers = (struct callers){0};
    textmap_init(&callers->texts, seed);
}

void callers_done(struct callers *callers)
{
    if (!callers)
        return;
    textmap_done(&callers->texts);
    free(callers->items);
}

uint32_t callers_add(struct callers *callers, const char *text, size_t len, int64_t now)
{
    uint32_t place = textmap_find(&callers->texts, text, len);

    if (place == TEXTMAP_NONE) {
        place = textmap_add(&callers->texts, text, len);
        if (place >= callers->room) {
            callers->room = callers->texts.room;
            callers->items = mem_grow(callers->items, callers->room * sizeof *callers->items);
        }
        callers->items[place] = (struct identity){0};
        for (int i = 0; i < PACE_COUNT; i++)
            callers->items[place].filled[i] = INT64_MIN;
    }
    callers->items[place].heard = now;
    return place;
}

const char *caller_text(const struct callers *callers, uint32_t place)
{
    return textmap_text(&callers->texts, place);
}

bool caller_may(struct callers *callers, uint32_t place, enum caller_pace pace, double rate, int64_t now,
                int64_t *ret_wait)
{
    struct identity *identity = &callers->items[place];
    double *left = &identity->left[pace];

    if (identity->filled[pace] == INT64_MIN)
        *left = rate;
    else
        *left += rate * (double)(now - identity->filled[pace]) / 1e6;
    if (*left > rate)
        *left = rate;
    identity->filled[pace] = now;
    if (*left < 1) {
        *ret_wait = (int64_t)((1 - *left) / rate * 1e6) + 1;
        return false;
    }
    *left -= 1;
    return true;
}

void callers_sweep(struct callers *callers, int64_t now)
{
    for (uint32_t i = 0; i < callers->texts.places; i++) {
        const struct identity *identity = &callers->items[i];

        if (callers->texts.items[i].text && !identity->holds && !identity->ids && !identity->agents &&
            !identity->requests && !identity->checks && identity->heard + CALLERS_IDLE < now)
            textmap_remove(&callers->texts, i);
    }
}
