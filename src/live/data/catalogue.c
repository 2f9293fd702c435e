/* catalogue.c: the catalogues of files, asked and told from within a loop. */
#include "live/data/catalogue.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/form/form.h"
#include "live/auth/token.h"
#include "live/http/represent.h"
#include "live/world/runner.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"
#include "sys/steady_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX ((size_t)1 << 20) /* bytes of an entry */
#define KEPT_PAGE 1000               /* names in one answer */

struct catalogue {
    char *url, *socket; /* socket: NULL, or where it listens */
    const char *name;   /* as it was said, for people */
    const struct token_file *token;
    struct token_file *owned;
    struct buf bearer;
    struct token_made bearer_made;
    struct client *client;
};

struct catalogues {
    struct catalogue items[CATALOGUES_MAX];
    uint32_t count;
    struct symbols *symbols;
    struct errand *errands;
    uint64_t last;
    bool closing;
};

/* What one of them said. */
struct said {
    uint64_t call;
    bool answered, missing, refused;
    uint32_t listed; /* of a list: how many names it gave */
    struct file_entry entry;
    char words[ERR_TEXT_MAX];
};

struct errand {
    struct errand *next;
    struct catalogues *all;
    uint64_t id;
    bool tells; /* it tells, and does not ask */
    uint32_t waiting;
    struct said said[CATALOGUES_MAX];
    catalogue_done_fn *done;
    catalogue_kept_fn *kept; /* or it asks for a list: */
    uint64_t cursor;
    char **names;
    uint32_t count;
    void *user;
};

/* An errand at one of them. */
struct errand_call {
    struct errand *errand;
    uint32_t place;
};

/* ---------------------------------------------------------------------------------------------------------------- life */

static int catalogue_open(struct catalogue *catalogue, uv_loop_t *loop, const struct catalogue_place *place,
                          struct err *err)
{
    struct client_settings settings = {.ca_file = place->ca_file};
    size_t len = strlen(place->url);

    while (len && place->url[len - 1] == '/')
        len--;
    if (!strncmp(place->url, "unix:", 5)) {
        catalogue->socket = mem_dup(place->url + 5, strlen(place->url + 5));
        catalogue->url = mem_dup("http://localhost", 16);
    } else {
        catalogue->url = mem_dup(place->url, len);
    }
    catalogue->name = catalogue->socket ? catalogue->socket : catalogue->url;
    catalogue->client = client_new(loop, &settings, err);
    return catalogue->client ? 0 : -1;
}

struct catalogues *catalogues_new(uv_loop_t *loop, struct symbols *symbols, const struct catalogue_place *places,
                                  size_t count, struct err *err)
{
    struct catalogues *all = mem_alloc(sizeof *all);
    int failed = 0;

    *all = (struct catalogues){.symbols = symbols};
    for (size_t i = 0; i < count && i < CATALOGUES_MAX; i++) {
        struct catalogue *catalogue = &all->items[all->count++];

        catalogue->token = places[i].token;
        catalogue->owned = places[i].token_owned ? (struct token_file *)(uintptr_t)places[i].token : NULL;
        buf_init(&catalogue->bearer);
        failed = failed ? failed : catalogue_open(catalogue, loop, &places[i], err);
    }
    if (!failed)
        return all;
    catalogues_free(all);
    return NULL;
}

static void errand_free(struct errand *errand)
{
    struct errand **link = &errand->all->errands;

    while (*link != errand)
        link = &(*link)->next;
    *link = errand->next;
    for (uint32_t i = 0; i < errand->all->count; i++)
        file_entry_done(&errand->said[i].entry);
    for (uint32_t i = 0; i < errand->count; i++)
        free(errand->names[i]);
    free(errand->names);
    free(errand);
}

void catalogues_free(struct catalogues *all)
{
    if (!all)
        return;
    all->closing = true;
    for (uint32_t i = 0; i < all->count; i++) {
        struct catalogue *catalogue = &all->items[i];

        client_free(catalogue->client); /* what is under way ends by it */
        catalogue->client = NULL;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        struct catalogue *catalogue = &all->items[i];

        if (catalogue->owned)
            token_file_done(catalogue->owned);
        free(catalogue->owned);
        buf_wipe(&catalogue->bearer);
        free(catalogue->url);
        free(catalogue->socket);
    }
    free(all);
}

void catalogues_cancel(struct catalogues *all, uint64_t id)
{
    for (struct errand *errand = all->errands; errand; errand = errand->next)
        if (errand->id == id)
            errand->kept = NULL, errand->done = NULL; /* its calls end by themselves */
}

