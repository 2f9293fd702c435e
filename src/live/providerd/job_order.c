/* job_order.c: what a job's ad says of how it is run. */
#include "live/providerd/job_order.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "live/providerd/stages.h"
#include "match/pair/pair.h"
#include "pool/claim/crew.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/job_trace.h"
#include "sys/beside_socket.h"
#include "sys/confined_path.h"
#include "sys/secret_bundle.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 255
#define MEMBERS_MAX 256 /* in one gang */
#define MEMBER_VARIABLES 4

struct reading {
    const struct tree *ad;
    struct scope scope; /* of the job alone: what it asks for was decided when it was matched */
    struct pair met;    /* with its machine: for what it is told when it starts */
    struct eval eval;
    struct arena scratch;
    struct arena *into;
    size_t bytes; /* of all texts so far */
    bool begun;   /* the job has been told all this: what it was does not matter any more */
};

static bool attribute(struct reading *reading, const char *name, struct value *ret)
{
    symbol called = symbols_find(reading->ad->symbols, name, strlen(name));

    bool met = !strcmp(name, "Args") || !strcmp(name, "Env");

    return called && eval_attribute(&reading->eval, met ? &reading->met.left : &reading->scope, called, ret) &&
           ret->type != VALUE_UNDEFINED;
}

static const char *text_copy(struct reading *reading, const char *text, size_t len)
{
    char *copy = arena_alloc(reading->into, len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* Copies a text, with a NUL at its end, into the order's own memory. */
static const char *text_keep(struct reading *reading, const struct value *value, const char *what, struct err *err)
{
    struct buf text;
    const char *kept = NULL;

    if (value->type == VALUE_UNDEFINED && reading->begun)
        return text_copy(reading, "", 0);
    if (value->type == VALUE_UNDEFINED) {
        err_set(err, "%s: cannot expand what the machine's ad does not say: a text of it is undefined here", what);
        return NULL;
    }
    if (value->type == VALUE_ERROR || value->type >= VALUE_LIST) {
        err_set(err, "%s: expected a text", what);
        return NULL;
    }
    buf_init(&text);
    value_to_text(&text, reading->ad->dialect, value);
    reading->bytes += text.len + 1;
    if (text.len && memchr(text.text, '\0', text.len))
        err_set(err, "%s: there is a NUL in it", what);
    else if (reading->bytes > JOB_ARGUMENT_BYTES)
        err_set(err, "%s: more than %d bytes of arguments and variables", what, JOB_ARGUMENT_BYTES);
    else
        kept = text_copy(reading, buf_string(&text), text.len);
    buf_done(&text);
    return kept;
}

static const char **texts_room(struct reading *reading, size_t count)
{
    const char **texts = arena_alloc(reading->into, (count + 1) * sizeof *texts);

    texts[count] = NULL;
    return texts;
}

/* Reads a list of texts, or one text that is split at blanks. `ret` ends with NULL, and its first `before` places are free. */
static int texts_read(struct reading *reading, const char *name, size_t before, const char *const **ret,
                      struct err *err)
{
    struct value value, element;
    const char **texts;
    char *split;

    if (!attribute(reading, name, &value)) {
        *ret = texts_room(reading, before);
        return 0;
    }
    if (value.type == VALUE_STRING) {
        const char *all = text_keep(reading, &value, name, err);
        size_t count = 0;

        if (!all)
            return -1;
        texts = texts_room(reading, before + strlen(all) / 2 + 1);
        split = (char *)(uintptr_t)all;
        for (char *rest, *word = strtok_r(split, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
            texts[before + count++] = word;
        texts[before + count] = NULL;
        *ret = texts;
        return 0;
    }
    if (value.type != VALUE_LIST || value.len > JOB_ARGUMENTS_MAX)
        return err_set(err, "%s: expected a list of texts", name);
    texts = texts_room(reading, before + value.len);
    for (uint32_t i = 0; i < value.len; i++) {
        eval_element(&reading->eval, &value, i, &element);
        if (!(texts[before + i] = text_keep(reading, &element, name, err)))
            return -1;
    }
    *ret = texts;
    return 0;
}

/* Reads a list of names of files in the job's folder. */
static int names_read(struct reading *reading, const char *name, const char *const **ret, struct err *err)
{
    const char *const *names;
    size_t count = 0;

    if (texts_read(reading, name, 0, &names, err) < 0)
        return -1;
    for (; names[count]; count++)
        if (!confined_name_is_good(names[count], strlen(names[count])))
            return err_set(err, "%s: %.80s is not the name of a file in the job's folder", name, names[count]);
    if (count > JOB_FILES_MAX)
        return err_set(err, "%s: more than %d files", name, JOB_FILES_MAX);
    *ret = names;
    return 0;
}

static int text_read(struct reading *reading, const char *name, const char **ret, struct err *err)
{
    struct value value;

    if (!attribute(reading, name, &value))
        return 0;
    *ret = text_keep(reading, &value, name, err);
    return *ret ? 0 : -1;
}

static int number_read(struct reading *reading, const char *name, double least, double most, double *ret,
                       struct err *err)
{
    struct value value;
    double number;

    if (!attribute(reading, name, &value))
        return 0;
    number = value.type == VALUE_INTEGER || value.type == VALUE_RELTIME ? (double)value.u.integer
             : value.type == VALUE_REAL                                 ? value.u.real
                                                                        : -1;
    if (!(number >= least && number <= most))
        return err_set(err, "%s: expected a number from %g to %g", name, least, most);
    *ret = number;
    return 0;
}

static int signal_read(struct reading *reading, const char *attribute_name, int *ret, struct err *err)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},   {"QUIT", SIGQUIT},
                   {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"CONT", SIGCONT}, {"ALRM", SIGALRM}};
    const char *name = NULL;

    if (text_read(reading, attribute_name, &name, err) < 0)
        return -1;
    if (!name)
        return 0;
    if (!strncasecmp(name, "SIG", 3))
        name += 3;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!strcasecmp(name, signals[i].name)) {
            *ret = signals[i].number;
            return 0;
        }
    return err_set(err, "%s: expected one of TERM, INT, HUP, QUIT, USR1, USR2, CONT, ALRM", attribute_name);
}

