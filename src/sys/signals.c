/* signals.c: signals that the owner of a job may send it. */
#include "sys/signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int number;
} signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ABRT", SIGABRT}, {"KILL", SIGKILL},
               {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}};

const char *signal_name(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return NULL;
}

bool signal_is_allowed(int number)
{
    return signal_name(number) != NULL;
}

int signal_find(const char *text)
{
    char digits[16];

    if (!strncasecmp(text, "SIG", 3))
        text += 3;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        snprintf(digits, sizeof digits, "%d", signals[i].number);
        if (!strcasecmp(text, signals[i].name) || !strcmp(text, digits))
            return signals[i].number;
    }
    return 0;
}
