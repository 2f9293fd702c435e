/* daemons.c: what the commands that run a daemon have in common. */
#include "cli/serve/daemons.h"
#include "cli/serve/own_store.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/guard.h"
#include "exec/pilot.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

void raise_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int64_t disk_set_aside(int64_t setting, const char *scratch)
{
    char path[PATH_MAX];
    struct statvfs disk;
    long long kept = 0;
    FILE *file;

    if (setting)
        return setting;
    snprintf(path, sizeof path, "%.4000s/disk", scratch);
    file = fopen(path, "re");
    if (file && fscanf(file, "%lld", &kept) != 1)
        kept = 0;
    if (file)
        fclose(file);
    if (kept > 0)
        return kept;
    if (statvfs(scratch, &disk) < 0)
        return 0;
    kept = (long long)((double)disk.f_bavail * (double)disk.f_frsize * 0.9);
    file = fopen(path, "we");
    if (file) {
        fprintf(file, "%lld\n", kept);
        fclose(file);
    }
    return kept;
}

/* Is there anything in the folder of claims? Then a job may run. */
static bool claims_are_there(const char *state)
{
    DIR *dir = opendir(state);
    struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir)))
        found = *entry->d_name != '.';
    if (dir)
        closedir(dir);
    return found;
}

double benchmark_kept(const char *scratch, const char *claims)
{
    char path[PATH_MAX];
    double kept = 0;
    FILE *file;

    snprintf(path, sizeof path, "%.4000s/benchmark", scratch);
    file = fopen(path, "re");
    if (file && (fscanf(file, "%lf", &kept) != 1 || !(kept > 0) || kept > 1e12))
        kept = 0;
    if (file)
        fclose(file);
    if (kept > 0 || claims_are_there(claims))
        return kept;
    kept = floor(pilot_benchmark(MACHINE_BENCHMARK_SPAN));
    file = fopen(path, "we");
    if (file) {
        fprintf(file, "%.0f\n", kept);
        fclose(file);
    }
    return kept;
}

int daemon_serve(const char *folder, const struct config_options *options, struct config *config,
                 const struct providerd_settings *providerd, bool fresh)
{
    struct providerd_settings settings = *providerd;
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;
    char path[PATH_MAX];
    struct err err = {0};
    const char *name = config_text(config, CONFIG_AGENT_NAME);
    int ended;

    snprintf(path, sizeof path, "%.4000s/%s", config_text(config, CONFIG_STATE), folder);
    raise_files();
    guard_memory();
    if (folder_make_own(path) < 0)
        return STATUS_BAD;
    config_options_sources(options, given, &sources);
    settings.version = BERTH_VERSION;
    settings.name = *name ? name : NULL;
    settings.sources = &sources;
    settings.log_fd = STDERR_FILENO;
    settings.shelf = own_store_open(config, folder, "claims", fresh);
    if (!settings.shelf)
        return STATUS_BAD;
    ended = providerd_run(&settings, config, &err);
    settings.shelf->kind->close(settings.shelf);
    if (ended < 0)
        report("%s", err.text);
    return ended < 0 ? STATUS_BAD : ended ? STATUS_NO : STATUS_DONE;
}