/* -------------------------------------------------------------------------------------------------------------- answers */

/* Joins what both catalogues have; either may lack some of it. */
static void entries_join(const struct errand *errand, struct file_entry *ret)
{
    bool first = true;

    for (uint32_t i = 0; i < errand->all->count; i++) {
        const struct file_entry *entry = &errand->said[i].entry;

        if (!entry->name)
            continue;
        if (first)
            file_entry_copy(entry, ret);
        else
            file_replicas_join(ret, entry);
        first = false;
    }
}

static void words_join(const struct errand *errand, struct buf *words)
{
    const struct catalogues *all = errand->all;

    for (uint32_t i = 0; i < all->count; i++)
        if (*errand->said[i].words)
            buf_addf(words, "%scatalogue %s: %s", words->len ? "; " : "", all->items[i].name, errand->said[i].words);
}

static void find_answer(struct errand *errand, struct buf *words)
{
    const struct said *said = errand->said;
    struct catalogue_answer answer = {.result = CATALOGUE_SILENT};
    struct file_entry joined = {0};
    uint32_t answered = 0, found = 0;
    bool differ = false;

    for (uint32_t i = 0; i < errand->all->count; i++) {
        answered += said[i].answered;
        found += said[i].entry.name != NULL;
    }
    if (answered == 2) {
        size_t before = words->len;

        if (before)
            buf_adds(words, "; ");
        if (!file_entry_compare(said[0].entry.name ? &said[0].entry : NULL, said[1].entry.name ? &said[1].entry : NULL,
                                errand->all->items[0].name, errand->all->items[1].name, words, &differ))
            words->len = before;
    }
    if (answered && !errand->all->closing) /* else who hears it would ask for the next one */
        answer.result = differ ? CATALOGUE_DIFFER : found ? CATALOGUE_FOUND : CATALOGUE_NONE;
    if (answer.result == CATALOGUE_FOUND) {
        entries_join(errand, &joined);
        answer.entry = &joined;
    }
    answer.words = buf_string(words);
    errand->done(errand->user, &answer);
    file_entry_done(&joined);
}

static void add_answer(struct errand *errand, struct buf *words)
{
    struct catalogue_answer answer = {.result = CATALOGUE_SILENT};
    uint32_t taken = 0, refused = 0;

    for (uint32_t i = 0; i < errand->all->count; i++) {
        taken += errand->said[i].answered && !errand->said[i].refused;
        refused += errand->said[i].refused;
    }
    if (taken)
        answer.result = taken == errand->all->count ? CATALOGUE_TAKEN : CATALOGUE_PARTLY;
    else if (refused)
        answer.result = CATALOGUE_REFUSED;
    answer.words = buf_string(words);
    errand->done(errand->user, &answer);
}

static void kept_answer(struct errand *errand)
{
    bool answered = false, more = false;

    for (uint32_t i = 0; i < errand->all->count; i++) {
        answered = answered || errand->said[i].answered;
        more = more || errand->said[i].listed == KEPT_PAGE;
    }
    errand->kept(errand->user, answered && !errand->all->closing ? errand->names : NULL, errand->count,
                 more ? errand->cursor + KEPT_PAGE : 0);
}

static void errand_step(struct errand *errand)
{
    struct buf words;

    if (--errand->waiting)
        return;
    if (errand->kept)
        kept_answer(errand);
    if (errand->done) {
        buf_init(&words);
        words_join(errand, &words);
        if (errand->tells)
            add_answer(errand, &words);
        else
            find_answer(errand, &words);
        buf_done(&words);
    }
    errand_free(errand);
}

/* Keeps the words of a problem: its detail is all that a person wants of it. */
static void problem_words(struct said *said, const struct http_outcome *outcome)
{
    const char *detail = strstr(outcome->body, "\"detail\":\""), *end;

    detail = detail ? detail + 10 : "";
    end = strchr(detail, '"');
    snprintf(said->words, sizeof said->words, "%.*s (%u)", end ? (int)(end - detail) : 0, detail, outcome->status);
}

static void entry_take(struct errand *errand, struct said *said, const struct http_outcome *outcome)
{
    struct err err = {0};
    struct media media;
    struct tree *ad = NULL;

    if (media_read(outcome->type, &media))
        ad = represent_read(errand->all->symbols, &media, NULL, outcome->body, outcome->len, &err);
    if (!ad || file_entry_read(ad, &said->entry, &err) < 0 || !said->entry.name)
        snprintf(said->words, sizeof said->words, "its answer is not an entry: %.300s", err.text);
    else
        said->answered = true;
    tree_unref(ad);
}

