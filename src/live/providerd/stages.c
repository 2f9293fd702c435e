/* stages.c: commands before and after a job's program, as one command. */
#include "live/providerd/stages.h"

#include <stdio.h>

/* $1 and $2 are how many words are of the first and of the second; then they come, and the program behind them. `front` becomes the first
 * $n of its words: they go round to the end, and the others are dropped. Each command is a child of its own, to which signals are sent.
 * A shell tells a signal as 128 and its number. */
static const char script[] = "a=$1 b=$2; shift 2\n"
                             "front() {\n"
                             "  i=0\n"
                             "  while [ $i -lt $n ]; do\n"
                             "    case $1 in '$RETURN') set -- \"$@\" \"$RETURN\" ;; *) set -- \"$@\" \"$1\" ;; esac\n"
                             "    shift; i=$((i + 1))\n"
                             "  done\n"
                             "  shift $(($# - n)); exec \"$@\"\n"
                             "}\n"
                             "if [ $a -gt 0 ]; then\n"
                             "  (n=$a; front \"$@\") </dev/null; s=$?\n"
                             "  if [ $s != 0 ]; then\n"
                             "    echo \"berth: the command before the program ended with status $s\" >&2\n"
                             "    exit $s\n"
                             "  fi\n"
                             "fi\n"
                             "(shift $((a + b)); exec \"$@\"); s=$?\n"
                             "[ $b -gt 0 ] || exit $s\n"
                             "RETURN=$s; if [ $s -gt 128 ] && [ $s -le 192 ]; then RETURN=$((128 - s)); fi\n"
                             "export RETURN\n"
                             "(shift $a; n=$b; front \"$@\") </dev/null; s=$?\n"
                             "exit $s\n";

static const char *number_text(struct arena *into, size_t number)
{
    char *text = arena_alloc(into, 24);

    snprintf(text, 24, "%zu", number);
    return text;
}

static size_t words_add(const char **room, size_t at, const char *const *words)
{
    while (*words)
        room[at++] = *words++;
    return at;
}

const char *const *stages_words(const char **room, struct arena *into, const char *const *before,
                                const char *const *after, const char *const *program)
{
    size_t at = STAGES_WORDS, first, second;

    first = words_add(room, at, before);
    second = words_add(room, first, after);
    at = words_add(room, second, program);
    room[at] = NULL;
    room[0] = "/bin/sh";
    room[1] = "-c";
    room[2] = script;
    room[3] = "berth";
    room[4] = number_text(into, first - STAGES_WORDS);
    room[5] = number_text(into, second - first);
    return room;
}
