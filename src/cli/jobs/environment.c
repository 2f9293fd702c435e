/* environment.c: the variables of here that a job takes along. */
#define _GNU_SOURCE /* environ */
#include "cli/jobs/environment.h"

#include "lang/text/print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Variables that say where things are on this machine, who is at it, or what we say to jobs ourselves: a job has its own. */
static const char *const own_variables[] = {"HOME", "PATH",  "PWD",     "OLDPWD",  "TMPDIR",  "SHELL",
                                            "USER", "SHLVL", "LOGNAME", "_",       "DISPLAY", "WAYLAND_DISPLAY",
                                            "MAIL", "TERM",  "TTY",     "WINDOWID"};
static const char *const own_beginnings[] = {"BERTH_", "XDG_", "SSH_", "DBUS_", "GPG_"};

bool environment_is_name(const char *text, size_t len)
{
    return len && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") >= len &&
           !(*text >= '0' && *text <= '9');
}

static bool variable_is_own(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof own_variables / sizeof *own_variables; i++)
        if (strlen(own_variables[i]) == len && !memcmp(own_variables[i], word, len))
            return true;
    for (size_t i = 0; i < sizeof own_beginnings / sizeof *own_beginnings; i++)
        if (!strncmp(own_beginnings[i], word, strlen(own_beginnings[i])))
            return true;
    return false;
}

/* Are these words NAME=VALUE, or NAME, about one variable, as an ad has its names? */
static bool variable_is_same(const char *a, const char *b)
{
    size_t len = strcspn(a, "=");

    return len == strcspn(b, "=") && !strncasecmp(a, b, len);
}

static bool variable_is_there(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (variable_is_same(word, words[i]))
            return true;
    return false;
}

static void add_variable(struct buf *out, const char *word)
{
    size_t len = strcspn(word, "=");
    const char *value = word[len] ? word + len + 1 : getenv(word);

    value = value ? value : "";
    print_name(out, &dialect_classic, word, len);
    buf_adds(out, " = ");
    print_string(out, value, strlen(value), PRINT_PLAIN);
    buf_adds(out, "; ");
}

void environment_print(struct buf *out, const char *const *given, size_t given_count, bool all)
{
    size_t count = 0;

    if (!given_count && !all)
        return;
    buf_adds(out, "Env = [ ");
    for (size_t i = 0; i < given_count; i++)
        if (!variable_is_there(given[i], given + i + 1, given_count - i - 1))
            add_variable(out, given[i]);
    for (; all && environ[count]; count++)
        if (environment_is_name(environ[count], strcspn(environ[count], "=")) &&
            !variable_is_own(environ[count], strcspn(environ[count], "=")) &&
            !variable_is_there(environ[count], given, given_count) &&
            !variable_is_there(environ[count], (const char *const *)environ, count))
            add_variable(out, environ[count]);
    buf_adds(out, "];\n");
}