/* Takes a name, unless another catalogue has given it. */
static void name_take(struct errand *errand, struct textmap *seen, const char *name, size_t len)
{
    if (!file_name_is_good(name, len) || textmap_find(seen, name, len) != TEXTMAP_NONE)
        return;
    (void)textmap_add(seen, name, len);
    errand->names = mem_grow(errand->names, (errand->count + 1) * sizeof *errand->names);
    errand->names[errand->count++] = mem_dup(name, len);
}

static void names_take(struct errand *errand, struct said *said, const struct http_outcome *outcome)
{
    struct form_text reading = {outcome->body, outcome->len};
    struct form_reader *reader =
        form_reader_new(errand->all->symbols, &dialect_classic, FORM_CLASSAD, NULL, form_text_read, &reading);
    struct textmap seen;
    struct tree *ad;
    struct err err;
    const char *name;
    size_t len;

    textmap_init(&seen, 0);
    for (uint32_t i = 0; i < errand->count; i++)
        (void)textmap_add(&seen, errand->names[i], strlen(errand->names[i]));
    for (; said->listed < KEPT_PAGE && form_reader_next(reader, &ad, &err) == 1; said->listed++) {
        bool kept = ad_find(ad, "Copies");

        if (kept && ad_string(ad, "Name", &name, &len))
            name_take(errand, &seen, name, len);
        tree_unref(ad);
        if (!kept) { /* a catalogue of an earlier version, which lists all of its files */
            said->listed = 0;
            break;
        }
    }
    said->answered = true;
    form_reader_free(reader);
    textmap_done(&seen);
}

static void call_came(void *user, const struct http_outcome *outcome)
{
    struct errand_call *call = user;
    struct errand *errand = call->errand;
    uint32_t place = call->place;
    struct said *said = &errand->said[place];

    free(call);
    if (outcome->result != CALL_ANSWERED) {
        bool nobody = errand->all->items[place].socket && outcome->result == CALL_UNREACHED;

        snprintf(said->words, sizeof said->words, "does not answer%s%.300s", nobody ? "" : ": ",
                 nobody           ? ""
                 : outcome->error ? outcome->error
                                  : call_result_name(outcome->result));
    } else if (outcome->status == 404 && !errand->tells) {
        said->answered = said->missing = true;
    } else if (outcome->status >= 300) {
        said->answered = said->refused = errand->tells && outcome->status < 500;
        problem_words(said, outcome);
    } else if (errand->kept) {
        names_take(errand, said, outcome);
    } else {
        entry_take(errand, said, outcome);
    }
    errand_step(errand);
}

/* --------------------------------------------------------------------------------------------------------------- asking */

/* The token to show to a catalogue; NULL: none. */
static const char *bearer_of(struct catalogue *catalogue)
{
    int64_t wall = runner_wall(), now = runner_now(), ends;
    struct err err;

    if (!catalogue->token || !catalogue->token->token)
        return NULL;
    if (!token_made_serves(&catalogue->bearer_made, wall, now)) {
        catalogue->bearer_made = (struct token_made){.span = 0};
        buf_reset(&catalogue->bearer);
        if (token_file_bearer(&catalogue->bearer, catalogue->token, NULL, wall / SECOND, &ends, &err) < 0)
            return NULL;
        catalogue->bearer_made = token_made_at(wall, now, ends, TOKEN_BEARER_SPAN);
    }
    return buf_string(&catalogue->bearer);
}

/* Is the catalogue where the token's file says the pool is? The pool that gave the token may be one that is not encrypted, as its operator has said. */
static bool is_where_token_says(const struct catalogue *catalogue)
{
    return catalogue->token && catalogue->token->pool && !strcmp(catalogue->token->pool, catalogue->url);
}

