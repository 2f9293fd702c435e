/* trace.c: prints events and effects as lines. */
#include "sim/trace.h"

#include "lang/base/buf.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 400

struct trace {
    struct world *world;
    uint32_t lines;
    char *text;                 /* hosts x lines x LINE_MAX_BYTES */
    uint64_t counts[HOSTS_MAX]; /* lines written so far */
    struct buf line;
};

static const char *host_name(const struct trace *trace, agent who)
{
    return who - 1 < trace->world->host_count ? trace->world->hosts[who - 1].name : "nobody";
}

static void trace_begin(struct trace *trace, const struct host *host)
{
    buf_reset(&trace->line);
    buf_addf(&trace->line, "%4lld.%06lld %-11s ", (long long)(trace->world->time / SECOND),
             (long long)(trace->world->time % SECOND), host->name);
}

static void trace_end(struct trace *trace, const struct host *host)
{
    uint64_t place = trace->counts[host->place]++ % trace->lines;
    char *to = trace->text + ((uint64_t)host->place * trace->lines + place) * LINE_MAX_BYTES;
    size_t len = trace->line.len < LINE_MAX_BYTES - 1 ? trace->line.len : LINE_MAX_BYTES - 1;

    memcpy(to, trace->line.text, len);
    to[len] = '\0';
}

/* Prints a word. Large words are ids, of which a few digits tell enough. */
static void add_word(struct buf *out, uint64_t word)
{
    if (word < 1000000)
        buf_addf(out, "%llu", (unsigned long long)word);
    else
        buf_addf(out, "#%05llx", (unsigned long long)(word & 0xfffff));
}

static void add_number(struct buf *out, int64_t number)
{
    if (number > -100000 && number < 100000)
        buf_addf(out, "%lld", (long long)number);
    else
        buf_addf(out, "%.3fs", (double)number / (double)SECOND);
}

static void add_field(struct buf *out, const struct field *field, const void *at)
{
    switch (field->sort) {
    case FIELD_NUMBER:
        add_number(out, *(const int64_t *)at);
        break;
    case FIELD_WORD:
        add_word(out, *(const uint64_t *)at);
        break;
    case FIELD_FLAG:
        buf_adds(out, *(const bool *)at ? "yes" : "no");
        break;
    case FIELD_REASON:
        buf_addf(out, "'%s'", reason_words(*(const enum reason *)at));
        break;
    case FIELD_TEXT:
        buf_addf(out, "%s", ((const struct text *)at)->bytes);
        break;
    case FIELD_KEY:
        buf_addf(out, "*%02x", ((const struct key *)at)->bytes[0]);
        break;
    case FIELD_SEEN: {
        const struct seen *seen = at;

        buf_addf(out, "#%05llx/%llu+%llx", (unsigned long long)(seen->incarnation & 0xfffff),
                 (unsigned long long)seen->last, (unsigned long long)seen->beyond);
        break;
    }
    case FIELD_AD:
        buf_adds(out, *(struct tree *const *)at ? "[..]" : "none");
        break;
    case FIELD_EDGES: {
        const struct edges *edges = *(struct edges *const *)at;

        for (uint32_t i = 0; edges && i < edges->count; i++) {
            buf_adds(out, "claim ");
            add_word(out, edges->items[i].claim);
            buf_addf(out, " at %llu ", (unsigned long long)edges->items[i].agent);
        }
        break;
    }
    }
}

static void add_fields(struct buf *out, const struct layout *layout, const void *structure)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];

        if (field_is_left_out(field, structure))
            continue;
        buf_addf(out, " %s=", field->name);
        add_field(out, field, (const char *)structure + field->at);
    }
}

static void add_message(struct buf *out, const struct message *message)
{
    const struct layout *layout = message_layout(message->kind);

    buf_adds(out, layout->name);
    add_fields(out, layout, &message->u);
}

static const char *const news_words[] = {"is found running", "ended", "is gone"};

