/* jobs.c: jobs, in Slurm's words: their states, numbers and ends. */
#include "cli/slurm/parts.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/map.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define IDS_AT_ONCE 100 /* numbers in one question */

static const struct {
    const char *word, *letters;
} state_words[SLURM_STATE_COUNT] = {
    [SLURM_PENDING] = {"PENDING", "PD"},
    [SLURM_RUNNING] = {"RUNNING", "R"},
    [SLURM_SUSPENDED] = {"SUSPENDED", "S"},
    [SLURM_COMPLETING] = {"COMPLETING", "CG"},
    [SLURM_COMPLETED] = {"COMPLETED", "CD"},
    [SLURM_FAILED] = {"FAILED", "F"},
    [SLURM_OUT_OF_MEMORY] = {"OUT_OF_MEMORY", "OOM"},
    [SLURM_TIMEOUT] = {"TIMEOUT", "TO"},
    [SLURM_CANCELLED] = {"CANCELLED", "CA"},
    [SLURM_DEADLINE] = {"DEADLINE", "DL"},
};

const char *slurm_state_word(enum slurm_state state)
{
    return state_words[state].word;
}

const char *slurm_state_letters(enum slurm_state state)
{
    return state_words[state].letters;
}

bool slurm_state_is_end(enum slurm_state state)
{
    return state >= SLURM_COMPLETED;
}

static enum slurm_state end_of(const struct tree *ad)
{
    static const struct {
        const char *outcome;
        enum slurm_state state;
    } rows[] = {{"Succeeded", SLURM_COMPLETED},
                {"OutOfMemory", SLURM_OUT_OF_MEMORY},
                {"OutOfTime", SLURM_TIMEOUT},
                {"Removed", SLURM_CANCELLED},
                {"Expired", SLURM_DEADLINE}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (job_text_is(ad, "Outcome", rows[i].outcome))
            return rows[i].state;
    return SLURM_FAILED;
}

static int64_t number_of(const struct tree *ad, const char *name, int64_t otherwise)
{
    double number;

    return job_number(ad, name, &number) && number > -9e15 && number < 9e15 ? (int64_t)number : otherwise;
}

void slurm_job_read(struct tree *ad, bool over, struct slurm_job *ret)
{
    int64_t place = number_of(ad, "SlurmPlace", INT64_MIN);

    *ret = (struct slurm_job){.ad = ad, .id = number_of(ad, "Job", 0), .index = number_of(ad, "Index", 0)};
    if (place > INT64_MIN) {
        ret->array = ret->id - ret->index - place;
        ret->tasks = number_of(ad, "SlurmTasks", 1);
    }
    if (job_is_over(ad)) {
        ret->state = over || !job_text_is(ad, "State", "Done") ? end_of(ad) : SLURM_COMPLETING;
        ret->code = number_of(ad, "ExitCode", 0);
        ret->signal = number_of(ad, "Signal", 0);
        if (end_of(ad) == SLURM_OUT_OF_MEMORY)
            ret->signal = 125;
        else if (end_of(ad) == SLURM_FAILED && !ret->code && !ret->signal)
            ret->code = 1;
    } else if (job_text_is(ad, "State", "Running") || job_text_is(ad, "State", "Ready") ||
               job_text_is(ad, "State", "Scheduled")) {
        ret->state = ad_find(ad, "Suspended") ? SLURM_SUSPENDED : SLURM_RUNNING;
    }
}

void slurm_job_id(const struct slurm_job *job, struct buf *out)
{
    if (job->array)
        buf_addf(out, "%" PRId64 "_%" PRId64, job->array, job->index);
    else
        buf_addf(out, "%" PRId64, job->id);
}

void slurm_text(struct buf *out, const char *text, size_t len)
{
    size_t from = out->len;

    buf_add(out, text, len);
    text_tame(out, from);
    for (size_t i = from; i < out->len; i++)
        if (out->text[i] == '|')
            out->text[i] = '_';
}

static bool text_add(struct buf *out, const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, name, &text, &len))
        return false;
    slurm_text(out, text, len);
    return true;
}

