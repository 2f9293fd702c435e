/* submit_conditions.c: the conditions of a submit file: if, elif, else, endif. */
#include "lang/form/submit_parts.h"

#include <string.h>

bool submit_conditions_hold(const struct submit_conditions *conditions)
{
    for (unsigned i = 0; i < conditions->count; i++)
        if (!conditions->open[i].now)
            return false;
    return true;
}

/* The version of HTCondor whose submit language this is. */
static const int version[] = {24, 0, 0};

/* version >= 8.9.7 */
static int version_value(const char *text, size_t len, struct submit_place at, bool *ret, struct err *err)
{
    static const char *const operators[] = {">=", "<=", "==", "!=", ">", "<"};
    size_t which = 0, digits = 0;
    int order = 0, number = 0;
    unsigned part = 0;

    submit_trim(&text, &len);
    while (which < 6 &&
           (len < strlen(operators[which]) || memcmp(text, operators[which], strlen(operators[which])) != 0))
        which++;
    if (which < 6) {
        text += strlen(operators[which]);
        len -= strlen(operators[which]);
        submit_trim(&text, &len);
    }
    for (size_t i = 0; i <= len && which < 6; i++) {
        if (i < len && text[i] >= '0' && text[i] <= '9' && digits < 6) {
            number = number * 10 + (text[i] - '0');
            digits++;
        } else if (digits && part < 3 && (i == len || text[i] == '.')) {
            order = order ? order : (version[part] > number) - (version[part] < number);
            part++;
            number = 0;
            digits = 0;
        } else {
            which = 6;
        }
    }
    if (which == 6 || !part)
        return submit_fail(at, err, "expected a version, as in 'if version >= 8.9.7'");
    *ret = which == 0   ? order >= 0
           : which == 1 ? order <= 0
           : which == 2 ? !order
           : which == 3 ? order != 0
           : which == 4 ? order > 0
                        : order < 0;
    return 0;
}

static int condition_value(struct submit_reader *reader, const char *text, size_t len, struct submit_place at,
                           bool *ret, struct err *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true},   {"yes", true}, {"t", true},  {"1", true},
                 {"false", false}, {"no", false}, {"f", false}, {"0", false}};
    bool inverse = false;
    struct buf out;
    int result = -1;

    submit_trim(&text, &len);
    if (len && *text == '!') {
        inverse = true;
        text++;
        len--;
        submit_trim(&text, &len);
    }
    buf_init(&out);
    if (len > 8 && submit_same(text, 7, "defined") && submit_blank(text[7])) {
        text += 8;
        len -= 8;
        submit_trim(&text, &len);
        if (submit_expand(reader, text, len, at, &out, err) == 0) {
            struct submit_macro *macro = submit_macro(reader, out.text, out.len);

            *ret = (macro && macro->len) != inverse;
            result = 0;
        }
    } else if (len > 8 && submit_same(text, 7, "version") && strchr(" \t<>=!", text[7])) {
        result = version_value(text + 7, len - 7, at, ret, err);
        *ret = *ret != inverse;
    } else if (submit_expand(reader, text, len, at, &out, err) == 0) {
        const char *value = buf_string(&out);
        size_t value_len = out.len;

        submit_trim(&value, &value_len);
        for (size_t i = 0; result < 0 && i < sizeof words / sizeof *words; i++)
            if (submit_same(value, value_len, words[i].word)) {
                *ret = words[i].value != inverse;
                result = 0;
            }
        if (result < 0)
            submit_fail(at, err, "expected true, false, or 'defined NAME' as the condition, got '%.*s'",
                        value_len > 60 ? 60 : (int)value_len, value);
    }
    buf_done(&out);
    return result;
}

int submit_condition_line(struct submit_reader *reader, struct submit_conditions *conditions, const char *text,
                          size_t len, struct submit_place at, struct err *err)
{
    size_t word = 0;
    bool value = false;

    while (word < len && submit_is_name(text[word]))
        word++;
    if (word < len && !submit_blank(text[word]) && text[word] != '!')
        return 0;
    if (submit_same(text, word, "if")) {
        if (conditions->count == SUBMIT_CONDITIONS_MAX)
            return submit_fail(at, err, "expected at most %d conditions within one another", SUBMIT_CONDITIONS_MAX);
        if (submit_conditions_hold(conditions) && condition_value(reader, text + word, len - word, at, &value, err) < 0)
            return -1;
        conditions->open[conditions->count].now = conditions->open[conditions->count].been = value;
        conditions->open[conditions->count].last = false;
        conditions->open[conditions->count++].at = at;
        return 1;
    }
    if (!submit_same(text, word, "elif") && !submit_same(text, word, "else") && !submit_same(text, word, "endif"))
        return 0;
    if (!conditions->count)
        return submit_fail(at, err, "'%.*s' without an 'if'", (int)word, text);
    if (submit_same(text, word, "endif")) {
        conditions->count--;
        return 1;
    }
    if (conditions->open[conditions->count - 1].last)
        return submit_fail(at, err, "expected 'endif': there was an 'else' already");
    conditions->open[conditions->count - 1].now = false;
    value = !conditions->open[conditions->count - 1].been;
    if (submit_same(text, word, "else")) {
        conditions->open[conditions->count - 1].last = true;
    } else if (value) {
        conditions->count--;
        value = submit_conditions_hold(conditions);
        if (value && condition_value(reader, text + word, len - word, at, &value, err) < 0)
            return -1;
        conditions->count++;
    }
    conditions->open[conditions->count - 1].now = value;
    conditions->open[conditions->count - 1].been |= value;
    return 1;
}
