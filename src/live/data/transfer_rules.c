/* transfer_rules.c: who may be contacted for a file, by what right, and how long is waited: the settings of transfers. */
#include "live/data/transfer_parts.h"

#include "lang/base/mem.h"
#include "live/http/libcurl.h"
#include "pool/protocol/role.h"
#include "sys/private_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKENS_BYTES_MAX (256 * 1024)
#define REDIRECTS_MAX 5 /* of a URL that a stranger names */
#define SPAN_MAX 3600   /* seconds for it */

static char *text_or_null(const struct config *config, enum config_key key)
{
    const char *text = config_text(config, key);

    return *text ? mem_dup(text, strlen(text)) : NULL;
}

static void token_add(struct transfer_rules *rules, const char *host, size_t host_len, const char *text, size_t len)
{
    rules->tokens = mem_grow(rules->tokens, (rules->token_count + 1) * sizeof *rules->tokens);
    rules->tokens[rules->token_count++] =
        (struct transfer_token){.host = mem_dup(host, host_len), .text = mem_dup(text, len)};
}

/* Reads lines HOST[:PORT] TOKEN; a token without a port is for 443 and 80. Blank lines, and those with a '#' in front, say nothing. */
static int tokens_parse(struct transfer_rules *rules, const char *path, const char *text, struct err *err)
{
    for (unsigned line = 1; *text; line++) {
        size_t len = strcspn(text, "\n"), at = strspn(text, " \t"), host = strcspn(text + at, " \t\n"), gap, token;

        gap = strspn(text + at + host, " \t");
        token = strcspn(text + at + host + gap, " \t\r\n");
        if (host && text[at] != '#') {
            if (!token || at + host + gap > len)
                return err_set(err, "%s: line %u: expected HOST[:PORT] TOKEN", path, line);
            token_add(rules, text + at, host, text + at + host + gap, token);
        }
        text += len + (text[len] == '\n');
    }
    return 0;
}

static int tokens_read(struct transfer_rules *rules, const char *path, struct err *err)
{
    struct buf text;
    int result;

    if (!*path)
        return 0;
    buf_init(&text);
    result = private_read(AT_FDCWD, path, TOKENS_BYTES_MAX, &text, err);
    if (result == 0)
        err_set(err, "%s: there is no such file", path);
    result = result == 1 ? tokens_parse(rules, path, buf_string(&text), err) : -1;
    if (text.text)
        memset(text.text, 0, text.len);
    buf_done(&text);
    return result;
}

static void networks_copy(struct networks *to, const struct networks *from)
{
    networks_init(to);
    if (!from || !from->count)
        return;
    to->items = mem_alloc(from->count * sizeof *to->items);
    memcpy(to->items, from->items, from->count * sizeof *to->items);
    to->count = to->room = from->count;
}

static void folders_copy(struct transfer_rules *rules, const struct config *config)
{
    size_t count, len;
    const char *const *list = config_list(config, CONFIG_STORE_FOLDERS, &count);

    rules->folders = mem_alloc((count + 1) * sizeof *rules->folders);
    for (size_t i = 0; i < count; i++) {
        len = strlen(list[i]);
        while (len > 1 && list[i][len - 1] == '/')
            len--;
        rules->folders[rules->folder_count++] = mem_dup(list[i], len);
    }
}

struct transfer_rules *transfer_rules_new(const struct config *config, const struct networks *networks, struct err *err)
{
    struct transfer_rules *rules;

    if (libcurl_take(err) < 0) /* given back with the rules */
        return NULL;
    rules = mem_alloc(sizeof *rules);
    *rules = (struct transfer_rules){.refs = 1,
                                     .key = text_or_null(config, CONFIG_TRANSFER_KEY),
                                     .known_hosts = text_or_null(config, CONFIG_TRANSFER_KNOWN_HOSTS),
                                     .user = text_or_null(config, CONFIG_TRANSFER_USER),
                                     .ca = text_or_null(config, CONFIG_TRANSFER_CA),
                                     .stall = config_span(config, CONFIG_TRANSFER_STALL) / SECOND,
                                     .speed = (int64_t)config_size(config, CONFIG_TRANSFER_SPEED),
                                     .bytes_max = (int64_t)config_size(config, CONFIG_TRANSFER_FILE_MAX),
                                     .reads_back = config_flag(config, CONFIG_TRANSFER_READ_BACK)};
    networks_copy(&rules->networks, networks);
    folders_copy(rules, config);
    if (tokens_read(rules, config_text(config, CONFIG_TRANSFER_TOKENS), err) < 0) {
        err_context(err, "TransferTokens");
        transfer_rules_unref(rules);
        return NULL;
    }
    return rules;
}

struct transfer_rules *transfer_rules_bare(const struct config *config, const struct networks *networks,
                                           struct err *err)
{
    struct transfer_rules *rules;

    if (libcurl_take(err) < 0)
        return NULL;
    rules = mem_alloc(sizeof *rules);
    *rules = (struct transfer_rules){.refs = 1,
                                     .ca = text_or_null(config, CONFIG_TRANSFER_CA),
                                     .stall = config_span(config, CONFIG_TRANSFER_STALL) / SECOND,
                                     .speed = (int64_t)config_size(config, CONFIG_TRANSFER_SPEED),
                                     .bytes_max = (int64_t)config_size(config, CONFIG_TRANSFER_FILE_MAX),
                                     .redirects = REDIRECTS_MAX,
                                     .span = SPAN_MAX};
    networks_copy(&rules->networks, networks);
    return rules;
}

struct transfer_rules *transfer_rules_ref(struct transfer_rules *rules)
{
    rules->refs++;
    return rules;
}

void transfer_rules_unref(struct transfer_rules *rules)
{
    if (!rules || --rules->refs)
        return;
    for (size_t i = 0; i < rules->folder_count; i++)
        free(rules->folders[i]);
    for (size_t i = 0; i < rules->token_count; i++) {
        free(rules->tokens[i].host);
        memset(rules->tokens[i].text, 0, strlen(rules->tokens[i].text));
        free(rules->tokens[i].text);
    }
    free(rules->folders);
    free(rules->tokens);
    free(rules->key);
    free(rules->known_hosts);
    free(rules->user);
    free(rules->ca);
    networks_done(&rules->networks);
    free(rules);
    libcurl_give();
}

/* Is a line without a port for that port? What listens on another one may be any user's of that host, and names in catalogues are others'. */
static bool is_own_port(uint16_t port)
{
    return port == 443 || port == 80;
}

const char *transfer_token_for(const struct transfer_rules *rules, const char *host, uint16_t port)
{
    char both[ADDRESS_HOST_MAX + 16];

    snprintf(both, sizeof both, "%s:%u", host, port);
    for (size_t i = 0; i < rules->token_count; i++)
        if (!strcasecmp(rules->tokens[i].host, both) || (is_own_port(port) && !strcasecmp(rules->tokens[i].host, host)))
            return rules->tokens[i].text;
    return NULL;
}

bool transfer_token_lacks_port(const struct transfer_rules *rules, const char *host, uint16_t port)
{
    return !transfer_token_for(rules, host, port) && transfer_token_for(rules, host, 443);
}

bool transfer_shows_token(const struct transfer_rules *rules, const char *host, uint16_t port)
{
    return transfer_token_for(rules, host, port) != NULL;
}
