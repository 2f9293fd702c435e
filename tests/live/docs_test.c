/* docs_test.c: what docs/protocol.md, docs/settings.md, docs/logs.md, docs/jobs.md and docs/from-htcondor.md list is what the program has: routes, messages, reasons, settings,
 * metrics, lines of the audit, limits, attributes and states of jobs, questions about files; and the bytes they give as examples are the
 * bytes.
 *
 *     docs_test            checks
 *     docs_test --print    prints the tables as they must be, to be put into the pages */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/form/dag.h"
#include "lang/form/submit.h"
#include "live/agent/contacts.h"
#include "live/auth/disabled.h"
#include "live/auth/join.h"
#include "live/auth/offer_key.h"
#include "live/auth/token.h"
#include "live/config/config.h"
#include "live/customerd/history.h"
#include "live/customerd/job_ad.h"
#include "live/customerd/job_outcome.h"
#include "live/customerd/jobfiles.h"
#include "live/customerd/questions.h"
#include "live/http/metrics.h"
#include "live/matchmakerd/agents.h"
#include "live/matchmakerd/ids.h"
#include "live/matchmakerd/routes.h"
#include "live/providerd/job_order.h"
#include "pool/protocol/machine_state.h"
#include "pool/protocol/ticket.h"
#include "pool/protocol/wait_reason.h"
#include "pool/protocol/wire.h"
#include "pool/protocol/wire_fields.h"
#include "sys/encoding.h"
#include "sys/log.h"
#include "sys/secrets.h"

#include <glob.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A page, as text. */
struct page {
    const char *name;
    struct buf text;
};

static void file_read(const char *path, struct buf *ret)
{
    FILE *file = fopen(path, "r");
    int c;

    buf_init(ret);
    while (file && (c = getc(file)) != EOF)
        buf_addc(ret, (char)c);
    if (file)
        fclose(file);
    buf_string(ret);
}

static void page_read(struct page *page, const char *name)
{
    char path[512];

    page->name = name;
    snprintf(path, sizeof path, "%s/docs/%s", getenv("BERTH_SOURCE"), name);
    file_read(path, &page->text);
}

/* -------------------------------------------------------------------------------------------------------------- tables */

/* Is the table there, line by line? The first line that is not is told. */
static void table_check(const struct page *page, const char *what, const struct buf *table)
{
    const char *text = page ? page->text.text : NULL, *at, *line = table->text;

    if (!page) {
        printf("%s:\n\n%s\n", what, table->text);
        return;
    }
    at = strstr(text, table->text);
    /* the line behind must end the table, or there are rows too many */
    if (tap_ok(at && at[table->len] != '|', "%s: the table of %s is that of the program", page->name, what) || at)
        return;
    for (size_t len; (len = strcspn(line, "\n")); line += len + 1) {
        char row[2048];

        snprintf(row, sizeof row, "%.*s\n", (int)len, line);
        if (!strstr(text, row))
            tap_diag("missing: %s", row);
    }
}

