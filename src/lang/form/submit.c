/* submit.c: the lines of a submit file: continuations, conditions, assignments, queue statements. */
#include "lang/base/array.h"
#include "lang/form/submit_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- words */

bool submit_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool submit_same(const char *text, size_t len, const char *word)
{
    size_t i = 0;

    while (i < len && word[i] && lower(text[i]) == lower(word[i]))
        i++;
    return i == len && !word[i];
}

void submit_trim(const char **text, size_t *len)
{
    while (*len && submit_blank(**text)) {
        ++*text;
        --*len;
    }
    while (*len && submit_blank((*text)[*len - 1]))
        --*len;
}

bool submit_is_name(char c)
{
    c = lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* ------------------------------------------------------------------------------------------------------------- telling */

int submit_fail(struct submit_place at, struct err *err, const char *format, ...)
{
    char words[ERR_TEXT_MAX];
    va_list list;

    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return err_at(err, at.line, at.column, "%s", words);
}

void submit_remark(const struct submit_reader *reader, struct submit_place at, const char *format, ...)
{
    struct err remark = {.line = at.line, .column = at.column};
    va_list list;

    if (!reader->world->remark)
        return;
    va_start(list, format);
    vsnprintf(remark.text, sizeof remark.text, format, list);
    va_end(list);
    reader->world->remark(reader->world->user, &remark);
}

int submit_clean(const char *text, size_t len, struct submit_place at, bool places, struct err *err)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c >= ' ' && c != 0x7f) || submit_blank((char)c))
            continue;
        if (places)
            err_place(text, i, &at.line, &at.column);
        return submit_fail(at, err, "expected text, got a control character (0x%02x)", c);
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- macros */

struct submit_macro *submit_macro(const struct submit_reader *reader, const char *name, size_t len)
{
    char small[256];
    uint32_t place;

    if (len > sizeof small)
        return NULL;
    for (size_t i = 0; i < len; i++)
        small[i] = lower(name[i]);
    place = textmap_find(&reader->names, small, len);
    return place == TEXTMAP_NONE ? NULL : &reader->macros[place];
}

/* In `a = $(a) more`, $(a) means the value before: it is put in at once. */
static void value_with_old(const struct submit_macro *old, const char *name, size_t name_len, struct buf *value)
{
    struct buf all;

    buf_init(&all);
    for (size_t i = 0; i < value->len;) {
        if (value->len - i >= name_len + 3 && value->text[i] == '$' && value->text[i + 1] == '(' &&
            value->text[i + 2 + name_len] == ')' && !memchr(value->text + i + 2, '\0', name_len)) {
            char called[256];

            memcpy(called, name, name_len);
            called[name_len] = '\0';
            if (submit_same(value->text + i + 2, name_len, called)) {
                if (old)
                    buf_add(&all, old->value, old->len);
                i += name_len + 3;
                continue;
            }
        }
        buf_addc(&all, value->text[i++]);
    }
    buf_reset(value);
    buf_add(value, all.text, all.len);
    buf_done(&all);
}

struct submit_macro *submit_macro_add(struct submit_reader *reader, const char *name, size_t len)
{
    char small[256];
    uint32_t place;

    if (len >= sizeof small || reader->names.count >= SUBMIT_MACROS_MAX)
        return NULL;
    for (size_t i = 0; i < len; i++)
        small[i] = lower(name[i]);
    place = textmap_add(&reader->names, small, len);
    ARRAY_ROOM(reader->macros, place, reader->macro_room, 32);
    reader->macros[place] = (struct submit_macro){.name = mem_dup(name, len)};
    return &reader->macros[place];
}

void submit_macro_remove(struct submit_reader *reader, const char *name, size_t len)
{
    struct submit_macro *macro = submit_macro(reader, name, len);

    if (!macro)
        return;
    free(macro->name);
    free(macro->value);
    textmap_remove(&reader->names, (uint32_t)(macro - reader->macros));
    *macro = (struct submit_macro){.name = NULL};
}

static int macro_set(struct submit_reader *reader, const char *name, size_t len, struct buf *value,
                     struct submit_place at, bool plain, struct err *err)
{
    struct submit_macro *macro = submit_macro(reader, name, len);

