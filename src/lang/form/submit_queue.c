/* submit_queue.c: the queue statement: how many jobs, for which items.
 *
 *     queue [N] [names in|from|matching [files|dirs|any] [slice] (items) | FILE | PATTERN ...]
 *
 * Items are taken one after another: the statement's names get the item's values, and the ads of the item are made. */
#include "lang/base/array.h"
#include "lang/form/submit_job.h"

#include <stdlib.h>
#include <string.h>

enum mode { MODE_NONE, MODE_IN, MODE_FROM, MODE_MATCHING };

struct slice {
    bool has[3];
    int64_t number[3];
};

struct queue {
    struct submit_reader *reader;
    struct submit_place at;
    enum mode mode;
    enum submit_match what;
    struct slice slice;
    bool has_slice;
    const char *rest; /* the text behind the keyword */
    size_t rest_len;
    char **items;
    size_t count, room;
    struct err *err;
};

/* --------------------------------------------------------------------------------------------------------------- items */

static int item_add(struct queue *queue, const char *text, size_t len)
{
    submit_trim(&text, &len);
    if (!len)
        return 0;
    if (queue->count == SUBMIT_ITEMS_MAX)
        return submit_fail(queue->at, queue->err, "expected at most %u items", SUBMIT_ITEMS_MAX);
    ARRAY_ROOM(queue->items, queue->count, queue->room, 16);
    queue->items[queue->count++] = mem_dup(text, len);
    return 0;
}

/* Words with commas or blanks between. */
static int items_words(struct queue *queue, const char *text, size_t len)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == ',' || submit_blank(text[i])) {
            if (item_add(queue, text + start, i - start) < 0)
                return -1;
            start = i + 1;
        }
    return 0;
}

/* Each line is an item; comments are not. */
static int items_lines(struct queue *queue, const char *text, size_t len)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '\n') {
            const char *line = text + start;
            size_t line_len = i - start;

            submit_trim(&line, &line_len);
            if (line_len && *line != '#' && item_add(queue, line, line_len) < 0)
                return -1;
            start = i + 1;
        }
    return 0;
}

static int items_split(struct queue *queue, const char *text, size_t len)
{
    return queue->mode == MODE_FROM ? items_lines(queue, text, len) : items_words(queue, text, len);
}

/* Reads lines up to one that is a closing bracket. */
static int items_below(struct queue *queue, const char *more, size_t more_len, size_t *ret_taken, unsigned *ret_lines)
{
    size_t at = 0;
    unsigned lines = 0;

    while (at < more_len) {
        const char *end = memchr(more + at, '\n', more_len - at), *line = more + at;
        size_t len = end ? (size_t)(end - line) : more_len - at;
        const char *bare = line;
        size_t bare_len = len;

        at += len + (end != NULL);
        lines++;
        submit_trim(&bare, &bare_len);
        if (bare_len == 1 && *bare == ')') {
            *ret_taken = at;
            *ret_lines = lines;
            return 0;
        }
        if (bare_len && *bare != '#' && items_split(queue, bare, bare_len) < 0)
            return -1;
    }
    return submit_fail(queue->at, queue->err, "expected a line ')' that ends the items");
}

/* The lines that a command prints; the bar behind it is still there. */
static int items_command(struct queue *queue, char *command)
{
    const struct submit_world *world = queue->reader->world;
    struct err why = {0};
    struct buf text;
    int result = -1;

    command[strlen(command) - 1] = '\0';
    buf_init(&text);
    if (world->command(world->user, command, &text, &why) < 0)
        submit_fail(queue->at, queue->err, "queue from %.200s|: %.150s", command, why.text);
    else if (submit_clean(buf_string(&text), text.len, queue->at, false, queue->err) == 0)
        result = items_lines(queue, text.text, text.len);
    buf_done(&text);
    return result;
}