static void add_event(struct trace *trace, const struct event *event)
{
    struct buf *out = &trace->line;

    switch (event->kind) {
    case EVENT_LOADED:
        buf_adds(out, "loads ");
        buf_adds(out, record_layout(event->record->kind)->name);
        buf_addc(out, ' ');
        add_word(out, event->record->key);
        add_fields(out, record_layout(event->record->kind), &event->record->u);
        break;
    case EVENT_BOOTED:
        buf_adds(out, "is up");
        break;
    case EVENT_MESSAGE:
        buf_addf(out, "<- %s: ", host_name(trace, event->peer->agent));
        add_message(out, event->message);
        break;
    case EVENT_ANSWER:
        if (event->answer == ANSWER_GOT) {
            buf_addf(out, "<= %s: ", host_name(trace, event->peer->agent));
            add_message(out, event->message);
        } else {
            buf_addf(out, "<= no answer (tag %u)", event->tag);
        }
        break;
    case EVENT_WAKE:
        buf_adds(out, "wakes");
        break;
    case EVENT_JOB:
        buf_adds(out, "job of claim ");
        add_word(out, event->claim);
        buf_addf(out, " number %llu %s: '%s'", (unsigned long long)event->number, news_words[event->news],
                 reason_words(event->reason));
        break;
    case EVENT_PROBED:
        buf_adds(out, "is probed");
        break;
    case EVENT_DRAIN:
        buf_adds(out, "is to drain");
        break;
    case EVENT_BOOK:
        buf_adds(out, event->ad ? "is booked" : "is given back");
        break;
    case EVENT_GONE:
        buf_adds(out, "is to leave for good");
        break;
    case EVENT_SHUT:
        buf_addf(out, "is told that '%s' is disabled%s", event->user, event->status ? ", and what runs must go" : "");
        break;
    case EVENT_RESUME:
        buf_adds(out, "is to take claims again");
        break;
    case EVENT_POLICY:
        buf_adds(out, "has a new policy");
        break;
    case EVENT_FACTOR:
        buf_addf(out, "is told the factor of '%s'", event->user);
        break;
    case EVENT_SHARES:
        buf_adds(out, "is told of groups and limits");
        break;
    case EVENT_WEIGH:
        buf_adds(out, "is asked about quotas");
        break;
    case EVENT_ENDED:
        buf_addf(out, "is told that job %llu has ended", (unsigned long long)event->job);
        break;
    case EVENT_FORGET:
        buf_addf(out, "is to forget job %llu", (unsigned long long)event->job);
        break;
    case EVENT_DROP:
        buf_addf(out, "is to drop jobs %llu to %llu", (unsigned long long)event->job,
                 (unsigned long long)event->number);
        break;
    case EVENT_LOCAL:
        buf_addf(out, "local job %llu %s", (unsigned long long)event->job, news_words[event->news]);
        break;
    case EVENT_AHEAD:
        buf_addf(out, "claim %llx prepares for its next job", (unsigned long long)event->claim);
        break;
    case EVENT_KNOWN:
        buf_addf(out, "is known to %s", host_name(trace, event->claim));
        break;
    }
}

