/* submit_credentials.c: translates the keys of credentials that a job brings along: a proxy (x509userproxy) and tokens (use_oauth_services, use_scitokens).
 *
 *     SecretsFrom = { [ Name = "x509up"; From = "/tmp/x509up_u1000" ], [ Name = "cern.use" ] }
 *
 * They become secrets of the submission: whoever submits it reads them, from where the ad says or from where users keep them (cli/jobs/secrets.c). The job
 * finds them in the folder of its secrets, by the variables that it knows from HTCondor. */
#include "lang/form/submit_job.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FOLDER "/run/secrets" /* as the sandbox has it */
#define PROXY "x509up"
#define TOKEN "scitokens.use"

/* Adds a credential; `from`: the file it is in; empty: where it is kept. */
static void credential_add(struct submit_job *job, const char *name, const char *from, size_t len)
{
    buf_adds(&job->credentials, job->credentials.len ? ", [ Name = " : "[ Name = ");
    submit_text_print(job, name, strlen(name), &job->credentials);
    if (len) {
        buf_adds(&job->credentials, "; From = ");
        submit_text_print(job, from, len, &job->credentials);
    }
    buf_adds(&job->credentials, " ]");
}

/* Adds a variable; the job's own environment comes first. */
static void variable_set(struct submit_job *job, const char *text)
{
    buf_add(&job->variables, text, strlen(text) + 1);
}

static bool key_is_set(const struct submit_job *job, const char *name)
{
    return submit_key_macro(job->reader, submit_key_find(name, strlen(name))) != NULL;
}

/* x509userproxy = FILE; use_x509userproxy = true: the one that the user has. */
int submit_key_proxy(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    bool flag = !strcmp(key->name, "use_x509userproxy");

    submit_quotes_strip(&text, &len);
    if (flag && !submit_is_true(text, len) && !submit_is_false(text, len))
        return submit_job_fail(job, "expected true or false");
    if (!len || (flag && (submit_is_false(text, len) || key_is_set(job, "x509userproxy"))))
        return 0;
    credential_add(job, PROXY, text, flag ? 0 : len);
    variable_set(job, "X509_USER_PROXY=" FOLDER "/" PROXY);
    return 0;
}

/* use_scitokens = true; scitokens_file = FILE. */
int submit_key_scitoken(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    bool flag = !strcmp(key->name, "use_scitokens");

    submit_quotes_strip(&text, &len);
    if (!len || (flag && (submit_is_false(text, len) || key_is_set(job, "scitokens_file"))))
        return 0;
    if (flag && !submit_is_true(text, len) && !submit_same(text, len, "auto"))
        return submit_job_fail(job, "expected true, false or auto");
    credential_add(job, TOKEN, text, flag ? 0 : len);
    variable_set(job, "_CONDOR_CREDS=" FOLDER);
    variable_set(job, "BEARER_TOKEN_FILE=" FOLDER "/" TOKEN);
    return 0;
}

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!submit_is_name(text[i]) && text[i] != '-')
            return false;
    return len && len <= 40;
}

/* Of a service: NAME.use, or NAME_HANDLE.use for each handle that NAME_oauth_permissions_HANDLE asks for. */
static int service_add(void *user, const char *word, size_t len, struct err *err)
{
    static const char *const asks[] = {"_oauth_permissions", "_oauth_resource"};
    struct submit_job *job = user;
    struct submit_reader *reader = job->reader;
    char name[128];
    bool any = false;

    if (!is_name(word, len))
        return err_set(err, "expected names of services, got '%.*s'", len > 60 ? 60 : (int)len, word);
    for (uint32_t i = 0; i < reader->names.places; i++)
        for (size_t k = 0; k < sizeof asks / sizeof *asks && reader->macros[i].name; k++) {
            struct submit_macro *macro = &reader->macros[i];
            const char *rest = macro->name + len;

            if (strncasecmp(macro->name, word, len) != 0 || strncasecmp(rest, asks[k], strlen(asks[k])) != 0)
                continue;
            macro->used = true; /* who issues the token has been asked for that already */
            rest += strlen(asks[k]);
            if (k || *rest != '_' || !is_name(rest + 1, strlen(rest + 1)))
                continue;
            snprintf(name, sizeof name, "%.*s%s.use", (int)len, word, rest);
            credential_add(job, name, "", 0);
            any = true;
        }
    snprintf(name, sizeof name, "%.*s.use", (int)len, word);
    if (!any)
        credential_add(job, name, "", 0);
    return 0;
}

int submit_key_oauth(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct err why = {0};

    (void)key;
    submit_quotes_strip(&text, &len);
    if (submit_names(text, len, service_add, job, &why) < 0)
        return submit_job_fail(job, why.text);
    if (job->credentials.len)
        variable_set(job, "_CONDOR_CREDS=" FOLDER);
    return 0;
}