void slurm_job_text(const struct slurm_job *job, const char *name, struct buf *out)
{
    struct arena arena;
    struct value value;

    arena_init(&arena);
    value = job_value(job->ad, name, &arena);
    if (value.type == VALUE_STRING)
        slurm_text(out, value.u.string, value.len);
    arena_done(&arena);
}

void slurm_job_name(const struct slurm_job *job, struct buf *out)
{
    const char *text;
    size_t len;

    if (text_add(out, job->ad, "SlurmName") || !ad_string(job->ad, "Cmd", &text, &len))
        return;
    while (len && memchr(text, '/', len)) {
        text++;
        len--;
    }
    slurm_text(out, text, len);
}

void slurm_job_nodes(const struct slurm_job *job, struct buf *out)
{
    if (job->state == SLURM_PENDING || !text_add(out, job->ad, "Provider"))
        buf_adds(out, job->state == SLURM_PENDING ? "" : "None assigned");
}

void slurm_job_owner(const struct slurm_job *job, struct buf *out)
{
    text_add(out, job->ad, "Owner");
}

const char *slurm_job_reason(const struct slurm_job *job)
{
    if (job->state != SLURM_PENDING)
        return "None";
    return job_text_is(job->ad, "State", "Held")      ? "JobHeldUser"
           : job_text_is(job->ad, "State", "Blocked") ? "Dependency"
                                                      : "Resources";
}

/* Is that user's login one of the list's, or ours? */
static bool is_of(const struct slurm_choice *choice, const char *owner)
{
    const struct passwd *user = choice->me ? getpwuid(geteuid()) : NULL;

    if (choice->me && (!user || strcmp(user->pw_name, owner) != 0))
        return false;
    return !choice->users || slurm_word_among(choice->users, owner);
}

bool slurm_job_is_among(const struct slurm_job *job, const struct slurm_choice *choice)
{
    struct buf text;
    bool among;

    if (choice->partition && !slurm_word_among(choice->partition, SLURM_PARTITION))
        return false;
    if (choice->states && !slurm_word_among(choice->states, "all") &&
        !slurm_word_among(choice->states, slurm_state_word(job->state)) &&
        !slurm_word_among(choice->states, slurm_state_letters(job->state)))
        return false;
    buf_init(&text);
    slurm_job_owner(job, &text);
    among = is_of(choice, buf_string(&text));
    buf_reset(&text);
    slurm_job_name(job, &text);
    among = among && (!choice->names || slurm_word_among(choice->names, buf_string(&text)));
    buf_done(&text);
    return among;
}

int64_t slurm_job_number(const struct slurm_job *job, const char *attribute, int64_t otherwise)
{
    return number_of(job->ad, attribute, otherwise);
}

int64_t slurm_job_ran(const struct slurm_job *job, int64_t now)
{
    int64_t began = number_of(job->ad, "Started", 0), span = number_of(job->ad, "WallUsed", 0);

    return (job->state == SLURM_RUNNING || job->state == SLURM_SUSPENDED) && began && now > began ? now - began : span;
}

