/* job_agent.c: a provider over real HTTP that really runs jobs, one at a time and with no sandbox: for tests of the commands about jobs.
 *
 *     job_agent NAME IDENTITY STATE TOKEN CUSTOMER_IDENTITY CUSTOMER_NAME MATCHMAKER
 *
 * Inputs are fetched from the customer, what the job writes is sent there as it comes, then every file that it made. Each question waits
 * for the answer to the one before. With $JOB_AGENT_EVIL, names with colons between, it is a hostile one: it sends these as outputs of
 * every job, whatever the job says that it leaves. */
#include "acting.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "sys/encoding.h"
#include "sys/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define PIECE 60000
#define WORDS_MAX 64

enum stage { STAGE_NONE, STAGE_MANIFEST, STAGE_FETCH, STAGE_RUNNING, STAGE_STREAM, STAGE_OUTPUTS };

struct work {
    enum stage step;
    uint64_t claim, number, job;
    pid_t pid;
    int status;
    bool exited, stopped;
    bool whole[2];
    uint64_t sent[2]; /* of standard output and error */
    char *words[WORDS_MAX];
    struct tree *manifest; /* of the files that are still to be fetched, from `next` on */
    uint32_t next;
    char (*outputs)[256];
    uint32_t output_count;
};

struct machine {
    struct acting is;
    uv_timer_t tick;
    agent customer;
    bool asking;
    char folder[PATH_MAX - 300]; /* of the job */
    struct work work;
    struct effect next; /* a job that waits until what the one before has made is stored; without an ad: none */
};

static const char *const streams[2] = {"stdout", "stderr"};

static void path_in(const struct machine *machine, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s/%.250s", machine->folder, name);
}

/* ------------------------------------------------------------------------------------------------------------ questions */

static void question_begin(struct machine *machine, struct maker *maker, const char *ask)
{
    maker_init(maker, machine->is.settings.symbols);
    maker_text(maker, "Ask", ask);
    maker_word(maker, "Claim", machine->work.claim);
    maker_word(maker, "Number", machine->work.number);
    maker_integer(maker, "Job", (int64_t)machine->work.job);
}

static void question_send(struct machine *machine, struct maker *maker, agent_answer_fn *done)
{
    struct tree *question = maker_seal(maker);

    machine->asking = agent_ask(machine->is.live, machine->customer, question, done, machine);
    tree_unref(question);
}

static void got_any(void *user, const struct tree *answer)
{
    struct machine *machine = user;

    (void)answer;
    machine->asking = false;
}

static void got_manifest(void *user, const struct tree *answer)
{
    struct machine *machine = user;

    machine->asking = false;
    if (!answer || !ad_find(answer, "Files"))
        return;
    machine->work.manifest = tree_ref((struct tree *)(uintptr_t)answer);
    machine->work.step = STAGE_FETCH;
}

/* The n-th file of the manifest; NULL: there are no more. */
static struct tree *manifest_file(const struct work *work)
{
    const struct expr *files = ad_find(work->manifest, "Files");
    struct tree *file;
    struct buf text;

    if (!files || files->kind != EXPR_LIST || work->next >= files->u.run.count)
        return NULL;
    buf_init(&text);
    buf_addc(&text, '[');
    for (uint32_t i = 0; i < 4; i++) {
        static const char *const names[] = {"Name", "Size", "Hash", "Mode"};
        const struct expr *entry = &tree_parts(work->manifest, files)[work->next], *value;
        symbol name = symbols_find(work->manifest->symbols, names[i], strlen(names[i]));

        value = name == SYMBOL_NONE ? NULL : tree_find(work->manifest, entry, name);
        if (value && value->kind == EXPR_STRING)
            buf_addf(&text, "%s=\"%.*s\";", names[i], (int)value->u.run.count, tree_string(work->manifest, value));
        else if (value)
            buf_addf(&text, "%s=%lld;", names[i], (long long)value->u.integer);
    }
    buf_addc(&text, ']');
    file = ad_read(work->manifest->symbols, buf_string(&text));
    buf_done(&text);
    return file;
}

