/* sandbox_environment.c: the variables of a job: what its order says, and what goes with its GPUs. */
#include "exec/folders.h"
#include "exec/gpu_give.h"
#include "exec/sandbox_parts.h"
#include "exec/sandbox_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sandbox_home(const struct order *order)
{
    const struct executor_view *view = order->is.view;
    const char *home = order->account ? order->account->home : "";

    for (uint32_t i = 0; *home && view && i < view->folder_count; i++)
        if (folder_holds(view->folders[i].path, home) && view_has_place(view->root, view->folders[i].path))
            return home;
    return SANDBOX_FOLDER;
}

/* The value of the last variable of that name; NULL: there is none. */
static const char *variable_of(const char *const *words, const char *name)
{
    const char *value = NULL;
    size_t len = strlen(name);

    for (; *words; words++)
        if (!strncmp(*words, name, len) && (*words)[len] == '=')
            value = *words + len + 1;
    return value;
}

/* Has a folder that goes with its GPUs a place in what the job sees? In an image there may be something in the way. */
bool sandbox_gpu_shows(const struct order *order, const char *path)
{
    const char *root = order->is.view ? order->is.view->root : NULL;

    return !strncmp(path, "/sys/", 5) || !strncmp(path, "/run/", 5) || view_has_place(root, path);
}

/* Appends the path of the libraries that its GPUs need, in front of the job's own; nothing, if they need none. */
void sandbox_gpu_libraries(struct buf *path, const struct order *order)
{
    const char *before = variable_of(order->is.environment, "LD_LIBRARY_PATH");
    bool in_image = false;

    for (const char *word = NULL; (word = gpu_word_next(order->gpus, order->gpus_len, word));) {
        if (*word == GPU_WORD_LIBRARIES && sandbox_gpu_shows(order, word + 1))
            buf_addf(path, "%s%s", path->len ? ":" : "", word + 1);
        in_image = in_image || (*word == GPU_WORD_LIBRARY && order->is.view && order->is.view->root);
    }
    if (in_image)
        buf_addf(path, "%s" GPU_IMAGE_LIBRARIES, path->len ? ":" : "");
    if (path->len && before && *before)
        buf_addf(path, ":%s", before);
}

/* The next word that is a variable; NULL: there are no more. */
const char *sandbox_gpu_variable(const struct order *order, const char *word)
{
    while ((word = gpu_word_next(order->gpus, order->gpus_len, word)))
        if (*word == GPU_WORD_VARIABLE && strchr(word, '='))
            return word;
    return NULL;
}

/* Is the variable of the first word given again by one of the others? */
static bool variable_comes_again(const char *const *words)
{
    size_t len = strcspn(words[0], "=") + 1;

    for (size_t i = 1; words[i]; i++)
        if (!strncmp(words[0], words[i], len))
            return true;
    return false;
}

/* Makes a word NAME=VALUE for a job whose folder is not at /job: a value that lies there lies in the folder. */
static char *bare_variable(const char *word, const char *folder)
{
    size_t name = strcspn(word, "=") + (strchr(word, '=') != NULL), size = strlen(word) + strlen(folder) + 1;
    const char *value = word + name, *behind = value + strlen(SANDBOX_FOLDER);
    bool inside = !strncmp(value, SANDBOX_FOLDER, strlen(SANDBOX_FOLDER)) && (!*behind || *behind == '/');
    char *made = mem_alloc(size);

    snprintf(made, size, "%.*s%s%s", (int)name, word, inside ? folder : "", inside ? behind : value);
    return made;
}

/* Without a sandbox no GPU is given: libraries that heed these variables see none. */
static const char *const no_gpus[] = {"CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES="};

static bool names_gpus(const char *word)
{
    for (size_t i = 0; i < sizeof no_gpus / sizeof *no_gpus; i++)
        if (!strncmp(word, no_gpus[i], strlen(no_gpus[i])))
            return true;
    return false;
}

/* Is it one of the variables that we set for its GPUs? */
static bool is_of_gpus(const struct order *order, const char *word)
{
    size_t len = strcspn(word, "=") + 1;

    for (const char *own = NULL; (own = sandbox_gpu_variable(order, own));)
        if (!strncmp(own + 1, word, len))
            return true;
    return order->how.unprotected && names_gpus(word);
}

