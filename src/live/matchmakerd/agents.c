/* agents.c: the agents that a matchmaker has heard of, and their letters. */
#include "live/matchmakerd/agents.h"

#include "lang/base/mem.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void agents_init(struct agents *agents, struct callers *callers, uint64_t seed)
{
    *agents = (struct agents){.callers = callers};
    textmap_init(&agents->texts, seed);
    map_init(&agents->handles, seed);
}

static void letter_free(struct letter *letter)
{
    message_done(&letter->match);
    free(letter->text);
    free(letter);
}

/* Removes the letter that the link points to. */
static void letter_drop(struct agent_row *row, struct letter **link)
{
    struct letter *letter = *link;

    *link = letter->next;
    if (row->last == letter) {
        row->last = NULL;
        for (struct letter *at = row->first; at; at = at->next)
            row->last = at;
    }
    row->letter_count--;
    row->text_count -= letter->text != NULL;
    row->letter_bytes -= letter->counts;
    row->stranger_bytes -= letter->known ? 0 : letter->counts;
    letter_free(letter);
}

static void row_clear(struct agent_row *row)
{
    while (row->first)
        letter_drop(row, &row->first);
    free(row->contact);
    free(row->pin);
    free(row->host);
    free(row->process);
    free(row->version);
    free(row->role);
    free(row->note);
    free(row->refused);
    free(row->bearer);
    if (row->has_partners)
        map_done(&row->partners);
    *row = (struct agent_row){0};
}

void agents_done(struct agents *agents)
{
    if (!agents)
        return;
    for (uint32_t i = 0; i < agents->texts.places; i++)
        row_clear(&agents->items[i]);
    free(agents->items);
    textmap_done(&agents->texts);
    map_done(&agents->handles);
}

uint32_t agents_add(struct agents *agents, uint32_t identity, uint32_t account, const char *name, int64_t now)
{
    char text[512];
    int len = snprintf(text, sizeof text, "%s\n%s", caller_text(agents->callers, identity), name);
    uint32_t place = textmap_find(&agents->texts, text, (size_t)len);
    struct agent_row *row;

    if (place == TEXTMAP_NONE) {
        place = textmap_add(&agents->texts, text, (size_t)len);
        if (place >= agents->room) {
            agents->room = agents->texts.room;
            agents->items = mem_grow(agents->items, agents->room * sizeof *agents->items);
        }
        row = &agents->items[place];
        *row = (struct agent_row){.handle = agent_handle(caller_text(agents->callers, identity), name),
                                  .identity = identity,
                                  .account = account,
                                  .since = now};
        snprintf(row->name, sizeof row->name, "%s", name);
        map_set(&agents->handles, row->handle, place);
        agents->callers->items[identity].holds++;
        agents->callers->items[account].agents++;
    }
    agents->items[place].heard = now;
    return place;
}

uint32_t agents_find(const struct agents *agents, uint64_t handle)
{
    uint64_t found = map_find(&agents->handles, handle);

    return found == MAP_NONE ? TEXTMAP_NONE : (uint32_t)found;
}

