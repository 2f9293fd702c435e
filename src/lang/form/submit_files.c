/* submit_files.c: translates the keys that are about the program, its arguments, and files. */
#include "lang/form/submit_job.h"

#include "lang/base/array.h"
#include "lang/text/print.h"
#include "lang/text/words.h"

#include <stdlib.h>
#include <string.h>

#define SCHEME_MAX 16 /* letters before the :// of a URL */
#define URL_UNKNOWN "$(Cluster) is known only when it is submitted: it cannot stand in a URL"
#define PUT_CLIENTS_ALONE                                                                                           \
    "machines bring files to http and https by themselves, and to other URLs where their owners name a client for " \
    "it (UrlPutClients)"
#define CLIENTS_ALONE \
    "machines fetch file, http and https by themselves, and other URLs where their owners name a client for them (UrlClients)"

/* -------------------------------------------------------------------------------------------------------------- program */

int submit_key_executable(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    buf_init(&path);
    /* it is looked for in the folder of submission, which a job that stays with its files need not begin in */
    if (job->whole_executable && *text != '/' && submit_job_shares(job) && job->reader->world->folder)
        buf_addf(&path, "%s/", job->reader->world->folder);
    else if (job->whole_executable && !memchr(text, '/', len))
        buf_adds(&path, "./");
    buf_add(&path, text, len);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    if (!job->whole_executable)
        buf_adds(&job->out, "TransferExecutable = false;\n");
    buf_done(&path);
    return 0;
}

struct list {
    struct submit_job *job;
    bool begun;
};

static void list_go_on(struct list *list)
{
    buf_adds(&list->job->out, list->begun ? ", " : " ");
    list->begun = true;
}

static int argument_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;

    (void)err;
    list_go_on(list);
    submit_text_print(list->job, word, len, &list->job->out);
    return 0;
}

/* Gives an error of a reader of words the key and its place. */
int submit_words_result(struct submit_job *job, int result, const struct err *why)
{
    return result < 0 ? submit_job_fail(job, why->text) : 0;
}

/* arguments2 and environment2 are in the new syntax, with or without double quotes around them. */
bool submit_is_new(const struct submit_macro *macro)
{
    size_t len = strlen(macro->name);

    return len && macro->name[len - 1] == '2';
}

int submit_key_arguments(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = (submit_is_new(job->macro) ? submit_words_new : submit_arguments)(text, len, argument_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return submit_words_result(job, result, &why);
}

/* --------------------------------------------------------------------------------------------------------------- files */

static bool is_nowhere(const char *text, size_t len)
{
    return len == strlen("/dev/null") && memcmp(text, "/dev/null", len) == 0;
}

/* Appends a name as a path from the job's folder. */
static void path_add(const struct submit_job *job, const char *text, size_t len, struct buf *out)
{
    if (*text != '/' && job->iwd.len) {
        buf_add(out, job->iwd.text, job->iwd.len);
        buf_adds(out, job->iwd.text[job->iwd.len - 1] == '/' ? "" : "/");
    }
    buf_add(out, text, len);
}

/* file:///staging/x is in a folder that the machines share, as HTCondor has it: a path here, too. */
static void file_strip(const char **text, size_t *len)
{
    if (*len > 8 && submit_same(*text, 8, "file:///")) {
        *text += 7;
        *len -= 7;
    }
}

static bool is_url(const char *text, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++)
        if (memcmp(text + i, "://", 3) == 0)
            return true;
    return false;
}

static bool has_scheme(const char *text, size_t len, const char *scheme)
{
    return len > strlen(scheme) && !memcmp(text, scheme, strlen(scheme));
}

/* Does it begin with the name of a protocol? */
static bool begins_as_url(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && at < SCHEME_MAX &&
           ((text[at] >= 'a' && text[at] <= 'z') ||
            (at && ((text[at] >= '0' && text[at] <= '9') || text[at] == '+' || text[at] == '-' || text[at] == '.'))))
        at++;
    return at && len > at + 3 && !memcmp(text + at, "://", 3);
}

