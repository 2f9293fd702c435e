/* gang_slow.c: what a gang is, and the largest gang by trying everything. */
#include "gang_slow.h"

#include "match/pair/order.h"

/* ------------------------------------------------------------------------------------------- what must be filled */

/* A number, or { least, most }. */
static void range_of(const struct tree *tree, const struct expr *e, uint32_t *ret_least, uint32_t *ret_most)
{
    const struct expr *parts = tree_parts(tree, e);
    bool list = e->kind == EXPR_LIST;

    *ret_least = (uint32_t)(list ? parts[0].u.integer : e->u.integer);
    *ret_most = (uint32_t)(list ? parts[1].u.integer : e->u.integer);
}

static bool is_optional(const struct tree *tree, const struct expr *entry)
{
    const struct expr *found = tree_find(tree, entry, NAME_ESSENTIAL);

    return found && found->kind == EXPR_BOOLEAN && !found->small;
}

enum filling { FILLING_NONE, FILLING_FULL, FILLING_WRONG };

/* How an entry of a port list is filled: `port` is its first port, and then the one behind its last. */
static enum filling entry_filling(const struct slow_ad *ad, const struct expr *entry, const uint32_t *members,
                                  uint32_t *port)
{
    const struct expr *list = tree_find(ad->tree, entry, NAME_PORTS);
    const struct expr *count = tree_find(ad->tree, entry, NAME_COUNT);
    uint32_t least = 1, most = 1, full = 0, any = 0, from = *port;

    if (!list) {
        uint32_t n = members[(*port)++];

        if (count)
            range_of(ad->tree, count, &least, &most);
        return n == 0 ? FILLING_NONE : n >= least && n <= most ? FILLING_FULL : FILLING_WRONG;
    }
    range_of(ad->tree, tree_find(ad->tree, entry, NAME_CHOOSE), &least, &most);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        enum filling filling = entry_filling(ad, &tree_parts(ad->tree, list)[i], members, port);

        if (filling == FILLING_WRONG)
            return FILLING_WRONG;
        full += filling == FILLING_FULL;
    }
    for (uint32_t i = from; i < *port; i++)
        any += members[i];
    return !any ? FILLING_NONE : full >= least && full <= most ? FILLING_FULL : FILLING_WRONG;
}

/* May an ad that says Choose have nobody at all? */
static bool slow_may_be_empty(const struct slow_ad *ad)
{
    uint32_t least, most;

    range_of(ad->tree, tree_find(ad->tree, tree_root(ad->tree), NAME_CHOOSE), &least, &most);
    return least == 0;
}