bool slurm_word_among(const char *list, const char *word)
{
    size_t want = strlen(word);

    while (*list) {
        size_t len = strcspn(list, ",");

        if (len == want && !strncasecmp(list, word, len))
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- numbers */

int slurm_ids_read(const char *command, const char *words, struct buf *ret_ids)
{
    while (*words) {
        size_t len = strcspn(words, ","), digits = strspn(words, "0123456789");
        const char *behind = words + digits;
        unsigned long long id = strtoull(words, NULL, 10);

        if (!digits || digits > 15 ||
            (*behind == '_' && (len == digits + 1 || strspn(behind + 1, "0123456789") != len - digits - 1)) ||
            (*behind != '_' && *behind != '.' && digits != len)) {
            report("%s: expected the number of a job, as in 7 or 7_3, got '%.*s'", command, (int)(len < 40 ? len : 40),
                   words);
            return -1;
        }
        buf_addf(ret_ids, "%s%llu%.*s", ret_ids->len ? "," : "", id, *behind == '_' ? (int)(len - digits) : 0, behind);
        words += len + (words[len] == ',');
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- listing */

struct listing {
    const char *ids; /* that are wanted; NULL: all */
    struct map seen; /* numbers that were given */
    struct buf more; /* of arrays: the numbers of their other tasks */
    bool over;       /* they come from the history */
    slurm_job_fn *each;
    void *user;
};

/* Is the job wanted, by its number or as a task of an array? */
static bool is_wanted(const struct listing *listing, const struct slurm_job *job)
{
    const char *at = listing->ids;

    while (at && *at) {
        char *end;
        int64_t id = strtoll(at, &end, 10), task = *end == '_' ? strtoll(end + 1, &end, 10) : -1;

        if (task < 0 ? id == job->id || id == job->array : id == job->array && task == job->index)
            return true;
        at = *end == ',' ? end + 1 : end;
    }
    return !listing->ids;
}

static bool job_take(void *user, struct tree *ad)
{
    struct listing *listing = user;
    struct slurm_job job;

    slurm_job_read(ad, listing->over, &job);
    if (!job.id || map_find(&listing->seen, (uint64_t)job.id) != MAP_NONE)
        return true;
    if (listing->ids && job.array && job.id == job.array && job.tasks > 1)
        buf_addf(&listing->more, "%s%" PRId64 "-%" PRId64, listing->more.len ? "," : "", job.id + 1,
                 job.id + job.tasks - 1);
    if (is_wanted(listing, &job)) {
        map_set(&listing->seen, (uint64_t)job.id, 1);
        listing->each(listing->user, &job);
    }
    return true;
}

/* `over`: in the history, those that the constraint is true of; NULL: in the queue. */
static int ask(struct connection *customer, struct listing *listing, const char *ids, const char *over)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, over ? "/v1/history" : "/v1/jobs");
    path_query(&path, "ids", ids);
    path_query(&path, "select", SLURM_SELECT);
    if (over && *over)
        path_query(&path, "constraint", over);
    listing->over = over != NULL;
    status = connection_list(customer, buf_string(&path), 0, job_take, listing);
    buf_done(&path);
    return status;
}

/* The next numbers of the list, not more than fit into one question; of a task of an array that of the array. False: there are none. */
static bool some_ids(const char **at, struct buf *ret)
{
    buf_reset(ret);
    for (int i = 0; i < IDS_AT_ONCE && **at; i++) {
        size_t len = strcspn(*at, ","), digits = strcspn(*at, "_,");

        buf_addf(ret, "%s%.*s", ret->len ? "," : "", (int)(digits < len ? digits : len), *at);
        *at += len + ((*at)[len] == ',');
    }
    return ret->len;
}

int slurm_jobs_each(struct connection *customer, const char *ids, const char *history, slurm_job_fn *each, void *user)
{
    struct listing listing = {.ids = ids, .each = each, .user = user};
    int status = STATUS_DONE;
    const char *at = ids;
    struct buf some, more;

    map_init(&listing.seen, 0);
    buf_init(&listing.more);
    buf_init(&some);
    buf_init(&more);
    if (!ids) {
        status = ask(customer, &listing, NULL, NULL);
        if (status == STATUS_DONE && history)
            status = ask(customer, &listing, NULL, history);
    }
    for (int round = 0; ids && round < 2 && status == STATUS_DONE; round++) {
        while (status == STATUS_DONE && some_ids(&at, &some)) {
            status = ask(customer, &listing, buf_string(&some), NULL);
            if (status == STATUS_DONE && history)
                status = ask(customer, &listing, buf_string(&some), history);
        }
        buf_reset(&more);
        buf_add(&more, listing.more.text, listing.more.len);
        buf_reset(&listing.more);
        at = buf_string(&more);
    }
    map_done(&listing.seen);
    buf_done(&listing.more);
    buf_done(&some);
    buf_done(&more);
    return status;
}
