"""Made by tools/python-declarations from src/api/berth.h."""

DECLARATIONS = """
const char *berth_version(void);
int berth_version_number(void);
enum berth_code {
    BERTH_OK = 0,
    BERTH_BAD_TEXT = 1,
    BERTH_TOO_MUCH = 2,
    BERTH_BAD_CALL = 3,
    BERTH_BAD_PORTS = 4,
};
struct berth_error {
    int code;
    unsigned line, column;
    char message[400];
};
const char *berth_code_name(int code);
typedef int berth_memory_fn(void *user, size_t wanted);
void berth_on_memory(berth_memory_fn *hook, void *user);
struct berth_context;
enum berth_dialect { BERTH_CLASSIC = 0, BERTH_CONDOR = 1 };
enum berth_limit {
    BERTH_LIMIT_STEPS = 0,
    BERTH_LIMIT_BYTES = 1,
    BERTH_LIMIT_TEXT = 2,
    BERTH_LIMIT_CELLS = 3,
    BERTH_LIMIT_ATTRIBUTES = 4,
    BERTH_LIMIT_NODES = 5,
};
struct berth_context *berth_context_new(void);
struct berth_context *berth_context_share(struct berth_context *context);
void berth_context_free(struct berth_context *context);
void berth_context_set_clock(struct berth_context *context, int64_t now, int zone_minutes);
void berth_context_set_seed(struct berth_context *context, uint64_t seed);
int berth_context_set_dialect(struct berth_context *context, int dialect);
int berth_context_set_limit(struct berth_context *context, int limit, uint64_t value);
uint64_t berth_context_steps(const struct berth_context *context);
int berth_context_exhausted(const struct berth_context *context);
struct berth_ad;
struct berth_expr;
enum berth_form {
    BERTH_FORM_ANY = 0,
    BERTH_FORM_CLASSAD = 1,
    BERTH_FORM_JSON = 2,
    BERTH_FORM_XML = 3,
    BERTH_FORM_LONG = 4,
};
enum berth_type {
    BERTH_UNDEFINED = 0,
    BERTH_ERROR = 1,
    BERTH_BOOLEAN = 2,
    BERTH_INTEGER = 3,
    BERTH_REAL = 4,
    BERTH_STRING = 5,
    BERTH_ABSTIME = 6,
    BERTH_RELTIME = 7,
    BERTH_LIST = 8,
    BERTH_AD = 9,
    BERTH_EXPRESSION = 10,
};
struct berth_ad *berth_ad_parse(struct berth_context *context, int form, const char *text, size_t len,
                                struct berth_error *error);
struct berth_ad *berth_ad_ref(struct berth_ad *ad);
void berth_ad_unref(struct berth_ad *ad);
const char *berth_ad_text(struct berth_context *context, const struct berth_ad *ad, int form, size_t *ret_len,
                          struct berth_error *error);
size_t berth_ad_count(const struct berth_ad *ad);
const char *berth_ad_name(struct berth_context *context, const struct berth_ad *ad, size_t n);
int berth_ad_type(struct berth_context *context, const struct berth_ad *ad, const char *name);
int berth_ad_get_integer(struct berth_context *context, const struct berth_ad *ad, const char *name, int64_t *ret);
int berth_ad_get_real(struct berth_context *context, const struct berth_ad *ad, const char *name, double *ret);
int berth_ad_get_boolean(struct berth_context *context, const struct berth_ad *ad, const char *name);
const char *berth_ad_get_string(struct berth_context *context, const struct berth_ad *ad, const char *name,
                                size_t *ret_len);
struct berth_expr *berth_ad_get_expr(struct berth_context *context, const struct berth_ad *ad, const char *name);
int berth_ad_equal(const struct berth_ad *a, const struct berth_ad *b);
size_t berth_ad_size(const struct berth_ad *ad);
struct berth_maker;
struct berth_maker *berth_maker_new(struct berth_context *context, struct berth_ad *from);
void berth_maker_free(struct berth_maker *maker);
int berth_maker_integer(struct berth_maker *maker, const char *name, int64_t value, struct berth_error *error);
int berth_maker_real(struct berth_maker *maker, const char *name, double value, struct berth_error *error);
int berth_maker_boolean(struct berth_maker *maker, const char *name, int value, struct berth_error *error);
int berth_maker_string(struct berth_maker *maker, const char *name, const char *text, size_t len,
                       struct berth_error *error);
int berth_maker_parse(struct berth_maker *maker, const char *name, const char *text, size_t len,
                      struct berth_error *error);
int berth_maker_expr(struct berth_maker *maker, const char *name, const struct berth_expr *expr,
                     struct berth_error *error);
int berth_maker_ad(struct berth_maker *maker, const char *name, const struct berth_ad *ad, struct berth_error *error);
int berth_maker_drop(struct berth_maker *maker, const char *name);
struct berth_ad *berth_maker_seal(struct berth_maker *maker, struct berth_error *error);
struct berth_reader;
struct berth_reader *berth_reader_new(struct berth_context *context, int form, const char *text, size_t len);
int berth_reader_next(struct berth_reader *reader, struct berth_ad **ret_ad, struct berth_error *error);
unsigned berth_reader_line(const struct berth_reader *reader);
void berth_reader_free(struct berth_reader *reader);
struct berth_expr *berth_expr_parse(struct berth_context *context, const char *text, size_t len,
                                    struct berth_error *error);
struct berth_expr *berth_expr_ref(struct berth_expr *expr);
void berth_expr_unref(struct berth_expr *expr);
const char *berth_expr_text(struct berth_context *context, const struct berth_expr *expr, size_t *ret_len);
int berth_expr_equal(const struct berth_expr *a, const struct berth_expr *b);
struct berth_expr *berth_expr_specialize(struct berth_context *context, const struct berth_expr *expr,
                                         const struct berth_ad *ad);
ptrdiff_t berth_expr_references(struct berth_context *context, const struct berth_expr *expr, const struct berth_ad *ad,
                                const char *const **ret_names);
struct berth_value;
const struct berth_value *berth_eval(struct berth_context *context, const struct berth_expr *expr,
                                     const struct berth_ad *ad, const struct berth_ad *other);
const struct berth_value *berth_eval_attribute(struct berth_context *context, const struct berth_ad *ad,
                                               const char *name, const struct berth_ad *other);
int berth_value_type(const struct berth_value *value);
int berth_value_integer(const struct berth_value *value, int64_t *ret);
int berth_value_real(const struct berth_value *value, double *ret);
int berth_value_boolean(const struct berth_value *value);
const char *berth_value_string(const struct berth_value *value, size_t *ret_len);
int berth_value_zone(const struct berth_value *value);
size_t berth_value_count(const struct berth_value *value);
const struct berth_value *berth_value_element(struct berth_context *context, const struct berth_value *value, size_t n);
const char *berth_value_text(struct berth_context *context, const struct berth_value *value, size_t *ret_len);
struct berth_ad *berth_value_ad(struct berth_context *context, const struct berth_value *value);
int berth_match(struct berth_context *context, const struct berth_ad *left, const struct berth_ad *right);
int berth_accepts(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other);
double berth_rank(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other);
int berth_query(struct berth_context *context, const struct berth_expr *query, const struct berth_ad *ad);
struct berth_ad *berth_residual(struct berth_context *context, const struct berth_ad *offer,
                                const struct berth_ad *request);
struct berth_party;
struct berth_party *berth_party_new(struct berth_context *context, struct berth_ad *ad);
void berth_party_free(struct berth_party *party);
int berth_party_match(struct berth_context *context, const struct berth_party *left, const struct berth_party *right);
struct berth_index;
struct berth_index *berth_index_new(struct berth_context *context);
void berth_index_free(struct berth_index *index);
int berth_index_load(struct berth_context *context, struct berth_index *index, struct berth_ad *const *ads,
                     size_t count, struct berth_error *error);
int berth_index_put(struct berth_context *context, struct berth_index *index, uint64_t key, struct berth_ad *ad,
                    struct berth_error *error);
int berth_index_drop(struct berth_context *context, struct berth_index *index, uint64_t key);
struct berth_ad *berth_index_get(const struct berth_index *index, uint64_t key);
size_t berth_index_count(const struct berth_index *index);
ptrdiff_t berth_index_all(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                          const uint64_t **ret_keys);
ptrdiff_t berth_index_matches(struct berth_context *context, struct berth_index *index, const struct berth_ad *request);
int berth_index_best(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                     uint64_t *ret_key);
struct berth_member {
    size_t offer;
    size_t parent;
    const char *label;
};
int berth_gang(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers, size_t count,
               const struct berth_member **ret_members, size_t *ret_count, struct berth_error *error);
enum berth_manner { BERTH_WORDS = 0, BERTH_JSON = 1 };
const char *berth_why(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers,
                      size_t count, int manner, struct berth_error *error);
struct berth_finding {
    const char *kind;
    const char *attribute;
    const char *text;
};
ptrdiff_t berth_lint(struct berth_context *context, const struct berth_ad *ad,
                     const struct berth_finding **ret_findings);
"""