/* A URL, which the machine fetches: called by the last part of its path, without what follows a '?'. */
static int url_input_add(struct list *list, const char *word, size_t len, struct err *err)
{
    const char *rest = memchr(word, '?', len), *name = word;
    size_t end = rest ? (size_t)(rest - word) : len;

    if (!has_scheme(word, len, "http://") && !has_scheme(word, len, "https://") && !has_scheme(word, len, "file:///")) {
        if (!begins_as_url(word, len) || has_scheme(word, len, "file:"))
            return err_set(err, "expected a URL like https://HOST/FILE, got '%.*s'", len > 60 ? 60 : (int)len, word);
        submit_job_remark(list->job, CLIENTS_ALONE);
    }
    for (size_t i = 0; i + 1 < end; i++)
        name = word[i] == '/' ? word + i + 1 : name;
    if (end && word[end - 1] == '/')
        return err_set(err, "expected a URL that ends with the name of a file, got '%.*s'", len > 60 ? 60 : (int)len,
                       word);
    list_go_on(list);
    buf_adds(&list->job->out, "[ Name = ");
    submit_text_print(list->job, name, end - (size_t)(name - word), &list->job->out);
    buf_adds(&list->job->out, "; From = ");
    submit_text_print(list->job, word, len, &list->job->out);
    buf_adds(&list->job->out, " ]");
    return 0;
}

static int input_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;
    struct submit_job *job = list->job;
    const char *name = word;
    size_t name_len = len;
    struct buf from;

    if (is_url(word, len))
        return url_input_add(list, word, len, err);
    if (!job->keeps_paths || *word == '/')
        for (size_t i = 0; i < len; i++)
            if (word[i] == '/') {
                name = word + i + 1;
                name_len = len - i - 1;
            }
    list_go_on(list);
    buf_init(&from);
    path_add(job, word, len, &from);
    if (name_len == from.len) {
        submit_text_print(job, word, len, &job->out);
    } else {
        buf_adds(&job->out, "[ Name = ");
        submit_text_print(job, name_len ? name : ".", name_len ? name_len : 1, &job->out);
        buf_adds(&job->out, "; From = ");
        submit_text_print(job, buf_string(&from), from.len, &job->out);
        buf_adds(&job->out, " ]");
    }
    buf_done(&from);
    return 0;
}

int submit_key_inputs(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_names(text, len, input_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return submit_words_result(job, result, &why);
}

int submit_key_input(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    if (is_nowhere(text, len))
        return 0;
    buf_init(&path);
    if (submit_job_shares(job))
        buf_add(&path, text, len); /* it begins where that is */
    else
        path_add(job, text, len, &path);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    buf_done(&path);
    return 0;
}

#define REGISTRY "docker://"

static bool is_in_registry(const char *text, size_t len)
{
    return len > strlen(REGISTRY) && !memcmp(text, REGISTRY, strlen(REGISTRY));
}

/* container_image: a file, a folder of the machine, or one in a registry. */
int submit_key_image(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    if (!len)
        return 0;
    if (len > 8 &&
        submit_same(text, 8, "file:///")) { /* in a folder that machines share, as HTCondor has it: a file here, too */
        text += 7;
        len -= 7;
    }
    if (is_url(text, len) && !is_in_registry(text, len) &&
        (!begins_as_url(text, len) || has_scheme(text, len, "file:") || text[len - 1] == '/'))
        return submit_job_fail(job, "expected a file, a folder of the machine, " REGISTRY "NAME, or the URL of a file");
    if (is_url(text, len) && !is_in_registry(text, len) && !has_scheme(text, len, "http"))
        submit_job_remark(job, CLIENTS_ALONE);
    buf_init(&path);
    if (is_url(text, len)) /* of a registry, or of a file, which the machine fetches */
        buf_add(&path, text, len);
    else
        path_add(job, text, len, &path);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    buf_done(&path);
    return 0;
}

/* docker_image: one in a registry, with or without the word that says so. */
int submit_key_docker(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf name;

    submit_quotes_strip(&text, &len);
    if (!len)
        return 0;
    if (submit_key_macro(job->reader, submit_key_find("container_image", strlen("container_image"))))
        return submit_job_fail(job, "expected one of container_image and docker_image");
    buf_init(&name);
    if (!is_in_registry(text, len))
        buf_adds(&name, REGISTRY);
    buf_add(&name, text, len);
    submit_attribute_print(job, key->attribute, buf_string(&name), name.len);
    buf_done(&name);
    return 0;
}

/* Does the path lead out of the folder where outputs go? */
static bool name_leads_out(const char *text, size_t len)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '/') {
            if ((i - start == 2 && text[start] == '.' && text[start + 1] == '.') || (i == start && !i))
                return true;
            start = i + 1;
        }
    return false;
}