static int items_file(struct queue *queue)
{
    const struct submit_world *world = queue->reader->world;
    char *name = mem_dup(queue->rest, queue->rest_len);
    struct err why = {0};
    struct buf text;
    int result = -1;

    buf_init(&text);
    if (!queue->rest_len)
        submit_fail(queue->at, queue->err, "expected a file, or items in brackets, behind 'from'");
    else if (name[queue->rest_len - 1] == '|' && !world->command)
        submit_fail(queue->at, queue->err, "'queue from COMMAND |' is run only when 'berth submit' submits the file");
    else if (name[queue->rest_len - 1] == '|')
        result = items_command(queue, name);
    else if (!world->file)
        submit_fail(queue->at, queue->err, "'queue from FILE' needs a file, and none can be read here");
    else if (world->file(world->user, name, &text, &why) < 0)
        submit_fail(queue->at, queue->err, "queue from %.200s: %.150s", name, why.text);
    else if (text.len > SUBMIT_BYTES_MAX)
        submit_fail(queue->at, queue->err, "queue from %.200s: expected at most %u bytes", name, SUBMIT_BYTES_MAX);
    else if (submit_clean(buf_string(&text), text.len, queue->at, false, queue->err) < 0)
        err_context(queue->err, "queue from %.200s", name);
    else
        result = items_lines(queue, text.text, text.len);
    buf_done(&text);
    free(name);
    return result;
}

static int items_matching(struct queue *queue, const char *text, size_t len)
{
    const struct submit_world *world = queue->reader->world;
    struct err why = {0};
    struct buf found;
    int result = 0;

    if (!world->match)
        return submit_fail(queue->at, queue->err, "'queue matching' needs files, and none can be seen here");
    buf_init(&found);
    for (size_t start = 0, i = 0; i <= len && result == 0; i++)
        if (i == len || text[i] == ',' || submit_blank(text[i])) {
            char *pattern = mem_dup(text + start, i - start);

            if (*pattern && world->match(world->user, pattern, queue->what, &found, &why) < 0)
                result = submit_fail(queue->at, queue->err, "queue matching %.200s: %.150s", pattern, why.text);
            free(pattern);
            start = i + 1;
        }
    if (result == 0)
        result = submit_clean(buf_string(&found), found.len, queue->at, false, queue->err);
    for (size_t start = 0, i = 0; i <= found.len && result == 0; i++)
        if (i == found.len || found.text[i] == '\n') {
            result = item_add(queue, buf_string(&found) + start, i - start);
            start = i + 1;
        }
    buf_done(&found);
    return result;
}

/* The items that [from:to:step] means, as in Python. */
static void slice_bounds(const struct queue *queue, int64_t *ret_from, int64_t *ret_to, int64_t *ret_step)
{
    int64_t count = (int64_t)queue->count;
    const struct slice *slice = &queue->slice;

    *ret_step = slice->has[2] && slice->number[2] > 0 ? slice->number[2] : 1;
    *ret_from = slice->has[0] ? slice->number[0] : 0;
    *ret_to = slice->has[1] ? slice->number[1] : count;
    if (*ret_from < 0)
        *ret_from += count;
    if (*ret_to < 0)
        *ret_to += count;
    *ret_from = *ret_from < 0 ? 0 : *ret_from;
    *ret_to = *ret_to > count ? count : *ret_to;
}

/* ----------------------------------------------------------------------------------------------------------- the words */

/* The next word, up to a blank, a comma or a bracket. */
static size_t word_len(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && !submit_blank(text[i]) && text[i] != ',' && text[i] != '(' && text[i] != '[')
        i++;
    return i;
}

static void skip(const char **text, size_t *len, size_t count)
{
    *text += count;
    *len -= count;
    while (*len && submit_blank(**text)) {
        ++*text;
        --*len;
    }
}

static enum mode mode_of(const char *word, size_t len)
{
    return submit_same(word, len, "in")         ? MODE_IN
           : submit_same(word, len, "from")     ? MODE_FROM
           : submit_same(word, len, "matching") ? MODE_MATCHING
                                                : MODE_NONE;
}