bool slow_filled(const struct slow_ad *ad, const uint32_t *members)
{
    const struct expr *list = tree_find(ad->tree, tree_root(ad->tree), NAME_PORTS);
    uint32_t port = 0;

    if (list && tree_find(ad->tree, tree_root(ad->tree), NAME_CHOOSE)) /* the ad is a group, as those in it are */
        switch (entry_filling(ad, tree_root(ad->tree), members, &port)) {
        case FILLING_NONE:
            return slow_may_be_empty(ad);
        case FILLING_FULL:
            return true;
        case FILLING_WRONG:
            return false;
        }

    if (!list)
        return members[0] == 1;
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *entry = &tree_parts(ad->tree, list)[i];
        const struct expr *range = tree_find(ad->tree, entry, NAME_CHOOSE);
        enum filling filling = entry_filling(ad, entry, members, &port);
        uint32_t least = 1, most;

        if (!range)
            range = tree_find(ad->tree, entry, NAME_COUNT);
        if (range)
            range_of(ad->tree, range, &least, &most);
        if (filling == FILLING_WRONG || (filling == FILLING_NONE && least && !is_optional(ad->tree, entry)))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- verification */

struct verifying {
    struct slow *slow;
    struct slow_member members[SLOW_MEMBERS_MAX];
    uint32_t count;
    struct buf *why;
};

static bool refuse(struct verifying *v, uint32_t m, const char *reason)
{
    buf_addf(v->why, "member %u (ad %zu): %s", m, v->members[m].is.place, reason);
    return false;
}

/* Numbers and places, without looking into any ad but for its ports. */
static bool verify_numbers(struct verifying *v)
{
    const struct slow *slow = v->slow;

    if (v->members[0].is.place >= slow->request_count)
        return refuse(v, 0, "it is no request");
    for (uint32_t m = 1; m < v->count; m++) {
        struct slow_member *member = &v->members[m];
        const struct gang_member *parent = &v->members[member->is.parent < m ? member->is.parent : 0].is;

        if (member->is.parent >= m)
            return refuse(v, m, "it comes before its parent");
        if (member->is.place < slow->request_count || member->is.place >= slow->count)
            return refuse(v, m, "it is no offer");
        if (slow->taken[member->is.place])
            return refuse(v, m, "it is taken already");
        if (member->is.link >= slow->ads[member->is.place].ports.count)
            return refuse(v, m, "it has no such port to dock by");
        if (member->is.port >= slow->ads[parent->place].ports.count)
            return refuse(v, m, "its parent has no such port");
        if (member->is.parent && parent->link == member->is.port)
            return refuse(v, m, "its parent docks by that port itself");
        member->position = 0;
        for (uint32_t i = 1; i < m; i++)
            member->position +=
                v->members[i].is.parent == member->is.parent && v->members[i].is.port == member->is.port;
    }
    return true;
}

static bool shares(const struct verifying *v, uint32_t m)
{
    const struct slow_ad *parent = &v->slow->ads[v->members[v->members[m].is.parent].is.place];

    return parent->ports.items[v->members[m].is.port].share;
}

/* An offer docks once, and beyond that only where a port shares. */
static bool verify_distinct(struct verifying *v)
{
    for (uint32_t m = 1; m < v->count; m++)
        for (uint32_t i = 1; i < m; i++)
            if (v->members[i].is.place == v->members[m].is.place && !shares(v, i) && !shares(v, m))
                return refuse(v, m, "it is in the gang already");
    return true;
}

/* Members come in the order of the choices; `next` is the one that must come. */
static bool verify_order(struct verifying *v, uint32_t m, uint32_t *next)
{
    const struct slow_ad *ad = &v->slow->ads[v->members[m].is.place];

    for (uint32_t j = 0; j < ad->ports.count; j++) {
        for (uint32_t i = m + 1; i < v->count; i++) {
            if (v->members[i].is.parent != m || v->members[i].is.port != j)
                continue;
            if (i != *next)
                return refuse(v, i, "it stands in the wrong order");
            ++*next;
            if (!verify_order(v, i, next))
                return false;
        }
    }
    return true;
}

static bool verify_filled(struct verifying *v, uint32_t m)
{
    const struct slow_ad *ad = &v->slow->ads[v->members[m].is.place];
    uint32_t members[PORTS_MAX] = {0};

    for (uint32_t i = 1; i < v->count; i++)
        if (v->members[i].is.parent == m)
            members[v->members[i].is.port]++;
    if (m)
        members[v->members[m].is.link]++;
    return slow_filled(ad, members) || refuse(v, m, "its ports are not filled as they must be");
}

bool slow_verify(struct slow *slow, const struct gang_member *members, uint32_t count, bool preferences,
                 struct buf *why)
{
    struct verifying v = {.slow = slow, .count = count, .why = why};
    uint32_t next = 1;

    if (count == 0 || count > SLOW_MEMBERS_MAX) {
        buf_addf(why, "it has %u members", count);
        return false;
    }
    for (uint32_t m = 0; m < count; m++)
        v.members[m].is = members[m];
    if (!verify_numbers(&v) || !verify_distinct(&v) || !verify_order(&v, 0, &next))
        return false;
    if (next != count)
        return refuse(&v, next, "it stands in the wrong order");
    for (uint32_t m = 0; m < count; m++)
        if (!verify_filled(&v, m))
            return false;
    for (uint32_t m = 1; m < count; m++)
        if (!slow_docks(slow, v.members, count, m, preferences))
            return refuse(&v, m, "it does not dock");
    return true;
}

/* --------------------------------------------------------------------------------------------------------- search */

/* A choice is a member, or 0: the port (or all that is left of the set) stays empty. */
struct gang {
    struct slow_member members[SLOW_MEMBERS_MAX];
    uint32_t choices[SLOW_CHOICES_MAX];
    uint32_t count, choice_count;
};

struct search {
    struct slow *slow;
    const struct slow_options *options;
    struct slow_found *found;
    struct gang gang, best;
    uint32_t filled[SLOW_MEMBERS_MAX][PORTS_MAX];
};

/* Below 0, 0 or above 0, as the n-th choice of a is less, equal or greater. */
static int choice_compare(const struct search *s, const struct gang *a, const struct gang *b, uint32_t n)
{
    const struct slow_member *x = &a->members[a->choices[n]], *y = &b->members[b->choices[n]];

    if (!a->choices[n] || !b->choices[n])
        return (a->choices[n] != 0) - (b->choices[n] != 0);
    for (uint32_t i = 0; i < slow_components(s->slow); i++) {
        int order = order_compare(&x->vector[i], &y->vector[i]);

        if (order)
            return order;
    }
    if (x->is.place != y->is.place)
        return x->is.place < y->is.place ? 1 : -1;
    if (x->is.link != y->is.link)
        return x->is.link < y->is.link ? 1 : -1;
    return 0;
}

static bool gang_is_larger(const struct search *s, const struct gang *a, const struct gang *b)
{
    for (uint32_t n = 0; n < a->choice_count && n < b->choice_count; n++) {
        int order = choice_compare(s, a, b, n);

        if (order)
            return order > 0;
    }
    return false;
}

static bool check_edge(struct search *s, uint32_t m)
{
    if (s->found->checks++ >= s->options->checks)
        s->found->gave_up = true;
    return !s->found->gave_up && slow_docks(s->slow, s->gang.members, s->gang.count, m, s->options->preferences);
}

static void gang_complete(struct search *s)
{
    for (uint32_t m = 1; s->options->late && m < s->gang.count; m++)
        if (!check_edge(s, m))
            return;
    s->found->gangs++;
    if (s->options->each)
        s->options->each(s->options->user, s->gang.members, s->gang.count);
    if (!s->found->exists || (s->options->preferences && gang_is_larger(s, &s->gang, &s->best)))
        s->best = s->gang;
    s->found->exists = true;
}

static void choose(struct search *s, uint32_t m, uint32_t port, uint32_t position);

/* All ports of members[m] are chosen for; on with the next choice of its parent. */
static void member_complete(struct search *s, uint32_t m)
{
    const struct gang_member *member = &s->gang.members[m].is;

    if (!slow_filled(&s->slow->ads[member->place], s->filled[m]))
        return;
    if (m == 0)
        gang_complete(s);
    else if (s->options->late || check_edge(s, m))
        choose(s, member->parent, member->port, s->gang.members[m].position + 1);
}

static bool may_dock(const struct search *s, size_t place, bool share)
{
    const struct slow *slow = s->slow;

    if (slow->taken[place])
        return false;
    for (uint32_t i = 1; i < s->gang.count && !share; i++) {
        const struct gang_member *member = &s->gang.members[i].is;
        const struct slow_ad *parent = &slow->ads[s->gang.members[member->parent].is.place];

        if (member->place == place && !parent->ports.items[member->port].share)
            return false;
    }
    return true;
}

static void choose_offer(struct search *s, uint32_t m, uint32_t port, uint32_t position, size_t place, uint32_t link)
{
    uint32_t n = s->gang.count;

    if (n == SLOW_MEMBERS_MAX || s->gang.choice_count == SLOW_CHOICES_MAX) {
        s->found->gave_up = true;
        return;
    }
    s->gang.members[n] = (struct slow_member){.is = {place, m, port, link}, .position = position};
    s->gang.choices[s->gang.choice_count++] = n;
    s->gang.count++;
    s->filled[m][port]++;
    memset(s->filled[n], 0, sizeof s->filled[n]);
    s->filled[n][link] = 1;
    choose(s, n, 0, 0);
    s->filled[m][port]--;
    s->gang.count--;
    s->gang.choice_count--;
}

/* Everything that the next choice can be: port `port` of members[m], and its member of that position. */
static void choose(struct search *s, uint32_t m, uint32_t port, uint32_t position)
{
    const struct slow_ad *ad = &s->slow->ads[s->gang.members[m].is.place];
    const struct port *item = &ad->ports.items[port];

    if (s->found->gave_up || (s->found->exists && !s->options->preferences && !s->options->each))
        return;
    if (port == ad->ports.count) {
        member_complete(s, m);
        return;
    }
    if ((m && s->gang.members[m].is.link == port) || position == item->max) {
        choose(s, m, port + 1, 0);
        return;
    }
    for (size_t place = s->slow->request_count; place < s->slow->count; place++)
        if (may_dock(s, place, item->share))
            for (uint32_t link = 0; link < s->slow->ads[place].ports.count; link++)
                choose_offer(s, m, port, position, place, link);
    if (position < item->min && (position || (item->group == PORTS_NO_GROUP && !item->optional)))
        return; /* it must not stay empty */
    if (s->gang.choice_count == SLOW_CHOICES_MAX) {
        s->found->gave_up = true;
        return;
    }
    s->gang.choices[s->gang.choice_count++] = 0;
    choose(s, m, port + 1, 0);
    s->gang.choice_count--;
}

void slow_search(struct slow *slow, size_t root, const struct slow_options *options, struct slow_found *ret)
{
    struct search *s = mem_alloc(sizeof *s);

    *s = (struct search){.slow = slow, .options = options, .found = ret};
    *ret = (struct slow_found){0};
    s->gang.members[0].is.place = root;
    s->gang.count = 1;
    choose(s, 0, 0, 0);
    ret->count = s->best.count;
    for (uint32_t m = 0; m < ret->count; m++)
        ret->members[m] = s->best.members[m].is;
    arena_reset(&slow->kept);
    free(s);
}
