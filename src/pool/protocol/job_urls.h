/* job_urls.h: the files that a job reads from elsewhere: its attribute InputUrls, which `berth submit` makes of the URLs among its Inputs.
 *
 *     InputUrls = { [ Name = "sky.fits"; Url = "https://data.example.org/sky.fits" ] }
 *
 * The machine fetches them before the job begins, and calls each by its name in the job's folder. A machine says in its ad which sorts of URLs it
 * fetches, Fetches = { "file", "http", "https" }: the job's own constraint asks for that (job_wants.h). */
#ifndef BERTH_POOL_PROTOCOL_JOB_URLS_H
#define BERTH_POOL_PROTOCOL_JOB_URLS_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOB_URLS "InputUrls"
#define JOB_URLS_OUT "OutputUrls" /* the same form: where outputs go, to http and https by PUT */
#define JOB_URLS_MACHINE "Fetches"
#define JOB_URLS_OUT_MACHINE \
    "Brings" /* likewise; that it brings to http and https a machine says by "put" in Fetches, as it always has */
#define JOB_URLS_MAX 100 /* of one job */
#define JOB_URL_MAX 2048 /* bytes of one */

struct job_url {
    const char *name, *url;           /* lent by the ad, without a NUL */
    size_t name_len, url_len, scheme; /* bytes of the scheme, which the URL begins with */
};

/* How many bytes of the text are the scheme of a URL: small letters, digits, '+', '-' and '.', before "://". 0: it is no URL. */
size_t url_scheme_len(const char *text, size_t len);
/* The last part of its path, by which a file is called: lent. 0: it has none. */
size_t url_last_part(const char *url, size_t len, const char **ret);

bool job_urls_are_good(const struct tree *ad, const struct expr *e);
uint32_t job_urls_count(const struct tree *ad); /* 0: none, or they are not good */
/* The one at that place; false: it is not good. */
bool job_urls_get(const struct tree *ad, uint32_t place, struct job_url *ret);
/* The same of OutputUrls. */
uint32_t job_urls_out_count(const struct tree *ad);
bool job_urls_out_get(const struct tree *ad, uint32_t place, struct job_url *ret);
/* Is it one for http or https? */
bool job_url_is_web(const struct job_url *one);
/* Where an output of that name goes, if it is one of OutputUrls. */
bool job_urls_of(const struct tree *ad, const char *name, size_t len, struct job_url *ret);
/* Is a file of that name among those that are fetched, and not a link to one of the machine's? */
bool job_urls_named(const struct tree *ad, const char *name, size_t len);
/* Is there one that needs the network? All do but file:. */
bool job_urls_need_network(const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