    if (len > 200)
        return submit_fail(at, err, "expected a name of at most 200 characters");
    value_with_old(macro, name, len, value);
    if (value->len > SUBMIT_VALUE_MAX)
        return submit_fail(at, err, "expected a value of at most %u bytes", SUBMIT_VALUE_MAX);
    if (!macro)
        macro = submit_macro_add(reader, name, len);
    if (!macro)
        return submit_fail(at, err, "expected at most %u names", SUBMIT_MACROS_MAX);
    free(macro->value);
    macro->value = mem_dup(value->len ? value->text : "", value->len);
    macro->len = value->len;
    macro->at = at;
    macro->plain = plain;
    macro->spoken = false;
    return 0;
}

/* Sets the macros that the caller gives, as if they stood there. No value need use them. */
static int macros_given(struct submit_reader *reader, const struct submit_given *all, uint32_t count,
                        struct submit_place at, struct err *err)
{
    struct buf value;
    int result = 0;

    buf_init(&value);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const struct submit_given *given = &all[i];
        bool added = *given->name == '+'; /* +Name is MY.Name */
        struct buf name;

        buf_init(&name);
        buf_addf(&name, "%s%s", added ? "MY." : "", given->name + added);
        buf_reset(&value);
        buf_adds(&value, given->value);
        result = macro_set(reader, name.text, name.len, &value, at, false, err);
        if (result == 0)
            submit_macro(reader, name.text, name.len)->used = true;
        buf_done(&name);
    }
    buf_done(&value);
    return result;
}

/* --------------------------------------------------------------------------------------------------------------- lines */

struct lines {
    const char *text;
    size_t len, at;
    unsigned line; /* of `at` */
};

/* The next line as it stands; false at the end. */
static bool line_raw(struct lines *lines, const char **ret, size_t *ret_len)
{
    const char *start = lines->text + lines->at, *end;

    if (lines->at >= lines->len)
        return false;
    end = memchr(start, '\n', lines->len - lines->at);
    *ret = start;
    *ret_len = end ? (size_t)(end - start) : lines->len - lines->at;
    lines->at += *ret_len + (end != NULL);
    lines->line++;
    return true;
}

/* Reads a statement and joins its continuations; `ret_at` is where it begins. Comments between them are dropped. */
static bool line_next(struct lines *lines, struct buf *out, struct submit_place *ret_at, bool *ret_plain)
{
    const char *text;
    size_t len;
    bool more = true, begun = false;

    buf_reset(out);
    *ret_plain = true;
    while (more && line_raw(lines, &text, &len)) {
        size_t blanks = 0;

        while (blanks < len && submit_blank(text[blanks]))
            blanks++;
        if (blanks < len && text[blanks] == '#')
            continue;
        while (len && submit_blank(text[len - 1]))
            len--;
        if (!begun && blanks >= len)
            continue;
        if (!begun)
            *ret_at = (struct submit_place){lines->line - 1, (unsigned)blanks + 1};
        else
            *ret_plain = false;
        more = len && text[len - 1] == '\\';
        len -= more;
        if (blanks > len)
            blanks = len;
        if (begun && blanks)
            buf_addc(out, ' ');
        buf_add(out, text + blanks, len - blanks);
        begun = true;
    }
    return begun;
}

/* ---------------------------------------------------------------------------------------------------------- statements */

/* `name @=tag`, lines, `@tag`. */
static int block_read(struct lines *lines, const char *tag, size_t tag_len, struct submit_place at, struct buf *out,
                      struct err *err)
{
    const char *text;
    size_t len;
    bool begun = false;

    while (line_raw(lines, &text, &len)) {
        const char *bare = text;
        size_t bare_len = len;

        submit_trim(&bare, &bare_len);
        if (bare_len == tag_len + 1 && *bare == '@' && memcmp(bare + 1, tag, tag_len) == 0)
            return 0;
        if (begun)
            buf_addc(out, '\n');
        buf_add(out, text, len);
        begun = true;
    }
    return submit_fail(at, err, "expected a line '@%.*s' that ends the value", tag_len > 60 ? 60 : (int)tag_len, tag);
}

