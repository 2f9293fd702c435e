/* files_test.c: entries of a catalogue of files: what is one, in what two disagree, and a book of many, against a plain one. */
#include "live/data/digest_field.h"
#include "live/data/file_book.h"
#include "live/data/file_data.h"
#include "live/data/input_data.h"

#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/rng.h"
#include "lang/form/form.h"
#include "live/http/represent.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define FACTS "Size = 4; Hash = \"sha256:" DIGITS "\""

static struct tree *ad_of(struct symbols *symbols, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        tap_diag("%s: %s", text, err.text);
    return ad;
}

/* ---------------------------------------------------------------------------------------------------------------- entries */

static const struct {
    const char *says, *ad;
    const char *why; /* NULL: it is one, and is written as it was read */
} entries[] = {
    {"an entry",
     "[ Name = \"run7/a.dat\"; " FACTS
     "; Replicas = { [ Store = \"se1\"; Url = \"http://h/a\" ], [ Store = \"se2\"; Url = "
     "\"file:///a\" ] }; Owner = \"alice\"; By = \"machine/heron\" ]",
     NULL},
    {"one without a replica", "[ Name = \"a\"; " FACTS "; Replicas = {}; Owner = \"alice\" ]", NULL},
    {"a name that leads upwards", "[Name = \"a/../b\"; " FACTS "]", "Name: "},
    {"a name from the root", "[Name = \"/a\"; " FACTS "]", "Name: "},
    {"a name that ends with a slash", "[Name = \"a/\"; " FACTS "]", "Name: "},
    {"a name with a line end", "[Name = \"a\\nb\"; " FACTS "]", "Name: "},
    {"a size below nothing", "[Name = \"a\"; Size = -1; Hash = \"sha256:" DIGITS "\"]", "Size: "},
    {"no size", "[Name = \"a\"; Hash = \"sha256:" DIGITS "\"]", "Size: "},
    {"a hash of another kind", "[Name = \"a\"; Size = 1; Hash = \"md5:" DIGITS "\"]", "Hash: "},
    {"a hash in capitals",
     "[Name = \"a\"; Size = 1; Hash = \"sha256:AA112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF\"]",
     "Hash: "},
    {"a hash that is cut", "[Name = \"a\"; Size = 1; Hash = \"sha256:00\"]", "Hash: "},
    {"replicas that are none", "[Name = \"a\"; " FACTS "; Replicas = {1}]", "Replicas[0]: "},
    {"a replica without a store", "[Name = \"a\"; " FACTS "; Replicas = {[Url = \"http://h/a\"]}]",
     "Replicas[0]: Store: "},
    {"a store that is there twice",
     "[Name = \"a\"; " FACTS
     "; Replicas = {[Store = \"s\"; Url = \"http://h/a\"], [Store = \"s\"; Url = \"http://h/b\"]}]",
     "Replicas[1]: Store: 's' is there twice"},
    {"a URL of another sort", "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"gopher://h/a\"]}]",
     "Replicas[0]: Url: "},
    {"a URL with a password", "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"sftp://me:secret@h/a\"]}]",
     "Replicas[0]: Url: "},
    {"a URL with a blank", "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"http://h/a b\"]}]",
     "Replicas[0]: Url: "},
    {"a file URL with a host", "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"file://h/a\"]}]",
     "Replicas[0]: Url: "},
    {"a dataset", "[ Name = \"run7\"; Files = { \"run7/b\", \"run7/a\" }; Owner = \"alice\"; By = \"machine/heron\" ]",
     NULL},
    {"a dataset of nothing", "[Name = \"a\"; Files = {}]", "Files: expected a list of 1 to 1000 names of files"},
    {"a dataset that is no list", "[Name = \"a\"; Files = \"b\"]", "Files: expected a list"},
    {"a dataset of numbers", "[Name = \"a\"; Files = {1}]", "Files: expected a list of names"},
    {"a dataset with a name that leads upwards", "[Name = \"a\"; Files = {\"b\", \"../c\"}]",
     "Files: expected a list of names"},
    {"a dataset with a file twice", "[Name = \"a\"; Files = {\"b\", \"c\", \"b\"}]", "Files: 'b' is there twice"},
    {"a dataset with a size", "[Name = \"a\"; Files = {\"b\"}; Size = 4]", "Files: a dataset has no Size"},
    {"a dataset with replicas", "[Name = \"a\"; Files = {\"b\"}; Replicas = {}]", "Files: a dataset has no Replicas"},
    {"a number of copies",
     "[ Name = \"a\"; " FACTS "; Replicas = {}; Copies = 2; CopiesAt = { \"se1\", \"se2\" }; Owner = \"alice\" ]",
     NULL},
    {"a number of copies in any store", "[ Name = \"a\"; " FACTS "; Replicas = {}; Copies = 2 ]", NULL},
    {"a number of copies below nothing", "[Name = \"a\"; " FACTS "; Copies = -1]", "Copies: "},
    {"too many copies", "[Name = \"a\"; " FACTS "; Copies = 33]", "Copies: expected a whole number up to 32"},
    {"more copies than stores", "[Name = \"a\"; " FACTS "; Copies = 2; CopiesAt = {\"s\"}]",
     "CopiesAt: 1 stores cannot have 2 copies"},
    {"a store for copies twice", "[Name = \"a\"; " FACTS "; Copies = 1; CopiesAt = {\"s\", \"s\"}]",
     "CopiesAt: 's' is there twice"},
    {"a store for copies without a name", "[Name = \"a\"; " FACTS "; Copies = 1; CopiesAt = {\"\"}]",
     "CopiesAt: expected a list of names of stores"},
    {"a dataset with a number of copies", "[Name = \"a\"; Files = {\"b\"}; Copies = 1]",
     "Files: a dataset has no Copies"},
    {"an owner that is none", "[Name = \"a\"; " FACTS "; Owner = \"\"]", "Owner: "},
};