/* A cell: in a table "|" would end it. */
static void cell_print(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

static void code_print(struct buf *out, const char *text)
{
    if (!*text)
        return;
    buf_addc(out, '`');
    cell_print(out, text);
    buf_addc(out, '`');
}

static void routes_print(struct buf *out)
{
    buf_adds(
        out,
        "| method | path | scope | parameters | answers | what it does |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        struct buf scope;

        buf_init(&scope);
        scopes_print(&scope, matchmakerd_routes.routes[i].scope);
        buf_addf(out, "| %s | `%s` | ", method_name(matchmakerd_routes.routes[i].method),
                 matchmakerd_routes.routes[i].path);
        code_print(out, buf_string(&scope));
        buf_adds(out, scope.len ? " | " : "none | ");
        code_print(out, matchmakerd_routes.routes[i].parameters);
        buf_addf(out, "%s | %s | %s |\n", *matchmakerd_routes.routes[i].parameters ? "" : "-",
                 matchmakerd_routes.routes[i].answers, matchmakerd_routes.routes[i].summary);
        buf_done(&scope);
    }
}

static void parameters_print(struct buf *out)
{
    buf_adds(out, "| parameter | sort | meaning |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < matchmakerd_routes.parameter_count; i++)
        buf_addf(out, "| `%s` | %s | %s |\n", matchmakerd_routes.parameters[i].name,
                 matchmakerd_routes.parameters[i].type, matchmakerd_routes.parameters[i].help);
}

static void reasons_print(struct buf *out)
{
    static const char *const ids[] = {
#define X(id, words) #id,
        REASONS(X)
#undef X
    };

    buf_adds(out, "| reason | in words |\n| --- | --- |\n");
    for (int i = 0; i < REASON_COUNT; i++) {
        char name[WIRE_NAME_ROOM];

        wire_name_of_id(ids[i], name);
        buf_addf(out, "| `%s` | %s |\n", name, reason_words((enum reason)i));
    }
}

static void faults_print(struct buf *out)
{
    buf_adds(out, "| fault | in words |\n| --- | --- |\n");
    for (int i = 1; i < TOKEN_FAULT_COUNT; i++)
        buf_addf(out, "| `%s` | %s |\n", token_fault_name((enum token_fault)i), token_fault_words((enum token_fault)i));
}

/* The default as it would be written in a file. */
static void default_print(struct buf *out, enum config_key key)
{
    const struct config_row *row = config_row(key);
    struct config_value value = {0};

    if (row->has_span) {
        memcpy(&value.number, (const char *)&spans_default + row->span, sizeof value.number);
        config_print(out, key, &value);
    } else {
        buf_adds(out, row->fallback);
    }
}

static void settings_print(struct buf *out)
{
    buf_adds(out, "| setting | value | default | change | what it is for |\n| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        enum config_key key = (enum config_key)i;
        const struct config_row *row = config_row(key);
        struct config_value low = {.number = row->low}, high = {.number = row->high};

        buf_addf(out, "| `%s` | ", row->name);
        cell_print(out, row->form);
        if (row->sort == CONFIG_IS_SPAN || row->sort == CONFIG_IS_SIZE || row->sort == CONFIG_IS_COUNT) {
            buf_adds(out, ", ");
            config_print(out, key, &low);
            buf_adds(out, " to ");
            config_print(out, key, &high);
        }
        buf_adds(out, " | `");
        default_print(out, key);
        buf_addf(out, "` | %s | %s |\n", row->restart ? "restart" : "reload", row->help);
    }
}

static void metrics_table(struct buf *out)
{
    enum { COUNTER, GAUGE, HISTOGRAM, WAITS };
    static const char *const types[] = {"counter", "gauge", "histogram", "histogram"};
    static const char *const labels[] = {
#define X(id, label, words) label,
        METRIC_SETS(X)
#undef X
    };
    static const struct {
        const char *name;
        int type;
        const char *party;
        enum metric_set first, second;
        const char *help;
    } rows[] = {
#define X(id, name, type, unit, party, first, second, help) \
    {name, type, #party, METRIC_SET_##first, METRIC_SET_##second, help},
        METRICS(X)
#undef X
    };

    buf_adds(out, "| metric | sort | of | labels | meaning |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < COUNT(rows); i++)
        buf_addf(out, "| `%s%s` | %s | %s | %s%s%s | %s |\n", rows[i].name, rows[i].type == COUNTER ? "_total" : "",
                 types[rows[i].type], rows[i].party, rows[i].first == METRIC_SET_NONE ? "-" : labels[rows[i].first],
                 rows[i].second == METRIC_SET_NONE ? "" : ", ", labels[rows[i].second], rows[i].help);
}

static void limits_print(struct buf *out)
{
    static const struct {
        const char *what;
        long long limit;
    } rows[] = {
        {"characters of an ad's id", ID_LEN_MAX},
        {"characters of an agent's name", AGENT_NAME_MAX},
        {"bytes of each text that an agent tells of itself", AGENT_TEXT_MAX},
        {"letters that are kept for an agent; then the oldest goes", AGENT_LETTERS_MAX},
        {"bytes of relayed messages that wait for an agent", AGENT_LETTER_BYTES_MAX},
        {"of them, of those who were not matched with it", AGENT_STRANGER_BYTES},
        {"bytes that a relayed message counts for, at least", AGENT_LETTER_LEAST},
        {"seconds after which an agent without ads, letters and streams is forgotten", AGENT_IDLE / SECOND},
        {"bytes of a `text` in a message", TEXT_MAX},
        {"edges of a match", EDGES_MAX},
        {"bytes of a message", WIRE_BYTES_MAX},
        {"levels of an ad inside a message; deeper ones are strings", WIRE_LEVELS_MAX},
        {"bytes of a token", TOKEN_BYTES_MAX},
        {"links of a token", TOKEN_LINKS_MAX},
        {"bytes of a subject or an audience", TOKEN_NAME_MAX},
        {"seconds that the clock of a token's signer may be ahead", TOKEN_SKEW},
        {"codes to join by, at once", JOIN_CODES_MAX},
        {"seconds that a code is good", JOIN_SPAN},
        {"bytes that are sealed in one envelope", BOX_BYTES_MAX},
        {"ids of revoked tokens that agents are told: the last ones", TOKEN_REVOKED_TOLD},
        {"users who are disabled at a time", DISABLED_MAX},
    };

    buf_adds(out, "| what | at most |\n| --- | --- |\n");
    for (size_t i = 0; i < COUNT(rows); i++)
        buf_addf(out, "| %s | %lld |\n", rows[i].what, rows[i].limit);
}

static void dag_words_print(struct buf *out)
{
    buf_adds(out, "| word | what follows it | what becomes of it |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < dag_words_told_count; i++)
        buf_addf(out, "| `%s` | %s%s%s | %s |\n", dag_words_told[i].word, *dag_words_told[i].shape ? "`" : "",
                 dag_words_told[i].shape, *dag_words_told[i].shape ? "`" : "", dag_words_told[i].meaning);
}

static const struct table_row {
    const char *page, *what;
    void (*print)(struct buf *out);
} tables[] = {
    {"protocol.md", "routes", routes_print},
    {"protocol.md", "parameters", parameters_print},
    {"protocol.md", "reasons", reasons_print},
    {"protocol.md", "what is wrong with a token", faults_print},
    {"protocol.md", "limits", limits_print},
    {"settings.md", "settings", settings_print},
    {"logs.md", "metrics", metrics_table},
    {"from-htcondor.md", "submit commands", submit_commands_print},
    {"from-htcondor.md", "words of a DAG", dag_words_print},
};

static void tables_check(const struct page *pages, size_t count)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct page *page = NULL;
        struct buf out;

        for (size_t n = 0; n < count; n++)
            if (!strcmp(pages[n].name, tables[i].page))
                page = &pages[n];
        buf_init(&out);
        tables[i].print(&out);
        buf_string(&out);
        table_check(page, tables[i].what, &out);
        buf_done(&out);
    }
}

/* ------------------------------------------------------------------------------------------------------------ messages */

static const char *const message_ids[] = {"NONE",
#define X(id, name, answer) #id,
                                          MESSAGES(X)
#undef X
};

static const char *const sort_words[] = {
    [FIELD_NUMBER] = "number", [FIELD_WORD] = "word", [FIELD_FLAG] = "flag",
    [FIELD_REASON] = "reason", [FIELD_TEXT] = "text", [FIELD_KEY] = "key",
    [FIELD_SEEN] = "seen",     [FIELD_AD] = "ad",     [FIELD_EDGES] = "edges",
};

/* superior_ad: SuperiorAd. */
static void field_name(const char *name, char out[64])
{
    size_t len = 0;

    for (bool first = true; *name && len < 63; name++) {
        if (*name != '_')
            out[len++] = (char)(first ? *name & ~0x20 : *name);
        first = *name == '_';
    }
    out[len] = '\0';
}

/* The rows of a message's section, as they must begin. */
static void fields_check(const struct page *page, const char *section, const char *kind, const struct layout *layout)
{
    const char *at = section, *end = strstr(section + 1, "\n##"); /* of the next section */
    uint32_t rows = 0, good = 0;

    for (const char *row = strstr(section, "\n| `"); row && (!end || row < end); row = strstr(row + 1, "\n| `"))
        rows++;
    for (uint32_t i = 0; i < layout->count; i++) {
        char name[64], want[160];

        field_name(layout->fields[i].name, name);
        snprintf(want, sizeof want, "\n| `%s` | %s | ", name, sort_words[layout->fields[i].sort]);
        at = strstr(at, want);
        if (!at || (end && at > end)) {
            tap_diag("missing in %s: %s", kind, want);
            break;
        }
        good++;
    }
    tap_ok(good == layout->count && rows == layout->count, "%s: %s has its %u fields, in their order, and no others",
           page->name, kind, layout->count);
}

/* The example is read as a message, and written as the same bytes. */
static void example_check(const struct page *page, struct symbols *symbols, const char *section, enum message_kind kind,
                          const char *name)
{
    static const char fence[] = "\n```message\n";
    const char *at = strstr(section, fence), *end = at ? strstr(at + sizeof fence - 1, "\n```") : NULL;
    struct message message;
    struct tree *ad = NULL, *again = NULL;
    struct err err = {0};
    struct buf text;
    bool good = false;

    buf_init(&text);
    if (end) {
        at += sizeof fence - 1;
        if (wire_parse(symbols, at, (size_t)(end - at), &ad, &err) == 0 && wire_read_message(ad, &message, &err) == 0) {
            again = wire_message(symbols, &message);
            wire_print(&text, again);
            good = message.kind == kind && text.len == (size_t)(end - at) && !memcmp(text.text, at, text.len);
            message_done(&message);
        }
    }
    if (!tap_ok(good, "%s: the example of %s is read, and written as the same bytes", page->name, name))
        tap_diag("%s\n%s", err.text, text.len ? buf_string(&text) : "");
    tree_unref(ad);
    tree_unref(again);
    buf_done(&text);
}

static void messages_check(const struct page *page, struct symbols *symbols)
{
    size_t sections = 0;

    for (int kind = 1; kind < MESSAGE_COUNT; kind++) {
        enum message_kind answer = message_answer((enum message_kind)kind);
        char name[WIRE_NAME_ROOM], other[WIRE_NAME_ROOM], want[128];
        const char *section, *row;

        wire_name_of_id(message_ids[kind], name);
        wire_name_of_id(message_ids[answer], other);
        snprintf(want, sizeof want, "\n### %s\n", name);
        section = strstr(page->text.text, want);
        if (!tap_ok(section, "%s: there is a section on %s", page->name, name))
            continue;
        if (answer)
            snprintf(want, sizeof want, "Answered by `%s`.", other);
        else
            snprintf(want, sizeof want, "An answer.");
        row = strstr(section, want);
        tap_ok(row && row < strstr(section, "```message"), "%s: it is said what answers %s", page->name, name);
        fields_check(page, section, name, message_layout((enum message_kind)kind));
        example_check(page, symbols, section, (enum message_kind)kind, name);
    }
    for (const char *at = strstr(page->text.text, "\n```message\n"); at; at = strstr(at + 1, "\n```message\n"))
        sections++;
    tap_ok(sections == MESSAGE_COUNT - 1, "%s: no other messages are described", page->name);
}

/* ------------------------------------------------------------------------------------------------------- bytes and words */

/* Does the page hold that text? */
static void page_says(const struct page *page, const char *text, const char *sentence)
{
    if (!tap_ok(strstr(page->text.text, text), "%s: %s", page->name, sentence))
        tap_diag("missing: %s", text);
}

static void key_says(const struct page *page, const struct key *key, const char *sentence)
{
    char digits[2 * KEY_BYTES + 1];

    hex_print(key->bytes, KEY_BYTES, digits);
    page_says(page, digits, sentence);
}

/* The sealed key on the page opens, by a box key of 0x44s, to that key. */
static void sealed_check(const struct page *page, const struct key *key)
{
    const char *at = strstr(page->text.text, "sealed key         ");
    unsigned char secret[BOX_KEY_BYTES];
    struct box_keys box;
    struct key public_half, opened;

    memset(secret, 0x44, sizeof secret);
    box_keys_from_secret(secret, &box);
    memcpy(public_half.bytes, box.open.bytes, BOX_KEY_BYTES);
    key_says(page, &public_half, "the BoxKey of the worked example is right");
    tap_ok(at &&
               offer_key_open(&box, agent_handle("alice", "desk"), 0xa1, at + 19, OFFER_KEY_TEXT, &opened) ==
                   OFFER_KEY_OK &&
               at[19 + OFFER_KEY_TEXT] == '\n' && !memcmp(&opened, key, sizeof opened),
           "%s: the sealed key of the worked example opens", page->name);
}

/* The worked example: a key of 0x11s, nonces of 0x22s and 0x33s. */
static void bytes_check(const struct page *page)
{
    struct key key, provider, customer, ticket, proof;
    char text[64];

    memset(&key, 0x11, sizeof key);
    memset(&provider, 0x22, sizeof provider);
    memset(&customer, 0x33, sizeof customer);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)agent_handle("alice", "desk"));
    page_says(page, text, "the handle of alice's desk is right");
    snprintf(text, sizeof text, "%016llx", (unsigned long long)contact_channel(NULL, NULL));
    page_says(page, text, "the channel of the relay, unsealed, is right");
    ticket_make(&secrets_live, &key, 0xa1, 0xc1, 0x91, "alice", &ticket);
    key_says(page, &ticket, "the ticket of the worked example is right");
    ticket_proof(&secrets_live, &ticket, true, &provider, &customer, contact_channel(NULL, NULL), &proof);
    key_says(page, &proof, "the customer's proof of the worked example is right");
    ticket_proof(&secrets_live, &ticket, false, &provider, &customer, contact_channel(NULL, NULL), &proof);
    key_says(page, &proof, "the provider's proof of the worked example is right");
    sealed_check(page, &key);
}

/* Every line for the audit that the matchmaker can write is in the list. */
static void audit_check(const struct page *page)
{
    char pattern[512];
    glob_t found;
    size_t events = 0;

    snprintf(pattern, sizeof pattern, "%s/src/live/*/*.c", getenv("BERTH_SOURCE"));
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct buf text;

        file_read(found.gl_pathv[i], &text);
        for (const char *at = strstr(text.text, "LOG_AUDIT("); at; at = strstr(at + 1, "LOG_AUDIT(")) {
            const char *quote = strchr(at, '"');
            char want[128];

            if (!quote)
                break;
            snprintf(want, sizeof want, "| `audit.%.*s` |", (int)strcspn(quote + 1, "\""), quote + 1);
            events++;
            page_says(page, want, "a line of the audit is described");
        }
        buf_done(&text);
    }
    globfree(&found);
    tap_ok(events > 5, "there are lines of the audit to be described");
}