static void got_file(void *user, const struct tree *answer)
{
    struct machine *machine = user;
    struct tree *file = manifest_file(&machine->work);
    char path[PATH_MAX], name[250] = "";
    const char *text;
    struct buf bytes;
    int64_t mode = 0644;
    size_t len;
    int fd;

    machine->asking = false;
    buf_init(&bytes);
    if (answer && ad_string(answer, "Bytes", &text, &len) && base64url_read(&bytes, text, len)) {
        if (ad_string(file, "Name", &text, &len))
            memcpy(name, text, len < sizeof name ? len : 0);
        ad_integer(file, "Mode", &mode);
        path_in(machine, name, path);
        if (strchr(name, '/')) { /* one folder deep is enough for tests */
            *strrchr(path, '/') = '\0';
            mkdir(path, 0755);
            path_in(machine, name, path);
        }
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, (mode_t)mode);
        if (fd < 0 || write(fd, bytes.text, bytes.len) != (ssize_t)bytes.len)
            perror(path);
        if (fd >= 0)
            close(fd);
        machine->work.next++;
    }
    buf_done(&bytes);
    tree_unref(file);
}

static void ask_file(struct machine *machine)
{
    struct tree *file = manifest_file(&machine->work);
    struct maker maker;
    const char *hash;
    int64_t size = 0;
    char digits[65] = "";
    size_t len;

    if (!file) {
        machine->work.step = STAGE_RUNNING;
        return;
    }
    if (ad_string(file, "Hash", &hash, &len) && len < sizeof digits)
        memcpy(digits, hash, len);
    ad_integer(file, "Size", &size);
    question_begin(machine, &maker, "fetch");
    maker_text(&maker, "Hash", digits);
    maker_integer(&maker, "Offset", 0);
    maker_integer(&maker, "Length", size);
    question_send(machine, &maker, got_file);
    tree_unref(file);
}

/* What a file has from there on; `whole`: nothing more will be written to it. */
static void ask_store(struct machine *machine, const char *kind, const char *name, uint64_t offset, bool whole,
                      uint64_t *ret_sent, bool *ret_whole)
{
    char path[PATH_MAX], hash[HASH_DIGITS + 1], bytes[PIECE];
    struct maker maker;
    struct buf coded;
    struct stat found;
    uint64_t size = 0;
    ssize_t got;
    int fd;

    path_in(machine, name, path);
    fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &found) < 0) {
        *ret_whole = whole; /* a job that has just been begun has not made it yet */
        return;
    }
    hash_file(fd, hash, &size, NULL);
    got = pread(fd, bytes, sizeof bytes, (off_t)offset);
    close(fd);
    whole = whole && got >= 0 && offset + (uint64_t)got == size;
    if (got <= 0 && !whole)
        return;
    question_begin(machine, &maker, "store");
    maker_text(&maker, "Kind", kind);
    maker_text(&maker, "Name", name);
    maker_integer(&maker, "Offset", (int64_t)offset);
    maker_integer(&maker, "Size", whole ? (int64_t)size : -1);
    maker_text(&maker, "Hash", whole ? hash : NULL);
    maker_integer(&maker, "Mode", found.st_mode & 0111 ? 0755 : 0644);
    buf_init(&coded);
    base64url_print(&coded, bytes, (size_t)got);
    maker_bytes(&maker, "Bytes", coded.len ? coded.text : "", coded.len);
    buf_done(&coded);
    question_send(machine, &maker, got_any);
    *ret_sent = offset + (uint64_t)got;
    *ret_whole = whole;
}

/* ------------------------------------------------------------------------------------------------------------- the job */

