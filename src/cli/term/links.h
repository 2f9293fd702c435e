/* links.h: links to this program by other names, under which it is another command. */
#ifndef BERTH_CLI_TERM_LINKS_H
#define BERTH_CLI_TERM_LINKS_H

#include <stddef.h>

/* Puts a link for each name into the folder, and tells how many there are; what is there and not ours is left, and reported. A status. */
int links_install(const char *const *names, size_t count, const char *folder);

#endif
