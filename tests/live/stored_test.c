/* stored_test.c: what a job says of files that go to stores, and what its customer is told became of them. */
#include "live/data/stored.h"

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "live/data/job_uploads.h"

#include "common/tap.h"

#include <string.h>

static struct symbols *symbols;

static struct tree *ad_of(const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        printf("Bail out! %s: %s\n", text, err.text);
    return ad;
}

/* ---------------------------------------------------------------------------------------------------------------- parcels */

static const struct {
    const char *says, *ad, *read; /* FILE>NAME@STORE ...| STORE ...|elsewhere; or NULL */
    const char *why;
} parcels[] = {
    {"a job that says nothing leaves nothing", "[]", "|+", NULL},
    {"a file alone has its own name", "[OutputData = {\"a.dat\"}]", "a.dat>a.dat |+", NULL},
    {"a file has a logical name, and a store",
     "[OutputData = {[File = \"a\"; Name = \"r/a\"; Store = \"s\"], [File = \"d/b\"; Name = \"r/b\"]}; OutputSE = \"t\"]",
     "a>r/a@s d/b>r/b |t +", NULL},
    {"names are computed",
     "[N = 7; OutputData = {[File = \"a\"; Name = strcat(\"run\", N, \"/a\")]}; OutputSE = {\"s\", \"t\"}]",
     "a>run7/a |s t +", NULL},
    {"no others, if it says so", "[OutputData = {\"a\"}; OutputSE = {\"s\"}; OutputElsewhere = false]", "a>a |s -",
     NULL},
    {"several stores are to have it, if it says so",
     "[OutputData = {\"a\"}; OutputSE = {\"s\", \"t\"}; OutputCopies = 1 + 1]", "a>a |s t +2", NULL},
    {"but not none", "[OutputData = {\"a\"}; OutputCopies = 0]", NULL,
     "OutputCopies: expected a whole number from 1 to 16"},
    {"nor very many", "[OutputData = {\"a\"}; OutputCopies = 17]", NULL,
     "OutputCopies: expected a whole number from 1 to 16"},
    {"nor some", "[OutputData = {\"a\"}; OutputCopies = \"two\"]", NULL,
     "OutputCopies: expected a whole number from 1 to 16"},
    {"a name that leads out of the folder is none", "[OutputData = {\"../a\"}]", NULL,
     "OutputData: ../a is not the name of a file in the job's folder"},
    {"nor one that leads out of a store", "[OutputData = {[File = \"a\"; Name = \"/etc/a\"]}]", NULL,
     "OutputData: /etc/a is not a logical name of a file"},
    {"a name is there once", "[OutputData = {\"a\", [File = \"b\"; Name = \"a\"]}]", NULL,
     "OutputData: a is there twice"},
    {"a list is expected", "[OutputData = 7]", NULL, "OutputData: expected a list of up to 1000 files"},
    {"of files", "[OutputData = {[Name = \"a\"]}]", NULL,
     "OutputData: expected a list of names, or of [File; Name; Store]"},
    {"stores are texts", "[OutputData = {\"a\"}; OutputSE = {7}]", NULL,
     "OutputSE: expected the name of a store, or a list of them"},
};

static void parcels_print(struct buf *out, const struct job_uploads *read)
{
    for (size_t i = 0; i < read->count; i++)
        buf_addf(out, "%s>%s%s%s ", read->items[i].file, read->items[i].name, read->items[i].store ? "@" : "",
                 read->items[i].store ? read->items[i].store : "");
    buf_adds(out, "|");
    for (size_t i = 0; read->stores[i]; i++)
        buf_addf(out, "%s ", read->stores[i]);
    buf_adds(out, read->elsewhere ? "+" : "-");
    if (read->copies != 1)
        buf_addf(out, "%u", read->copies);
}