/* Appends the variables about its GPUs; without a sandbox nothing holds a job off them but its good will. Returns how many. */
static size_t gpu_environment(const struct order *order, const char *folder, char **environment)
{
    struct buf path;
    size_t n = 0;

    for (size_t i = 0; i < sizeof no_gpus / sizeof *no_gpus && order->how.unprotected; i++)
        environment[n++] = bare_variable(no_gpus[i], folder);
    for (const char *word = NULL; (word = sandbox_gpu_variable(order, word));)
        environment[n++] = bare_variable(word + 1, folder);
    buf_init(&path);
    sandbox_gpu_libraries(&path, order);
    if (path.len) {
        struct buf variable;

        buf_init(&variable);
        buf_addf(&variable, "LD_LIBRARY_PATH=%s", buf_string(&path));
        environment[n++] = bare_variable(buf_string(&variable), folder);
        buf_done(&variable);
    }
    buf_done(&path);
    return n;
}

/* Appends HOME and, of a user of the machine, its name. Returns how many. */
static size_t home_environment(const struct order *order, const char *folder, char **environment)
{
    struct buf word;
    size_t n = 0;

    buf_init(&word);
    buf_addf(&word, "HOME=%s", sandbox_home(order));
    environment[n++] = bare_variable(buf_string(&word), folder);
    for (int i = 0; i < 2 && order->account; i++) {
        buf_reset(&word);
        buf_addf(&word, "%s=%s", i ? "LOGNAME" : "USER", order->account->name);
        environment[n++] = bare_variable(buf_string(&word), folder);
    }
    buf_done(&word);
    return n;
}

/* Is it one of the variables that say whose job it is? */
static bool is_of_account(const struct order *order, const char *word)
{
    return !strncmp(word, "HOME=", 5) ||
           (order->account && (!strncmp(word, "USER=", 5) || !strncmp(word, "LOGNAME=", 8)));
}

/* Makes the environment of a process whose folder is there. No name is there twice: the C library takes the first of them, shells the last. */
char **sandbox_environment(const struct order *order, const char *folder)
{
    const char *const *words = order->is.environment;
    size_t count = 0, n = 0, more = sizeof no_gpus / sizeof *no_gpus + 1;
    bool has_path = false, own_libraries;
    char **environment;
    struct buf path;

    while (words[count])
        count++;
    for (const char *word = NULL; (word = sandbox_gpu_variable(order, word));)
        more++;
    buf_init(&path);
    sandbox_gpu_libraries(&path, order);
    own_libraries = path.len > 0;
    buf_done(&path);
    environment = mem_alloc((count + more + 5) * sizeof *environment);
    for (size_t i = 0; i < count; i++) {
        has_path |= !strncmp(words[i], "PATH=", 5);
        if (!is_of_account(order, words[i]) && !(own_libraries && !strncmp(words[i], "LD_LIBRARY_PATH=", 16)) &&
            !is_of_gpus(order, words[i]) && !variable_comes_again(words + i))
            environment[n++] = bare_variable(words[i], folder);
    }
    n += gpu_environment(order, folder, environment + n);
    n += home_environment(order, folder, environment + n);
    if (!has_path)
        environment[n++] = bare_variable("PATH=" SANDBOX_PATH, folder);
    environment[n] = NULL;
    return environment;
}

/* Makes the environment of a job: of a name that is given twice the last counts. */
char **sandbox_stage_environment(const struct order *order)
{
    static const char *const always[] = {"HOME=" SANDBOX_FOLDER, "PWD=" SANDBOX_FOLDER};
    const char *const *words = order->is.environment;
    size_t count = 0, n = 0;
    bool has_path = false;
    char **environment;

    while (words[count])
        count++;
    environment = mem_alloc((count + 4) * sizeof *environment);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');

        if (!equals || equals == words[i] || variable_comes_again(words + i) || !strncmp(words[i], "HOME=", 5) ||
            !strncmp(words[i], "PWD=", 4))
            continue;
        has_path |= !strncmp(words[i], "PATH=", 5);
        environment[n++] = (char *)(uintptr_t)words[i];
    }
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        environment[n++] = (char *)(uintptr_t)always[i];
    if (!has_path)
        environment[n++] = (char *)(uintptr_t) "PATH=" SANDBOX_PATH;
    environment[n] = NULL;
    return environment;
}