static void job_begin(struct machine *machine, const struct effect *effect)
{
    struct work *work = &machine->work;
    const struct expr *args = ad_find(effect->ad, "Args");
    const char *text;
    uint32_t count = 0;
    size_t len;
    char command[2 * PATH_MAX + 32];

    *work = (struct work){.step = STAGE_MANIFEST, .claim = effect->claim, .number = effect->number, .job = effect->job};
    if (ad_string(effect->ad, "Cmd", &text, &len))
        work->words[count++] = mem_dup(text, len);
    for (uint32_t i = 0; args && args->kind == EXPR_LIST && i < args->u.run.count && count < WORDS_MAX - 1; i++) {
        const struct expr *arg = &tree_parts(effect->ad, args)[i];

        work->words[count++] = mem_dup(tree_string(effect->ad, arg), arg->u.run.count);
    }
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", machine->folder, machine->folder);
    if (system(command) != 0)
        fprintf(stderr, "no folder\n");
}

static void job_launch(struct machine *machine)
{
    struct work *work = &machine->work;

    work->pid = fork();
    if (work->pid == 0) {
        if (chdir(machine->folder) < 0)
            _exit(126);
        for (int i = 0; i < 2; i++) {
            int fd = open(streams[i], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);

            dup2(fd, i + 1);
            close(fd);
        }
        signal(SIGPIPE, SIG_DFL);
        setpgid(0, 0);
        execvp(work->words[0], work->words);
        _exit(127);
    }
    work->step = STAGE_STREAM;
}

static void job_told(struct machine *machine, enum job_news news, enum reason reason)
{
    struct work *work = &machine->work;
    int64_t status = WIFSIGNALED(work->status) ? -WTERMSIG(work->status) : WEXITSTATUS(work->status);
    struct event event = {.kind = EVENT_JOB,
                          .news = news,
                          .claim = work->claim,
                          .number = work->number,
                          .reason = reason,
                          .status = status,
                          .used = SECOND};

    runner_event(agent_runner(machine->is.live), &event);
}

static void outputs_find(struct machine *machine)
{
    struct work *work = &machine->work;
    DIR *dir = opendir(machine->folder);
    struct dirent *entry;

    work->outputs = mem_alloc(64 * sizeof *work->outputs);
    while (dir && (entry = readdir(dir)) && work->output_count < 64)
        if (strcmp(entry->d_name, streams[0]) && strcmp(entry->d_name, streams[1]) &&
            !strncmp(entry->d_name, "out", 3)) /* what tests call outputs */
            snprintf(work->outputs[work->output_count++], 256, "%.200s", entry->d_name);
    if (dir)
        closedir(dir);
    for (const char *name = getenv("JOB_AGENT_EVIL"); name && *name && work->output_count < 64;
         name += strcspn(name, ":"), name += *name == ':')
        snprintf(work->outputs[work->output_count++], 256, "%.*s", (int)strcspn(name, ":"), name);
}

static void work_end(struct work *work)
{
    for (int i = 0; work->words[i]; i++)
        free(work->words[i]);
    tree_unref(work->manifest);
    free(work->outputs);
    *work = (struct work){0};
}

static void stream_step(struct machine *machine)
{
    struct work *work = &machine->work;

    if (!work->exited && waitpid(work->pid, &work->status, WNOHANG) == work->pid) {
        work->exited = true;
        return; /* one more look at what it wrote */
    }
    for (int i = 0; i < 2 && !machine->asking; i++)
        if (!work->whole[i])
            ask_store(machine, "log", streams[i], work->sent[i], work->exited, &work->sent[i], &work->whole[i]);
    if (work->whole[0] && work->whole[1] && !machine->asking) {
        outputs_find(machine);
        job_told(machine, work->stopped ? JOB_GONE : JOB_EXITED, work->stopped ? REASON_RELEASED : REASON_EXITED);
        work->step = STAGE_OUTPUTS;
    }
}