static int number_read(struct queue *queue, const char **text, size_t *len, uint64_t *ret)
{
    uint64_t number = 0;
    size_t digits = 0;

    while (digits < *len && (*text)[digits] >= '0' && (*text)[digits] <= '9') {
        number = number > 1000000000 ? number : number * 10 + (uint64_t)((*text)[digits] - '0');
        digits++;
    }
    if (!digits)
        return 0;
    if (digits < *len && !submit_blank((*text)[digits]))
        return submit_fail(queue->at, queue->err, "expected a number of jobs behind 'queue', got '%.*s'",
                           *len > 60 ? 60 : (int)*len, *text);
    if (!number || number > SUBMIT_ADS_MAX)
        return submit_fail(queue->at, queue->err, "expected 1 to %u jobs behind 'queue'", SUBMIT_ADS_MAX);
    *ret = number;
    skip(text, len, digits);
    return 0;
}

static int variable_add(struct queue *queue, const char *name, size_t len)
{
    struct submit_reader *reader = queue->reader;

    if (reader->variable_count == SUBMIT_VARIABLES_MAX)
        return submit_fail(queue->at, queue->err, "expected at most %d names", SUBMIT_VARIABLES_MAX);
    reader->variables[reader->variable_count++] = (struct submit_variable){.name = mem_dup(name, len)};
    return 0;
}

static int slice_read(struct queue *queue, const char **text, size_t *len)
{
    const char *end = *len && **text == '[' ? memchr(*text, ']', *len) : NULL;
    unsigned part = 0;

    if (!*len || **text != '[')
        return 0;
    for (const char *at = *text + 1; end && at < end;) {
        char *next;
        long long number = strtoll(at, &next, 10);

        if (next > end || number > 1000000000 || number < -1000000000)
            break;
        if (next != at) {
            queue->slice.has[part] = true;
            queue->slice.number[part] = number;
        }
        at = next;
        if (at == end)
            break;
        if (*at != ':' || ++part > 2) {
            end = NULL;
            break;
        }
        at++;
    }
    if (!end || !part)
        return submit_fail(queue->at, queue->err, "expected a slice such as [2:10], got '%.*s'",
                           *len > 30 ? 30 : (int)*len, *text);
    queue->has_slice = true;
    skip(text, len, (size_t)(end + 1 - *text));
    return 0;
}

/* Reads everything up to the items. */
static int head_read(struct queue *queue, const char *text, size_t len)
{
    struct submit_reader *reader = queue->reader;

    skip(&text, &len, 0);
    reader->count = 1;
    if (number_read(queue, &text, &len, &reader->count) < 0)
        return -1;
    while (len && queue->mode == MODE_NONE) {
        size_t word = word_len(text, len);

        queue->mode = mode_of(text, word);
        if (queue->mode == MODE_NONE && !word)
            return submit_fail(queue->at, queue->err, "expected 'in', 'from' or 'matching', got '%.*s'",
                               len > 60 ? 60 : (int)len, text);
        if (queue->mode == MODE_NONE && variable_add(queue, text, word) < 0)
            return -1;
        skip(&text, &len, word);
        if (len && queue->mode == MODE_NONE && *text == ',')
            skip(&text, &len, 1);
    }
    if (queue->mode == MODE_NONE && reader->variable_count)
        return submit_fail(queue->at, queue->err,
                           "expected a number of jobs, or 'in', 'from' or 'matching', behind 'queue', got '%.60s'",
                           reader->variables[0].name);
    if (queue->mode != MODE_NONE && !reader->variable_count && variable_add(queue, "Item", 4) < 0)
        return -1;
    if (queue->mode == MODE_MATCHING) {
        size_t word = word_len(text, len);
        bool files = submit_same(text, word, "files"), folders = submit_same(text, word, "dirs");

        queue->what = files ? SUBMIT_MATCH_FILES : folders ? SUBMIT_MATCH_FOLDERS : SUBMIT_MATCH_ANY;
        if (files || folders || submit_same(text, word, "any"))
            skip(&text, &len, word);
    }
    if (slice_read(queue, &text, &len) < 0)
        return -1;
    submit_trim(&text, &len);
    queue->rest = text;
    queue->rest_len = len;
    return 0;
}

