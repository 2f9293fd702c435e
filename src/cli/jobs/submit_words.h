/* submit_words.h: the words of berth submit: files, and attributes that are set by hand.
 *
 *     berth submit fit.ad Rounds=100 Tag=monday      ->   files: fit.ad; over its ads: [ Rounds = 100; Tag = "monday" ]
 *
 * A word with a name and `=` in front sets an attribute, unless there is a file of that name. */
#ifndef BERTH_CLI_JOBS_SUBMIT_WORDS_H
#define BERTH_CLI_JOBS_SUBMIT_WORDS_H

#include "lang/form/submit.h"

struct submit_words {
    const char **files;
    int file_count;
    struct submit_given *given; /* names, which are copies, and values, which are lent */
    int given_count;
};

void submit_words_init(struct submit_words *words, int word_count, char **all);
void submit_words_done(struct submit_words *words);

/* What is set by hand as an ad, which the caller unrefs; NULL when nothing is. -1 when it cannot be one, which has been reported. */
int submit_words_layer(const struct submit_words *words, struct symbols *symbols, struct tree **ret);

#endif
