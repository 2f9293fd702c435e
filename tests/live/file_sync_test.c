/* file_sync_test.c: files of jobs are brought to disk by a thread: which were, which could not be, and who has lost interest. */
#include "live/providerd/file_sync.h"

#include "common/folder.h"
#include "common/tap.h"

#include <uv.h>

#define LARGE 5000000

static struct folder home;
static uv_loop_t loop;

static void settled(void *user)
{
    ++*(int *)user;
}

static void check_results(void)
{
    const char *names[] = {"small", "large", "missing", "link", "below/deep", "../outside", "below"};
    int heard = 0;
    struct file_sync *settling = file_sync_start(&loop, folder_path(&home, "job"), names, 7, settled, &heard);

    tap_ok(heard == 0 && file_sync_result(settling, 0) == -1, "nothing is said before the loop has run");
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(heard == 1, "then it is, once");
    tap_ok(file_sync_result(settling, 0) == 0 && file_sync_result(settling, 1) == 0 &&
               file_sync_result(settling, 4) == 0,
           "files are on disk, also in folders");
    tap_ok(file_sync_result(settling, 2) == -1, "what is not there is not");
    tap_ok(file_sync_result(settling, 3) == -1 && file_sync_result(settling, 5) == -1,
           "nothing outside of the job's folder is touched, by a link or by its name");
    tap_ok(file_sync_result(settling, 6) == -1 && file_sync_result(settling, 7) == -1, "nor what is no file");
    file_sync_free(settling);
    settling = file_sync_start(&loop, folder_path(&home, "nowhere"), names, 2, settled, &heard);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(heard == 2 && file_sync_result(settling, 0) == -1, "of a folder that has gone nothing is on disk");
    file_sync_free(settling);
    tap_ok(file_sync_result(NULL, 0) == -1, "nor where nothing was begun");
    file_sync_free(NULL);
}

/* Enough at once that some have not begun; the sanitizers see whether all is given back. */
static void check_dropped(void)
{
    const char *names[] = {"large", "small"};
    struct file_sync *all[40];
    int heard = 0;

    for (int i = 0; i < 40; i++)
        all[i] = file_sync_start(&loop, folder_path(&home, "job"), names, 2, settled, &heard);
    for (int i = 0; i < 40; i += 2)
        file_sync_free(all[i]);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(heard == 20, "who has lost interest hears nothing, and the others do (%d)", heard);
    for (int i = 1; i < 40; i += 2)
        file_sync_free(all[i]);
}

int main(void)
{
    static char large[LARGE];

    folder_init(&home);
    folder_make(&home, "job");
    folder_make(&home, "job/below");
    folder_put(&home, "outside", "not its");
    folder_put(&home, "job/small", "its");
    folder_write(&home, "job/large", large, sizeof large);
    folder_put(&home, "job/below/deep", "its");
    if (symlink("../outside", folder_path(&home, "job/link")) < 0)
        tap_ok(false, "a link can be made");
    uv_loop_init(&loop);
    check_results();
    check_dropped();
    tap_ok(uv_loop_close(&loop) == 0, "the loop has nothing left");
    folder_done(&home);
    return tap_done();
}
