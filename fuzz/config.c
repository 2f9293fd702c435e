/* config.c (fuzzer): settings from any text, as a file or as the environment.
 *
 *     byte 0       even: the rest is a file; odd: the rest are lines, each a variable without its BERTH_
 *
 * Law: what is loaded can be shown, and what is shown, written into a file, is loaded as the same. What is refused has a reason. */
#include "live/config/config.h"
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#define VARIABLES_MAX 64

int memfd_create(const char *name, unsigned flags); /* not of POSIX */

struct world {
    int fd; /* a file in memory, and its path */
    char path[64];
};

static int load(struct world *world, const char *text, size_t len, const char *const *variables, struct config *ret,
                struct err *err)
{
    struct config_sources sources = {.file = world->path, .variables = variables, .root = true, .etc = "/nonexistent"};

    if (ftruncate(world->fd, 0) != 0 || pwrite(world->fd, text, len, 0) != (ssize_t)len)
        abort();
    lseek(world->fd, 0, SEEK_SET);
    *err = (struct err){0};
    return config_load(ret, &sources, err);
}

static void check(struct world *world, const struct config *config)
{
    struct config again;
    struct buf text;
    struct err err;

    buf_init(&text);
    buf_addc(&text, '[');
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        buf_addf(&text, "%s=", config_row((enum config_key)i)->name);
        config_print(&text, (enum config_key)i, &config->values[i]);
        buf_addc(&text, ';');
    }
    buf_addc(&text, ']');
    if (text.len <= CONFIG_FILE_MAX) {
        if (load(world, text.text, text.len, NULL, &again, &err) < 0) {
            fprintf(stderr, "%s\n%s\n", err.text, buf_string(&text));
            fuzz_broken("what is shown can be read");
        }
        for (int i = 0; i < CONFIG_KEY_COUNT; i++)
            if (config_differs(config, &again, (enum config_key)i))
                fuzz_broken("what is shown is what is meant");
        config_done(&again);
    }
    buf_reset(&text);
    config_trace(&text, config);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world = {.fd = -1};
    const char *variables[VARIABLES_MAX + 1] = {NULL};
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    struct config config;
    struct err err;
    size_t count = 0;
    int result;

    if (world.fd < 0) {
        world.fd = memfd_create("config", 0);
        snprintf(world.path, sizeof world.path, "/proc/self/fd/%d", world.fd);
    }
    if (size == 0)
        return 0;
    while (data[0] % 2 && at < end && count < VARIABLES_MAX) {
        size_t len;
        const char *line = fuzz_part(&at, end, &len);
        struct buf text;

        buf_init(&text);
        buf_adds(&text, "BERTH_");
        buf_add(&text, line, len);
        variables[count++] = buf_string(&text); /* the buffer becomes the text */
    }
    result = data[0] % 2 ? load(&world, "[]", 2, variables, &config, &err)
                         : load(&world, at, (size_t)(end - at), NULL, &config, &err);
    if (result < 0 && !err.text[0])
        fuzz_broken("what is refused has a reason");
    if (result == 0) {
        check(&world, &config);
        config_done(&config);
    }
    while (count)
        free((char *)(uintptr_t)variables[--count]);
    return 0;
}
