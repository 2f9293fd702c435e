/* options.h: the options of a command as a table, from which they are read, explained and put into the manual.
 *
 * A row says where in the command's settings the option goes and which function reads its argument:
 *
 *     struct fmt_settings { const struct dialect *dialect; bool write; };
 *     {'w', "write", NULL, "rewrite the file in place", option_flag, offsetof(struct fmt_settings, write)}
 *
 * Options may stand anywhere before `--` (of a command whose words are another program's, before its first word); `-wd condor`, `-dcondor`, `--dialect condor` and `--dialect=condor` are understood. A dash with no letter
 * behind it (`-`, `-5`) does not begin an option, so that expressions can begin with it. */
#ifndef BERTH_CLI_TERM_OPTIONS_H
#define BERTH_CLI_TERM_OPTIONS_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the text (NULL for an option without argument) into `target`; -1 with what was expected. */
typedef int option_read_fn(const char *text, void *target, struct err *err);

struct option {
    char letter;          /* 0: none */
    const char *name;     /* without its dashes */
    const char *argument; /* its name in help; NULL: the option takes no argument */
    const char *help;
    option_read_fn *read;
    size_t at; /* offset of the target in the settings */
};

option_read_fn option_flag;    /* bool */
option_read_fn option_file;    /* const char *, the name of a file */
option_read_fn option_once;    /* the same, NULL at first: a second file would be lost, and is refused */
option_read_fn option_files;   /* struct option_files: every file that is given */
option_read_fn option_text;    /* const char *, anything */
option_read_fn option_number;  /* uint64_t */
option_read_fn option_dialect; /* const struct dialect * */
option_read_fn option_form;    /* enum form */

#define OPTION_FILES_MAX 64

struct option_files {
    const char *names[OPTION_FILES_MAX];
    unsigned count;
};

/* Reads a uint64_t from 1 to `max`, for an option_read_fn that a command has for itself. */
int option_count_to(const char *text, uint64_t max, void *target, struct err *err);

enum options_result { OPTIONS_READ, OPTIONS_HELP, OPTIONS_BAD };

/* Fills the settings; words that are not options are moved to the front of `words`, and counted. With `leading`, all that follows the first of these
 * is a word, too. OPTIONS_HELP when -h or --help is there. */
enum options_result options_read(const struct option *options, size_t option_count, bool leading, void *settings,
                                 int *word_count, char **words, struct err *err);

/* Prints "-d, --dialect NAME", for help and the manual. */
void option_print(struct buf *out, const struct option *option);

/* The row that every command has besides its own: -h, --help. */
extern const struct option option_help_row;

/* The rows that several commands share; T is the type of the settings. */
#define OPTION_DIALECT(T)                                                                                \
    {                                                                                                    \
        'd', "dialect", "DIALECT", "read and evaluate in this dialect: classic (the default) or condor", \
            option_dialect, offsetof(T, dialect)                                                         \
    }

#endif