static void entries_are_read(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct tree *ad = ad_of(symbols, entries[i].ad), *again = NULL;
        struct file_entry entry = {0};
        struct err err = {0};
        struct buf text;
        bool good = ad && file_entry_read(ad, &entry, &err) == 0;

        buf_init(&text);
        if (good) {
            again = file_entry_ad(&entry, symbols);
            represent_ad(&text, FORM_CLASSAD, again);
        }
        if (entries[i].why)
            tap_ok(!good && !strncmp(err.text, entries[i].why, strlen(entries[i].why)), "%s is refused: %s",
                   entries[i].says, entries[i].why);
        else
            tap_ok(good && !strcmp(buf_string(&text), entries[i].ad), "%s is written as it was read", entries[i].says);
        buf_done(&text);
        file_entry_done(&entry);
        tree_unref(again);
        tree_unref(ad);
    }
}

/* ------------------------------------------------------------------------------------------------------------ comparing */

#define ONE "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"http://h/a\"]}]"

static const struct {
    const char *says, *left, *right, *words;
    bool differ;
} pairs[] = {
    {"the same", ONE, ONE, "", false},
    {"neither has it", NULL, NULL, "", false},
    {"the left lacks it", NULL, ONE, "L does not have it", false},
    {"the right lacks it", ONE, NULL, "R does not have it", false},
    {"a replica is missing", ONE, "[Name = \"a\"; " FACTS "]", "R has no replica in s", false},
    {"each has one that the other lacks", ONE,
     "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"t\"; Url = \"http://h/a\"]}]",
     "R has no replica in s; L has no replica in t", false},
    {"another URL", ONE, "[Name = \"a\"; " FACTS "; Replicas = {[Store = \"s\"; Url = \"http://h/b\"]}]",
     "the replica in s is http://h/a and http://h/b", false},
    {"the same dataset", "[Name = \"a\"; Files = {\"b\", \"c\"}]", "[Name = \"a\"; Files = {\"b\", \"c\"}]", "", false},
    {"a dataset of other files", "[Name = \"a\"; Files = {\"b\", \"c\"}]", "[Name = \"a\"; Files = {\"b\"}]",
     "the files of the dataset are others", true},
    {"a dataset and a file", "[Name = \"a\"; Files = {\"b\"}]", ONE, "one has a dataset of that name, the other a file",
     true},
    {"a dataset that the right lacks", "[Name = \"a\"; Files = {\"b\"}]", NULL, "R does not have it", false},
    {"another number of copies", "[Name = \"a\"; " FACTS "; Copies = 2]", "[Name = \"a\"; " FACTS "]",
     "the copies that are to be kept are 2 and 0", false},
    {"other stores for them", "[Name = \"a\"; " FACTS "; Copies = 1; CopiesAt = {\"s\"}]",
     "[Name = \"a\"; " FACTS "; Copies = 1; CopiesAt = {\"t\"}]",
     "the copies that are to be kept are 1 and 1, in other stores", false},
    {"another size", "[Name = \"a\"; Size = 5; Hash = \"sha256:" DIGITS "\"]", "[Name = \"a\"; " FACTS "]",
     "its size is 5 and 4", true},
};

