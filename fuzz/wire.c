/* wire.c: any text is a message, a record or neither, and says why; whatever is accepted is written and read back as an equal. */
#include "pool/protocol/wire.h"

#include "lang/ad/names.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *law, const char *why)
{
    fprintf(stderr, "broken law: %s: %s\n", law, why);
    abort();
}

static void check_message(struct symbols *symbols, const struct tree *ad)
{
    struct message message, copy;
    struct err err = {0};

    if (wire_read_message(ad, &message, &err) < 0) {
        if (!err.text[0])
            broken("what is refused is told why", "no message");
        return;
    }
    message_copy(&copy, &message);
    message_done(&message);
    if (!wire_same(symbols, &copy, &err))
        broken("a message that is read is written and read again as an equal", err.text);
    message_done(&copy);
}

static void check_record(struct symbols *symbols, const struct tree *ad)
{
    struct record record, copy;
    struct err err = {0};

    if (wire_read_record(ad, &record, &err) < 0) {
        if (!err.text[0])
            broken("what is refused is told why", "no record");
        return;
    }
    record_copy(&copy, &record);
    record_done(&record);
    if (!wire_same_record(symbols, &copy, &err))
        broken("a record that is read is written and read again as an equal", err.text);
    record_done(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    static size_t names;
    struct tree *ad;
    struct err err = {0};

    if (!symbols) {
        symbols = names_new(0);
        names = symbols_count(symbols);
    }
    if (wire_parse(symbols, (const char *)data, size, &ad, &err) == 0) {
        check_message(symbols, ad);
        check_record(symbols, ad);
        tree_unref(ad);
    } else if (!err.text[0]) {
        broken("what is refused is told why", "no ad");
    }
    if (symbols_count(symbols) != names)
        broken("when all is given back no name is held", "");
    return 0;
}
