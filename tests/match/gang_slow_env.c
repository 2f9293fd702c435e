/* gang_slow_env.c: a gang written down as an ad, and its edges judged in it. */
#include "gang_slow.h"

#include "match/pair/order.h"

/* The ads that are open around what is written. */
struct frame {
    const struct expr *ad;
    const struct frame *outer;
};

/* The body of one ad in the context of one of its ports. */
struct spelling {
    const struct slow *slow;
    const struct slow_ad *ad;
    const struct tree *tree; /* whose expression it is: the ad's or the policy's */
    struct buf *out;
    uint32_t port;
    bool policy; /* `label` is the counterpart */
};

static void spell(struct spelling *s, const struct expr *e, const struct frame *frame);

static void spell_text(struct spelling *s, symbol name)
{
    size_t len;
    const char *text = symbols_text(s->tree->symbols, name, &len);

    print_name(s->out, s->tree->dialect, text, len);
}

/* A name that stands first: what it means where it stands. */
static void spell_name(struct spelling *s, symbol name, const struct frame *frame)
{
    size_t len;

    if (s->policy && symbol_same(name, NAME_LABEL)) {
        buf_adds(s->out, "_across");
        return;
    }
    for (; frame; frame = frame->outer) {
        if (tree_find(s->ad->tree, frame->ad, name)) {
            spell_text(s, name);
            return;
        }
    }
    if (symbol_same(name, NAME_SELF) || symbol_same(name, NAME_MY)) {
        spell_text(s, name);
        return;
    }
    if (symbol_same(name, NAME_ROOT)) {
        buf_adds(s->out, "_ad");
        return;
    }
    if (symbol_same(name, NAME_OTHER) || symbol_same(name, NAME_TARGET)) {
        buf_adds(s->out, "_other");
        return;
    }
    for (uint32_t i = 0; i < s->ad->ports.count; i++) {
        if (symbol_same(s->ad->ports.items[i].label, name)) {
            buf_addf(s->out, "_label_%s", port_label(&s->ad->ports, i, &len));
            return;
        }
    }
    buf_adds(s->out, "_across.");
    spell_text(s, name);
}

static void spell_path(struct spelling *s, const struct expr *e, const struct frame *frame)
{
    const struct expr *parts = tree_parts(s->tree, e);

    spell(s, &parts[0], frame);
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        if (parts[i].label == STEP_SELECT) {
            buf_addc(s->out, '.');
            spell_text(s, parts[i].u.name.id);
        } else {
            buf_addc(s->out, '[');
            spell(s, &parts[i], frame);
            buf_addc(s->out, ']');
        }
    }
}

/* Parts with something before each of them but the first. */
static void spell_parts(struct spelling *s, const struct expr *parts, uint32_t count, const char *between,
                        const struct frame *frame)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_addf(s->out, " %s ", between ? between : op_table[parts[i].label].text);
        spell(s, &parts[i], frame);
    }
}

static void spell_ad(struct spelling *s, const struct expr *e, const struct frame *outer)
{
    const struct policy *policy = s->slow->policy;
    const struct expr *parts = tree_parts(s->tree, e);
    struct frame frame = {e, outer};

    buf_adds(s->out, "[ ");
    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        spell_text(s, parts[i].label);
        buf_adds(s->out, " = ");
        spell(s, &parts[i], &frame);
        buf_adds(s->out, "; ");
    }
    if (e == s->ad->ports.items[s->port].ad && policy && policy->vector) { /* the policy's vector stands in the port */
        struct spelling vector = *s;

        vector.tree = policy->ad;
        vector.policy = true;
        parts = tree_parts(policy->ad, policy->vector);
        for (uint32_t i = 0; i < policy->vector->u.run.count; i++) {
            buf_addf(s->out, "_vector_%u = ", i);
            spell(&vector, &parts[i], &frame);
            buf_adds(s->out, "; ");
        }
    }
    buf_adds(s->out, "]");
}

