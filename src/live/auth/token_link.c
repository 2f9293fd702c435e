/* token_link.c: the claims of one link of a token: reading them, and comparing them with those of the link before. */
#include "live/auth/token_parts.h"

#include "lang/form/form.h"
#include "sys/encoding.h"

#include <sodium.h>

/* ---- what is valid ---- */

bool token_id_valid(const char *text, size_t len)
{
    unsigned char bytes[TOKEN_ID_DIGITS / 2];

    return hex_read(text, len, bytes, sizeof bytes);
}

static bool part_valid(const char *text, size_t len)
{
    return len > 0 && !(text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.')));
}

bool subject_valid(const char *text, size_t len)
{
    static const char marks[] = "._-+=@:";
    size_t part = 0;

    if (len == 0 || len > TOKEN_NAME_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '/') {
            if (!part_valid(text + part, i - part))
                return false;
            part = i + 1;
        } else if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     memchr(marks, c, sizeof marks - 1))) {
            return false;
        }
    }
    return part_valid(text + part, len - part);
}

bool unix_account_valid(const char *name)
{
    bool number = !strncmp(name, "uid.", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789")];

    return subject_valid(name, strlen(name)) && !strpbrk(name, "/:") && strcmp(name, "machine") != 0 &&
           strcmp(name, "matchmaker") != 0 && !number;
}

bool link_valid(const struct link *link, const char **ret_why)
{
    *ret_why = !token_id_valid(link->issuer, strlen(link->issuer))       ? "the issuer is not a pool's id"
               : !subject_valid(link->subject, strlen(link->subject))    ? "the subject is not a name"
               : !subject_valid(link->audience, strlen(link->audience))  ? "the audience is not a name"
               : !link->scope || (link->scope & ~(scopes)SCOPE_ALL) != 0 ? "there is no scope"
               : link->issued < 0 || link->expires > TOKEN_TIME_MAX      ? "a time is out of range"
               : link->issued >= link->expires                           ? "it ends before it begins"
                                                                         : NULL;
    return !*ret_why;
}

/* ---- no wider than another ---- */

/* Is the text the same as the one above, or longer behind a "/"? */
static bool is_under(const char *text, const char *above)
{
    size_t len = strlen(above);

    return strncmp(text, above, len) == 0 && (text[len] == '\0' || text[len] == '/');
}

bool link_narrower(const struct link *link, const struct link *parent)
{
    return is_under(link->subject, parent->subject) && is_under(link->audience, parent->audience) &&
           (link->scope & ~parent->scope) == 0 && link->issued >= parent->issued && link->expires <= parent->expires;
}

/* ---- reading ---- */

struct claim {
    const struct tree *tree;
    const struct expr *value;
};

static bool claim_text(struct claim claim, char *ret, size_t max)
{
    const char *text;
    size_t len;

    if (claim.value->kind != EXPR_STRING || claim.value->u.run.count > max)
        return false;
    text = tree_string(claim.tree, claim.value);
    len = claim.value->u.run.count;
    if (memchr(text, 0, len))
        return false;
    memcpy(ret, text, len);
    ret[len] = '\0';
    return true;
}

static bool claim_time(struct claim claim, int64_t *ret)
{
    *ret = claim.value->u.integer;
    return claim.value->kind == EXPR_INTEGER;
}

static bool read_iss(struct claim claim, struct link *ret)
{
    return claim_text(claim, ret->issuer, TOKEN_ID_DIGITS);
}

static bool read_sub(struct claim claim, struct link *ret)
{
    return claim_text(claim, ret->subject, TOKEN_NAME_MAX);
}

static bool read_aud(struct claim claim, struct link *ret)
{
    return claim_text(claim, ret->audience, TOKEN_NAME_MAX);
}

static bool read_scope(struct claim claim, struct link *ret)
{
    return claim.value->kind == EXPR_STRING &&
           scopes_read(tree_string(claim.tree, claim.value), claim.value->u.run.count, &ret->scope);
}

static bool read_iat(struct claim claim, struct link *ret)
{
    return claim_time(claim, &ret->issued);
}

static bool read_exp(struct claim claim, struct link *ret)
{
    return claim_time(claim, &ret->expires);
}

static bool read_jti(struct claim claim, struct link *ret)
{
    return claim_text(claim, ret->id, TOKEN_ID_DIGITS) && token_id_valid(ret->id, strlen(ret->id));
}

static bool read_dlg(struct claim claim, struct link *ret)
{
    ret->delegates = true;
    return claim.value->kind == EXPR_STRING && hex_read(tree_string(claim.tree, claim.value), claim.value->u.run.count,
                                                        ret->delegate.bytes, sizeof ret->delegate.bytes);
}

#define CLAIMS(X) X(iss) X(sub) X(aud) X(scope) X(iat) X(exp) X(jti) X(dlg)

static const char *const claim_names[] = {
#define X(name) #name,
    CLAIMS(X)
#undef X
};

static bool (*const claim_readers[])(struct claim claim, struct link *ret) = {
#define X(name) read_##name,
    CLAIMS(X)
#undef X
};

#define CLAIM_COUNT (sizeof claim_names / sizeof *claim_names)
#define CLAIM_DLG (CLAIM_COUNT - 1) /* the one that may be missing */

/* Reads the claims, each once and in its own spelling: names in ads do not heed case, names in tokens do. */
static bool claims_read(const struct tree *tree, struct link *ret)
{
    const struct expr *root = tree_root(tree), *parts = tree_parts(tree, root);
    unsigned seen = 0;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        uint32_t number = symbol_name(parts[i].label) - 1; /* known names are numbered from 1 */
        size_t len;
        const char *name = symbols_text(tree->symbols, parts[i].label, &len);

        if (number >= CLAIM_COUNT || strcmp(name, claim_names[number]) != 0)
            return false;
        if ((seen >> number & 1) || !claim_readers[number]((struct claim){tree, &parts[i]}, ret))
            return false;
        seen |= 1u << number;
    }
    return (seen | 1u << CLAIM_DLG) == (1u << CLAIM_COUNT) - 1;
}

bool link_read(const char *json, size_t len, struct link *ret)
{
    static const struct form_limits limits = {
        .bytes = TOKEN_BYTES_MAX, .cells = 2 * CLAIM_COUNT, .attributes = CLAIM_COUNT};
    struct symbols *symbols;
    struct link link = {0};
    struct tree *tree;
    struct err err;
    const char *why;
    bool good;

    if (len < 2 || json[0] != '{' || json[len - 1] != '}')
        return false; /* neither an array of one object nor blanks around it */
    symbols = symbols_new(claim_names, CLAIM_COUNT, 0);
    tree = form_parse(symbols, &dialect_classic, FORM_JSON, &limits, json, len, &err);
    good = tree && claims_read(tree, &link) && link_valid(&link, &why);
    tree_unref(tree);
    symbols_free(symbols);
    if (good)
        *ret = link;
    return good;
}