static int assignment(struct submit_reader *reader, struct lines *lines, const char *text, size_t len,
                      struct submit_place at, bool plain, struct err *err)
{
    size_t name = 0, next;
    struct buf value;
    int result;

    if (len && *text == '+')
        name++;
    while (name < len && submit_is_name(text[name]))
        name++;
    next = name;
    while (next < len && submit_blank(text[next]))
        next++;
    if (next < len && text[next] == ':' && submit_same(text, name, "error"))
        return submit_fail(at, err, "%.*s", len - next - 1 > 200 ? 200 : (int)(len - next - 1), text + next + 1);
    if (next < len && text[next] == ':' && submit_same(text, name, "warning")) {
        submit_remark(reader, at, "%.*s", len - next - 1 > 200 ? 200 : (int)(len - next - 1), text + next + 1);
        return 0;
    }
    if (submit_same(text, name, "use"))
        return submit_fail(at, err, "'%.*s' is not carried over: put the lines here", (int)name, text);
    buf_init(&value);
    if (name > (*text == '+') && next + 1 < len && text[next] == '@' && text[next + 1] == '=') {
        const char *tag = text + next + 2;
        size_t tag_len = len - next - 2;

        submit_trim(&tag, &tag_len);
        result = tag_len ? block_read(lines, tag, tag_len, at, &value, err)
                         : submit_fail(at, err, "expected a word behind '@='");
        if (result == 0)
            result = macro_set(reader, text, name, &value, at, false, err);
        buf_done(&value);
        return result;
    }
    if (name == (size_t)(*text == '+') || next >= len || text[next] != '=') {
        at.column += (unsigned)(plain ? next : 0);
        buf_done(&value);
        return submit_fail(at, err, "expected 'name = value' or 'queue', got '%.*s'", len > 60 ? 60 : (int)len, text);
    }
    next++;
    while (next < len && submit_blank(text[next]))
        next++;
    buf_add(&value, text + next, len - next);
    at.column += (unsigned)(plain ? next : 0);
    if (*text == '+') { /* +Name is MY.Name */
        struct buf called;

        buf_init(&called);
        buf_adds(&called, "MY.");
        buf_add(&called, text + 1, name - 1);
        result = macro_set(reader, called.text, called.len, &value, at, plain, err);
        buf_done(&called);
    } else {
        result = macro_set(reader, text, name, &value, at, plain, err);
    }
    buf_done(&value);
    return result;
}

static int text_statements(struct submit_reader *reader, const char *text, size_t len, const struct submit_place *place,
                           bool *ret_queued, struct err *err);

/* The words of `include [ifexist] : FILE`, `include [into CACHE] : COMMAND |` and `include command : COMMAND`. */
struct include {
    bool if_there, runs;
    char *what;
};

/* 1: the line is an include. `ret->what` is the caller's to free, whatever is returned. */
static int include_read(struct submit_reader *reader, const char *text, size_t len, struct submit_place at,
                        struct include *ret, struct err *err)
{
    const char *colon = memchr(text, ':', len), *word, *what;
    struct buf expanded;
    size_t word_len, what_len;

    *ret = (struct include){.what = NULL};
    if (!len || *text == '@') {
        text += len > 0;
        len -= len > 0;
    }
    if (len < 8 || !submit_same(text, 7, "include") || !colon || (text[7] != ':' && !submit_blank(text[7])) ||
        memchr(text, '=', (size_t)(colon - text)))
        return 0;
    word = text + 7;
    word_len = (size_t)(colon - word);
    submit_trim(&word, &word_len);
    ret->if_there = submit_same(word, word_len, "ifexist");
    ret->runs = submit_same(word, word_len, "command");
    if (word_len && !ret->if_there && !ret->runs)
        return submit_fail(at, err, "expected 'include : FILE', got 'include %.*s'", word_len > 60 ? 60 : (int)word_len,
                           word);
    buf_init(&expanded);
    if (submit_expand(reader, colon + 1, len - (size_t)(colon + 1 - text), at, &expanded, err) < 0) {
        buf_done(&expanded);
        return -1;
    }
    what = buf_string(&expanded);
    what_len = expanded.len;
    submit_trim(&what, &what_len);
    if (what_len && what[what_len - 1] == '|') {
        ret->runs = true;
        what_len--;
        submit_trim(&what, &what_len);
    }
    ret->what = mem_dup(what, what_len);
    buf_done(&expanded);
    return what_len ? 1 : submit_fail(at, err, "expected a file behind 'include :'");
}

