/* token_parts.h: what the files of token.h share: one link, and when one is no wider than another. Private. */
#ifndef BERTH_LIVE_AUTH_TOKEN_PARTS_H
#define BERTH_LIVE_AUTH_TOKEN_PARTS_H

#include "live/auth/token.h"

#define TOKEN_JOINT '~' /* between links */

#define TOKEN_FOOTER_OPEN "{\"kid\":\""
#define TOKEN_FOOTER_CLOSE "\"}"
#define TOKEN_FOOTER_BYTES (sizeof TOKEN_FOOTER_OPEN - 1 + TOKEN_ID_DIGITS + sizeof TOKEN_FOOTER_CLOSE - 1)

/* The claims of one link. */
struct link {
    char issuer[TOKEN_ID_DIGITS + 1];
    char subject[TOKEN_NAME_MAX + 1];
    char audience[TOKEN_NAME_MAX + 1];
    char id[TOKEN_ID_DIGITS + 1];
    scopes scope;
    int64_t issued, expires;
    bool delegates;
    struct public_key delegate;
};

/* Is that an id: 32 hexadecimal digits? */
bool token_id_valid(const char *text, size_t len);

/* Are the texts and times of a link such as a reader accepts? `ret_why` says what is wrong. */
bool link_valid(const struct link *link, const char **ret_why);

/* Does the link grant nothing that its parent does not? The issuers are not looked at. */
bool link_narrower(const struct link *link, const struct link *parent);

/* Reads a link from the JSON of its claims, strictly. */
bool link_read(const char *json, size_t len, struct link *ret);

/* Reads the last link of a text, and counts the links. All is checked that can be without the keys of a pool. */
enum token_fault link_last(const char *text, size_t len, struct link *ret_link, uint32_t *ret_links);

/* Checks a grant against who asks and when. */
enum token_fault grant_check(const struct grant *grant, const char *audience, int64_t now);

#endif
