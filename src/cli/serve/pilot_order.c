/* pilot_order.c: a pilot's folder: what the pilot is to do and by what right. Whoever submits the pilot writes it; the pilot reads it. */
#include "cli/serve/pilot.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/auth/token_renewal.h"
#include "sys/encoding.h"
#include "sys/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PILOT_SCOPE "ad:read ad:write claim"

int pilots_folder(const struct pilot_options *options, struct connection *pool, char ret[PATH_MAX])
{
    if (options->folder && *options->folder == '/')
        snprintf(ret, PATH_MAX, "%.3900s", options->folder);
    else if (options->folder) {
        char here[PATH_MAX];

        if (!getcwd(here, sizeof here)) {
            report("this folder has no name: %s", strerror(errno));
            return STATUS_BAD;
        }
        snprintf(ret, PATH_MAX, "%.2000s/%.1900s", here, options->folder);
    } else
        snprintf(ret, PATH_MAX, "%.3900s/pilots", config_text(&pool->config, CONFIG_STATE));
    return folder_make(ret) < 0 ? STATUS_BAD : STATUS_DONE;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static int folder_write(const char *folder, const char *name, const char *text, size_t len)
{
    struct err err = {0};
    int dir = private_dir_open(folder, &err), failed = dir < 0;

    if (!failed)
        failed = private_write(dir, name, text, len, &err);
    if (dir >= 0)
        close(dir);
    if (failed)
        report("%s", err.text);
    return failed ? STATUS_BAD : STATUS_DONE;
}

int pilot_note(const char *folder, const char *name, const char *line)
{
    struct buf text;
    int status;

    buf_init(&text);
    buf_addf(&text, "%s\n", line);
    status = folder_write(folder, name, buf_string(&text), text.len);
    buf_done(&text);
    return status;
}

void pilot_noted(const char *folder, const char *name, char *ret, size_t size)
{
    struct err err = {0};
    int dir = private_dir_open(folder, &err);
    struct buf text;

    buf_init(&text);
    ret[0] = '\0';
    if (dir >= 0 && private_read(dir, name, 4096, &text, &err) > 0) {
        snprintf(ret, size, "%s", buf_string(&text));
        ret[strcspn(ret, "\n")] = '\0';
    }
    if (dir >= 0)
        close(dir);
    buf_done(&text);
}

int64_t pilot_token_life(const struct pilot_options *options)
{
    return options->life ? options->life : options->time + PILOT_WAIT;
}

/* Makes the pilot's token: narrower and shorter than its parent, and for the pilot alone. */
static int token_make(const struct pilot_options *options, const struct token_file *parent, const char *pools,
                      const char *name, const char *folder)
{
    struct token_terms terms = {.issued = time(NULL)};
    char subject[2 * TOKEN_NAME_MAX], path[PATH_MAX];
    struct token_file child;
    struct err err = {0};
    struct grant grant;
    struct buf text;
    int failed = -1;

    token_file_init(&child);
    buf_init(&text);
    signing_key_draw(&child.key);
    child.has_key = true;
    scopes_read(PILOT_SCOPE, strlen(PILOT_SCOPE), &terms.scope);
    if (token_read(parent->token, strlen(parent->token), &grant) == TOKEN_OK) {
        int64_t life = pilot_token_life(options);

        snprintf(subject, sizeof subject, "%s/%s", grant.subject, name);
        terms.subject = subject;
        terms.delegate = &child.key.open;
        terms.expires = terms.issued + life < grant.expires ? terms.issued + life : grant.expires;
        failed = token_delegate(&text, parent->token, strlen(parent->token), &parent->key, &terms, NULL, &err);
    } else {
        err_set(&err, "the token cannot be read");
    }
    if (!failed) {
        child.token = mem_dup(text.text, text.len);
        child.pool = mem_dup(pools, strlen(pools));
        child.ca = parent->ca ? mem_dup(parent->ca, strlen(parent->ca)) : NULL;
        snprintf(path, sizeof path, "%.4000s/token", folder);
        failed = token_file_write(path, &child, &err);
    }
    if (failed)
        report("the pilot's token: %s", err.text);
    token_file_done(&child);
    buf_wipe(&text);
    buf_done(&text);
    return failed ? STATUS_BAD : STATUS_DONE;
}

/* Reads the token in the folder; false: it is not there, or is in the first half of its life. */
static bool token_old(const char *folder, struct token_file *ret, struct grant *ret_grant)
{
    char path[PATH_MAX];
    struct err ignored;

    snprintf(path, sizeof path, "%.4000s/token", folder);
    if (token_file_read(path, ret, &ignored) < 0)
        return false;
    if (token_read(ret->token, strlen(ret->token), ret_grant) == TOKEN_OK && token_renewal_due(ret_grant, time(NULL)))
        return true;
    token_file_done(ret);
    return false;
}

bool pilot_token_is_old(const char *folder)
{
    struct token_file token;
    struct grant grant;
    bool old = token_old(folder, &token, &grant);

    if (old)
        token_file_done(&token);
    return old;
}

bool pilot_token_renew(const struct pilot_options *options, const struct token_file *parent, const char *name,
                       const char *folder)
{
    struct grant own, above;
    struct token_file token;
    bool done;

    if (!token_old(folder, &token, &own))
        return false;
    done = token.pool && token_read(parent->token, strlen(parent->token), &above) == TOKEN_OK &&
           above.expires > own.expires && token_make(options, parent, token.pool, name, folder) == STATUS_DONE;
    token_file_done(&token);
    return done;
}

static int order_write(const struct pilot_options *options, const char *pools, const char *name, const char *folder)
{
    struct symbols *symbols = names_new(1);
    struct maker maker;
    struct tree *ad;
    struct buf text;
    int status;

    maker_init(&maker, symbols);
    maker_text(&maker, "Pilot", name);
    maker_text(&maker, "Pool", pools);
    maker_text(&maker, "Scratch", options->scratch ? options->scratch : "");
    maker_flag(&maker, "Once", options->once);
    maker_integer(&maker, "Time", options->time);
    maker_integer(&maker, "Idle", options->idle);
    maker_integer(&maker, "Cpus", (int64_t)options->cpus);
    maker_integer(&maker, "Memory", options->memory);
    maker_integer(&maker, "LeastTime", options->least.time);
    maker_integer(&maker, "LeastDisk", options->least.disk);
    maker_integer(&maker, "LeastMemory", options->least.memory);
    maker_real(&maker, "LeastBenchmark", options->least.benchmark);
    maker_texts(&maker, "Settings", options->settings.items, options->settings.count);
    ad = maker_seal(&maker);
    buf_init(&text);
    print_tree(&text, ad, 0);
    buf_addc(&text, '\n');
    status = folder_write(folder, "order.ad", buf_string(&text), text.len);
    buf_done(&text);
    tree_unref(ad);
    symbols_free(symbols);
    return status;
}

/* Appends a word as a shell takes it, whatever is in it. */
static void shell_word(struct buf *out, const char *word)
{
    buf_addc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *word);
    buf_addc(out, '\'');
}

