/* fetch_sandbox.h: the sandbox in which a program of the owner's fetches what strangers name: with the network, as an unprivileged user.
 *
 * Of the machine it has its programs, its certificates and what says how names are found; nobody's home and nobody's keys. It can write one folder. */
#ifndef BERTH_EXEC_FETCH_SANDBOX_H
#define BERTH_EXEC_FETCH_SANDBOX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FETCH_FOLDER "/out" /* where the folder is inside */
#define FETCH_WORDS_MAX 160

struct fetch_words {
    const char *words[FETCH_WORDS_MAX + 1];
    size_t count;
};

/* Adds words, up to a NULL; what there is no room for is left out. */
void fetch_words_add(struct fetch_words *words, const char *first, ...);
/* Adds bubblewrap and what it is told, up to the "--" before the program. `filter`: the number of the descriptor of the filter of system calls.
 * `program` (or NULL) is seen, wherever it lies. */
void fetch_sandbox_add(struct fetch_words *words, const char *folder, const char *filter, const char *program);
/* Of our environment the variables by which programs find their way out are kept, and no others. They are no words of a command: a proxy's address may have
 * a password in it, and everybody sees those. */
void fetch_proxies_keep(void);

#ifdef __cplusplus
}
#endif
#endif