static int items_read(struct queue *queue, const char *more, size_t more_len, size_t *ret_taken, unsigned *ret_lines)
{
    const char *text = queue->rest;
    size_t len = queue->rest_len;

    if (queue->mode == MODE_NONE)
        return 0;
    if (len && *text == '(') {
        if (len == 1)
            return items_below(queue, more, more_len, ret_taken, ret_lines);
        if (text[len - 1] != ')')
            return submit_fail(queue->at, queue->err, "expected ')' to close '('");
        text++;
        len -= 2;
        if (queue->mode != MODE_MATCHING)
            return items_split(queue, text, len);
    }
    if (queue->mode == MODE_FROM)
        return items_file(queue);
    return queue->mode == MODE_MATCHING ? items_matching(queue, text, len) : items_words(queue, text, len);
}

/* ------------------------------------------------------------------------------------------------------------ the jobs */

/* Each name gets one word, the last name the rest. */
void submit_item_set(struct submit_reader *reader, const char *item)
{
    const char *at = item;
    size_t len = strlen(item);

    for (uint32_t i = 0; i < reader->variable_count; i++) {
        struct submit_variable *variable = &reader->variables[i];
        size_t word = 0;

        submit_trim(&at, &len);
        while (word < len && (i + 1 == reader->variable_count || (at[word] != ',' && !submit_blank(at[word]))))
            word++;
        variable->value = at;
        variable->len = word;
        at += word;
        len -= word;
        submit_trim(&at, &len);
        if (len && *at == ',') {
            at++;
            len--;
        }
    }
}

/* `queue arguments from FILE`: a name that is a key gets its value from the item. */
static int keys_lend(struct queue *queue)
{
    struct submit_reader *reader = queue->reader;
    struct buf value;

    for (uint32_t i = 0; i < reader->variable_count; i++) {
        struct submit_variable *variable = &reader->variables[i];
        struct submit_macro *macro = submit_macro(reader, variable->name, strlen(variable->name));

        if (!submit_key_is_known(variable->name))
            continue;
        if (macro) {
            variable->kept = mem_alloc(sizeof *macro);
            *variable->kept = *macro;
        } else {
            macro = submit_macro_add(reader, variable->name, strlen(variable->name));
        }
        if (!macro)
            return submit_fail(queue->at, queue->err, "expected at most %u names", SUBMIT_MACROS_MAX);
        variable->is_key = true;
        buf_init(&value);
        buf_addf(&value, "$(%s)", variable->name);
        macro->value = mem_dup(value.text, value.len);
        macro->len = value.len;
        macro->at = queue->at;
        macro->plain = macro->spoken = false;
        buf_done(&value);
    }
    return 0;
}

static void keys_restore(struct submit_reader *reader)
{
    for (uint32_t i = reader->variable_count; i--;) {
        struct submit_variable *variable = &reader->variables[i];
        struct submit_macro *macro = submit_macro(reader, variable->name, strlen(variable->name));

        if (variable->kept) {
            free(macro->value);
            *macro = *variable->kept;
            free(variable->kept);
        } else if (variable->is_key) {
            submit_macro_remove(reader, variable->name, strlen(variable->name));
        }
    }
}