static int script_write(const struct pilot_options *options, const char *folder)
{
    char path[PATH_MAX], program[PATH_MAX];
    struct buf text;
    ssize_t len;
    int status;

    len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    buf_init(&text);
    buf_adds(&text, "#!/bin/sh\n# One pilot of a Berth pool. Its token and what it shall do lie in the folder.\nexec ");
    shell_word(&text, options->program ? options->program : program);
    buf_adds(&text, " pilot --run ");
    shell_word(&text, folder);
    buf_addc(&text, '\n');
    status = folder_write(folder, "script", buf_string(&text), text.len);
    buf_done(&text);
    snprintf(path, sizeof path, "%.4000s/script", folder);
    if (status == STATUS_DONE && chmod(path, 0700) < 0) {
        report("%s: %s", path, strerror(errno));
        status = STATUS_BAD;
    }
    return status;
}

int pilot_folder_make(const struct pilot_options *options, const struct cluster *batch, const struct token_file *parent,
                      const char *pools, const char *name, const char *folder)
{
    size_t len;
    const char *table = cluster_text(batch, &len);
    int status;

    if (mkdir(folder, 0700) < 0) {
        report("%s: %s", folder, strerror(errno));
        return STATUS_BAD;
    }
    status = folder_write(folder, "batch.ad", table, len);
    if (status == STATUS_DONE)
        status = order_write(options, pools, name, folder);
    if (status == STATUS_DONE)
        status = token_make(options, parent, pools, name, folder);
    if (status == STATUS_DONE)
        status = script_write(options, folder);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static char *text_of(const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, name, &text, &len))
        text = "", len = 0;
    return mem_dup(text, len);
}

static void settings_of(const struct tree *ad, struct pilot_order *order)
{
    const struct expr *list = ad_find(ad, "Settings");

    if (!list || list->kind != EXPR_LIST || list->u.run.count > CONFIG_OPTIONS_MAX)
        return;
    order->settings = mem_alloc((list->u.run.count + 1) * sizeof *order->settings);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *e = &tree_parts(ad, list)[i];

        if (e->kind == EXPR_STRING)
            order->settings[order->setting_count++] = mem_dup(tree_string(ad, e), e->u.run.count);
    }
}

int pilot_order_read(const char *folder, struct pilot_order *ret)
{
    struct symbols *symbols = names_new(1);
    struct pilot_order order = {.once = false};
    char path[PATH_MAX];
    struct tree *ad;
    int status = STATUS_BAD;

    snprintf(path, sizeof path, "%.4000s/order.ad", folder);
    ad = file_first_ad(symbols, &dialect_classic, path);
    if (ad) {
        order.pilot = text_of(ad, "Pilot");
        order.pool = text_of(ad, "Pool");
        order.scratch = text_of(ad, "Scratch");
        settings_of(ad, &order);
        if (!*order.pilot || !*order.pool || !ad_flag(ad, "Once", &order.once) ||
            !ad_integer(ad, "Time", &order.time) || !ad_integer(ad, "Idle", &order.idle) ||
            !ad_integer(ad, "Cpus", &order.cpus) || !ad_integer(ad, "Memory", &order.memory) ||
            !ad_integer(ad, "LeastTime", &order.least.time) || !ad_integer(ad, "LeastDisk", &order.least.disk) ||
            !ad_integer(ad, "LeastMemory", &order.least.memory) ||
            !ad_number(ad, "LeastBenchmark", &order.least.benchmark)) {
            report("%s: this is not what a pilot is told to do; `berth pilot` writes such files", path);
            pilot_order_done(&order);
        } else {
            *ret = order;
            status = STATUS_DONE;
        }
        tree_unref(ad);
    }
    symbols_free(symbols);
    return status;
}

void pilot_order_done(struct pilot_order *order)
{
    free(order->pilot);
    free(order->pool);
    free(order->scratch);
    for (uint32_t i = 0; i < order->setting_count; i++)
        free(order->settings[i]);
    free(order->settings);
}