/* --------------------------------------------------------------------------------------------------------------- jobs */

/* Each word in quotes behind `begin` in a file of the sources: does the page have it, as `format` says? */
static void source_says(const struct page *page, const char *file, const char *begin, const char *format,
                        const char *sentence)
{
    char path[512];
    struct buf text;
    size_t count = 0;

    snprintf(path, sizeof path, "%s/src/%s", getenv("BERTH_SOURCE"), file);
    file_read(path, &text);
    for (const char *at = strstr(text.text, begin); at; at = strstr(at + 1, begin)) {
        const char *word = at + strlen(begin);
        char name[64], want[128];

        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "\""), word);
        snprintf(want, sizeof want, format, name);
        page_says(page, want, sentence);
        count++;
    }
    tap_ok(count > 3, "there is something in %s to be described", file);
    buf_done(&text);
}

/* 100000: "100,000". */
static void count_print(struct buf *out, long long count)
{
    if (count >= 1000)
        count_print(out, count / 1000);
    buf_addf(out, count >= 1000 ? ",%03lld" : "%lld", count % 1000);
}

static void counts_check(const struct page *page)
{
    static const struct {
        const char *format;
        long long count;
    } rows[] = {
        {"| inputs of one job | %s;", JOB_INPUTS_MAX},
        {"| outputs of one job, and checkpoint files | %s each |", JOB_FILES_MAX},
        {"| files of one job at the customer | %s |", JOBFILES_MAX},
        {"| arguments, and variables, of one job | %s each;", JOB_ARGUMENTS_MAX},
        {"| jobs of one ad | %s |", CUSTOMER_SUBMIT_MAX},
        {"| `HistoryMax` | bytes of the history: 4 GiB, a job counts %s KiB at least;", HISTORY_JOB / 1024},
        {"| `MaxRetries` | whole number | %s |", CUSTOMER_RETRIES},
        {"| `RequestCpus` | number, or an expression | %s |", JOB_CPUS},
        {"| `RequestMemory` | bytes, or an expression | %s MiB |", JOB_MEMORY >> 20},
        {"| `RequestDisk` | bytes, or an expression | %s GiB |", JOB_DISK >> 30},
        {"| `RequestProcesses` | number, or an expression | %s |", JOB_PROCESSES},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char want[160];
        struct buf count;

        buf_init(&count);
        count_print(&count, rows[i].count);
        snprintf(want, sizeof want, rows[i].format, buf_string(&count));
        page_says(page, want, "a limit or default of jobs is that of the program");
        buf_done(&count);
    }
}