static void spell(struct spelling *s, const struct expr *e, const struct frame *frame)
{
    const struct expr *parts = tree_parts(s->tree, e);

    switch ((enum expr_kind)e->kind) {
    case EXPR_LIST:
        buf_adds(s->out, "{ ");
        spell_parts(s, parts, e->u.run.count, ",", frame);
        buf_adds(s->out, " }");
        break;
    case EXPR_AD:
        spell_ad(s, e, frame);
        break;
    case EXPR_NAME:
        spell_name(s, e->u.name.id, frame);
        break;
    case EXPR_ROOT_NAME:
        buf_adds(s->out, "_ad.");
        spell_text(s, e->u.name.id);
        break;
    case EXPR_DOT:
        spell_name(s, EXPR_DOT_BASE(e), frame);
        buf_addc(s->out, '.');
        spell_text(s, e->u.name.id);
        break;
    case EXPR_PATH:
        spell_path(s, e, frame);
        break;
    case EXPR_PREFIX:
        buf_addf(s->out, "(%s(", op_table[e->small].text);
        spell(s, parts, frame);
        buf_adds(s->out, "))");
        break;
    case EXPR_CHAIN:
        buf_addc(s->out, '(');
        spell_parts(s, parts, e->u.run.count, NULL, frame);
        buf_addc(s->out, ')');
        break;
    case EXPR_CHOICE:
        buf_addc(s->out, '(');
        spell(s, &parts[0], frame);
        buf_adds(s->out, " ? ");
        spell(s, &parts[1], frame);
        buf_adds(s->out, " : ");
        spell(s, &parts[2], frame);
        buf_addc(s->out, ')');
        break;
    case EXPR_CALL:
        spell_text(s, e->u.name.id);
        buf_addc(s->out, '(');
        spell_parts(s, parts, expr_part_count(e), ",", frame);
        buf_addc(s->out, ')');
        break;
    default:
        print_expr(s->out, s->tree, e, PRINT_PLAIN);
    }
}

/* The paths of the ports of a list, from left to right. */
static void paths_add(struct slow_ad *ad, const struct expr *list, const char *before, uint32_t *port)
{
    const struct expr *entries = tree_parts(ad->tree, list);

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *inner = tree_find(ad->tree, &entries[i], NAME_PORTS);
        struct buf path;

        buf_init(&path);
        buf_addf(&path, "%s.Ports[%u]", before, i);
        if (inner)
            paths_add(ad, inner, buf_string(&path), port);
        else
            buf_adds(&ad->paths[(*port)++], buf_string(&path));
        buf_done(&path);
    }
}

static void slow_ad_init(struct slow *slow, struct slow_ad *ad, const struct tree *tree)
{
    const struct expr *list = tree_find(tree, tree_root(tree), NAME_PORTS);
    struct err err = {0};
    uint32_t port = 0;

    ad->tree = tree;
    if (ports_read(&ad->ports, tree, &err) < 0) {
        printf("Bail out! %s in %s\n", err.text, lang_show_tree(tree));
        exit(1);
    }
    ad->bodies = mem_alloc(ad->ports.count * sizeof *ad->bodies);
    ad->paths = mem_alloc(ad->ports.count * sizeof *ad->paths);
    for (uint32_t i = 0; i < ad->ports.count; i++) {
        struct spelling s = {slow, ad, tree, &ad->bodies[i], i, false};

        buf_init(&ad->bodies[i]);
        buf_init(&ad->paths[i]);
        spell(&s, tree_root(tree), NULL);
    }
    if (list)
        paths_add(ad, list, "", &port);
}

void slow_init(struct slow *slow, struct lang *lang, const struct env *env, const struct policy *policy,
               struct tree *const *ads, size_t request_count, size_t offer_count)
{
    size_t count = request_count + offer_count;

    *slow = (struct slow){.lang = lang, .env = env, .policy = policy, .request_count = request_count, .count = count};
    slow->ads = mem_alloc((count + 1) * sizeof *slow->ads);
    slow->taken = mem_alloc((count + 1) * sizeof *slow->taken);
    for (size_t i = 0; i < count; i++) {
        slow_ad_init(slow, &slow->ads[i], ads[i]);
        slow->taken[i] = false;
    }
    buf_init(&slow->text);
    arena_init(&slow->kept);
}

void slow_done(struct slow *slow)
{
    for (size_t i = 0; i < slow->count; i++) {
        for (uint32_t k = 0; k < slow->ads[i].ports.count; k++) {
            buf_done(&slow->ads[i].bodies[k]);
            buf_done(&slow->ads[i].paths[k]);
        }
        free(slow->ads[i].bodies);
        free(slow->ads[i].paths);
        ports_done(&slow->ads[i].ports);
    }
    tree_unref(slow->last);
    free(slow->ads);
    free(slow->taken);
    buf_done(&slow->text);
    arena_done(&slow->kept);
}

/* ------------------------------------------------------------------------------------------------ the environment */

struct gang_env {
    struct slow *slow;
    const struct slow_member *members;
    uint32_t count;
};