/* ------------------------------------------------------------------------------------------------------- environment */

static const char *variable(struct reading *reading, const char *format, const char *value)
{
    char text[320];
    int len = snprintf(text, sizeof text, format, value);

    return text_copy(reading, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
}

static int variable_add(struct reading *reading, const char *name, size_t len, const struct value *value,
                        const char **ret, struct err *err)
{
    const char *text;
    char *both;

    if (!len || memchr(name, '=', len) || memchr(name, '\0', len))
        return err_set(err, "Env: %.*s is not the name of a variable", (int)len, name);
    text = text_keep(reading, value, "Env", err);
    if (!text)
        return -1;
    both = arena_alloc(reading->into, len + strlen(text) + 2);
    snprintf(both, len + strlen(text) + 2, "%.*s=%s", (int)len, name, text);
    *ret = both;
    return 0;
}

/* Reads a whole number that the customer has put into the ad; `otherwise`, when it has not. */
static int64_t whole_of(struct reading *reading, const char *name, int64_t otherwise)
{
    struct value value;

    return attribute(reading, name, &value) && value.type == VALUE_INTEGER ? value.u.integer : otherwise;
}

/* Joins where the members are, with commas; NULL: the ad does not say, or not of so many. */
static const char *hosts_read(struct reading *reading, uint32_t members)
{
    struct value value, element;
    const char *kept = NULL;
    struct buf hosts;
    bool good;

    if (!attribute(reading, AD_MEMBER_HOSTS, &value) || value.type != VALUE_LIST || value.len != members)
        return NULL;
    buf_init(&hosts);
    buf_adds(&hosts, "BERTH_HOSTS=");
    for (uint32_t i = 0; i < members; i++) {
        eval_element(&reading->eval, &value, i, &element);
        good = element.type == VALUE_STRING && element.len <= HOST_MAX && !memchr(element.u.string, '\0', element.len);
        buf_adds(&hosts, i ? "," : "");
        buf_add(&hosts, good ? element.u.string : "?", good ? element.len : 1);
    }
    kept = text_copy(reading, buf_string(&hosts), hosts.len);
    buf_done(&hosts);
    return kept;
}

/* Adds what a process of a parallel job is told: its number, how many there are, and where. Returns how many variables that is, MEMBER_VARIABLES at
 * most. */
static size_t members_read(struct reading *reading, struct job_order *ret, const char **all)
{
    int64_t member = whole_of(reading, AD_MEMBER, 0), members = whole_of(reading, AD_MEMBER_COUNT, 0);
    const char *hosts;
    struct value value;
    size_t n = 2;
    char text[32];

    if (members < 1 || members > MEMBERS_MAX || member < 0 || member >= members)
        return 0;
    ret->member = (uint32_t)member;
    ret->members = (uint32_t)members;
    snprintf(text, sizeof text, "%u", (unsigned)ret->member);
    all[0] = variable(reading, "BERTH_MEMBER=%s", text);
    snprintf(text, sizeof text, "%u", (unsigned)ret->members);
    all[1] = variable(reading, "BERTH_MEMBERS=%s", text);
    hosts = hosts_read(reading, ret->members);
    if (hosts)
        all[n++] = hosts;
    ret->reaches = attribute(reading, JOB_PROCESSES_EXEC, &value) && value_is_true(&value);
    if (ret->reaches)
        all[n++] = "BERTH_BESIDE=/job/" BESIDE_NAME;
    return n;
}

static int environment_read(struct reading *reading, uint64_t job, struct job_order *ret, struct err *err)
{
    enum { OWN = 14 + MEMBER_VARIABLES };
    const struct expr *part;
    struct value value, element;
    const char **all, *owner = "job", *node = "";
    struct job_trace trace;
    struct text told;
    uint32_t more = 0;
    char text[32];
    size_t n = 0;

    if (attribute(reading, "Env", &value)) {
        if (value.type != VALUE_AD || value.u.aggregate->u.run.count > JOB_ARGUMENTS_MAX)
            return err_set(err, "Env: expected an ad of texts, [ NAME = \"value\"; ... ]");
        more = value.u.aggregate->u.run.count;
    }
    if (text_read(reading, "Owner", &owner, err) < 0 || text_read(reading, "Node", &node, err) < 0)
        return -1;
    all = texts_room(reading, OWN + more);
    all[n++] = "HOME=/job";
    all[n++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    all[n++] = "TMPDIR=/tmp";
    all[n++] = "LANG=C.UTF-8";
    all[n++] = "SHELL=/bin/sh"; /* as the sandbox's list of users has it */
    all[n++] = variable(reading, "USER=%.100s", owner);
    snprintf(text, sizeof text, "%llu", (unsigned long long)job);
    all[n++] = variable(reading, "BERTH_JOB=%s", text);
    snprintf(text, sizeof text, "%lld", (long long)whole_of(reading, "JobIndex", 0));
    all[n++] = variable(reading, "BERTH_INDEX=%s", text);
    snprintf(text, sizeof text, "%lld", (long long)whole_of(reading, "JobTry", 1));
    all[n++] = variable(reading, "BERTH_TRY=%s", text);
    if (*node)
        all[n++] = variable(reading, "BERTH_NODE=%s", node);
    snprintf(text, sizeof text, "%g", ret->order.limits.cores);
    all[n++] = variable(reading, "BERTH_CPUS=%s", text);
    all[n++] = "BERTH_STATUS=/job/" JOB_STATUS;
    if (ret->has_secrets)
        all[n++] = "BERTH_SECRETS=/run/secrets"; /* as the sandbox has it */
    if (job_trace_of(reading->ad, &trace)) {
        job_trace_write(&trace, &told);
        all[n++] = variable(reading, "TRACEPARENT=%s", told.bytes);
    }
    n += members_read(reading, ret, all + n);
    ret->own_variables = n;
    for (uint32_t i = 0; i < more; i++) {
        const struct tree *tree = value.scope->tree;
        size_t len;
        const char *name;

        part = &tree_parts(tree, value.u.aggregate)[i];
        name = symbols_text(tree->symbols, part->label, &len);
        eval_expr(&reading->eval, value.scope, part, &element);
        if (variable_add(reading, name, len, &element, &all[n], err) < 0)
            return -1;
        n++;
    }
    all[n] = NULL;
    ret->order.environment = all;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- whole */

static size_t texts_count(const char *const *texts)
{
    size_t count = 0;

    while (texts[count])
        count++;
    return count;
}

/* Reads the commands that run before the program and after it, in the same place. */
static int stages_read(struct reading *reading, struct executor_order *order, struct err *err)
{
    const char *const *pre, *const *post;
    size_t room;

    if (texts_read(reading, "Pre", 0, &pre, err) < 0 || texts_read(reading, "Post", 0, &post, err) < 0)
        return -1;
    if (!pre[0] && !post[0])
        return 0;
    if (!order->arguments[0])
        return err_set(err, "Cmd: a job with Pre or Post needs the name of a program");
    room = STAGES_WORDS + texts_count(pre) + texts_count(post) + texts_count(order->arguments);
    order->staged = 1;
    order->arguments = stages_words(texts_room(reading, room), reading->into, pre, post, order->arguments);
    return 0;
}

static int limits_read(struct reading *reading, struct job_order *ret, struct err *err)
{
    double cores = JOB_CPUS, memory = (double)JOB_MEMORY, disk = (double)JOB_DISK, processes = JOB_PROCESSES;

    if (number_read(reading, "RequestCpus", 0, 1e6, &cores, err) < 0 ||
        number_read(reading, "RequestMemory", 0, 1e18, &memory, err) < 0 ||
        number_read(reading, "RequestDisk", 0, 1e18, &disk, err) < 0 ||
        number_read(reading, "RequestProcesses", 1, 1e6, &processes, err) < 0)
        return -1;
    ret->order.limits = (struct executor_limits){cores, (int64_t)memory, (int64_t)disk, (int64_t)processes};
    return 0;
}

/* Reads which GPUs the role has given the claim. */
static int gpus_read(struct reading *reading, struct job_order *ret, struct err *err)
{
    double asked = 0;

    if (number_read(reading, "RequestGpus", 0, 1e6, &asked, err) < 0 ||
        texts_read(reading, "AssignedGpus", 0, &ret->gpus, err) < 0)
        return -1;
    ret->gpus_asked = (uint32_t)asked;
    ret->order.gpus = ret->gpus[0] != NULL;
    return 0;
}

/* Reads the name of a file that the job leaves; NULL when the ad does not say. */
static int name_read(struct reading *reading, const char *attribute_name, const char **ret, struct err *err)
{
    if (text_read(reading, attribute_name, ret, err) < 0)
        return -1;
    if (*ret && !confined_name_is_good(*ret, strlen(*ret)))
        return err_set(err, "%s: %.80s is not the name of a file in the job's folder", attribute_name, *ret);
    return 0;
}

/* Reads the mask of the modes of files, three octal digits. */
static int umask_read(struct reading *reading, uint32_t *ret, struct err *err)
{
    const char *text = NULL;

    *ret = JOB_UMASK;
    if (text_read(reading, "Umask", &text, err) < 0)
        return -1;
    if (!text)
        return 0;
    if (!*text || strlen(text) > 4 || strspn(text, "01234567") != strlen(text) || strtoul(text, NULL, 8) > 0777)
        return err_set(err, "Umask: expected octal digits, as in \"0022\"");
    *ret = (uint32_t)strtoul(text, NULL, 8);
    return 0;
}

/* Reads whether it runs as the user who sent it. Who that is stands nowhere in an ad: the customer has proved it. */
static int owner_read(struct reading *reading, struct job_order *ret, struct err *err)
{
    const char *as = NULL;
    struct value value;

    ret->shares = attribute(reading, "ShareFiles", &value) && value_is_true(&value);
    if (text_read(reading, "RunAs", &as, err) < 0 || umask_read(reading, &ret->umask, err) < 0 ||
        text_read(reading, "Iwd", &ret->iwd, err) < 0)
        return -1;
    if (as && strcmp(as, "owner") != 0 && strcmp(as, "claim") != 0)
        return err_set(err, "RunAs: expected \"claim\" or \"owner\"");
    ret->as_owner = ret->shares || (as && !strcmp(as, "owner"));
    if (ret->shares && (!ret->iwd || *ret->iwd != '/'))
        return err_set(err, "ShareFiles: the folder that it was sent from is not known");
    return 0;
}

/* What the job reads and writes stays in the folder that it was sent from; nothing of it travels. */
static void share(struct job_order *ret)
{
    static const char *const nothing[] = {NULL};

    ret->shared[0] = ret->order.input;
    ret->shared[1] = ret->out;
    ret->shared[2] = ret->err;
    ret->order.input = ret->out = ret->err = NULL;
    ret->outputs = ret->checkpoint = nothing;
}

static int read_file(struct reading *reading, uint64_t job, struct job_order *ret, struct err *err)
{
    struct executor_order *order = &ret->order;
    const char **arguments;
    struct value value;
    double period = 0;
    uint64_t secrets;

    if (texts_read(reading, "Args", 1, &order->arguments, err) < 0)
        return -1;
    arguments = (const char **)(uintptr_t)order->arguments;
    arguments[0] = NULL;
    if (text_read(reading, "Cmd", &arguments[0], err) < 0)
        return -1;
    if (text_read(reading, "Image", &ret->image, err) < 0 ||
        text_read(reading, "ImageSecret", &ret->image_secret, err) < 0)
        return -1;
    if (arguments[0] ? !*arguments[0] : !ret->image)
        return err_set(err, "Cmd: expected the program");
    if (stages_read(reading, order, err) < 0)
        return -1;
    ret->has_secrets = ad_word(reading->ad, SECRET_ID_ATTRIBUTE, &secrets);
    if (name_read(reading, "In", &order->input, err) < 0 || name_read(reading, "Out", &ret->out, err) < 0 ||
        name_read(reading, "Err", &ret->err, err) < 0 || limits_read(reading, ret, err) < 0 ||
        gpus_read(reading, ret, err) < 0 || environment_read(reading, job, ret, err) < 0 ||
        signal_read(reading, "WarnSignal", &order->warning, err) < 0 ||
        signal_read(reading, "CheckpointSignal", &ret->checkpoint_signal, err) < 0 ||
        number_read(reading, "CheckpointPeriod", 0, 1e9, &period, err) < 0 ||
        names_read(reading, "Checkpoint", &ret->checkpoint, err) < 0 ||
        texts_read(reading, "Needs", 0, &ret->needs, err) < 0 || owner_read(reading, ret, err) < 0)
        return -1;
    if (attribute(reading, "Outputs", &value) && names_read(reading, "Outputs", &ret->outputs, err) < 0)
        return -1;
    order->network = attribute(reading, "Network", &value) && value_is_true(&value);
    order->together = ret->members > 1;
    ret->has_inputs = !ret->shares && (ret->checkpoint[0] || (attribute(reading, "Inputs", &value) && value.len) ||
                                       (attribute(reading, "NodeInputs", &value) && value.len));
    ret->checkpoint_period = (int64_t)(period * 1e6);
    if (ret->shares)
        share(ret);
    return 0;
}

int job_order_read(const struct tree *ad, const struct tree *machine, int64_t now, uint64_t job, struct job_order *ret,
                   struct err *err)
{
    struct env env = {.now = now};
    struct reading reading = {.ad = ad, .begun = !machine};
    int failed;

    *ret = (struct job_order){
        .order = {.job = job, .output = JOB_STDOUT, .error = JOB_STDERR, .span = INT64_MAX, .warning = SIGTERM}};
    arena_init(&ret->arena);
    arena_init(&reading.scratch);
    reading.into = &ret->arena;
    scope_init(&reading.scope, ad, NULL);
    pair_init(&reading.met, ad, machine);
    eval_init(&reading.eval, &env, &reading.scratch);
    failed = read_file(&reading, job, ret, err);
    arena_done(&reading.scratch);
    if (failed)
        job_order_done(ret);
    return failed;
}

void job_order_variables(struct job_order *order, const char *const *variables)
{
    const char *const *before = order->order.environment;
    size_t more = texts_count(variables), count = texts_count(before), own = order->own_variables;
    const char **all = arena_alloc(&order->arena, (count + more + 1) * sizeof *all);

    memcpy(all, before, own * sizeof *all);
    memcpy(all + own, variables, more * sizeof *all);
    memcpy(all + own + more, before + own, (count - own + 1) * sizeof *all);
    order->order.environment = all;
}

void job_order_done(struct job_order *order)
{
    arena_done(&order->arena);
    *order = (struct job_order){0};
}
