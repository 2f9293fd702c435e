/* live_token.h: a token file with a key to delegate by, from a matchmaker that runs, as `berth token create` makes it. */
#ifndef BERTH_TESTS_LIVE_TOKEN_H
#define BERTH_TESTS_LIVE_TOKEN_H

#include "process.h"

#include "live/auth/token.h"
#include "sys/encoding.h"

static inline bool live_token_make(const struct live *live, const char *subject, const char *scope, const char *path)
{
    struct token_file file;
    char digits[2 * PUBLIC_KEY_BYTES + 1], body[512], text[TOKEN_BYTES_MAX];
    struct talk talk;
    struct reply reply;
    struct err err = {0};
    bool good;

    token_file_init(&file);
    signing_key_draw(&file.key);
    file.has_key = true;
    hex_print(file.key.open.bytes, PUBLIC_KEY_BYTES, digits);
    snprintf(body, sizeof body, "[Subject=\"%s\"; Scope=\"%s\"; Lifetime=3600; Delegate=\"%s\"]", subject, scope,
             digits);
    talk_init(&talk);
    reply_init(&reply);
    good = talk_ask(&talk, live, "POST", "/v1/tokens", NULL, NULL, body, &reply) == 201;
    reply_text(&reply, "Token", text, sizeof text);
    file.token = strdup(text);
    good = good && token_file_write(path, &file, &err) == 0;
    token_file_done(&file);
    reply_done(&reply);
    talk_done(&talk);
    return good;
}

#endif