static struct slow_ad *ad_of(const struct gang_env *env, uint32_t m)
{
    return &env->slow->ads[env->members[m].is.place];
}

/* The name of a context; half of the time goes into such text, so it is written by hand. */
static void put_context_name(struct buf *out, uint32_t m, uint32_t port, uint32_t position)
{
    const uint32_t numbers[] = {m, port, position};

    buf_adds(out, "_ctx");
    for (int i = 0; i < 3; i++) {
        buf_addc(out, '_');
        if (numbers[i] >= 10)
            buf_addc(out, (char)('0' + numbers[i] / 10)); /* there are fewer than a hundred of anything */
        buf_addc(out, (char)('0' + numbers[i] % 10));
    }
}

/* The port that members[m] docks at or docks by, as a path from the top. */
static void put_port(const struct gang_env *env, uint32_t m, bool above)
{
    const struct slow_member *member = &env->members[m];
    struct slow_ad *ad = ad_of(env, above ? member->is.parent : m);
    uint32_t port = above ? member->is.port : member->is.link;

    put_context_name(&env->slow->text, above ? member->is.parent : m, port, above ? member->position : 0);
    buf_adds(&env->slow->text, "._ad");
    buf_add(&env->slow->text, ad->paths[port].text, ad->paths[port].len);
}

/* The member below members[m] at that port and position, or 0. */
static uint32_t child_at(const struct gang_env *env, uint32_t m, uint32_t port, uint32_t position)
{
    for (uint32_t i = m + 1; i < env->count; i++)
        if (env->members[i].is.parent == m && env->members[i].is.port == port && env->members[i].position == position)
            return i;
    return 0;
}

static bool is_link(const struct gang_env *env, uint32_t m, uint32_t port)
{
    return m && env->members[m].is.link == port;
}

/* Whom the label of port i means in an expression of members[m]'s port j. */
static void put_label(const struct gang_env *env, uint32_t m, uint32_t i, uint32_t j, uint32_t position)
{
    bool set = ad_of(env, m)->ports.items[i].set;
    uint32_t child = i > j || (set && i < j) ? 0 : child_at(env, m, i, i == j ? position : 0);

    if (i <= j && is_link(env, m, i))
        put_port(env, m, true);
    else if (child)
        put_port(env, child, false);
    else
        buf_adds(&env->slow->text, "undefined");
}

static void put_context(const struct gang_env *env, uint32_t m, uint32_t j, uint32_t position)
{
    struct buf *out = &env->slow->text;
    struct slow_ad *ad = ad_of(env, m);
    uint32_t other = j;
    size_t len;

    put_context_name(out, m, j, position);
    buf_adds(out, " = [ ");
    for (uint32_t i = 0; i < ad->ports.count; i++) {
        buf_adds(out, "_label_");
        buf_adds(out, port_label(&ad->ports, i, &len));
        buf_adds(out, " = ");
        put_label(env, m, i, j, position);
        buf_adds(out, "; ");
        if (i <= j && symbol_same(ad->ports.items[i].label, NAME_OTHER))
            other = i;
    }
    buf_adds(out, "_other = ");
    put_label(env, m, other, j, position);
    buf_adds(out, "; _across = ");
    put_label(env, m, j, j, position);
    buf_adds(out, "; _ad = ");
    buf_add(out, ad->bodies[j].text, ad->bodies[j].len);
    buf_adds(out, " ];\n");
}