static void name_shorten(const char **text, size_t *len)
{
    while (*len > 2 && (*text)[0] == '.' && (*text)[1] == '/') {
        *text += 2;
        *len -= 2;
    }
}

/* Adds to OutputTo, or to OutputUrls, where a file goes that the job calls by that name. */
static void destination_add(struct submit_job *job, const char *name, size_t name_len, const char *to, size_t to_len)
{
    bool url = is_url(to, to_len);
    struct buf one, *all = url ? &job->urls : &job->to;

    buf_init(&one);
    buf_adds(&one, "[ Name = ");
    submit_text_print(job, name, name_len, &one);
    buf_adds(&one, url ? "; Url = " : "; To = ");
    submit_text_print(job, to, to_len, &one);
    buf_adds(&one, " ]");
    if (!all->len || !strstr(buf_string(all), buf_string(&one))) {
        buf_adds(all, all->len ? ", " : " ");
        buf_add(all, one.text, one.len);
    }
    buf_done(&one);
}

/* May a file of that name go to that URL? NULL, or why not. */
static const char *url_flaw(const char *name, size_t name_len, const char *to, size_t to_len)
{
    if (!begins_as_url(to, to_len) || has_scheme(to, to_len, "file:"))
        return "expected a URL like https://HOST/FILE";
    if (memchr(to, ' ', to_len) || memchr(to, '\t', to_len))
        return "expected a URL without blanks";
    if (memchr(name, '/', name_len))
        return "expected a file at the top of the job's folder: others are not brought to a URL";
    return NULL;
}

/* A job names its URLs as they are. Where they differ between the jobs, each gets an ad of its own. False: they are not known yet. */
static bool url_is_known(struct submit_job *job, const char *text, size_t len)
{
    if (submit_is_fixed(text, len))
        return true;
    if (job->reader->literal || memchr(text, MARK_CLUSTER, len))
        return false;
    job->reader->wants_literal = true;
    return true;
}

static void url_remark(struct submit_job *job, const char *to, size_t to_len)
{
    if (job->needs_put_client || job->reader->wants_literal || has_scheme(to, to_len, "http://") ||
        has_scheme(to, to_len, "https://"))
        return;
    job->needs_put_client = true;
    submit_job_remark(job, PUT_CLIENTS_ALONE);
}

/* The next `NAME = DESTINATION` of transfer_output_remaps; false at the end. */
static bool remap_next(const char **text, size_t *len, const char **ret_name, size_t *ret_name_len, const char **ret_to,
                       size_t *ret_to_len)
{
    while (*len) {
        const char *end = memchr(*text, ';', *len), *one = *text, *equals;
        size_t one_len = end ? (size_t)(end - *text) : *len;

        *text += one_len + (end != NULL);
        *len -= one_len + (end != NULL);
        equals = memchr(one, '=', one_len);
        submit_trim(&one, &one_len);
        if (!one_len)
            continue;
        *ret_name = one;
        *ret_name_len = equals && equals > one ? (size_t)(equals - one) : 0;
        *ret_to = equals ? equals + 1 : "";
        *ret_to_len = equals ? one_len - (size_t)(equals + 1 - one) : 0;
        submit_trim(ret_name, ret_name_len);
        submit_trim(ret_to, ret_to_len);
        file_strip(ret_to, ret_to_len);
        return true;
    }
    return false;
}

static size_t base_of(const char *name, size_t len)
{
    size_t base = 0;

    for (size_t i = 0; i + 1 < len; i++)
        base = name[i] == '/' ? i + 1 : base;
    return base;
}

/* A destination with a slash at its end is a folder. */
static void remapped_add(struct submit_job *job, const char *name, size_t name_len, const char *to, size_t to_len)
{
    size_t base = base_of(name, name_len);
    struct buf whole;

    buf_init(&whole);
    buf_add(&whole, to, to_len);
    if (to_len && to[to_len - 1] == '/')
        buf_add(&whole, name + base, name_len - base);
    destination_add(job, name, name_len, buf_string(&whole), whole.len);
    if (is_url(to, to_len))
        url_remark(job, to, to_len);
    buf_done(&whole);
}