void agent_set_text(char **text, const char *value)
{
    free(*text);
    *text = value ? mem_dup(value, strlen(value)) : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- letters */

static void letters_expire(struct agent_row *row, int64_t now)
{
    struct letter **link = &row->first;
    int64_t earliest = INT64_MAX;

    if (row->first && now < row->earliest)
        return;
    while (*link) {
        if ((*link)->ends <= now) {
            letter_drop(row, link);
            continue;
        }
        earliest = (*link)->ends < earliest ? (*link)->ends : earliest;
        link = &(*link)->next;
    }
    row->earliest = earliest;
}

/* Drops the oldest match to make room. Texts are not dropped, because their senders wait. */
static void letter_make_room(struct agent_row *row)
{
    struct letter **link = &row->first;

    while (*link && (*link)->text)
        link = &(*link)->next;
    if (*link)
        letter_drop(row, link);
}

/* Finds the account that has the most bytes here, among strangers or among those who are known; returns how many, 0 if
 * there are none. */
static size_t account_most(const struct agents *agents, const struct agent_row *row, bool known, uint32_t *ret)
{
    struct map bytes;
    size_t most = 0;

    map_init(&bytes, agents->handles.seed);
    for (const struct letter *letter = row->first; letter; letter = letter->next) {
        uint64_t before;

        if (!letter->counts || letter->known != known)
            continue;
        before = map_find(&bytes, letter->account);
        before = (before == MAP_NONE ? 0 : before) + letter->counts;
        map_set(&bytes, letter->account, before);
        if (before > most) {
            most = (size_t)before;
            *ret = letter->account;
        }
    }
    map_done(&bytes);
    return most;
}

static size_t account_bytes(const struct agent_row *row, uint32_t account)
{
    size_t bytes = 0;

    for (const struct letter *letter = row->first; letter; letter = letter->next)
        bytes += letter->account == account ? letter->counts : 0;
    return bytes;
}

/* Drops the newest message of that account: the reader may already have some of the earlier ones. */
static void letter_displace(struct agents *agents, struct agent_row *row, uint32_t account, bool known)
{
    struct letter **last = NULL;
    uint64_t relay;

    for (struct letter **link = &row->first; *link; link = &(*link)->next)
        if ((*link)->counts && (*link)->account == account && (*link)->known == known)
            last = link;
    relay = (*last)->relay;
    letter_drop(row, last);
    if (agents->displaced)
        agents->displaced(agents->user, relay);
}

/* Makes room for a message of that size; false when its account already has its share. */
static bool letter_fits(struct agents *agents, uint32_t place, uint32_t account, bool known, size_t counts)
{
    struct agent_row *row = &agents->items[place];
    size_t own = account_bytes(row, account) + counts, most;
    uint32_t who = 0;

    while (row->letter_bytes + counts > AGENT_LETTER_BYTES_MAX ||
           (!known && row->stranger_bytes + counts > AGENT_STRANGER_BYTES)) {
        bool strangers = row->stranger_bytes > 0,
             alike = known != strangers; /* the one that gives way is known, or a stranger, as the sender is */

        most = account_most(agents, row, !strangers, &who);
        if (!most || (!known && !strangers) || (alike && (most <= own || who == account)))
            return false;
        letter_displace(agents, row, who, !strangers);
    }
    return true;
}

static struct letter *letter_add(struct agents *agents, uint32_t place, const char *text, size_t len, int64_t now,
                                 int64_t ends)
{
    struct agent_row *row = &agents->items[place];
    struct letter *letter;

    letters_expire(row, now);
    if (row->letter_count - row->text_count == AGENT_LETTERS_MAX)
        letter_make_room(row);
    if (!row->first || ends < row->earliest)
        row->earliest = ends;
    letter = mem_alloc(sizeof *letter);
    *letter = (struct letter){
        .number = ++row->numbered, .at = now, .ends = ends, .len = len, .text = text ? mem_dup(text, len) : NULL};
    if (row->last)
        row->last->next = letter;
    else
        row->first = letter;
    row->last = letter;
    row->letter_count++;
    row->text_count += text != NULL;
    return letter;
}

void agents_drop_text(struct agents *agents, uint32_t place, uint64_t relay)
{
    struct letter **link = &agents->items[place].first;

    while (*link && (!(*link)->text || (*link)->relay != relay))
        link = &(*link)->next;
    if (*link)
        letter_drop(&agents->items[place], link);
}

static void watchers_wake(struct agent_row *row)
{
    struct watcher *next;

    for (struct watcher *watcher = row->watchers; watcher; watcher = next) {
        next = watcher->next;
        watcher->wake(watcher);
    }
}

static void match_acquaint(struct agents *agents, uint32_t place, const struct match_told *told)
{
    if (told->superior)
        agents_acquaint(agents, place, told->superior);
    if (told->customer)
        agents_acquaint(agents, place, told->customer);
    for (uint32_t i = 0; told->edges && i < told->edges->count; i++)
        agents_acquaint(agents, place, told->edges->items[i].agent);
}

struct letter *agents_write_match(struct agents *agents, uint32_t place, const struct message *match, int64_t now,
                                  int64_t ends)
{
    struct letter *letter = letter_add(agents, place, NULL, 0, now, ends);

    message_copy(&letter->match, match);
    match_acquaint(agents, place, &match->u.match_told);
    agents->items[place].told_id = match->u.match_told.id;
    agents->items[place].told_number = match->u.match_told.number;
    watchers_wake(&agents->items[place]);
    return letter;
}

void agents_acquaint(struct agents *agents, uint32_t place, uint64_t other)
{
    struct agent_row *row = &agents->items[place];

    if (row->has_partners && map_count(&row->partners) >= AGENT_PARTNERS_MAX) {
        map_done(&row->partners); /* partners that were forgotten share as strangers do */
        row->has_partners = false;
    }
    if (!row->has_partners)
        map_init(&row->partners, agents->handles.seed);
    row->has_partners = true;
    map_set(&row->partners, other, 0);
}

struct letter *agents_write_text(struct agents *agents, uint32_t place, uint64_t relay, uint32_t from, const char *text,
                                 size_t len, int64_t now, int64_t ends)
{
    const struct agent_row *sender = &agents->items[from];
    struct agent_row *row = &agents->items[place];
    bool known = sender->identity == row->identity ||
                 (row->has_partners && map_find(&row->partners, sender->handle) != MAP_NONE);
    size_t counts = len > AGENT_LETTER_LEAST ? len : AGENT_LETTER_LEAST;
    struct letter *letter;

    letters_expire(row, now);
    if (!letter_fits(agents, place, sender->account, known, counts))
        return NULL;
    letter = letter_add(agents, place, text, len, now, ends);
    letter->relay = relay;
    letter->from = sender->handle;
    letter->account = sender->account;
    letter->known = known;
    letter->counts = counts;
    row->letter_bytes += counts;
    row->stranger_bytes += known ? 0 : counts;
    watchers_wake(row);
    return letter;
}

void agents_write_command(struct agents *agents, uint32_t place, uint64_t key, int64_t now, int64_t ends)
{
    struct letter *letter;

    for (letter = agents->items[place].first; letter; letter = letter->next)
        if (letter->command && letter->relay == key)
            return;
    letter = letter_add(agents, place, "", 0, now, ends);
    letter->relay = key;
    letter->command = true;
    watchers_wake(&agents->items[place]);
}

const struct letter *agents_letter_after(struct agents *agents, uint32_t place, uint64_t number, int64_t now)
{
    struct agent_row *row = &agents->items[place];
    const struct letter *letter;

    letters_expire(row, now);
    for (letter = row->first; letter && letter->number <= number; letter = letter->next)
        ;
    return letter;
}

void agents_watch(struct agents *agents, struct watcher *watcher)
{
    struct agent_row *row = &agents->items[watcher->agent];

    watcher->next = row->watchers;
    row->watchers = watcher;
}

void agents_unwatch(struct agents *agents, struct watcher *watcher)
{
    struct watcher **link = &agents->items[watcher->agent].watchers;

    while (*link && *link != watcher)
        link = &(*link)->next;
    if (*link)
        *link = watcher->next;
    watcher->next = NULL;
}

void agents_sweep(struct agents *agents, int64_t now)
{
    for (uint32_t i = 0; i < agents->texts.places; i++) {
        struct agent_row *row = &agents->items[i];

        if (!row->handle)
            continue;
        letters_expire(row, now);
        if (row->first || row->watchers || row->ads || row->contact_state == CONTACT_CHECKING ||
            row->heard + AGENT_IDLE > now)
            continue;
        agents->callers->items[row->identity].holds--;
        agents->callers->items[row->account].agents--;
        map_remove(&agents->handles, row->handle);
        row_clear(row);
        textmap_remove(&agents->texts, i);
    }
}
