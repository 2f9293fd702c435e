/* commands_test.c: commands that wait: what is kept of them over restarts, who may have how many, how they end; and what an agent remembers of
 * those that it has carried out. */
#include "live/world/commands.h"

#include "common/store.h"
#include "lang/ad/names.h"
#include "live/http/represent.h"
#include "live/world/ledger.h"
#include "sys/signals.h"

#include <signal.h>
#include <string.h>

#define NOW INT64_C(1800000000)

struct book {
    struct bench bench;
    struct shelf *shelf;
    struct symbols *symbols;
    struct commands commands;
};

static struct tree *parse(struct book *book, const char *text)
{
    return form_parse(book->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), NULL);
}

static void book_open(struct book *book)
{
    struct err err = {0};

    book->shelf = open_shelf(&book->bench);
    book->symbols = names_new(0);
    commands_init(&book->commands, book->symbols, book->shelf);
    tap_ok(commands_load(&book->commands, &err) == 0, "the book is read: %s", err.text);
}

static void book_close(struct book *book, bool keep)
{
    struct err err = {0};

    if (keep)
        book->shelf->kind->commit(book->shelf, &err);
    commands_done(&book->commands);
    symbols_free(book->symbols);
    book->shelf->kind->close(book->shelf);
}

static struct agent_command *give(struct book *book, uint64_t to, const char *by, const char *what, int64_t life,
                                  int64_t now)
{
    struct tree *ad = parse(book, what);
    struct command_order order = {
        .to = to, .name = "heron", .by = by, .life = life, .what = ad, .job = 17, .claim = 5, .trial = 2};
    struct err err = {0};
    struct agent_command *command = command_add(&book->commands, &order, 1000 + book->commands.numbered, now, &err);

    tree_unref(ad);
    return command;
}

static bool text_has(const struct tree *ad, const char *text)
{
    struct buf out;
    bool has;

    buf_init(&out);
    represent_ad(&out, FORM_CLASSAD, ad);
    has = strstr(buf_string(&out), text);
    if (!has)
        tap_diag("%s", buf_string(&out));
    buf_done(&out);
    return has;
}