/* Where an output goes that the remaps name by its whole name or by its last part; false: they do not. */
static bool remap_find(const struct submit_job *job, const char *name, size_t len, const char **ret, size_t *ret_len)
{
    const char *text = job->remaps.text, *one, *to;
    size_t left = job->remaps.len, one_len, to_len, base = base_of(name, len);

    while (remap_next(&text, &left, &one, &one_len, &to, &to_len))
        if ((one_len == len && !memcmp(one, name, len)) ||
            (one_len == len - base && !memcmp(one, name + base, one_len))) {
            *ret = to;
            *ret_len = to_len;
            return true;
        }
    return false;
}

/* output_destination: the output goes there, by its own name. */
static int destination_url(struct submit_job *job, const char *word, size_t len, bool inside, struct err *err)
{
    const char *flaw = inside ? "expected files, and not what is in a folder"
                              : url_flaw(word, len, job->destination.text, job->destination.len);
    struct buf url;

    if (flaw || !url_is_known(job, word, len))
        return err_set(err, "%s", flaw ? flaw : URL_UNKNOWN);
    buf_init(&url);
    buf_add(&url, job->destination.text, job->destination.len);
    buf_adds(&url, url.text[url.len - 1] == '/' ? "" : "/");
    buf_add(&url, word, len);
    destination_add(job, word, len, buf_string(&url), url.len);
    url_remark(job, url.text, url.len);
    buf_done(&url);
    return 0;
}

/* transfer_output_files = a/b puts b into the initial folder; `folder/` what is in it. */
static int output_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;
    struct submit_job *job = list->job;
    bool inside = len > 1 && word[len - 1] == '/';
    const char *to;
    size_t to_len, base;

    name_shorten(&word, &len);
    while (len > 1 && word[len - 1] == '/')
        len--;
    if (name_leads_out(word, len))
        return err_set(err, "expected names of files beneath the job's folder, got '%.*s'", len > 60 ? 60 : (int)len,
                       word);
    list_go_on(list);
    submit_text_print(job, word, len, &job->out);
    base = base_of(word, len);
    if (remap_find(job, word, len, &to, &to_len))
        remapped_add(job, word, len, to, to_len);
    else if (job->destination.len)
        return destination_url(job, word, len, inside, err);
    else if (inside)
        destination_add(job, word, len, ".", 1);
    else if (base && !job->keeps_paths)
        destination_add(job, word, len, word + base, len - base);
    return 0;
}

int submit_key_outputs(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_names(text, len, output_add, &list, &why);
    buf_adds(&job->out, " };\n");
    if (list.begun && !submit_same(buf_string(&job->when), job->when.len, "on_success"))
        buf_adds(&job->out,
                 "OutputsNeeded = \"Always\";\n"); /* HTCondor holds a job that lacks one, whatever its status is */
    return submit_words_result(job, result, &why);
}

static int checkpoint_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;

    name_shorten(&word, &len);
    if (name_leads_out(word, len) || !len || word[len - 1] == '/')
        return err_set(err, "expected names of files beneath the job's folder, got '%.*s'", len > 60 ? 60 : (int)len,
                       word);
    list_go_on(list);
    submit_text_print(list->job, word, len, &list->job->out);
    return 0;
}

int submit_key_checkpoint(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_names(text, len, checkpoint_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return submit_words_result(job, result, &why);
}

/* Outputs that transfer_output_files does not name may be sent elsewhere as well. */
int submit_key_remaps(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *name, *to, *rest = job->remaps.text;
    size_t left = job->remaps.len, name_len, to_len;

    (void)key, (void)text, (void)len;
    while (remap_next(&rest, &left, &name, &name_len, &to, &to_len)) {
        if (!name_len || !to_len)
            return submit_job_fail(job, "expected \"NAME = DESTINATION; ...\"");
        if (is_url(to, to_len) && url_flaw(name, name_len, to, to_len))
            return submit_job_fail(job, url_flaw(name, name_len, to, to_len));
        if (is_url(to, to_len) && (!url_is_known(job, name, name_len) || !url_is_known(job, to, to_len)))
            return submit_job_fail(job, URL_UNKNOWN);
        if (name_leads_out(name, name_len) || name[name_len - 1] == '/')
            return submit_job_fail(job, "expected names of files beneath the job's folder");
        remapped_add(job, name, name_len, to, to_len);
    }
    return 0;
}

/* Takes a folder off the front of a path, if the path begins with it. */
static bool prefix_strip(const char **text, size_t *len, const char *folder, size_t folder_len)
{
    while (folder_len && folder[folder_len - 1] == '/')
        folder_len--;
    if (!folder_len || *len <= folder_len + 1 || memcmp(*text, folder, folder_len) != 0 || (*text)[folder_len] != '/')
        return false;
    *text += folder_len + 1;
    *len -= folder_len + 1;
    return true;
}

/* The name beneath the job's folder of a file that goes elsewhere: its path, with `_` for each folder upwards. */
static void name_inside(const char *text, size_t len, struct buf *out)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '/') {
            size_t part = i - start;
            bool up = part == 2 && text[start] == '.' && text[start + 1] == '.';

            if (part && !(part == 1 && text[start] == '.')) {
                buf_adds(out, out->len ? "/" : "");
                buf_add(out, up ? "_" : text + start, up ? 1 : part);
            }
            start = i + 1;
        }
}