static void errand_send(struct errand *errand, uint32_t place, const char *path, const char *body, size_t len,
                        const struct http_field *fields, size_t field_count)
{
    struct catalogue *catalogue = &errand->all->items[place];
    struct errand_call *call = mem_alloc(sizeof *call);
    struct buf url;

    *call = (struct errand_call){errand, place};
    buf_init(&url);
    buf_addf(&url, "%s%s", catalogue->url, path);
    errand->said[place].call = client_send(catalogue->client,
                                           &(struct http_call){.method = body ? "POST" : "GET",
                                                               .url = buf_string(&url),
                                                               .unix_socket = catalogue->socket,
                                                               .token = bearer_of(catalogue),
                                                               .plain_token = is_where_token_says(catalogue),
                                                               .type = body ? TYPE_CLASSAD : NULL,
                                                               .accept = TYPE_CLASSAD,
                                                               .body = body,
                                                               .len = len,
                                                               .fields = fields,
                                                               .field_count = field_count,
                                                               .bytes_max = ANSWER_MAX},
                                           call_came, call);
    buf_done(&url);
}

static struct errand *errand_new(struct catalogues *all, bool tells, catalogue_done_fn *done, void *user)
{
    struct errand *errand = mem_alloc(sizeof *errand);

    memset(errand, 0, sizeof *errand);
    errand->next = all->errands;
    errand->all = all;
    errand->id = ++all->last;
    errand->tells = tells;
    errand->waiting = all->count;
    errand->done = done;
    errand->user = user;
    all->errands = errand;
    return errand;
}

void url_value_add(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("-._~", c))
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

void catalogue_path(struct buf *out, const char *name)
{
    buf_adds(out, "/v1/files/");
    url_value_add(out, name);
}

struct tree *catalogue_addition(struct symbols *symbols, const struct file_entry *entry, uint32_t place)
{
    struct maker maker;

    maker_init(&maker, symbols);
    maker_text(&maker, "Store", entry->replicas[place].store);
    maker_text(&maker, "Url", entry->replicas[place].url);
    maker_integer(&maker, "Size", entry->size);
    maker_text(&maker, "Hash", entry->hash);
    maker_text(&maker, "Owner", entry->owner);
    return maker_seal(&maker);
}

uint64_t catalogues_find(struct catalogues *all, const char *name, catalogue_done_fn *done, void *user)
{
    struct errand *errand = errand_new(all, false, done, user);
    uint64_t id = errand->id;
    struct buf path;

    buf_init(&path);
    catalogue_path(&path, name);
    for (uint32_t i = 0; i < all->count; i++)
        errand_send(errand, i, buf_string(&path), NULL, 0, NULL, 0);
    buf_done(&path);
    return id;
}

uint64_t catalogues_kept(struct catalogues *all, const char *account, uint64_t cursor, catalogue_kept_fn *done,
                         void *user)
{
    struct errand *errand = errand_new(all, false, NULL, user);
    uint64_t id = errand->id;
    struct buf path;

    errand->kept = done;
    errand->cursor = cursor;
    errand->names = mem_alloc(sizeof *errand->names);
    buf_init(&path);
    buf_addf(&path, "/v1/files?select=Name,Copies&limit=%d&cursor=%llu&kept=", KEPT_PAGE, (unsigned long long)cursor);
    url_value_add(&path, account);
    for (uint32_t i = 0; i < all->count; i++)
        errand_send(errand, i, buf_string(&path), NULL, 0, NULL, 0);
    buf_done(&path);
    return id;
}

uint64_t catalogues_add(struct catalogues *all, const struct file_entry *addition, const struct catalogue_right *right,
                        catalogue_done_fn *done, void *user)
{
    struct errand *errand = errand_new(all, true, done, user);
    struct tree *ad = catalogue_addition(all->symbols, addition, 0);
    uint64_t id = errand->id;
    struct buf path, body, text, receipt;
    struct http_field fields[2];
    size_t field_count = 0;

    buf_init(&path);
    buf_init(&body);
    buf_init(&text);
    buf_init(&receipt);
    catalogue_path(&path, addition->name);
    buf_adds(&path, "/replicas");
    represent_ad(&body, FORM_CLASSAD, ad);
    tree_unref(ad);
    if (right->receipt &&
        file_name_is_kept(addition->name)) { /* in the head, where catalogues of before pass over it */
        wire_print(&text, right->receipt);
        base64url_print(&receipt, text.text, text.len);
        fields[field_count++] = (struct http_field){"Berth-Agent", right->agent};
        fields[field_count++] = (struct http_field){CATALOGUE_RECEIPT, buf_string(&receipt)};
    }
    for (uint32_t i = 0; i < all->count; i++)
        errand_send(errand, i, buf_string(&path), buf_string(&body), body.len, fields, field_count);
    buf_done(&path);
    buf_done(&body);
    buf_done(&text);
    buf_done(&receipt);
    return id;
}