static void tick(uv_timer_t *timer)
{
    struct machine *machine = timer->data;
    struct work *work = &machine->work;
    struct maker maker;
    uint64_t sent;
    bool whole;

    if (machine->asking)
        return;
    if (work->step == STAGE_NONE && machine->next.ad) {
        job_begin(machine, &machine->next);
        tree_unref(machine->next.ad);
        machine->next.ad = NULL;
    }
    if (work->step == STAGE_MANIFEST) {
        question_begin(machine, &maker, "manifest");
        question_send(machine, &maker, got_manifest);
    } else if (work->step == STAGE_FETCH) {
        ask_file(machine);
    } else if (work->step == STAGE_RUNNING) {
        job_launch(machine);
        question_begin(machine, &maker, "report");
        maker_text(&maker, "State", "running");
        question_send(machine, &maker, got_any);
    } else if (work->step == STAGE_STREAM) {
        stream_step(machine);
    } else if (work->step == STAGE_OUTPUTS && work->output_count) {
        ask_store(machine, "output", work->outputs[--work->output_count], 0, true, &sent, &whole);
    } else if (work->step == STAGE_OUTPUTS) {
        question_begin(machine, &maker, "finish");
        maker_integer(&maker, "Wall", 1);
        question_send(machine, &maker, got_any);
        work_end(work);
    }
}

static void job_effect(void *user, const struct effect *effect)
{
    struct machine *machine = user;

    if (effect->kind == EFFECT_JOB) {
        tree_unref(machine->next.ad);
        machine->next = *effect;
        tree_ref(effect->ad);
    } else if (effect->kind == EFFECT_STOP) {
        if (machine->work.pid > 0 && machine->work.claim == effect->claim && !machine->work.exited) {
            machine->work.stopped = true; /* its end tells that it is gone */
            kill(-machine->work.pid, SIGKILL);
            return;
        }
        if (machine->next.ad && machine->next.claim == effect->claim) {
            tree_unref(machine->next.ad);
            machine->next.ad = NULL;
        }
        runner_event(
            agent_runner(machine->is.live),
            &(struct event){.kind = EVENT_JOB, .news = JOB_GONE, .claim = effect->claim, .reason = REASON_RELEASED});
    }
}

/* One that jobs made on this machine fit. */
static struct tree *machine_ad(struct symbols *symbols)
{
    struct utsname here;
    struct tree *ad;
    struct buf text;

    uname(&here);
    buf_init(&text);
    buf_addf(&text,
             "[Type = \"Machine\"; Arch = \"%s\"; OpSys = \"%s\"; Cpus = 2; Memory = 4294967296; Disk = 4294967296;"
             " LoadAvg = 0.1; Constraint = other.Type == \"Job\"]",
             here.machine, here.sysname);
    ad = ad_read(symbols, buf_string(&text));
    buf_done(&text);
    return ad;
}

int main(int argc, char **argv)
{
    static struct machine machine;
    struct agent_settings *settings = &machine.is.settings;

    if (argc < 8 || !acting_init(&machine.is, argv[1], argv[2], argv[3], argv[4], (const char *const *)&argv[7], 1))
        return 2;
    snprintf(machine.folder, sizeof machine.folder, "%s/work", argv[3]);
    machine.is.spans.window = machine.is.spans.deadline = SECOND; /* so that what was lost is soon found */
    machine.is.ads[0] = machine_ad(settings->symbols);
    machine.customer = agent_self(argv[5], argv[6]);
    settings->job = job_effect;
    settings->user = &machine;
    if (!acting_start(&machine.is))
        return 2;
    acting_probed(&machine.is);
    uv_timer_init(&machine.is.loop, &machine.tick);
    machine.tick.data = &machine;
    uv_timer_start(&machine.tick, tick, 20, 20);
    uv_run(&machine.is.loop, UV_RUN_DEFAULT); /* until it is told to end: that gives all back */
    return 0;
}
