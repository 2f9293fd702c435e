/* api_lint.c: what is wrong with the ads of jobs before they are sent: as `berth lint` finds it, without the pool; and what becomes of a submit file of
 * HTCondor's, as `berth submit` reads it.
 *
 *     [ Text = "executable = /bin/true\nqueue 3" ]
 *     -> [ Language = "submit"; Count = 1; Ads = "[ Cmd = ...; Count = 3 ]"; Findings = { [Ad = 1; Attribute; Kind; Text] }; Remarks = { [Line; Column; Text] } ]
 *     -> [ Language = "ad"; Count = 0; Fault = "expected an expression"; Line = 1; Column = 9; ... ]
 *
 * A text comes from a stranger, and while it is read nobody else is served: its length, what its macros expand to, the nodes of each ad, and the
 * steps of looking at all of them together are bounded. A submit file can name no other file here, and has no variables of an environment. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "lang/form/submit.h"
#include "lang/text/print.h"
#include "live/http/represent.h"
#include "match/gang/lint_ports.h"
#include "match/pair/lint.h"

#define LINT_TEXT_MAX (64u << 10)    /* bytes of the text */
#define LINT_EXPANDED_MAX (1u << 20) /* bytes that a submit file may expand to */
#define LINT_ADS_MAX 100             /* ads that a submit file may make: more are for `berth submit` */
#define LINT_LOOKED_MAX 16           /* ads that are looked at */
#define LINT_ROWS_MAX 64             /* findings, and remarks, that are told */

struct linting {
    struct symbols *symbols; /* its own: what a stranger names is not kept */
    struct maker maker;
    struct arena scratch;
    struct buf ads, text;
    const struct tree *ad;
    uint32_t count; /* ads that were read */
    uint64_t meter; /* steps of looking at them */
    struct tree *findings[LINT_ROWS_MAX], *remarks[LINT_ROWS_MAX];
    uint32_t finding_count, remark_count;
    struct symbols *answers;
};

static void finding_take(void *user, const struct lint_finding *finding)
{
    struct linting *linting = user;
    struct maker row;
    const char *name;
    size_t len;

    if (linting->finding_count == LINT_ROWS_MAX)
        return;
    name = symbols_text(linting->symbols, finding->attribute, &len);
    buf_reset(&linting->text);
    lint_text_print(&linting->text, linting->ad, finding);
    maker_init(&row, linting->answers);
    maker_integer(&row, "Ad", linting->count);
    maker_bytes(&row, "Attribute", name, len);
    maker_text(&row, "Kind", lint_kind_name(finding->kind));
    maker_bytes(&row, "Text", linting->text.text, linting->text.len);
    linting->findings[linting->finding_count++] = maker_seal(&row);
}

static void remark_take(void *user, const struct err *remark)
{
    struct linting *linting = user;
    struct maker row;

    if (linting->remark_count == LINT_ROWS_MAX)
        return;
    maker_init(&row, linting->answers);
    maker_integer(&row, "Line", remark->line);
    maker_integer(&row, "Column", remark->column);
    maker_text(&row, "Text", remark->text);
    linting->remarks[linting->remark_count++] = maker_seal(&row);
}

static void ad_look(struct linting *linting, const struct tree *ad)
{
    if (++linting->count > LINT_LOOKED_MAX)
        return;
    linting->ad = ad;
    lint_ad(&linting->scratch, ad, &linting->meter, finding_take, linting);
    lint_ports(ad, &linting->meter, finding_take, linting);
}

/* An ad that a submit file makes; told as a text, since it is that which is sent. */
static int made_take(void *user, struct tree *ad, unsigned line)
{
    struct linting *linting = user;

    (void)line;
    ad_look(linting, ad);
    print_tree(&linting->ads, ad, PRINT_PLAIN | PRINT_AMOUNTS);
    buf_addc(&linting->ads, '\n');
    return 0;
}

static int submit_look(struct linting *linting, const struct config *config, const char *text, size_t len,
                       struct err *err)
{
    const struct submit_world world = {.user = linting,
                                       .remark = remark_take,
                                       .ads_max = LINT_ADS_MAX,
                                       .work_max = LINT_EXPANDED_MAX,
                                       .cells_max = (uint32_t)config_count(config, CONFIG_AD_NODES)};

    return submit_read(linting->symbols, &world, text, len, made_take, linting, err);
}

static int ads_look(struct linting *linting, const struct config *config, const char *text, size_t len, struct err *err)
{
    const struct form_limits limits = {.cells = (uint32_t)config_count(config, CONFIG_AD_NODES),
                                       .attributes = (uint32_t)config_count(config, CONFIG_AD_ATTRIBUTES)};
    struct form_text source = {.text = text, .len = len};
    struct form_reader *reader =
        form_reader_new(linting->symbols, &dialect_classic, FORM_CLASSAD, &limits, form_text_read, &source);
    struct tree *ad;
    int got;

    while ((got = form_reader_next(reader, &ad, err)) > 0) {
        ad_look(linting, ad);
        tree_unref(ad);
    }
    form_reader_free(reader);
    return got;
}

static void linting_tell(struct linting *linting, bool submit, const struct err *failed)
{
    struct maker *maker = &linting->maker;

    maker_text(maker, "Language", submit ? "submit" : "ad");
    maker_integer(maker, "Count", linting->count);
    if (submit)
        maker_bytes(maker, "Ads", linting->ads.text, linting->ads.len);
    maker_list(maker, "Findings", linting->findings, linting->finding_count);
    maker_list(maker, "Remarks", linting->remarks, linting->remark_count);
    if (!failed)
        return;
    maker_text(maker, "Fault", failed->text);
    if (failed->line) {
        maker_integer(maker, "Line", failed->line);
        maker_integer(maker, "Column", failed->column);
    }
}

static void linting_done(struct linting *linting)
{
    while (linting->finding_count)
        tree_unref(linting->findings[--linting->finding_count]);
    while (linting->remark_count)
        tree_unref(linting->remarks[--linting->remark_count]);
    buf_done(&linting->ads);
    buf_done(&linting->text);
    arena_done(&linting->scratch);
    symbols_free(linting->symbols);
}

static struct tree *lint_answer(const struct config *config, struct symbols *symbols, const char *text, size_t len)
{
    bool submit = submit_recognise(NULL, text, len) == SUBMIT_SUBMIT;
    struct linting linting = {.symbols = names_new(0), .answers = symbols};
    struct err err = {0};
    struct tree *answer;
    int got;

    arena_init(&linting.scratch);
    maker_init(&linting.maker, symbols);
    buf_init(&linting.ads);
    buf_init(&linting.text);
    got = utf8_check(text, len, &err);
    if (got == 0)
        got = submit ? submit_look(&linting, config, text, len, &err) : ads_look(&linting, config, text, len, &err);
    linting_tell(&linting, submit, got < 0 ? &err : NULL);
    answer = maker_seal(&linting.maker);
    linting_done(&linting);
    return answer;
}

void api_lint(struct request *request)
{
    struct tree *body = request_body_of(request, "Text");
    const char *text;
    size_t len;

    if (!body)
        return;
    if (!ad_string(body, "Text", &text, &len))
        request_problem(request, 400, "Text: expected a text: ads of jobs, or a submit file");
    else if (len > LINT_TEXT_MAX)
        request_problem(request, 413, "Text: expected at most %u bytes", LINT_TEXT_MAX);
    else
        request_ad_take(
            request, 200,
            lint_answer(&request_matchmakerd(request)->config, request_matchmakerd(request)->symbols, text, len));
    tree_unref(body);
}
