/* images.c: images that jobs run in: unpacked once, kept for others, within a bound.
 *
 *     STATE/provider/images/KEY/root         an image's files         KEY: what it is (image_from.c)
 *     STATE/provider/images/KEY/says         how it wants to be run (exec/image_run.h)
 *     STATE/provider/images/KEY/users/CLAIM.NUMBER    jobs that run in it: it stays as long as one is here, also when the agent was restarted
 *     STATE/provider/images/KEY.new          one that is being unpacked
 *     STATE/provider/images/KEY.new.got      one that is being fetched from a registry
 *
 * Jobs that begin at the same time wait for one unpacking. Those that nobody runs in go when all together are larger than ImageCache, the one
 * that was not wanted for longest first. After the machine has started anew none is trusted: their last bytes may not have come to disk. */
#define _GNU_SOURCE
#include "live/providerd/providerd_parts.h"

#include "exec/image_run.h"
#include "exec/image_squash.h"
#include "exec/image_unpack.h"
#include "exec/self.h"
#include "lang/base/mem.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_SPAN (1800 * SECOND) /* that unpacking may take */
#define WORDS_MAX 250              /* of what the unpacker says */
#define PROXIES 6
#define PROXY_MAX 1024
#define BOOT_MARK ".boot" /* the boot in which the images were unpacked */

struct image {
    struct image *next;
    struct providerd *providerd;
    char key[IMAGE_KEY_MAX + 1];
    bool ready;            /* else it is being unpacked */
    int64_t bytes, wanted; /* wanted: when, seconds on the wall clock */
    uint32_t users;        /* tasks that run in it, or wait for it */
    uv_process_t process;
    bool opened, lives, late;       /* the process: its handle is to be closed; it has not ended; it takes too long */
    int words;                      /* a file that the unpacker writes what is wrong to; -1 */
    int64_t began;                  /* of unpacking */
    char place[IMAGE_REF_MAX + 32]; /* in a registry, that it comes from; "" */
};

#define FRESH ".new"

/* The path of an image's folder, with something behind it; of all of them for the key "". */
static void image_path(const struct providerd *providerd, const char *key, const char *end, char ret[DAEMON_PATH_MAX])
{
    snprintf(ret, DAEMON_PATH_MAX, "%.3600s/images%s%.128s%.128s", providerd->daemon.folder, *key ? "/" : "", key, end);
}

static struct image *image_find(const struct providerd *providerd, const char *key)
{
    struct image *image = providerd->images;

    while (image && strcmp(image->key, key) != 0)
        image = image->next;
    return image;
}

static struct image *image_new(struct providerd *providerd, const char *key)
{
    struct image *image = mem_alloc(sizeof *image);

    memset(image, 0, sizeof *image);
    image->providerd = providerd;
    image->words = -1;
    image->next = providerd->images;
    snprintf(image->key, sizeof image->key, "%.*s", IMAGE_KEY_MAX, key);
    providerd->images = image;
    return image;
}

static void image_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void image_free(struct image *image)
{
    struct image **link = &image->providerd->images;

    while (*link != image)
        link = &(*link)->next;
    *link = image->next;
    if (image->words >= 0)
        close(image->words);
    if (image->lives)
        uv_process_kill(&image->process, SIGKILL);
    if (image->opened) {
        image->process.data = image;
        uv_close((uv_handle_t *)&image->process, image_closed);
    } else {
        free(image);
    }
}

