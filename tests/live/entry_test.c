/* entry_test.c: a letter, a call and an answer come in by one way: proved, then translated, then taken. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "live/agent/agent_parts.h"
#include "pool/protocol/wire.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SOMEBODY 3 /* whom a message names */
#define MATCHMAKER 77

struct heard {
    unsigned messages, questions;
    agent from, named;
};

static void message_seen(void *user, const struct sender *sender, const struct message *message)
{
    struct heard *seen = user;

    seen->messages++;
    seen->from = sender->peer.agent;
    seen->named = message->kind == MESSAGE_MATCH    ? message->u.match_told.superior
                  : message->kind == MESSAGE_PULLED ? message->u.pulled.superior
                  : message->kind == MESSAGE_START  ? message->u.start.customer
                                                    : 0;
}

static void question_seen(void *user, const struct sender *sender, const struct tree *question)
{
    struct heard *seen = user;

    (void)question;
    seen->questions++;
    seen->from = sender->peer.agent;
}

#define START_TEXT                                                                                                \
    "[Message=\"start\";Claim=\"0000000000000007\";Epoch=\"0000000000000001\";Sequence=\"0000000000000004\";Job=" \
    "\"0000000000000001\";Number=\"0000000000000001\";Ad=[A=1];Customer=\"0000000000000003\"]"
#define MATCH_TEXT                                                                                       \
    "[Message=\"match\";Id=\"00000000000000a1\";Incarnation=\"0000000000000001\";Number="                \
    "\"0000000000000001\";Age=0;Window=1;Gang=\"0000000000000005\";Claim=\"0000000000000007\";Superior=" \
    "\"0000000000000003\"]"

enum by { BY_TOKEN, BY_STREAM, BY_ASKING };

static const struct {
    const char *name;
    struct road road;
    enum by by;
    const char *text; /* a message of that road which names somebody; NULL: the answer to a pull */
} roads[] = {
    {"a letter of the matchmaker", {.message = message_seen}, BY_STREAM, MATCH_TEXT},
    {"a letter of another", {.message = message_seen, .question = question_seen}, BY_TOKEN, START_TEXT},
    {"a call", {.message = message_seen, .question = question_seen}, BY_TOKEN, START_TEXT},
    {"an answer", {.answers = true, .message = message_seen}, BY_ASKING, NULL},
};

/* As a good token would: the tokens themselves are the affair of pools_agent_test. */
static void sender_proved(struct sender *ret, struct membership *pool, enum by by)
{
    if (by == BY_STREAM)
        sender_by_stream(ret, pool);
    else
        sender_by_asking(ret, pool, by == BY_TOKEN ? handle_enter(pool, 5) : pool->matchmaker, 0);
}

static enum entry_result enter(const struct road *road, const struct sender *sender, const char *text,
                               struct heard *seen)
{
    struct message pulled = {.kind = MESSAGE_PULLED};
    enum entry_result entry;
    struct err err;
    struct buf out;

    memset(seen, 0, sizeof *seen);
    buf_init(&out);
    if (!text) {
        struct symbols *symbols = names_new(1);
        struct tree *ad;

        memset(&pulled.u, 0, sizeof pulled.u);
        pulled.u.pulled.superior = SOMEBODY;
        ad = wire_message(symbols, &pulled);
        wire_print(&out, ad);
        tree_unref(ad);
        symbols_free(symbols);
    }
    entry = entry_take_text(road, seen, sender, text ? text : out.text, text ? strlen(text) : out.len, &err);
    if (entry == ENTRY_UNREAD)
        tap_diag("%s", err.text);
    buf_done(&out);
    return entry;
}

static void roads_are_one(struct membership *own, struct membership *other)
{
    struct sender sender, nobody = {.pool = NULL};
    struct heard seen;

    for (size_t i = 0; i < sizeof roads / sizeof *roads; i++) {
        const struct road *road = &roads[i].road;

        tap_ok(enter(road, &nobody, roads[i].text, &seen) == ENTRY_UNPROVED && !seen.messages,
               "%s that nobody is proved to have sent is not taken", roads[i].name);
        sender_proved(&sender, own, roads[i].by);
        tap_ok(enter(road, &sender, roads[i].text, &seen) == ENTRY_TAKEN && seen.messages == 1 &&
                   seen.from == sender.peer.agent && seen.named == SOMEBODY,
               "%s of our own pool names others as that pool does", roads[i].name);
        sender_proved(&sender, other, roads[i].by);
        tap_ok(enter(road, &sender, roads[i].text, &seen) == ENTRY_TAKEN && seen.messages == 1 &&
                   seen.named == handle_enter(other, SOMEBODY) && seen.named != SOMEBODY,
               "%s of a second pool is translated before it is taken", roads[i].name);
        tap_ok(enter(road, &sender, "[Message=\"nothing that is known\"]", &seen) == ENTRY_UNREAD && !seen.messages,
               "%s that is no message is not taken", roads[i].name);
        if (road->answers)
            continue;
        tap_ok(enter(road, &sender, NULL, &seen) == ENTRY_UNASKED && !seen.messages,
               "%s that answers what nobody asked is not taken", roads[i].name);
    }
}