/* Reads the lines of another file, or those that a command prints, as if they stood here. What is wrong there is told at this place. */
static int include(struct submit_reader *reader, const struct include *include, struct submit_place at,
                   bool *ret_queued, struct err *err)
{
    const struct submit_world *world = reader->world;
    struct err why = {0};
    struct buf text;
    int result = -1;

    if (reader->included == SUBMIT_INCLUDE_MAX)
        return submit_fail(at, err, "expected files at most %d within one another", SUBMIT_INCLUDE_MAX);
    buf_init(&text);
    if (include->runs && !world->command)
        submit_fail(at, err, "'include : COMMAND |' is run only when 'berth submit' submits the file");
    else if (!include->runs && !world->file)
        submit_fail(at, err, "'include' needs a file, and none can be read here");
    else if ((include->runs ? world->command : world->file)(world->user, include->what, &text, &why) < 0)
        result = include->if_there ? 0 : submit_fail(at, err, "include %.200s: %.150s", include->what, why.text);
    else if (text.len > SUBMIT_BYTES_MAX || (reader->work += text.len) > submit_work_max(reader))
        submit_fail(at, err, "include %.200s: expected at most %u bytes", include->what, SUBMIT_BYTES_MAX);
    else {
        reader->included++;
        result = text_statements(reader, buf_string(&text), text.len, &at, ret_queued, &why);
        reader->included--;
        if (result < 0 && !reader->stopped)
            submit_fail(at, err, "include %.120s:%u: %.250s", include->what, why.line, why.text);
    }
    buf_done(&text);
    return result;
}

static int statement(struct submit_reader *reader, struct lines *lines, struct submit_conditions *conditions,
                     const char *text, size_t len, struct submit_place at, bool plain, struct err *err)
{
    int done = submit_condition_line(reader, conditions, text, len, at, err);
    struct include other;
    size_t taken = 0;
    unsigned count = 0;

    if (done)
        return done < 0 ? -1 : 0;
    if (!submit_conditions_hold(conditions))
        return 0;
    done = include_read(reader, text, len, at, &other, err);
    if (done) {
        bool queued = false;

        if (done > 0)
            done = include(reader, &other, at, &queued, err);
        free(other.what);
        return done < 0 ? -1 : queued;
    }
    if (len < 5 || !submit_same(text, 5, "queue") || (len > 5 && !submit_blank(text[5]) && text[5] != '('))
        return assignment(reader, lines, text, len, at, plain, err);
    if (macros_given(reader, reader->world->appended, reader->world->appended_count, at, err) < 0)
        return -1;
    if (submit_queue(reader, text + 5, len - 5, at, lines->text + lines->at, lines->len - lines->at, &taken, &count,
                     err) < 0)
        return -1;
    lines->at += taken;
    lines->line += count;
    return 1;
}

static void reader_done(struct submit_reader *reader)
{
    for (uint32_t i = 0; i < reader->names.places; i++) {
        free(reader->macros[i].name);
        free(reader->macros[i].value);
    }
    free(reader->macros);
    textmap_done(&reader->names);
    textmap_done(&reader->missing);
    textmap_done(&reader->found);
}

/* Takes the statements of a text in order. `place`: where it is included; NULL: it is the file itself. */
static int text_statements(struct submit_reader *reader, const char *text, size_t len, const struct submit_place *place,
                           bool *ret_queued, struct err *err)
{
    struct lines lines = {.text = text, .len = len, .line = 1};
    struct submit_conditions conditions = {.count = 0};
    struct submit_place at = {1, 1};
    struct buf line;
    bool plain;
    int result;

    if (submit_clean(text, len, at, true, err) < 0)
        return -1;
    buf_init(&line);
    result = place ? 0 : macros_given(reader, reader->world->given, reader->world->given_count, at, err);
    while (result == 0 && line_next(&lines, &line, &at, &plain)) {
        unsigned began = at.line;

        if (place) {
            at = *place;
            plain = false;
        }
        result = statement(reader, &lines, &conditions, buf_string(&line), line.len, at, plain, err);
        *ret_queued = *ret_queued || result > 0;
        result = result < 0 ? -1 : 0;
        if (result < 0 && place && err)
            err->line = began;
    }
    if (result == 0 && conditions.count)
        result = submit_fail(conditions.open[conditions.count - 1].at, err, "'if' without an 'endif'");
    buf_done(&line);
    return result;
}