static void jobs_are_read(void)
{
    for (size_t i = 0; i < sizeof parcels / sizeof *parcels; i++) {
        struct tree *ad = ad_of(parcels[i].ad);
        struct job_uploads read;
        struct err err = {0};
        struct arena arena;
        struct buf out;

        buf_init(&out);
        arena_init(&arena);
        if (job_uploads_read(&arena, ad, 0, &read, &err) == 0) {
            parcels_print(&out, &read);
            tap_ok(parcels[i].read && !strcmp(buf_string(&out), parcels[i].read), "%s: %s", parcels[i].says,
                   buf_string(&out));
        } else {
            tap_ok(parcels[i].why && !strcmp(err.text, parcels[i].why), "%s: %s", parcels[i].says, err.text);
        }
        arena_done(&arena);
        buf_done(&out);
        tree_unref(ad);
    }
}

/* As it is submitted. */
static const struct {
    const char *says, *ad, *why; /* NULL: it is good */
} submitted[] = {
    {"what is computed is known later", "[OutputData = {strcat(\"a\", N), strcat(\"a\", N), [File = F; Store = S]}]",
     NULL},
    {"all of it may be", "[OutputData = Files]", NULL},
    {"a file may go to two names", "[OutputData = {\"a\", [file = \"a\"; NAME = \"b\"]}]", NULL},
    {"a name is there once", "[OutputData = {\"a\", N, [File = F; Name = \"a\"]}]", "OutputData: a is there twice"},
    {"a text alone is a name", "[OutputData = {\"a\", \"a\"}]", "OutputData: a is there twice"},
    {"what is misspelt is told", "[OutputData = {[File = \"a\"; Nmae = \"b\"]}]",
     "OutputData: Nmae is unknown: expected File, Name and Store of a file"},
    {"so is a name that leads out of the folder", "[OutputData = {\"../x\"}]",
     "OutputData: ../x is not the name of a file in the job's folder"},
    {"and one that leads out of a store", "[OutputData = {[File = F; Name = \"/x\"]}]",
     "OutputData: /x is not a logical name of a file"},
    {"a list is expected", "[OutputData = \"a\"]", "OutputData: expected a list of up to 1000 files"},
    {"of texts", "[OutputData = {7}]", "OutputData: expected a list of names, or of [File; Name; Store]"},
    {"or of files", "[OutputData = {[Name = \"a\"]}]",
     "OutputData: expected a list of names, or of [File; Name; Store]"},
    {"whose store is a text", "[OutputData = {[File = \"a\"; Store = \"\"]}]",
     "OutputData: expected a list of names, or of [File; Name; Store]"},
};

static void submissions_are_checked(void)
{
    for (size_t i = 0; i < sizeof submitted / sizeof *submitted; i++) {
        struct tree *ad = ad_of(submitted[i].ad);
        struct err err = {0};
        int failed = job_uploads_check(ad, ad_find(ad, "OutputData"), &err);

        tap_ok(submitted[i].why ? failed < 0 && !strcmp(err.text, submitted[i].why) : !failed, "submitted: %s: %s",
               submitted[i].says, failed < 0 ? err.text : "good");
        tree_unref(ad);
    }
}