/* Standard output and error. */
/* NAME.$(Node): the processes write NAME, NAME.1, NAME.2, ..., which come to NAME.0 and so on. */
static int streams_of_nodes(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    bool away = name_leads_out(text, len - 2);
    uint32_t count = away ? submit_nodes(job->reader) : 1;
    struct buf inside, name, to;

    if (len < 3 || text[len - 2] != '.' || memchr(text, MARK_NODE, len - 1))
        return submit_job_fail(job, "expected $(Node) at the end, behind a dot: NAME.$(Node)");
    buf_init(&inside);
    buf_init(&name);
    buf_init(&to);
    if (away)
        name_inside(text, len - 2, &inside);
    else
        buf_add(&inside, text, len - 2);
    submit_attribute_print(job, key->attribute, buf_string(&inside), inside.len);
    for (uint32_t i = 0; i < count; i++) {
        buf_reset(&name);
        buf_reset(&to);
        buf_add(&name, inside.text, inside.len);
        if (i)
            buf_addf(&name, ".%u", i);
        buf_add(&to, text, len - 1);
        buf_addf(&to, "%u", i);
        destination_add(job, buf_string(&name), name.len, buf_string(&to), to.len);
    }
    buf_done(&inside);
    buf_done(&name);
    buf_done(&to);
    return 0;
}

int submit_key_stream(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *folder = job->reader->world->folder;
    struct buf inside;

    submit_quotes_strip(&text, &len);
    if (!len || is_nowhere(text, len))
        return 0;
    if (is_url(text, len))
        return submit_job_fail(job, "what is brought to a URL is not carried over");
    if (text[len - 1] == '/')
        return submit_job_fail(job, "expected the name of a file");
    if (*text == '/' && !(job->iwd.len && prefix_strip(&text, &len, job->iwd.text, job->iwd.len)) && !job->iwd.len &&
        folder)
        prefix_strip(&text, &len, folder, strlen(folder));
    name_shorten(&text, &len);
    if (memchr(text, MARK_NODE, len))
        return streams_of_nodes(job, key, text, len);
    if (!name_leads_out(text, len)) {
        submit_attribute_print(job, key->attribute, text, len);
        return 0;
    }
    buf_init(&inside);
    name_inside(text, len, &inside);
    submit_attribute_print(job, key->attribute, buf_string(&inside), inside.len);
    destination_add(job, buf_string(&inside), inside.len, text, len);
    buf_done(&inside);
    return 0;
}

/* The log, which is written at the customer: any path, as its user may reach it. */
int submit_key_log(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    submit_quotes_strip(&text, &len);
    if (!len || is_nowhere(text, len))
        return 0;
    if (text[len - 1] == '/')
        return submit_job_fail(job, "expected the name of a file");
    name_shorten(&text, &len);
    submit_attribute_print(job, key->attribute, text, len);
    return 0;
}

int submit_key_iwd(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *folder = job->reader->world->folder;
    struct buf path;

    (void)text;
    (void)len;
    if (!job->iwd.len)
        return 0;
    buf_init(&path);
    if (*job->iwd.text != '/' && folder)
        buf_addf(&path, "%s/", folder);
    buf_add(&path, job->iwd.text, job->iwd.len);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    buf_done(&path);
    return 0;
}