static void put_contexts(const struct gang_env *env)
{
    for (uint32_t m = 0; m < env->count; m++) {
        for (uint32_t j = 0; j < ad_of(env, m)->ports.count; j++) {
            if (is_link(env, m, j))
                put_context(env, m, j, 0);
            for (uint32_t position = 0; child_at(env, m, j, position); position++)
                put_context(env, m, j, position);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- an edge */

/* The name under which a port has its constraint; NULL when it has none. */
static const char *constraint_name(const struct slow_ad *ad, uint32_t port)
{
    const struct expr *cell = ad->ports.items[port].ad;

    return tree_find(ad->tree, cell, NAME_CONSTRAINT)     ? "Constraint"
           : tree_find(ad->tree, cell, NAME_REQUIREMENTS) ? "Requirements"
                                                          : NULL;
}

static void put_question(const struct gang_env *env, const char *name, uint32_t m, bool above, const char *asked)
{
    buf_addf(&env->slow->text, "%s = ", name);
    put_port(env, m, above);
    buf_addf(&env->slow->text, ".%s;\n", asked);
}

static void put_questions(const struct gang_env *env, uint32_t m)
{
    const struct policy *policy = env->slow->policy;
    const struct slow_member *member = &env->members[m];
    const char *above = constraint_name(ad_of(env, member->is.parent), member->is.port);
    const char *below = constraint_name(ad_of(env, m), member->is.link);

    if (above)
        put_question(env, "_above", m, true, above);
    if (below)
        put_question(env, "_below", m, false, below);
    if (policy && policy->vector) {
        for (uint32_t i = 0; i < policy->vector->u.run.count; i++) {
            char name[32], asked[32];

            snprintf(name, sizeof name, "_ask_%u", i);
            snprintf(asked, sizeof asked, "_vector_%u", i);
            put_question(env, name, m, true, asked);
        }
    } else {
        put_question(env, "_ask_1", m, true, "Rank");
        put_question(env, "_ask_2", m, false, "Rank");
        if (tree_find(ad_of(env, m)->tree, tree_root(ad_of(env, m)->tree), NAME_PREEMPTS))
            put_question(env, "_now", m, false, "CurrentRank");
    }
}

/* The value of an attribute of the environment, in the arena; false when it has none. */
static bool answer(struct slow *slow, const struct env *env, const struct tree *tree, const char *name,
                   struct value *ret)
{
    symbol s = symbols_find(slow->lang->symbols, name, strlen(name));
    struct scope scope;
    struct eval eval;

    scope_init(&scope, tree, NULL);
    eval_init(&eval, env, &slow->lang->arena);
    return s && eval_attribute(&eval, &scope, s, ret);
}

static bool answers_true(struct slow *slow, const struct tree *tree, const char *name)
{
    struct value v;

    return !answer(slow, slow->env, tree, name, &v) || lang_holds(tree->dialect, &v);
}

uint32_t slow_components(const struct slow *slow)
{
    return slow->policy && slow->policy->vector ? slow->policy->vector->u.run.count : 3;
}

/* Is it free (1), or does it like the gang better than the claim that it has (0)? False: neither. */
static bool answer_free(struct slow *slow, const struct tree *tree, struct value *ret)
{
    struct value now, rank;

    *ret = value_integer(1);
    if (!answer(slow, slow->env, tree, "_now", &now))
        return true;
    answer(slow, slow->env, tree, "_ask_2", &rank);
    rank = order_rank(&rank);
    now = order_rank(&now);
    *ret = value_integer(0);
    return order_compare(&rank, &now) > 0;
}

/* False when the vector discards the gang. */
static bool answer_vector(struct slow *slow, const struct tree *tree, struct value *ret)
{
    static const struct given rank_absent = {NAME_RANK, {VALUE_INTEGER, false, 0, 0, {0}, NULL}};
    bool chosen = slow->policy && slow->policy->vector;
    struct env env = *slow->env;

    if (chosen) {
        env.absent = &rank_absent;
        env.absent_count = 1;
    }
    for (uint32_t i = 0; i < slow_components(slow); i++) {
        char name[32];

        snprintf(name, sizeof name, "_ask_%u", i);
        if (!chosen && i == 0) {
            if (!answer_free(slow, tree, &ret[0]))
                return false;
            continue;
        }
        answer(slow, &env, tree, name, &ret[i]);
        if (chosen && !order_has(&ret[i]))
            return false;
        ret[i] = order_rank(&ret[i]);
        if (ret[i].type == VALUE_STRING)
            ret[i].u.string = arena_text(&slow->kept, ret[i].u.string, ret[i].len);
    }
    return true;
}

bool slow_docks(struct slow *slow, struct slow_member *members, uint32_t count, uint32_t m, bool vector)
{
    struct gang_env env = {slow, members, count};
    struct arena_mark mark = arena_mark(&slow->lang->arena);
    struct tree *tree;
    struct err err = {0};
    bool docks;

    buf_reset(&slow->text);
    buf_adds(&slow->text, "[ ");
    put_contexts(&env);
    put_questions(&env, m);
    buf_adds(&slow->text, "]");
    tree = lang_ad(slow->lang, slow->ads[0].tree->dialect, buf_string(&slow->text), &err);
    if (!tree) {
        printf("Bail out! %u:%u: %s in %s\n", err.line, err.column, err.text, buf_string(&slow->text));
        exit(1);
    }
    docks = answers_true(slow, tree, "_above") && answers_true(slow, tree, "_below") &&
            (!vector || answer_vector(slow, tree, members[m].vector));
    arena_rewind(&slow->lang->arena, mark);
    tree_unref(slow->last);
    slow->last = tree;
    return docks;
}