static void copies_have_stores(void)
{
    static const struct {
        const char *says, *ad;
        bool good;
    } rows[] = {
        {"two stores for two copies", "[OutputSE = {\"a\", \"b\"}; OutputElsewhere = false; OutputCopies = 2]", true},
        {"two stores for three, and no others",
         "[OutputSE = {\"a\", \"b\"}; OutputElsewhere = false; OutputCopies = 3]", false},
        {"one store for two, and no others", "[OutputSE = \"a\"; OutputElsewhere = false; OutputCopies = 2]", false},
        {"any stores for three", "[OutputCopies = 3]", true},
        {"others beside two", "[OutputSE = {\"a\", \"b\"}; OutputCopies = 3]", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *ad = ad_of(rows[i].ad);
        struct err err = {0};

        tap_ok((job_copies_check(ad, &err) == 0) == rows[i].good, "%s: %s", rows[i].says,
               rows[i].good ? "good" : err.text);
        tree_unref(ad);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- stored */

static void news_add(void *user, const char *words)
{
    buf_addf(user, "%s; ", words);
}

/* Tells `told` on top of what is known; what it is then is known. */
static bool tell(struct tree **known, const char *told, struct buf *news)
{
    struct tree *question = ad_of(told), *now = stored_merge(symbols, *known, question, news_add, news);

    tree_unref(question);
    if (!now)
        return false;
    tree_unref(*known);
    *known = now;
    return true;
}

static bool count_is(const struct tree *known, int64_t total, int64_t stored, int64_t none, int64_t over)
{
    struct stored_count count = stored_count(known);

    return count.total == total && count.stored == stored && count.none == none && count.over == over;
}

static void files_are_told(void)
{
    struct tree *known = NULL;
    struct buf news;

    buf_init(&news);
    tap_ok(count_is(NULL, 0, 0, 0, 0), "before anything is told there is nothing");
    tap_ok(tell(&known,
                "[Total = 3; Files = {[Name = \"a\"; State = \"waits\"], [Name = \"b\"; State = \"not made\"]}]",
                &news) &&
               count_is(known, 3, 0, 1, 1),
           "files are counted, also those that are not told of yet");
    tap_ok(!strcmp(buf_string(&news), "b was not made; "), "what is not as it should be is news: %s",
           buf_string(&news));
    buf_reset(&news);
    tap_ok(tell(&known, "[Total = 3; Files = {[Name = \"a\"; State = \"waits\"; Store = \"s\"; Why = \"it is down\"]}]",
                &news) &&
               !strcmp(buf_string(&news), "a waits to be stored in s: it is down; "),
           "so is why one waits: %s", buf_string(&news));
    buf_reset(&news);
    tap_ok(tell(&known, "[Total = 3; Files = {[Name = \"a\"; State = \"waits\"; Store = \"s\"; Why = \"it is down\"]}]",
                &news) &&
               !news.len,
           "the same again is none");
    tap_ok(
        tell(&known,
             "[Total = 3; Files = {[Name = \"a\"; State = \"stored\"; Store = \"s\"; Url = \"http://s/a\"; Size = 3]}]",
             &news) &&
            count_is(known, 3, 1, 1, 2) && !strcmp(buf_string(&news), "a is stored in s: http://s/a; "),
        "a file that is stored is told with its place: %s", buf_string(&news));
    buf_reset(&news);
    tap_ok(tell(&known, "[Total = 3; Files = {[Name = \"a\"; State = \"lost\"], [Name = \"b\"; State = \"stored\"]}]",
                &news) &&
               count_is(known, 3, 1, 1, 2) && !news.len,
           "what is for good is not changed by what comes late");
    buf_done(&news);
    tree_unref(known);
}

static void nonsense_is_refused(void)
{
    static const struct {
        const char *says, *told;
    } rows[] = {
        {"no number of files", "[Files = {}]"},
        {"more files than it may be", "[Total = 1000000; Files = {}]"},
        {"more than was said",
         "[Total = 1; Files = {[Name = \"a\"; State = \"stored\"], [Name = \"b\"; State = \"stored\"]}]"},
        {"another state", "[Total = 1; Files = {[Name = \"a\"; State = \"eaten\"]}]"},
        {"a name that leads elsewhere", "[Total = 1; Files = {[Name = \"../a\"; State = \"stored\"]}]"},
        {"a hash that is none", "[Total = 1; Files = {[Name = \"a\"; State = \"stored\"; Hash = \"sha256:7\"]}]"},
        {"words with a line in them", "[Total = 1; Files = {[Name = \"a\"; State = \"lost\"; Why = \"a\\nb\"]}]"},
        {"no list", "[Total = 1; Files = 7]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *known = NULL;
        struct buf news;

        buf_init(&news);
        tap_ok(!tell(&known, rows[i].told, &news), "%s: nothing of it is taken", rows[i].says);
        buf_done(&news);
        tree_unref(known);
    }
}

int main(void)
{
    symbols = names_new(1);
    jobs_are_read();
    submissions_are_checked();
    copies_have_stores();
    files_are_told();
    nonsense_is_refused();
    symbols_free(symbols);
    return tap_done();
}