int submit_read(struct symbols *symbols, const struct submit_world *world, const char *text, size_t len,
                submit_ad_fn *each, void *user, struct err *err)
{
    struct submit_reader reader = {.world = world, .symbols = symbols, .each = each, .user = user};
    struct submit_place at = {1, 1};
    bool queued = false;
    int result;

    if (len > SUBMIT_BYTES_MAX)
        return submit_fail(at, err, "expected a file of at most %u bytes", SUBMIT_BYTES_MAX);
    textmap_init(&reader.names, 0);
    textmap_init(&reader.missing, 0);
    textmap_init(&reader.found, 0);
    result = text_statements(&reader, text, len, NULL, &queued, err);
    if (result == 0 && !queued) {
        err_place(text, len, &at.line, &at.column);
        result = submit_fail(at, err, "expected a line 'queue': without one there is no job");
    }
    if (result == 0)
        submit_unused(&reader);
    reader_done(&reader);
    return result;
}

/* -------------------------------------------------------------------------------------------------------- recognising */

static const struct {
    const char *name;
    enum submit_language language;
} languages[] = {{"ad", SUBMIT_AD}, {"submit", SUBMIT_SUBMIT}, {"jdl", SUBMIT_JDL}};

enum submit_language submit_language_find(const char *name)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(name, languages[i].name) == 0)
            return languages[i].language;
    return SUBMIT_UNKNOWN;
}

static bool name_ends(const char *name, const char *ending)
{
    size_t len = name ? strlen(name) : 0, end = strlen(ending);

    return len > end && strcmp(name + len - end, ending) == 0;
}

/* Does a line begin with that word, followed by one of the characters in `behind`? */
static bool line_begins(const char *line, size_t len, const char *word, const char *behind)
{
    size_t at = strlen(word);

    if (len < at || !submit_same(line, at, word))
        return false;
    while (at < len && submit_blank(line[at]))
        at++;
    return at == len ? *behind == '\0' : strchr(behind, line[at]) != NULL;
}

/* A line of the submit language that no ad and no JDL has: `queue`, and what follows it. */
static bool is_queue(const char *line, size_t len)
{
    return submit_same(line, len, "queue") ||
           (len > 6 && submit_same(line, 5, "queue") && submit_blank(line[5]) && !line_begins(line, len, "queue", "="));
}

/* The ending .jdl is used for files of both languages: those of HTCondor have a line `queue`, and no bracket around them. */
enum submit_language submit_recognise(const char *name, const char *text, size_t len)
{
    struct lines lines = {.text = text, .len = len, .line = 1};
    bool named_jdl = name_ends(name, ".jdl"), first = true, command = false, jdl = false;
    const char *line;
    size_t line_len;

    if (name_ends(name, ".ad") || name_ends(name, ".ads") || name_ends(name, ".json") || name_ends(name, ".xml"))
        return SUBMIT_AD;
    if (name_ends(name, ".sub") || name_ends(name, ".submit"))
        return SUBMIT_SUBMIT;
    while (line_raw(&lines, &line, &line_len)) {
        submit_trim(&line, &line_len);
        if (first && line_len && *line == '[' && named_jdl)
            return SUBMIT_JDL;
        first = first && (!line_len || *line == '#');
        if (line_len && *line == '[') {
            line++;
            line_len--;
            submit_trim(&line, &line_len);
        }
        if (is_queue(line, line_len))
            return SUBMIT_SUBMIT;
        command = command || line_begins(line, line_len, "cmd", "=");
        jdl = jdl || (line_begins(line, line_len, "executable", "=") && memchr(line, ';', line_len));
    }
    return named_jdl || (jdl && !command) ? SUBMIT_JDL : SUBMIT_AD;
}