static void questions_are_proved(struct membership *other)
{
    static const char question[] = "[Ask=\"peek\"]";
    struct sender sender, nobody = {.pool = NULL};
    struct heard seen;

    tap_ok(enter(&roads[2].road, &nobody, question, &seen) == ENTRY_UNPROVED && !seen.questions,
           "a question that nobody is proved to have asked is not answered");
    sender_proved(&sender, other, BY_TOKEN);
    tap_ok(enter(&roads[2].road, &sender, question, &seen) == ENTRY_TAKEN && seen.questions == 1 && !seen.messages &&
               seen.from == handle_enter(other, 5),
           "a question of a second pool is from one of that pool");
    sender_proved(&sender, other, BY_STREAM);
    tap_ok(enter(&roads[2].road, &sender, question, &seen) == ENTRY_UNREAD && !seen.questions,
           "a matchmaker asks nothing of that kind");
}

/* Contacts say how others are reached, and with which key: a provider that could tell of them would be believed to be anybody. */
static void contacts_are_the_matchmakers(struct membership *other)
{
    static const char text[] = "[Message=\"pulled\";Contacts={[Agent=\"0000000000000003\";"
                               "Identity=\"alice\";Address=\"http://192.0.2.1:9\"]}]";
    struct sender sender;
    struct heard seen;

    sender_proved(&sender, other, BY_TOKEN);
    enter(&roads[3].road, &sender, text, &seen);
    tap_ok(!other->contacts.count, "contacts in the answer of another agent are not believed");
}

/* ---------------------------------------------------------------------------------------------------------- the source */

static void file_read(const char *path, struct buf *ret)
{
    FILE *file = fopen(path, "r");
    char bytes[4096];
    size_t len;

    buf_reset(ret);
    while (file && (len = fread(bytes, 1, sizeof bytes, file)))
        buf_add(ret, bytes, len);
    if (file)
        fclose(file);
}

/* How many files of the room use the word, and is it only that one? */
static bool only_in(const char *word, const char *only)
{
    const char *source = getenv("BERTH_SOURCE");
    struct dirent *entry;
    char folder[1024], path[2048];
    unsigned count = 0;
    bool good = true;
    struct buf text;
    DIR *dir;

    snprintf(folder, sizeof folder, "%s/src/live/agent", source ? source : ".");
    dir = opendir(folder);
    buf_init(&text);
    while (dir && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);

        if (len < 2 || strcmp(entry->d_name + len - 2, ".c") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file_read(path, &text);
        if (!strstr(buf_string(&text), word))
            continue;
        count++;
        if (!strstr(only, entry->d_name)) {
            tap_diag("%s uses %s", entry->d_name, word);
            good = false;
        }
    }
    if (dir)
        closedir(dir);
    buf_done(&text);
    return good && count;
}

static void no_road_goes_round(void)
{
    tap_ok(only_in("wire_read_message(", "entry.c"), "messages are read from their wire form in one place");
    tap_ok(only_in("message_enter(", "entry.c translate.c"), "and translated in the same");
    tap_ok(only_in("EVENT_MESSAGE", "agent_in.c agent_local.c"),
           "the role hears messages of others from the roads in, and else only from within the process");
    tap_ok(only_in("runner_answer(", "agent_out.c"), "and answers from one road");
}

int main(void)
{
    struct agent_settings settings = {.name = ""};
    struct live_agent live = {.settings = &settings, .symbols = names_new(2), .pool_count = 2};
    struct membership pools[2] = {{.live = &live, .matchmaker = MATCHMAKER},
                                  {.live = &live, .matchmaker = MATCHMAKER + 1, .salt = pool_salt("south")}};

    live.pools = pools;
    for (int i = 0; i < 2; i++)
        contacts_init(&pools[i].contacts, NULL, 1);
    roads_are_one(&pools[0], &pools[1]);
    questions_are_proved(&pools[1]);
    contacts_are_the_matchmakers(&pools[1]);
    no_road_goes_round();
    for (int i = 0; i < 2; i++)
        contacts_done(&pools[i].contacts);
    symbols_free(live.symbols);
    return tap_done();
}