static void test_kept(void)
{
    struct book book;
    struct agent_command *command, *second;
    struct tree *answer, *ad;
    struct err err = {0};
    uint64_t last;

    bench_init(&book.bench);
    book_open(&book);
    command = give(&book, 7, "alice", "[ Command = \"drain\"; Now = true ]", 60, NOW);
    second = give(&book, 7, "alice", "[ Command = \"resume\" ]", 60, NOW);
    tap_ok(command->number == 1 && second->number == 2, "commands have numbers that rise");
    answer = parse(&book, "[ Reason = \"ok\"; Running = 3 ]");
    tap_ok(command_answer(&book.commands, command, answer, NOW + 1, &err) == 0 && command->state == COMMAND_DONE,
           "one is answered");
    tree_unref(answer);
    answer = parse(&book, "[ Reason = \"refused\" ]");
    command_answer(&book.commands, command, answer, NOW + 2, &err);
    tap_ok(text_has(command->answer, "Running = 3"), "once: a later answer changes nothing");
    tree_unref(answer);
    book_close(&book, true);

    book_open(&book);
    command = command_numbered(&book.commands, 1);
    second = command_numbered(&book.commands, 2);
    tap_ok(command && command->state == COMMAND_DONE && text_has(command->answer, "Running = 3"),
           "what was answered is there after a restart");
    tap_ok(second && second->state == COMMAND_WAITS && second->key == 1001 && second->to == 7 && second->job == 17 &&
               second->claim == 5 && second->trial == 2 && !strcmp(second->by, "alice") &&
               !strcmp(second->name, "heron") && second->ends == NOW + 60 && text_has(second->what, "resume"),
           "and what waits, with all that is known of it");
    tap_ok(command_waiting(&book.commands, NULL, 7) == second && !command_waiting(&book.commands, second, 7) &&
               !command_waiting(&book.commands, NULL, 8),
           "those that wait for an agent are found, and no others");
    ad = command_ad(&book.commands, second, NOW + 10);
    tap_ok(text_has(ad, "State = \"waiting\"") && text_has(ad, "Left = 50") && text_has(ad, "Age = 10"),
           "how long one has waited, and still waits, is told");
    tree_unref(ad);
    tap_ok(!commands_sweep(&book.commands, NOW + 59, &err), "before its time is over nothing happens to it");
    tap_ok(commands_sweep(&book.commands, NOW + 60, &err) && second->state == COMMAND_EXPIRED && !book.commands.waiting,
           "then it expires");
    answer = parse(&book, "[ Reason = \"expired\" ]");
    tap_ok(command_wants_answer(second) && command_answer(&book.commands, second, answer, NOW + 61, &err) == 0 &&
               second->state == COMMAND_EXPIRED && second->answer && !command_wants_answer(second),
           "it stays so when its agent says that it came too late");
    tree_unref(answer);
    command = give(&book, 7, "alice", "[ Command = \"drain\" ]", 10, NOW);
    commands_sweep(&book.commands, NOW + 10, &err);
    answer = parse(&book, "[ Reason = \"ok\" ]");
    tap_ok(command->state == COMMAND_EXPIRED && command_answer(&book.commands, command, answer, NOW + 11, &err) == 0 &&
               command->state == COMMAND_DONE && !book.commands.waiting && book.commands.kept == 3,
           "one that was carried out after all is done, however late that is heard");
    tree_unref(answer);
    ad = parse(&book, "[ Ends = 1000 ]");
    tap_ok(!command_is_late(ad, 1000 + COMMAND_ALLOWANCE - 1) && command_is_late(ad, 1000 + COMMAND_ALLOWANCE),
           "whoever is told one sees that its time is over, with an allowance for clocks that differ");
    tree_unref(ad);
    ad = parse(&book, "[ Left = 5 ]");
    tap_ok(!command_is_late(ad, INT64_MAX), "and one that does not say its end is not late");
    tree_unref(ad);
    commands_sweep(&book.commands, NOW + 61 + COMMAND_DONE_LIFE, &err);
    tap_ok(!book.commands.first && !book.commands.kept && !book.commands.bytes, "and is forgotten in the end");
    last = book.commands.numbered;
    book_close(&book, true);

    book_open(&book);
    command = give(&book, 7, "alice", "[ Command = \"drain\" ]", 60, NOW);
    tap_ok(command->number == last + 1, "no number is given twice, also when nothing is left of the first");
    book_close(&book, false);
    bench_done(&book.bench);
}

static void test_bounds(void)
{
    struct book book;
    struct err err = {0};
    struct agent_command *long_one;
    struct tree *answer;
    struct buf text;

    bench_init(&book.bench);
    book_open(&book);
    for (int i = 0; i < COMMANDS_PER_AGENT; i++)
        give(&book, 7, "alice", "[ Command = \"drain\" ]", 60, NOW);
    tap_ok(command_refusal(&book.commands, 7, "bob") && !command_refusal(&book.commands, 8, "bob"),
           "only so many wait for one agent");
    for (uint64_t i = COMMANDS_PER_AGENT; i < COMMANDS_PER_USER; i++)
        give(&book, 100 + i, "alice", "[ Command = \"drain\" ]", 60, NOW);
    tap_ok(command_refusal(&book.commands, 8, "alice") && !command_refusal(&book.commands, 8, "bob"),
           "and only so many of one user");
    commands_sweep(&book.commands, NOW + 60, &err);
    tap_ok(!command_refusal(&book.commands, 7, "alice"), "those whose time is over do not count");

    buf_init(&text);
    buf_adds(&text, "[ Reason = \"ok\"; Data = \"");
    for (uint32_t i = 0; i < COMMANDS_BYTES / 64; i++)
        buf_addc(&text, 'x');
    buf_adds(&text, "\" ]");
    answer = parse(&book, buf_string(&text));
    for (int i = 0; i < 80; i++) {
        struct agent_command *command = give(&book, 9, "alice", "[ Command = \"peek\" ]", 60, NOW + 60);

        command_answer(&book.commands, command, answer, NOW + 60, &err);
    }
    commands_sweep(&book.commands, NOW + 60, &err);
    tap_ok(book.commands.bytes <= COMMANDS_BYTES && command_numbered(&book.commands, book.commands.numbered),
           "of answers no more than so many bytes are kept, the newest");
    tree_unref(answer);
    buf_reset(&text);
    buf_adds(&text, "[ Reason = \"ok\"; Data = \"");
    for (uint32_t i = 0; i < COMMAND_ANSWER_MAX; i++)
        buf_addc(&text, 'x');
    buf_adds(&text, "\" ]");
    answer = parse(&book, buf_string(&text));
    long_one = give(&book, 9, "alice", "[ Command = \"peek\" ]", 60, NOW + 60);
    command_answer(&book.commands, long_one, answer, NOW + 60, &err);
    tap_ok(long_one->state == COMMAND_DONE && text_has(long_one->answer, "Reason = \"long\"") && long_one->bytes < 200,
           "an answer that is too long is not kept, and that is said");
    for (int i = 0; i < COMMANDS_KEPT + 50; i++)
        give(&book, 9, "alice", "[ Command = \"drain\" ]", 60, NOW);
    commands_sweep(&book.commands, NOW + 70, &err);
    tap_ok(book.commands.kept == COMMANDS_KEPT, "and of commands that are over so many");
    tree_unref(answer);
    buf_done(&text);
    book_close(&book, true);
    bench_done(&book.bench);
}