/* Outcomes of jobs: the page, and the words that the browser shows. */
static void outcomes_check(const struct page *jobs)
{
    static const struct {
        const char *word, *words, *when;
    } rows[] = {
#define X(id, word, words, tone, when) {word, words, when},
        JOB_OUTCOMES(X)
#undef X
    };
    char path[512], want[256];
    struct page web = {.name = "web/src/words.ts"};

    snprintf(path, sizeof path, "%s/%s", getenv("BERTH_SOURCE"), web.name);
    file_read(path, &web.text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(want, sizeof want, "\n| `%s` | %s", rows[i].word, rows[i].words);
        page_says(jobs, want, "an outcome has the words of the program");
        snprintf(want, sizeof want, " | %s |\n", rows[i].when);
        page_says(jobs, want, "and it is said when it is so");
        snprintf(want, sizeof want, "  %s: '%s',", rows[i].word, rows[i].words);
        page_says(&web, want, "the browser's page has the same words");
    }
    buf_done(&web.text);
}

/* How machines stand: the page, and the words that the browser shows. */
static void machines_check(void)
{
    struct page machines, web = {.name = "web/src/words.ts"};
    char path[512], want[256];

    page_read(&machines, "machines.md");
    snprintf(path, sizeof path, "%s/%s", getenv("BERTH_SOURCE"), web.name);
    file_read(path, &web.text);
    for (int i = 0; i < MACHINE_STATE_COUNT; i++) {
        const char *word = machine_state_word((enum machine_state)i), *means = machine_state_meaning(i);

        snprintf(want, sizeof want, "\n| %s | %s", word, means);
        page_says(&machines, want, "a state of machines has the words of the program");
        snprintf(want, sizeof want, ", '%s'],", means);
        page_says(&web, want, "the browser's page has the same words");
    }
    buf_done(&machines.text);
    buf_done(&web.text);
}

