/* dag_words.c: the words of a statement of a workflow's file, and the nodes that they name. */
#include "lang/form/dag_parts.h"

#include "lang/base/mem.h"
#include "lang/form/spell.h"

#include <stdlib.h>
#include <string.h>

int dag_fail(const struct reading *reading, const char *format, const char *word, size_t len)
{
    char shown[SPELL_SHOWN_MAX];

    return submit_fail(reading->at, reading->err, format, reading->keyword, spell_show(word, len, shown));
}

int dag_wants(const struct reading *reading, const char *what)
{
    char shown[SPELL_SHOWN_MAX];

    if (!reading->len)
        return submit_fail(reading->at, reading->err, "%s: expected %s, and the line ends", reading->keyword, what);
    return submit_fail(reading->at, reading->err, "%s: expected %s, got '%s'", reading->keyword, what,
                       spell_show(reading->text, strcspn(reading->text, " \t"), shown));
}

void dag_skip(struct reading *reading, size_t count)
{
    reading->text += count;
    reading->len -= count;
    while (reading->len && submit_blank(*reading->text)) {
        reading->text++;
        reading->len--;
    }
}

/* The next word; NULL at the end of the line. */
const char *dag_word_take(struct reading *reading, size_t *ret_len)
{
    const char *word = reading->text;
    size_t len = 0;

    while (len < reading->len && !submit_blank(word[len]))
        len++;
    if (!len)
        return NULL;
    *ret_len = len;
    dag_skip(reading, len);
    return word;
}

bool dag_word_follows(struct reading *reading, const char *word)
{
    size_t len = strlen(word);

    if (reading->len < len || !submit_same(reading->text, len, word) ||
        (reading->len > len && !submit_blank(reading->text[len])))
        return false;
    dag_skip(reading, len);
    return true;
}

int dag_line_ends(struct reading *reading)
{
    return reading->len ? dag_wants(reading, "the end of the line") : 0;
}

int dag_number_take(struct reading *reading, int64_t most, const char *what, int64_t *ret)
{
    size_t digits = 0;
    int64_t number = 0;

    while (digits < reading->len && reading->text[digits] >= '0' && reading->text[digits] <= '9' && digits < 12)
        number = number * 10 + (reading->text[digits++] - '0');
    if (!digits || number > most || (digits < reading->len && !submit_blank(reading->text[digits])))
        return dag_wants(reading, what);
    dag_skip(reading, digits);
    *ret = number;
    return 0;
}

char *dag_word_dup(struct reading *reading)
{
    size_t len;
    const char *word = dag_word_take(reading, &len);

    return word ? mem_dup(word, len) : NULL;
}

int dag_signed_take(struct reading *reading, const char *what, int64_t *ret)
{
    bool less = reading->len && *reading->text == '-';

    if (less)
        dag_skip(reading, 1);
    if (dag_number_take(reading, 1000000000, what, ret) < 0)
        return -1;
    *ret = less ? -*ret : *ret;
    return 0;
}

void dag_words_free(struct dag_words *words)
{
    while (words->count)
        free(words->items[--words->count]);
    free(words->items);
    words->items = NULL;
}

void dag_words_add(struct dag_words *words, const char *word, size_t len)
{
    words->items = mem_grow(words->items, (words->count + 1) * sizeof *words->items);
    words->items[words->count++] = mem_dup(word, len);
}

/* ------------------------------------------------------------------------------------------------------------- nodes */

/* The place of a name as the present file calls it: with the prefix of its splice. */
uint32_t dag_name_find(const struct reading *reading, const char *name, size_t len, const struct textmap *map)
{
    struct buf whole;
    uint32_t place;

    if (!*reading->prefix)
        return textmap_find(map, name, len);
    buf_init(&whole);
    buf_adds(&whole, reading->prefix);
    buf_add(&whole, name, len);
    place = textmap_find(map, whole.text, whole.len);
    buf_done(&whole);
    return place;
}

int dag_nodes_take(struct reading *reading, struct dag_nodes *ret)
{
    const struct dag *dag = reading->dag;
    const char *name;
    size_t len;

    if (dag_word_follows(reading, "ALL_NODES")) {
        reading->work += (reading->len + 1) * dag->count;
        if (reading->work > SUBMIT_WORK_MAX)
            return submit_fail(reading->at, reading->err, "%s: too much is said of ALL_NODES", reading->keyword);
        *ret = (struct dag_nodes){.to = dag->count, .all = true};
        return 0;
    }
    name = dag_word_take(reading, &len);
    if (!name)
        return dag_wants(reading, "the name of a node");
    ret->at = dag_name_find(reading, name, len, &dag->names);
    ret->to = ret->at + 1;
    ret->all = false;
    if (ret->at != TEXTMAP_NONE)
        return 0;
    if (dag_name_find(reading, name, len, &dag->splice_names) != TEXTMAP_NONE)
        return dag_fail(reading, "%s: '%s' is a splice: name its nodes", name, len);
    return dag_fail(reading, "%s: there is no node '%s'", name, len);
}

struct dag_node *dag_nodes_next(const struct reading *reading, struct dag_nodes *nodes)
{
    while (nodes->at < nodes->to) {
        struct dag_node *node = &reading->dag->nodes[nodes->at++];

        if (!nodes->all || (node->source == reading->source && !node->final))
            return node;
    }
    return NULL;
}