/* A row that is none of ours does not keep the others from being read. */
static void test_bad_rows(void)
{
    struct book book;
    struct err err = {0};

    bench_init(&book.bench);
    book_open(&book);
    give(&book, 7, "alice", "[ Command = \"drain\" ]", 60, NOW);
    put_text(book.shelf, COMMAND_SPACE, "0000000000000009", "[ Key = 3 ]", &err);
    put_text(book.shelf, COMMAND_SPACE, "000000000000000a", "[ Key = ", &err);
    put_text(book.shelf, COMMAND_SPACE, "what", "[ ]", &err);
    book_close(&book, true);
    book_open(&book);
    tap_ok(command_numbered(&book.commands, 1) && book.commands.waiting == 1 && !command_numbered(&book.commands, 9),
           "rows that cannot be read are passed over");
    tap_ok(give(&book, 7, "alice", "[ Command = \"drain\" ]", 60, NOW)->number == 11,
           "and their numbers are not given again");
    book_close(&book, false);
    bench_done(&book.bench);
}

static void test_ledger(void)
{
    struct book book;
    struct tree *answer, *found;
    struct err err = {0};

    bench_init(&book.bench);
    book_open(&book);
    answer = parse(&book, "[ Reason = \"unsure\" ]");
    tap_ok(!ledger_find(book.shelf, book.symbols, 77), "a command that was never heard of is new");
    ledger_write(book.shelf, 77, answer, NOW + 60, &err);
    tree_unref(answer);
    book_close(&book, true);
    book_open(&book);
    found = ledger_find(book.shelf, book.symbols, 77);
    tap_ok(found && text_has(found, "unsure"), "one that was begun is known after a restart");
    tree_unref(found);
    tap_ok(!ledger_sweep(book.shelf, book.symbols, NOW + 60), "it is remembered as long as it may come again");
    tap_ok(ledger_sweep(book.shelf, book.symbols, NOW + 61) && !ledger_find(book.shelf, book.symbols, 77),
           "and no longer");
    book_close(&book, true);
    bench_done(&book.bench);
}

static void test_signals(void)
{
    tap_ok(signal_find("USR1") == SIGUSR1 && signal_find("sigusr1") == SIGUSR1 && signal_find("15") == SIGTERM,
           "signals are named by name or number");
    tap_ok(!signal_find("STOP") && !signal_find("CONT") && !signal_find("99") && !signal_find("") &&
               !signal_is_allowed(0) && !signal_is_allowed(SIGSTOP) && !signal_is_allowed(-1),
           "those that are not for jobs are none");
}

int main(void)
{
    test_kept();
    test_bounds();
    test_bad_rows();
    test_ledger();
    test_signals();
    return tap_done();
}
