/* issuer_list.h: the setting Issuers: institutes whose tokens are taken, and what their tokens give.
 *
 *     Issuers = { [ Issuer = "https://idp.example.org"; Name = "idp"; Audience = "https://pool.example.org:7600"; Scopes = "ad:read" ] }
 *
 * Issuer       a URL, as the tokens' `iss` has it to the letter; http:// only with Plain, and only to a number of loopback
 * Name         what its identities begin with; without it: host, port and path of the URL
 * Audience     a text or a list: what the tokens' `aud` must have
 * AnyAudience  true: tokens of WLCG and SciTokens that are for everybody are taken too
 * Keys         the file of its keys; without it they are fetched from where its description says
 * CA           the file of the certificates that its own is checked against, if not the system's
 * KeysAge      seconds after which keys are fetched again; KeysPause: the least time between two tries
 * Client       who we are to the issuer when people sign in on the page by it; without it they do not
 * ClientSecret the file of that client's secret; without it the client is a public one
 * Ask          the words of `scope` that are asked for then, and Title: what the page calls the issuer
 * Session      seconds that such a sign-in lasts
 * Identity, Account, Group, UnixAccount, Scopes   expressions over the claims: see live/auth/issuer.h */
#ifndef BERTH_LIVE_CONFIG_ISSUER_LIST_H
#define BERTH_LIVE_CONFIG_ISSUER_LIST_H

#include "lang/base/err.h"
#include "lang/text/tree.h"
#include "live/auth/issuer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ISSUER_LIST_MAX 16
#define ISSUER_KEYS_AGE 3600 /* seconds, by default */
#define ISSUER_KEYS_PAUSE 30
#define ISSUER_SESSION (12 * 60 * 60)
#define ISSUER_ASK "openid"
#define ISSUER_TITLE_MAX 60 /* bytes */

struct issuer_entry {
    struct issuer issuer;
    char *keys_file, *ca_file; /* or NULL */
    bool plain;
    int64_t keys_age, keys_pause; /* seconds */
    /* For those who sign in on the page (issuer.client): */
    char *secret_file, *ask, *title; /* or NULL */
    int64_t session;                 /* seconds */
};

struct issuer_list {
    struct issuer_entry items[ISSUER_LIST_MAX];
    uint32_t count;
};

/* Reads the list from an expression ("" and {}: none). The error names issuer and field: "idp: Audience: ...". issuer_list_done frees the list, and
 * takes a zeroed one as well. */
int issuer_list_read(struct issuer_list *ret, const struct tree *tree, const struct expr *list, struct err *err);
int issuer_list_parse(struct issuer_list *ret, struct symbols *symbols, const char *text, struct err *err);
void issuer_list_done(struct issuer_list *list);
void issuer_entry_done(struct issuer_entry *entry); /* of one that was taken out of the list */

#ifdef __cplusplus
}
#endif
#endif
