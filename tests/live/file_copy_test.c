/* file_copy_test.c: copies of files laid into jobs' folders: what is small at once, what is large while the loop goes on. */
#include "live/providerd/file_copy.h"

#include "common/folder.h"
#include "common/tap.h"

#include <limits.h>
#include <uv.h>

#define LARGE (FILE_COPY_AT_ONCE * 3 + 17)
#define ENDLESS \
    (INT64_C(1) << 40) /* bytes of a file with nothing in it: to copy it takes long, and more room than there is */

static struct folder home;
static uv_loop_t loop;

struct heard {
    int count;
    char why[ERR_TEXT_MAX];
};

static void heard(void *user, const char *why)
{
    struct heard *heard = user;

    heard->count++;
    snprintf(heard->why, sizeof heard->why, "%s", why ? why : "");
}

static enum file_copy_result lay(const char *name, int64_t size, struct heard *told, struct file_copy **ret)
{
    char from[FOLDER_PATH_MAX];
    struct file_copy_order order = {
        .from = from, .folder = folder_path(&home, "job"), .name = name, .mode = 0644, .size = size};
    struct err err = {0};
    enum file_copy_result result;

    snprintf(from, sizeof from, "%s", folder_path(&home, "source"));
    *told = (struct heard){.count = 0};
    result = file_copy_start(&loop, &order, heard, told, ret, &err);
    if (result == UNLAID)
        snprintf(told->why, sizeof told->why, "%s", err.text);
    return result;
}

/* Bytes that change along the file, or a hole. */
static void source_make(int64_t size, bool hole)
{
    FILE *file = fopen(folder_path(&home, "source"), "w");

    for (int64_t i = 0; !hole && i < size; i++)
        fputc((int)(i * 7 + i / 251) & 255, file);
    if (fflush(file) != 0 || (hole && ftruncate(fileno(file), size) < 0)) {
        printf("Bail out! the source cannot be made\n");
        exit(1);
    }
    fclose(file);
}

static int64_t size_of(const char *name)
{
    struct stat info;

    return stat(folder_path(&home, name), &info) == 0 ? info.st_size : -1;
}

static bool same(const char *left, const char *right)
{
    FILE *a = fopen(folder_path(&home, left), "r"), *b = fopen(folder_path(&home, right), "r");
    int from_a = 0, from_b = 0;

    while (a && b && from_a != EOF && from_a == from_b) {
        from_a = fgetc(a);
        from_b = fgetc(b);
    }
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return a && b && from_a == from_b;
}

static void small_ones(void)
{
    struct file_copy *laying;
    struct heard told;

    source_make(1000, false);
    tap_ok(lay("deep/small", 1000, &told, &laying) == LAID && !laying && same("source", "job/deep/small"),
           "a small file is there at once");
    tap_ok(lay("short", 1001, &told, &laying) == UNLAID && !strcmp(told.why, "short: shorter than it was"),
           "one that is shorter than it was is told");
    tap_ok(lay("../out", 1000, &told, &laying) == UNLAID && size_of("out") < 0,
           "nothing is laid outside of the folder");
    tap_ok(!uv_run(&loop, UV_RUN_DEFAULT) && !told.count, "nothing follows");
}

static void large_ones(void)
{
    struct file_copy *laying;
    struct heard told;

    source_make(LARGE, false);
    tap_ok(lay("large", LARGE, &told, &laying) == LAYING && laying && !told.count && size_of("job/large") >= 0,
           "a large file is begun, and is told of later");
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(told.count == 1 && !*told.why && same("source", "job/large"), "once, when all of it is there");
    lay("cut", LARGE + 1, &told, &laying);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(told.count == 1 && !strcmp(told.why, "cut: shorter than it was"),
           "one that is shorter than it was is told then");
}

static void writing_seen(uv_timer_t *timer)
{
    struct file_copy **laying = timer->data;

    if (size_of("job/endless") <= 0)
        return;
    file_copy_cancel(*laying);
    uv_close((uv_handle_t *)timer, NULL);
}

static void endless_ones(void)
{
    struct file_copy *laying, *second;
    struct heard told, unheard;
    uv_timer_t timer;

    source_make(ENDLESS, true);
    lay("endless", ENDLESS, &told, &laying);
    uv_timer_init(&loop, &timer);
    timer.data = &laying;
    uv_timer_start(&timer, writing_seen, 1, 1);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(!told.count && size_of("job/endless") > 0 && size_of("job/endless") < ENDLESS,
           "while a terabyte is laid the loop goes on, and ends it when nobody waits for it");
    lay("first", ENDLESS, &told, &laying);
    lay("second", ENDLESS, &unheard, &second);
    file_copy_cancel(second);
    file_copy_cancel(laying);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(!told.count && !unheard.count, "one that has not begun is ended as well");
}

int main(void)
{
    folder_init(&home);
    folder_make(&home, "job");
    uv_loop_init(&loop);
    small_ones();
    large_ones();
    endless_ones();
    tap_ok(uv_loop_close(&loop) == 0, "nothing of it is left");
    folder_done(&home);
    return tap_done();
}