static void entries_are_compared(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct tree *ads[2] = {pairs[i].left ? ad_of(symbols, pairs[i].left) : NULL,
                               pairs[i].right ? ad_of(symbols, pairs[i].right) : NULL};
        struct file_entry sides[2] = {{0}};
        struct buf words;
        bool differ, any;

        buf_init(&words);
        for (int k = 0; k < 2; k++)
            if (ads[k] && file_entry_read(ads[k], &sides[k], NULL) < 0)
                tap_diag("%s: it is no entry", pairs[i].says);
        any = file_entry_compare(ads[0] ? &sides[0] : NULL, ads[1] ? &sides[1] : NULL, "L", "R", &words, &differ);
        tap_ok(any == (*pairs[i].words != '\0') && !strcmp(buf_string(&words), pairs[i].words) &&
                   differ == pairs[i].differ,
               "two catalogues: %s: '%s'", pairs[i].says, buf_string(&words));
        buf_done(&words);
        for (int k = 0; k < 2; k++) {
            file_entry_done(&sides[k]);
            tree_unref(ads[k]);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- books */

#define BOOK_NAMES 60

/* Random changes of a book, against an array that is looked at from one end to the other. */
static void book_keeps_order(void)
{
    struct rng rng;
    struct file_book book;
    bool there[BOOK_NAMES] = {false}, good = true;
    int owner[BOOK_NAMES] = {0}, replicas[BOOK_NAMES] = {0};

    rng_init(&rng, 7);
    file_book_init(&book, 7);
    for (int step = 0; step < 20000 && good; step++) {
        int at = (int)(rng_next(&rng) % BOOK_NAMES), who = (int)(rng_next(&rng) % 3), count = 0, owned[3] = {0};
        char name[16], owner_name[16];
        uint64_t all = 0;

        snprintf(name, sizeof name, "f%d", at);
        snprintf(owner_name, sizeof owner_name, "u%d", who);
        if (rng_next(&rng) % 3) {
            struct file_entry entry = {.name = strdup(name), .owner = strdup(owner_name)};

            if (rng_next(&rng) % 2)
                (void)file_replica_put(&entry, "se0", "http://h/a", NULL);
            replicas[at] = (int)entry.count;
            (void)file_book_put_take(&book, &entry);
            there[at] = true;
            owner[at] = who;
        } else if (rng_next(&rng) % 2) {
            file_book_remove(&book, name);
            there[at] = false;
        } else if (there[at]) {
            struct file_entry *entry = file_book_find(&book, name);
            char store[16];

            snprintf(store, sizeof store, "se%d", (int)(rng_next(&rng) % 4));
            if (file_replica_find(entry, store) >= 0 && rng_next(&rng) % 2)
                good = good && file_book_replica_drop(&book, entry, store);
            else
                good = good && file_book_replica_put(&book, entry, store, "http://h/b", NULL) == 0;
            replicas[at] = (int)entry->count;
        }
        for (int i = 0; i < BOOK_NAMES; i++) {
            snprintf(name, sizeof name, "f%d", i);
            count += there[i];
            all += there[i] ? (uint64_t)replicas[i] : 0;
            owned[owner[i]] += there[i];
            good = good && (file_book_find(&book, name) != NULL) == there[i];
        }
        for (int i = 0; i < 3; i++) {
            snprintf(owner_name, sizeof owner_name, "u%d", i);
            good = good && file_book_owned(&book, owner_name) == (uint32_t)owned[i];
        }
        good = good && book.count == (uint32_t)count && book.replicas == all;
        for (uint32_t i = 1; i < book.count; i++)
            good = good && strcmp(book.items[i - 1]->name, book.items[i]->name) < 0;
    }
    tap_ok(
        good,
        "a book is in order, finds what it has, and counts it for its owners, and all replicas, whatever is put in and "
        "taken out");
    file_book_done(&book);
}

/* ---------------------------------------------------------------------------------------------------------- InputData */

static const struct {
    const char *says, *ad;
    const char *names; /* with blanks between; or NULL: it is refused, with */
    const char *why;
} inputs[] = {
    {"no such attribute", "[]", "", NULL},
    {"an empty list", "[InputData = {}]", "", NULL},
    {"names", "[InputData = {\"run7/a\", \"b\"}]", "run7/a b", NULL},
    {"one text", "[InputData = \"run7/a\"]", "run7/a", NULL},
    {"names as grids write them", "[InputData = {\"lfn:/grid/run7/a\", \"LF:b\"}]", "grid/run7/a b", NULL},
    {"a number", "[InputData = {1}]", NULL, "InputData: expected a list of names of files in the catalogue"},
    {"a name that leads upwards", "[InputData = {\"lfn:/../a\"}]", NULL,
     "InputData: expected a list of names of files in the catalogue"},
    {"two that would be one in the folder", "[InputData = {\"x/a\", \"y/a\"}]", NULL,
     "InputData: 'x/a' and 'y/a' would be the same file in the job's folder"},
    {"one in the place of the job's output", "[InputData = {\"x/stdout\"}]", NULL,
     "InputData: 'x/stdout' would be in the place of a file of the job's own"},
};

static void inputs_are_read(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct tree *ad = ad_of(symbols, inputs[i].ad);
        struct input_data data;
        struct err err = {0};
        struct buf names;
        int failed = input_data_read(ad, &data, &err);

        buf_init(&names);
        for (uint32_t k = 0; k < data.count; k++)
            buf_addf(&names, "%s%s", k ? " " : "", data.names[k]);
        tap_ok(inputs[i].names ? !failed && !strcmp(buf_string(&names), inputs[i].names)
                               : failed && !strcmp(err.text, inputs[i].why),
               "InputData: %s", inputs[i].says);
        buf_done(&names);
        input_data_done(&data);
        tree_unref(ad);
    }
}

static void urls_are_paths(void)
{
    static const struct {
        const char *url, *path;
    } rows[] = {{"file:///a/b%20c", "/a/b c"}, {"file:///a%2", NULL}, {"file:///a%00b", NULL}, {"http://h/a", NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf path;
        bool is;

        buf_init(&path);
        is = file_url_path(rows[i].url, &path);
        tap_ok(is == (rows[i].path != NULL) && (!is || !strcmp(buf_string(&path), rows[i].path)), "%s is %s",
               rows[i].url, rows[i].path ? rows[i].path : "no path");
        buf_done(&path);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- digests */

static void digests_are_read(void)
{
#define EMPTY64 "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static const char empty[] = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    static const struct {
        const char *says, *line;
        bool good;
    } rows[] = {
        {"RFC 9530", "Repr-Digest: sha-256=:" EMPTY64 ":\r\n", true},
        {"among others, in any case", "repr-digest: sha-512=:AAAA:, SHA-256=:" EMPTY64 ":\r\n", true},
        {"RFC 3230", "Digest: SHA-256=" EMPTY64 "\r\n", true},
        {"without a blank or an end", "Digest:sha-256=" EMPTY64, true},
        {"another field", "Content-Digest: sha-256=:" EMPTY64 ":\r\n", false},
        {"another algorithm", "Digest: md5=" EMPTY64 "\r\n", false},
        {"too short", "Digest: sha-256=47DEQpj8HBSa\r\n", false},
        {"too long", "Digest: sha-256=" EMPTY64 EMPTY64 "\r\n", false},
        {"no base64", "Repr-Digest: sha-256=:!!!!:\r\n", false},
        {"nothing", "Repr-Digest: sha-256=\r\n", false},
        {"nothing at all", "", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hash[FILE_HASH_LEN + 1] = "";
        char *line = strndup(rows[i].line, strlen(rows[i].line));
        bool good = digest_field_read(line, strlen(line), hash);

        tap_ok(good == rows[i].good && (!good || !strcmp(hash, empty)), "a digest in a field: %s", rows[i].says);
        free(line);
    }
}

int main(void)
{
    struct symbols *symbols = names_new(1);

    entries_are_read(symbols);
    entries_are_compared(symbols);
    book_keeps_order();
    inputs_are_read(symbols);
    urls_are_paths();
    digests_are_read();
    symbols_free(symbols);
    return tap_done();
}