static void folder_drop(struct providerd *providerd, const char *key, const char *end)
{
    char path[DAEMON_PATH_MAX];
    struct err err;

    image_path(providerd, key, end, path);
    if (trash_take(providerd->trash, path, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "image", log_text("why", err.text));
}

/* How the image wants to be run; what it says lies in the arena. */
static int says_read(const struct providerd *providerd, const char *key, struct arena *into, struct image_run *ret)
{
    char path[DAEMON_PATH_MAX], *bytes = mem_alloc(IMAGE_SAYS_MAX + 1);
    int fd, result = -1;
    ssize_t len;

    image_path(providerd, key, "/" IMAGE_SAYS, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    len = fd < 0 ? -1 : read(fd, bytes, IMAGE_SAYS_MAX + 1);
    if (len > 0)
        result = image_run_read(bytes, (size_t)len, into, ret);
    if (fd >= 0)
        close(fd);
    free(bytes);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------- which */

static void user_path(const struct task *task, const char *key, char ret[DAEMON_PATH_MAX])
{
    char name[64];

    snprintf(name, sizeof name, "/users/%016llx.%llu", (unsigned long long)task->claim,
             (unsigned long long)task->number);
    image_path(task->providerd, key, name, ret);
}

/* Notes that the job runs in it, where the next agent finds that. */
static void image_use(struct image *image, const struct task *task)
{
    char path[DAEMON_PATH_MAX];
    int fd;

    image_path(task->providerd, image->key, "/users", path);
    mkdir(path, 0700);
    user_path(task, image->key, path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    image_path(task->providerd, image->key, "/" IMAGE_SAYS, path);
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* when it was last wanted */
    image->wanted = runner_wall() / SECOND;
}

/* Lets go of what nobody runs in, until the rest is within the bound. */
static void images_bound(struct providerd *providerd)
{
    int64_t most = (int64_t)config_size(&providerd->daemon.config, CONFIG_IMAGE_CACHE), sum = 0;
    struct image *oldest;

    for (struct image *image = providerd->images; image; image = image->next)
        sum += image->bytes;
    while (sum > most) {
        oldest = NULL;
        for (struct image *image = providerd->images; image; image = image->next)
            if (image->ready && !image->users && (!oldest || image->wanted < oldest->wanted))
                oldest = image;
        if (!oldest)
            return;
        sum -= oldest->bytes;
        LOG(&providerd->daemon.log, LEVEL_INFO, "image.dropped", log_text("hash", oldest->key),
            log_number("bytes", oldest->bytes));
        folder_drop(providerd, oldest->key, "");
        image_free(oldest);
    }
}

/* ------------------------------------------------------------------------------------------------------------- unpacking */

/* Tells those who wait. Each may be gone when the one before has been told. */
static void image_tell(struct providerd *providerd, struct image *image, const char *why, bool fault)
{
    struct task *waiting;

    do {
        for (waiting = providerd->tasks; waiting; waiting = waiting->next)
            if (waiting->image == image && waiting->image_waits)
                break;
        if (!waiting)
            break;
        waiting->image_waits = false;
        if (why) {
            waiting->image = NULL;
            image->users--;
        } else {
            image_use(image, waiting);
        }
        task_image_came(waiting, why, fault);
    } while (waiting);
}

static void words_read(const struct image *image, char ret[WORDS_MAX + 1])
{
    ssize_t len = image->words < 0 ? 0 : pread(image->words, ret, WORDS_MAX, 0);

    ret[len > 0 ? len : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    for (char *c = ret; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?'; /* names in it are a stranger's */
}

static void unpack_ended(uv_process_t *process, int64_t status, int signal)
{
    struct image *image = process->data;
    struct providerd *providerd = image->providerd;
    char fresh[DAEMON_PATH_MAX], path[DAEMON_PATH_MAX], words[WORDS_MAX + 1], why[WORDS_MAX + 64] = "";
    bool unreached = status == IMAGE_STATUS_UNREACHED && *image->place;
    struct image_run run;
    struct arena arena;

    image->lives = false;
    arena_init(&arena);
    words_read(image, words);
    image_path(providerd, image->key, FRESH, fresh);
    image_path(providerd, image->key, "", path);
    if (status || signal)
        snprintf(why, sizeof why, "its image: %s",
                 image->late ? *image->place ? "fetching and unpacking it took too long" : "unpacking it took too long"
                 : *words    ? words
                             : "it cannot be unpacked");
    else if (rename(fresh, path) < 0)
        snprintf(why, sizeof why, "its image: %s", strerror(errno));
    else if (says_read(providerd, image->key, &arena, &run) < 0)
        snprintf(why, sizeof why, "its image: what it says cannot be read");
    else
        image->bytes = run.bytes;
    arena_done(&arena);
    LOG(&providerd->daemon.log, *why ? LEVEL_WARNING : LEVEL_INFO, "image.unpacked", log_text("hash", image->key),
        log_number("bytes", image->bytes), log_number("ms", (runner_now() - image->began) / MILLISECOND),
        log_text("why", *why ? why : "it is there"));
    if (*why)
        folder_drop(providerd, image->key, FRESH);
    if (*image->place)
        folder_drop(providerd, image->key, FRESH IMAGE_GOT);
    if (unreached)
        source_fails(providerd, image->place);
    else if (*image->place && !*why)
        source_works(providerd, image->place);
    image->ready = !*why;
    image_tell(providerd, image, *why ? why : NULL, unreached);
    if (*why) {
        image_free(image); /* the handle is closed there */
        return;
    }
    close(image->words);
    image->words = -1;
    images_bound(providerd);
}

/* The variables by which programs find their way out, and no others. */
static void proxies_find(char *ret[PROXIES + 1], char texts[PROXIES][PROXY_MAX])
{
    static const char *const names[PROXIES] = {"http_proxy", "https_proxy", "no_proxy",
                                               "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};
    size_t count = 0;

    for (size_t i = 0; i < PROXIES; i++) {
        const char *value = getenv(names[i]);

        if (!value || snprintf(texts[count], PROXY_MAX, "%s=%s", names[i], value) >= PROXY_MAX)
            continue;
        ret[count] = texts[count];
        count++;
    }
    ret[count] = NULL;
}

static int unpack_start(struct image *image, const struct image_from *from, uint32_t uid, struct err *err)
{
    struct providerd *providerd = image->providerd;
    char folder[DAEMON_PATH_MAX], self[SELF_MAX], bytes[32], user[16];
    const char *program = self_program(self);
    const char *const words[] = {"berth", "unpack", from->sort, folder, from->what, bytes, user, NULL};
    char *environment[PROXIES + 1], proxies[PROXIES][PROXY_MAX];
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD}};
    uv_process_options_t options = {.exit_cb = unpack_ended,
                                    .file = program,
                                    .args = (char **)(uintptr_t)words,
                                    .env = environment,
                                    .stdio_count = 3,
                                    .stdio = streams};
    int failed;

    proxies_find(environment, proxies);
    folder_drop(providerd, image->key, FRESH);
    folder_drop(providerd, image->key, FRESH IMAGE_GOT);
    image_path(providerd, image->key, FRESH, folder);
    snprintf(image->place, sizeof image->place, "%s", from->place);
    snprintf(bytes, sizeof bytes, "%lld", (long long)config_size(&providerd->daemon.config, CONFIG_IMAGE_CACHE));
    snprintf(user, sizeof user, "%u", uid);
    image->words = open(providerd->daemon.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (image->words < 0)
        return err_set(err, "its image: %s", strerror(errno));
    streams[2].data.fd = image->words;
    if (from->accounts >= 0) {
        streams[0].flags = UV_INHERIT_FD;
        streams[0].data.fd = from->accounts;
    }
    image->process.data = image;
    image->began = runner_now();
    failed = uv_spawn(&providerd->daemon.loop, &image->process, &options);
    image->opened = true; /* in any case */
    image->lives = !failed;
    return failed ? err_set(err, "its image: %s", uv_strerror(failed)) : 0;
}

/* The job's image, which is unpacked if it is not there yet; NULL and `err`. */
static struct image *image_want(struct task *task, const struct image_from *from, struct err *err)
{
    struct providerd *providerd = task->providerd;
    struct image *image = image_find(providerd, task->image_key);
    const struct executor *executor = providerd->executor;
    uint32_t uid = 0;

    if (!executor->kind->takes_images || !executor->kind->takes_images(executor, &uid)) {
        err_set(err, "its image: jobs run without a sandbox here, and so none can have one");
        return NULL;
    }
    if (image)
        return image;
    image = image_new(providerd, task->image_key);
    if (unpack_start(image, from, uid, err) == 0)
        return image;
    image_free(image);
    return NULL;
}

void images_begin(struct task *task)
{
    struct image_from from;
    struct err err = {0};
    int wanted = image_from(task, &from, &err);
    struct image *image = wanted > 0 ? image_want(task, &from, &err) : NULL;

    if (from.accounts >= 0)
        close(from.accounts);
    if (!image) {
        task_image_came(task, wanted ? err.text : NULL, false);
        return;
    }
    task->image = image;
    image->users++;
    task->image_waits = !image->ready;
    if (image->ready) {
        image_use(image, task);
        task_image_came(task, NULL, false);
    }
}

void images_leave(struct task *task)
{
    struct image *image = task->image;
    char path[DAEMON_PATH_MAX];

    if (!image)
        return;
    user_path(task, image->key, path);
    unlink(path);
    image->users--;
    task->image = NULL;
    if (!image->users && image->ready && image_key_is_single(image->key)) {
        folder_drop(task->providerd, image->key, "");
        image_free(image);
    }
}

void images_found(struct task *task)
{
    char path[DAEMON_PATH_MAX];

    for (struct image *image = task->providerd->images; image && !task->image; image = image->next) {
        user_path(task, image->key, path);
        if (access(path, F_OK) != 0)
            continue;
        task->image = image;
        image->users++;
    }
}

int images_view(struct task *task, struct err *err)
{
    struct job_order *order = &task->order;
    const char *const *own = order->order.arguments;
    struct image_run run;

    image_path(task->providerd, task->image->key, "/" IMAGE_ROOT, task->image_root);
    task->view.root = task->image_root;
    if (says_read(task->providerd, task->image->key, &order->arena, &run) < 0)
        return err_set(err, "its image: what it says cannot be read");
    if (!own[0] && run.begin)
        task->view.begin = run.begin;
    if (!order->order.staged) /* a shell that runs several commands is none that the image has to know of */
        order->order.arguments = image_run_command(&run, own, &order->arena);
    if (!order->order.arguments)
        return err_set(err, "its image says no command, and the job has no Cmd");
    job_order_variables(order, run.variables);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ life */

void images_tick(struct providerd *providerd)
{
    int64_t now = runner_now();

    for (struct image *image = providerd->images; image; image = image->next)
        if (!image->ready && !image->late && now - image->began > IMAGE_SPAN) {
            image->late = true;
            uv_process_kill(&image->process, SIGKILL);
        }
}

/* Was the machine started anew since the images were unpacked? */
static bool boot_is_another(int folder)
{
    char now[64] = "", then[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, now, sizeof now - 1);

    if (fd >= 0)
        close(fd);
    fd = openat(folder, BOOT_MARK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return true;
    if (read(fd, then, sizeof then - 1) == len && len > 0 && !memcmp(now, then, (size_t)len)) {
        close(fd);
        return false;
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, now, (size_t)len, 0) != len)
        unlinkat(folder, BOOT_MARK, 0);
    close(fd);
    return true;
}

/* Takes an image that an earlier agent has unpacked. */
static void image_load(struct providerd *providerd, const char *key)
{
    char path[DAEMON_PATH_MAX];
    struct image_run run;
    struct image *image;
    struct arena arena;
    struct stat info;

    arena_init(&arena);
    image_path(providerd, key, "/" IMAGE_SAYS, path);
    if (image_key_is_good(key) && stat(path, &info) == 0 && says_read(providerd, key, &arena, &run) == 0) {
        image = image_new(providerd, key);
        image->ready = true;
        image->bytes = run.bytes;
        image->wanted = info.st_mtim.tv_sec;
    } else {
        folder_drop(providerd, key, "");
    }
    arena_done(&arena);
}

void images_load(struct providerd *providerd)
{
    char path[DAEMON_PATH_MAX];
    const struct dirent *row;
    bool another;
    DIR *dir;

    image_path(providerd, "", "", path);
    dir = opendir(path);
    another = dir && boot_is_another(dirfd(dir));
    while (dir && (row = readdir(dir))) {
        if (*row->d_name == '.')
            continue;
        if (another)
            folder_drop(providerd, row->d_name, "");
        else
            image_load(providerd, row->d_name);
    }
    if (dir)
        closedir(dir);
}

void images_done(struct providerd *providerd)
{
    while (providerd->images)
        image_free(providerd->images);
}

size_t images_sorts(const struct providerd *providerd, const char *ret[IMAGE_SORTS_MAX])
{
    const struct executor *executor = providerd->executor;
    size_t count = 0;
    uint32_t uid;

    if (!executor || !executor->kind->takes_images || !executor->kind->takes_images(executor, &uid))
        return 0;
    ret[count++] = IMAGE_OCI;
    if (access(UNSQUASHFS, X_OK) == 0) {
        ret[count++] = IMAGE_SQUASHFS;
        ret[count++] = IMAGE_SIF;
    }
    return count;
}
