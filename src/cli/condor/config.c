/* config.c: condor_config_val: the names that programs ask for, and our own settings.
 *
 * What HTCondor's tools print for a name that is not there goes to standard error, with status 1: "Not defined: NAME". */
#include "cli/condor/parts.h"
#include "cli/term/config_options.h"
#include "cli/term/report.h"
#include "lang/base/buf.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    V_NAME,
    V_POOL,
    V_VERBOSE,
    V_DEFAULT,
    V_EXPAND,
    V_RAW,
    V_MASTER,
    V_SCHEDD,
    V_SUBSYSTEM,
    V_CONFIG,
    V_DUMP,
    V_SUMMARY,
    V_HELP
};

static const struct condor_option options[] = {
    [V_NAME] = {"name", 1, true},       [V_POOL] = {"pool", 1, true},      [V_VERBOSE] = {"verbose", 1, false},
    [V_DEFAULT] = {"default", 3, true}, [V_EXPAND] = {"expand", 3, false}, [V_RAW] = {"raw", 1, false},
    [V_MASTER] = {"master", 1, false},  [V_SCHEDD] = {"schedd", 2, false}, [V_SUBSYSTEM] = {"subsystem", 2, true},
    [V_CONFIG] = {"config", 3, false},  [V_DUMP] = {"dump", 2, false},     [V_SUMMARY] = {"summary", 2, false},
    [V_HELP] = {"help", 1, false},
};

/* This machine's name; with its domain, if that is known. */
static void host_name(char ret[256], bool whole)
{
    struct addrinfo hints = {.ai_flags = AI_CANONNAME}, *found = NULL;
    char *dot;

    ret[0] = '\0';
    gethostname(ret, 255);
    ret[255] = '\0';
    if (whole && !strchr(ret, '.') && getaddrinfo(ret, NULL, &hints, &found) == 0 && found && found->ai_canonname &&
        strchr(found->ai_canonname, '.') && strncmp(found->ai_canonname, "localhost", 9) != 0)
        snprintf(ret, 256, "%.255s", found->ai_canonname);
    if (found)
        freeaddrinfo(found);
    dot = strchr(ret, '.');
    if (!whole && dot)
        *dot = '\0';
}

bool condor_is_here(const char *command, const char *name)
{
    char whole[256], part[256], bare[256];

    host_name(whole, true);
    host_name(part, false);
    snprintf(bare, sizeof bare, "%.255s", strchr(name, '@') ? strchr(name, '@') + 1 : name);
    bare[strcspn(bare, ":")] = '\0';
    if (!strcasecmp(bare, whole) || !strcasecmp(bare, part) || !strcasecmp(bare, "localhost"))
        return true;
    report("%s: there is one queue here, that of %s; $BERTH_CUSTOMER names another", command, whole);
    return false;
}

static int names_value(const char *name, struct buf *ret)
{
    static const struct {
        const char *name;
        char sort; /* f: this host; h: its short name; p: the pool's host and port; t: a text */
        const char *text;
    } known[] = {
        {"FULL_HOSTNAME", 'f', NULL},
        {"HOSTNAME", 'h', NULL},
        {"SCHEDD_HOST", 'f', NULL},
        {"SCHEDD_NAME", 'f', NULL},
        {"CONDOR_HOST", 'p', NULL},
        {"COLLECTOR_HOST", 'p', NULL},
        {"UID_DOMAIN", 'f', NULL},
        {"FILESYSTEM_DOMAIN", 'f', NULL},
        {"CONDOR_VERSION", 't', CONDOR_NUMBER},
        {"OPSYS", 't', "LINUX"},
        {"BIN", 'b', NULL},
        {"ARCH", 'a', NULL},
        {"DAEMON_LIST", 't', "MASTER, SCHEDD"},
        {"ENABLE_SSH_TO_JOB", 't', "true"},
    };
    char host[256], program[4096], *slash;
    const char *pool = getenv("BERTH_POOL");
    ssize_t len;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(known[i].name, name) != 0)
            continue;
        host_name(host, known[i].sort != 'h');
        switch (known[i].sort) {
        case 't':
            buf_adds(ret, known[i].text);
            return 0;
        case 'p':
            if (pool && strstr(pool, "://")) {
                pool = strstr(pool, "://") + 3;
                buf_add(ret, pool, strcspn(pool, "/"));
                return 0;
            }
            break;
        case 'a':
#ifdef __aarch64__
            buf_adds(ret, "AARCH64");
#else
            buf_adds(ret, "X86_64");
#endif
            return 0;
        case 'b':
            len = readlink("/proc/self/exe", program, sizeof program - 1);
            program[len > 0 ? len : 0] = '\0';
            slash = strrchr(program, '/');
            buf_add(ret, program, slash ? (size_t)(slash - program) : 0);
            return 0;
        default:
            break;
        }
        buf_adds(ret, host);
        return 0;
    }
    return -1;
}

/* One of our own settings, by its name. */
static int setting_value(const struct config *config, const char *name, struct buf *ret)
{
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        size_t from = ret->len;

        if (strcasecmp(config_row((enum config_key)key)->name, name) != 0)
            continue;
        config_print(ret, (enum config_key)key, &config->values[key]);
        if (ret->len >= from + 2 && ret->text[from] == '"') { /* a text stands without its quotes */
            memmove(ret->text + from, ret->text + from + 1, ret->len - from - 2);
            ret->len -= 2;
        }
        return 0;
    }
    return -1;
}

int condor_config_val(struct condor_words *words)
{
    const char *otherwise = NULL;
    struct config_options given = {0};
    struct config config;
    int option, status = STATUS_DONE, asked = 0;
    struct buf value;

    if (config_options_load(&given, &config) < 0)
        return STATUS_NO;
    buf_init(&value);
    while (status != STATUS_BAD && (option = words_next(words, options, V_HELP + 1)) != -2) {
        if (option == -3 || ((option == V_NAME || option == V_POOL) && !condor_is_here(words->command, words->value))) {
            status = STATUS_NO;
            break;
        }
        if (option == V_CONFIG || option == V_DUMP || option == V_SUMMARY) {
            report("condor_config_val: -%s is not understood here: `berth config` lists the settings",
                   options[option].name);
            status = STATUS_NO;
            break;
        }
        otherwise = option == V_DEFAULT ? words->value : otherwise;
        if (option != -1)
            continue;
        asked++;
        buf_reset(&value);
        if (names_value(words->value, &value) == 0 || setting_value(&config, words->value, &value) == 0) {
            printf("%s\n", buf_string(&value));
        } else if (otherwise) {
            printf("%s\n", otherwise);
        } else {
            fflush(stdout);
            fprintf(stderr, "Not defined: %.200s\n", words->value);
            status = STATUS_NO;
        }
    }
    if (status == STATUS_DONE && !asked) {
        report("condor_config_val wants names: `berth config` lists the settings");
        status = STATUS_NO;
    }
    config_done(&config);
    buf_done(&value);
    return status;
}
