/* wire.c: messages and records as ads, and those as text. */
#include "pool/protocol/wire.h"

#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "pool/protocol/wire_fields.h"

#include <string.h>

static const char *const message_ids[] = {"NONE",
#define X(id, name, answer) #id,
                                          MESSAGES(X)
#undef X
};

static const char *const record_ids[] = {"NONE",
#define X(id, name) #id,
                                         RECORDS(X)
#undef X
};

/* The fields that all records have. The key is called "row": `key` is the name of a field in one of them. */
static const struct field row_fields[] = {
    {.name = "row", .at = offsetof(struct record, key), .sort = FIELD_WORD},
    {.name = "removed", .at = offsetof(struct record, removed), .sort = FIELD_FLAG}};
static const struct layout row_layout = {"row", row_fields, sizeof row_fields / sizeof *row_fields,
                                         sizeof(struct record)};

static int context_of_id(struct err *err, const char *id)
{
    char name[WIRE_NAME_ROOM];

    wire_name_of_id(id, name);
    return err_context(err, "%s", name);
}

/* -------------------------------------------------------------------------------------------- messages and records */

static struct tree *seal_ad(struct build *build, uint32_t count)
{
    struct tree *ad;

    wire_push_ad(build, count);
    ad = build_seal(build);
    build_done(build);
    return ad;
}

struct tree *wire_message(struct symbols *symbols, const struct message *message)
{
    struct build build;

    build_init(&build, symbols, &dialect_classic);
    wire_push_id(&build, message_ids[(unsigned)message->kind < MESSAGE_COUNT ? message->kind : MESSAGE_NONE]);
    wire_name_top(&build, "Message", 7);
    return seal_ad(&build, 1 + wire_push_fields(&build, message_layout(message->kind), &message->u));
}

/* Checks fields that are numbers in the list, but a choice among few values to their readers. */
static int message_check(const struct message *message, struct err *err)
{
    if (message->kind == MESSAGE_CONTROL && message->u.control.verb >= CONTROL_COUNT)
        return err_set(err, "Verb: expected a number below %d", CONTROL_COUNT);
    return 0;
}

static int read_message(const struct tree *ad, bool brief, const char *skip, struct message *ret, struct err *err)
{
    struct build build;
    struct wire_source source = {ad, tree_root(ad), &build, 0, brief, skip};
    struct message message;
    int kind = wire_read_kind(&source, "Message", message_ids, MESSAGE_COUNT, "message", err), status;

    if (kind < 0)
        return -1;
    memset(&message, 0, sizeof message);
    message.kind = (enum message_kind)kind;
    build_init(&build, ad->symbols, ad->dialect);
    status = wire_read_fields(&source, message_layout(message.kind), &message.u, err);
    if (status == 0)
        status = wire_read_end(&source, err);
    if (status == 0)
        status = message_check(&message, err);
    build_done(&build);
    if (status < 0) {
        message_done(&message);
        return context_of_id(err, message_ids[kind]);
    }
    *ret = message;
    return 0;
}

int wire_read_message(const struct tree *ad, struct message *ret, struct err *err)
{
    return read_message(ad, false, NULL, ret, err);
}

int wire_read_brief(const struct tree *ad, const char *skip, struct message *ret, struct err *err)
{
    return read_message(ad, true, skip, ret, err);
}

/* A removed row has only kind and key. */
static const struct layout *record_fields(const struct record *record)
{
    return record_layout(record->removed ? RECORD_NONE : record->kind);
}

struct tree *wire_record(struct symbols *symbols, const struct record *record)
{
    struct build build;
    uint32_t count = 1;

    build_init(&build, symbols, &dialect_classic);
    wire_push_id(&build, record_ids[(unsigned)record->kind < RECORD_COUNT ? record->kind : RECORD_NONE]);
    wire_name_top(&build, "Record", 6);
    count += wire_push_fields(&build, &row_layout, record);
    count += wire_push_fields(&build, record_fields(record), &record->u);
    return seal_ad(&build, count);
}

int wire_read_record(const struct tree *ad, struct record *ret, struct err *err)
{
    struct build build;
    struct wire_source source = {.tree = ad, .ad = tree_root(ad), .build = &build};
    struct record record;
    int kind = wire_read_kind(&source, "Record", record_ids, RECORD_COUNT, "record", err), status;

    if (kind < 0)
        return -1;
    memset(&record, 0, sizeof record);
    record.kind = (enum record_kind)kind;
    build_init(&build, ad->symbols, ad->dialect);
    status = wire_read_fields(&source, &row_layout, &record, err);
    if (status == 0)
        status = wire_read_fields(&source, record_fields(&record), &record.u, err);
    build_done(&build);
    if (status < 0) {
        record_done(&record);
        return context_of_id(err, record_ids[kind]);
    }
    *ret = record;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ text */

void wire_print(struct buf *out, const struct tree *ad)
{
    print_tree(out, ad, PRINT_COMPACT);
}

int wire_parse(struct symbols *symbols, const char *text, size_t len, struct tree **ret, struct err *err)
{
    static const struct parse_options options = {.cells_max = WIRE_CELLS_MAX};
    struct build build;
    struct tree *ad;

    if (len > WIRE_BYTES_MAX)
        return err_set(err, "too long: the limit is %u bytes", WIRE_BYTES_MAX);
    build_init(&build, symbols, &dialect_classic);
    ad = parse_ad(&build, &options, text, len, err);
    build_done(&build);
    if (!ad)
        return -1;
    *ret = ad;
    return 0;
}

/* Takes the ad; returns the ad that its text reads as, or NULL. */
static struct tree *through_text(struct symbols *symbols, struct tree *taken, struct err *err)
{
    struct tree *back = NULL;
    struct buf text;

    buf_init(&text);
    wire_print(&text, taken);
    if (wire_parse(symbols, text.text, text.len, &back, err) == 0 &&
        !tree_equal(taken, tree_root(taken), back, tree_root(back))) {
        tree_unref(back);
        back = NULL;
        err_set(err, "its text reads as another ad");
    }
    buf_done(&text);
    tree_unref(taken);
    return back;
}

bool wire_same(struct symbols *symbols, const struct message *message, struct err *why)
{
    struct tree *ad = through_text(symbols, wire_message(symbols, message), why);
    struct message back = {0};
    bool same = false;

    if (ad && wire_read_message(ad, &back, why) == 0) {
        same = message_equal(message, &back);
        if (!same)
            err_set(why, "a message of kind %s reads back as another", message_layout(message->kind)->name);
    }
    message_done(&back);
    tree_unref(ad);
    return same;
}

bool wire_same_record(struct symbols *symbols, const struct record *record, struct err *why)
{
    struct tree *ad = through_text(symbols, wire_record(symbols, record), why);
    struct record back = {0};
    bool same = false;

    if (ad && wire_read_record(ad, &back, why) == 0) {
        same = record_equal(record, &back);
        if (!same)
            err_set(why, "a record of kind %s reads back as another", record_layout(record->kind)->name);
    }
    record_done(&back);
    tree_unref(ad);
    return same;
}
