/* make_test.c: an ad is made of values, and its plain values are read back as they were given. */
#include "common/tap.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "lang/text/print.h"

static bool is_text(const struct tree *ad, const char *text)
{
    struct buf out;
    bool same;

    buf_init(&out);
    print_tree(&out, ad, 0);
    same = !strcmp(buf_string(&out), text);
    if (!same)
        tap_diag("%s", buf_string(&out));
    buf_done(&out);
    return same;
}

static struct tree *sample(struct symbols *symbols)
{
    struct maker maker;

    maker_init(&maker, symbols);
    maker_text(&maker, "Name", "n1");
    maker_text(&maker, "Nothing", NULL);
    maker_integer(&maker, "Memory", 2048);
    maker_real(&maker, "Load", 0.5);
    maker_flag(&maker, "Idle", true);
    maker_word(&maker, "Key", 255);
    return maker_seal(&maker);
}

static void values_come_back(const struct tree *ad)
{
    const char *text = NULL;
    size_t len = 0;
    int64_t integer = 0;
    double number = 0;
    uint64_t word = 0;
    bool flag = false;

    tap_ok(ad_string(ad, "name", &text, &len) && len == 2 && !memcmp(text, "n1", 2),
           "a string, by any spelling of its name");
    tap_ok(ad_integer(ad, "Memory", &integer) && integer == 2048, "an integer");
    tap_ok(ad_number(ad, "Load", &number) && number == 0.5 && ad_number(ad, "Memory", &number) && number == 2048,
           "a number, real or not");
    tap_ok(ad_flag(ad, "Idle", &flag) && flag, "a boolean");
    tap_ok(ad_word(ad, "Key", &word) && word == 255, "a word of sixteen digits");
    tap_ok(!ad_find(ad, "Nothing"), "a text that is not there makes no attribute");
    tap_ok(!ad_integer(ad, "Load", &integer) && !ad_string(ad, "Memory", &text, &len) && !ad_word(ad, "Name", &word),
           "a value of another kind is not converted");
}

static void parts_are_chosen(struct symbols *symbols, const struct tree *ad)
{
    struct tree *without = ad_without(ad, "LOAD"), *same = ad_without(ad, "Unheard"),
                *some = ad_select(symbols, ad, "memory, name,Unheard"), *part = ad_part(ad, ad_find(ad, "Memory"));

    tap_ok(is_text(without, "[ Name = \"n1\"; Memory = 2048; Idle = true; Key = \"00000000000000ff\" ]"),
           "an ad without one of its attributes keeps the others in their order");
    tap_ok(tree_root(same)->u.run.count == tree_root(ad)->u.run.count, "what it does not have is not missed");
    tap_ok(is_text(some, "[ Name = \"n1\"; Memory = 2048 ]"), "only the attributes that are named");
    tap_ok(is_text(part, "2048") && !ad_without(part, "Memory"),
           "a part alone, which is no ad, has nothing to leave out");
    tap_ok(select_is_good("a") && select_is_good("a,b") && !select_is_good(""), "a selection names something");
    tree_unref(without);
    tree_unref(same);
    tree_unref(some);
    tree_unref(part);
}

int main(void)
{
    struct symbols *symbols = names_new(1);
    struct tree *ad = sample(symbols);

    values_come_back(ad);
    parts_are_chosen(symbols, ad);
    tree_unref(ad);
    symbols_free(symbols);
    return tap_done();
}