static void add_effect(struct trace *trace, const struct effect *effect)
{
    struct buf *out = &trace->line;

    switch (effect->kind) {
    case EFFECT_SEND:
        buf_addf(out, "-> %s: ", host_name(trace, effect->to));
        add_message(out, &effect->message);
        break;
    case EFFECT_REPLY:
        buf_adds(out, "=> ");
        add_message(out, &effect->message);
        break;
    case EFFECT_WAKE:
        buf_adds(out, "sleeps until ");
        add_number(out, effect->at);
        break;
    case EFFECT_PERSIST:
        buf_addf(out, "writes(%llu)%s %s ", (unsigned long long)effect->token,
                 effect->record.removed ? " removal of" : "", record_layout(effect->record.kind)->name);
        add_word(out, effect->record.key);
        if (!effect->record.removed)
            add_fields(out, record_layout(effect->record.kind), &effect->record.u);
        break;
    case EFFECT_JOB:
    case EFFECT_DEADLINE:
    case EFFECT_STOP:
        buf_adds(out, effect->kind == EFFECT_JOB        ? "launches job "
                      : effect->kind == EFFECT_DEADLINE ? "moves the deadline of "
                                                        : "stops ");
        add_word(out, effect->job);
        buf_addf(out, " number %llu of claim ", (unsigned long long)effect->number);
        add_word(out, effect->claim);
        buf_adds(out, " at ");
        add_number(out, effect->at);
        break;
    case EFFECT_SUSPEND:
        buf_adds(out, effect->span ? "suspends the job of " : "resumes the job of ");
        add_word(out, effect->claim);
        break;
    case EFFECT_CHANGED:
        buf_addf(out, "tells of job %llu", (unsigned long long)effect->job);
        break;
    case EFFECT_NOTE:
        buf_addf(out, "notes: %s: '%s' ", effect->note ? effect->note : "", reason_words(effect->reason));
        add_word(out, effect->claim);
        break;
    }
    if (effect->after)
        buf_addf(out, " (after %llu)", (unsigned long long)effect->after);
}

static void trace_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct trace *trace = user;

    (void)env;
    if (event->kind != EVENT_WAKE || host->effects.count > 1) {
        trace_begin(trace, host);
        add_event(trace, event);
        trace_end(trace, host);
    }
    for (uint32_t i = 0; i < host->effects.count; i++) {
        if (host->effects.items[i].kind == EFFECT_WAKE)
            continue;
        trace_begin(trace, host);
        buf_adds(&trace->line, "    ");
        add_effect(trace, &host->effects.items[i]);
        trace_end(trace, host);
    }
}

static void trace_went(void *user, const struct host *host, const char *what)
{
    struct trace *trace = user;

    trace_begin(trace, host);
    buf_addf(&trace->line, "*** %s (now %.6fs)", what, (double)host_now(trace->world, host) / (double)SECOND);
    trace_end(trace, host);
}

static void trace_launched(void *user, const struct host *host, struct process *process)
{
    struct trace *trace = user;

    trace_begin(trace, host);
    buf_adds(&trace->line, "process of claim ");
    add_word(&trace->line, process->claim);
    buf_addf(&trace->line, " number %llu begins: job ", (unsigned long long)process->number);
    add_word(&trace->line, process->job);
    trace_end(trace, host);
}

static void trace_ended(void *user, const struct host *host, const struct process *process)
{
    struct trace *trace = user;

    trace_begin(trace, host);
    buf_adds(&trace->line, "process of claim ");
    add_word(&trace->line, process->claim);
    buf_addf(&trace->line, " number %llu ends: '%s'", (unsigned long long)process->number,
             reason_words(process->reason));
    trace_end(trace, host);
}

struct trace *trace_new(struct world *world, uint32_t lines)
{
    struct trace *trace = mem_alloc(sizeof *trace);

    *trace = (struct trace){.world = world, .lines = lines};
    trace->text = mem_alloc((size_t)HOSTS_MAX * lines * LINE_MAX_BYTES);
    buf_init(&trace->line);
    world_watch(world, &(struct watch){
                           .user = trace,
                           .stepped = trace_stepped,
                           .launched = trace_launched,
                           .ended = trace_ended,
                           .went = trace_went,
                       });
    return trace;
}

void trace_free(struct trace *trace)
{
    if (!trace)
        return;
    free(trace->text);
    buf_done(&trace->line);
    free(trace);
}

void trace_print(const struct trace *trace, struct buf *out)
{
    for (uint32_t host = 0; host < trace->world->host_count; host++) {
        uint64_t count = trace->counts[host], first = count > trace->lines ? count - trace->lines : 0;

        buf_addf(out, "\n%s:\n", trace->world->hosts[host].name);
        for (uint64_t i = first; i < count; i++)
            buf_addf(out, "%s\n", trace->text + ((uint64_t)host * trace->lines + i % trace->lines) * LINE_MAX_BYTES);
    }
}