/* Why jobs wait: the page has the program's words. */
static void waits_check(void)
{
    struct page why;
    char want[512];

    page_read(&why, "why.md");
    for (int i = 0; i < WAIT_REASON_COUNT; i++) {
        const char *can = wait_can((enum wait_reason)i);

        snprintf(want, sizeof want, "\n| `%s` | %s | %s |\n", wait_word((enum wait_reason)i),
                 wait_says((enum wait_reason)i), *can ? can : "-");
        page_says(&why, want, "a reason why a job waits has the words of the program");
    }
    buf_done(&why.text);
}

static void jobs_check(const struct page *jobs, const struct page *protocol)
{
    static const char *const states[] = {
#define X(id, word) word,
        JOB_STATES(X)
#undef X
    };
    char want[64];

    for (size_t i = 0; i < COUNT(states); i++) {
        snprintf(want, sizeof want, "\n| `%s` |", states[i]);
        if (i != STANDING_FAILED) /* of the summary alone: an ad says Done, and a Status */
            page_says(jobs, want, "a state is described");
    }
    outcomes_check(jobs);
    for (int kind = 0; kind < JOB_FILE_KIND_COUNT; kind++) {
        snprintf(want, sizeof want, "`%s`", job_file_word((enum job_file_kind)kind));
        page_says(protocol, want, "a kind of file is described");
    }
    source_says(jobs, "live/customerd/job_check.c", "\n    {\"", "\n| `%s` |",
                "an attribute that is looked at is described");
    source_says(protocol, "live/customerd/questions.c", "{\"", "\n**%s**: ", "a question is described");
    snprintf(want, sizeof want, "at most %u KiB of them in one answer", QUESTION_BYTES_MAX >> 10);
    page_says(protocol, want, "how many bytes an answer has is that of the program");
    counts_check(jobs);
}

int main(int argc, char **argv)
{
    struct page pages[5];
    struct lang lang;

    if (argc > 1 && !strcmp(argv[1], "--print")) {
        tables_check(NULL, 0);
        return 0;
    }
    lang_init(&lang);
    page_read(&pages[0], "protocol.md");
    page_read(&pages[1], "logs.md");
    page_read(&pages[2], "jobs.md");
    page_read(&pages[3], "from-htcondor.md");
    page_read(&pages[4], "settings.md");
    waits_check();
    machines_check();
    tables_check(pages, COUNT(pages));
    messages_check(&pages[0], lang.symbols);
    bytes_check(&pages[0]);
    audit_check(&pages[1]);
    jobs_check(&pages[2], &pages[0]);
    for (size_t i = 0; i < COUNT(pages); i++)
        buf_done(&pages[i].text);
    lang_done(&lang);
    return tap_done();
}