/* Can the values of an item simply be put into a text? True when nothing in them separates, quotes or leads elsewhere. */
static bool item_is_plain(struct submit_reader *reader, const char *item)
{
    submit_item_set(reader, item);
    for (uint32_t i = 0; i < reader->variable_count; i++) {
        const struct submit_variable *variable = &reader->variables[i];

        if (!variable->len || variable->is_key || *variable->value == '/')
            return false;
        for (size_t k = 0; k < variable->len; k++) {
            char c = variable->value[k];

            if (!((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || strchr("_-+:@%./", c)) ||
                (c == '.' && k + 1 < variable->len && variable->value[k + 1] == '.'))
                return false;
        }
    }
    return true;
}

/* How many items, from `from` on, can share an ad. */
static uint64_t items_fitting(struct queue *queue, int64_t from, int64_t to)
{
    struct submit_reader *reader = queue->reader;
    uint64_t count = 0;
    size_t bytes = 0;

    while (from + (int64_t)count < to && (count + 1) * reader->count <= SUBMIT_ADS_MAX) {
        const char *item = queue->items[from + (int64_t)count];

        bytes += strlen(item) + 8 * reader->variable_count;
        if (bytes > SUBMIT_FOLD_BYTES || !item_is_plain(reader, item))
            break;
        count++;
    }
    return count;
}

/* Makes ads of several items as long as they can share one; returns the first item that cannot, -1 when the reading was ended. */
static int64_t items_fold(struct queue *queue, int64_t from, int64_t to)
{
    struct submit_reader *reader = queue->reader;
    uint32_t least = reader->world->fold_from ? reader->world->fold_from : SUBMIT_FOLD_FROM;
    int result = 0;

    if (to - from < least || reader->variable_count > SUBMIT_FOLD_VARIABLES)
        return from;
    while (from < to && result == 0) {
        reader->fold.count = items_fitting(queue, from, to);
        if (reader->fold.count < 2)
            break;
        reader->fold.items = &queue->items[from];
        reader->item = (uint64_t)from;
        reader->base = reader->processes;
        result = submit_fold(reader);
        reader->fold.items = NULL;
        if (result == 0) {
            reader->processes += reader->fold.count * reader->count;
            from += (int64_t)reader->fold.count;
        }
    }
    return result < 0 ? -1 : from;
}

static int jobs_make(struct queue *queue)
{
    struct submit_reader *reader = queue->reader;
    int64_t from = 0, to = 1, step = 1;
    int result = 0;

    reader->queue = queue->at;
    reader->in_item = true;
    if (queue->mode != MODE_NONE) {
        slice_bounds(queue, &from, &to, &step);
        if (from >= to)
            result = submit_fail(queue->at, queue->err, "expected items: there is none, so no job would be submitted");
        if (result == 0 && step == 1)
            from = items_fold(queue, from, to);
        if (from < 0)
            result = -1;
    }
    for (int64_t i = from; i < to && result == 0; i += step) {
        if (queue->mode != MODE_NONE)
            submit_item_set(reader, queue->items[i]);
        reader->item = (uint64_t)i;
        reader->base = reader->processes;
        result = submit_item(reader, queue->err);
        reader->processes += reader->count;
    }
    reader->in_item = false;
    return result;
}

int submit_queue(struct submit_reader *reader, const char *rest, size_t len, struct submit_place at, const char *more,
                 size_t more_len, size_t *ret_taken, unsigned *ret_lines, struct err *err)
{
    struct queue queue = {.reader = reader, .at = at, .err = err};
    struct buf text;
    int result;

    buf_init(&text);
    result = submit_expand(reader, rest, len, at, &text, err);
    if (result == 0)
        result = head_read(&queue, buf_string(&text), text.len);
    if (result == 0)
        result = items_read(&queue, more, more_len, ret_taken, ret_lines);
    if (result == 0 && (result = keys_lend(&queue)) == 0) {
        submit_keys_look(reader);
        result = jobs_make(&queue);
    }
    keys_restore(reader);
    while (reader->variable_count)
        free(reader->variables[--reader->variable_count].name);
    while (queue.count)
        free(queue.items[--queue.count]);
    free(queue.items);
    buf_done(&text);
    return result;
}
