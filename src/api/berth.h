/* berth.h: Berth for programs of others: classified ads, their expressions, and who fits whom.
 *
 *     contexts   berth_context_new            one a thread: clock, limits, memory for results
 *     ads        berth_ad_parse, berth_maker  read, looked into, written, made; they never change
 *     values     berth_eval                   what an expression is worth, alone or between two ads
 *     matches    berth_match, berth_party     two ads meet; many by way of an index; several at once as a gang
 *     reasons    berth_why, berth_lint        why nothing fits; what is wrong with an ad
 *
 * The library reads no clock, no file and no global state, writes nowhere, and starts no thread. Everything that begins with berth_ or BERTH_ is
 * here, and nothing else is exported.
 *
 * **Outcomes.** A constructor returns NULL when it fails, another call -1; a question is answered by 1 (yes) or 0 (no). Where the reason matters the last
 * parameter is a `struct berth_error`, which is filled only then; it may be NULL. No input of any sort ends the program: texts, numbers and ads of
 * strangers are bounded by the limits of the context, and past one is an ordinary error. The language's own `error` and `undefined` are values, not
 * failures. Handles that are NULL or belong to other names are refused; a handle that was given back is not known as such.
 *
 * **Who owns what.** What a call named new, parse, ref, seal or `_ad`, `_expr` returns is the caller's, who gives it back once with the unref or free of
 * its kind; all of these take NULL. Texts, values and lists that a context *lends* live until the next call with that context; calls on a lent value
 * (berth_value_...) do not end its life. Texts and strings end with a NUL.
 *
 * **Threads.** Names are kept in a table, and a context belongs to one: berth_context_new makes a new table, berth_context_share another context of the
 * same. Ads, expressions and parties of one table can be used with each of its contexts. They are frozen and counted atomically.
 *   1. A context, and what was made for one user (maker, reader, index), is used by one thread at a time.
 *   2. Threads that touch the same ads have a context each, made with berth_context_share before the second thread begins. From then on calls
 *      that only read (evaluating, matching, printing, getting; their comments say *Reads*) run at once; calls that change the table or an index (parsing, making,
 *      specialising, indexes, gangs, explanations; *Changes*) wait for one another, and for those that read.
 *   3. Contexts of different tables never wait for one another.
 *   4. A ref or unref may run at any time in any thread that has a context of the table.
 *
 * A thread needs a stack of 1 MiB.
 *
 * **Versions.** The soname is libberth.so.1. Its number is apart from that of the program. It changes when a program that was built with an older header
 * could fail: when a function goes, takes or means something else, or a structure or number of this header changes. New functions, new members at the end of an
 * enumeration and new kinds of findings do not change it. */
#ifndef BERTH_H
#define BERTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ## The library itself */

#define BERTH_VERSION_MAJOR 0
#define BERTH_VERSION_MINOR 1
#define BERTH_VERSION_PATCH 0
#define BERTH_VERSION_NUMBER (BERTH_VERSION_MAJOR * 10000 + BERTH_VERSION_MINOR * 100 + BERTH_VERSION_PATCH)

/* The version of the library that is loaded, as "0.1.0". BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR and BERTH_VERSION_PATCH are those of the header. */
const char *berth_version(void);

/* The same as a number that can be compared with BERTH_VERSION_NUMBER: 10000 times the first part, 100 times the second, and the third. */
int berth_version_number(void);

/* What went wrong. */
enum berth_code {
    BERTH_OK = 0,
    BERTH_BAD_TEXT = 1,  /* a text is not what it should be, or larger or deeper than allowed; there is a place */
    BERTH_TOO_MUCH = 2,  /* a limit of something that is not a place in a text */
    BERTH_BAD_CALL = 3,  /* a handle that is NULL or of another table, a number that is none of the enumeration */
    BERTH_BAD_PORTS = 4, /* Ports or Residual of an ad that are not in order */
};

#define BERTH_MESSAGE_MAX 400

/* Line and column count from 1; 0 means that there is no place. */
struct berth_error {
    int code; /* enum berth_code */
    unsigned line, column;
    char message[BERTH_MESSAGE_MAX];
};

/* The name of a code in lower case: "ok", "bad text", ...; NULL for a number that is none. */
const char *berth_code_name(int code);

/* Called when memory has run out, with how many bytes are wanted. When it returns 1 (it has given memory back) the library tries again; when it returns 0,
 * or there is no hook, the program ends by abort(). It may also leave by exit(), not by longjmp(). */
typedef int berth_memory_fn(void *user, size_t wanted);

/* Sets the hook for the whole process; NULL takes it away. Not while other threads are in the library. */
void berth_on_memory(berth_memory_fn *hook, void *user);

/* ## Contexts */

struct berth_context;

/* Two dialects of the language: that of the dissertation, and that of HTCondor. */
enum berth_dialect { BERTH_CLASSIC = 0, BERTH_CONDOR = 1 };

/* What is bounded, and the bound when nothing is set. */
enum berth_limit {
    BERTH_LIMIT_STEPS = 0,      /* of one evaluation: 100,000; past them the value is error */
    BERTH_LIMIT_BYTES = 1,      /* that one evaluation makes: 4 MiB */
    BERTH_LIMIT_TEXT = 2,       /* bytes of one ad or expression that is read: 16 MiB, which is also the most */
    BERTH_LIMIT_CELLS = 3,      /* operators, names and literals in one ad or expression: 131,072 */
    BERTH_LIMIT_ATTRIBUTES = 4, /* in one ad: 32,767, which is also the most */
    BERTH_LIMIT_NODES = 5,      /* candidates that the search for one gang tries: 200,000 */
};

/* A context with a table of names of its own. The clock stands at 0 (1970), the zone is UTC, the dialect is the classic one. Never NULL. */
struct berth_context *berth_context_new(void);

/* Another context of the same table, with the same settings. It counts as a call with `context`. Never NULL. */
struct berth_context *berth_context_share(struct berth_context *context);

/* Gives a context back. Ads, expressions, parties and indexes of its table may outlive it; makers and readers may not. */
void berth_context_free(struct berth_context *context);

/* The time that expressions see: seconds since 1970, and the minutes east of Greenwich where an ad does not say TimeZone. */
void berth_context_set_clock(struct berth_context *context, int64_t now, int zone_minutes);

/* What random() depends on: with the same seed, expressions and ads it gives the same numbers. */
void berth_context_set_seed(struct berth_context *context, uint64_t seed);

/* The dialect in which texts are read from now on (enum berth_dialect). An ad keeps the dialect it was read in. -1 for a number that is none. */
int berth_context_set_dialect(struct berth_context *context, int dialect);

/* Sets a limit (enum berth_limit); 0 sets the one that held at first, and more than the most counts as the most. -1 for a number that is none. */
int berth_context_set_limit(struct berth_context *context, int limit, uint64_t value);

/* How many steps all evaluations with this context took so far. */
uint64_t berth_context_steps(const struct berth_context *context);

/* Was the last value of berth_eval or berth_eval_attribute error because a limit was reached? */
int berth_context_exhausted(const struct berth_context *context);

/* ## Ads */

struct berth_ad;
struct berth_expr;

/* The forms in which ads are read and written. */
enum berth_form {
    BERTH_FORM_ANY = 0,     /* for reading: recognised by the first characters */
    BERTH_FORM_CLASSAD = 1, /* [ A = 1; B = "x" ] */
    BERTH_FORM_JSON = 2,    /* {"A": 1, "B": "x"}, expressions as "\/Expr(...)\/" */
    BERTH_FORM_XML = 3,     /* <c><a n="A"><i>1</i></a></c>, as HTCondor writes it */
    BERTH_FORM_LONG = 4,    /* A = 1, a line an attribute */
};

/* What an attribute, or a value, is. */
enum berth_type {
    BERTH_UNDEFINED = 0,
    BERTH_ERROR = 1,
    BERTH_BOOLEAN = 2,
    BERTH_INTEGER = 3,
    BERTH_REAL = 4,
    BERTH_STRING = 5,
    BERTH_ABSTIME = 6, /* a point in time */
    BERTH_RELTIME = 7, /* a span of time */
    BERTH_LIST = 8,
    BERTH_AD = 9,
    BERTH_EXPRESSION = 10, /* of an attribute: it must be evaluated */
};

/* Reads one ad; the whole text must be that ad. NULL and the place in the text when it is not one. Changes. */
struct berth_ad *berth_ad_parse(struct berth_context *context, int form, const char *text, size_t len,
                                struct berth_error *error);

/* One more owner of the ad, which is returned. */
struct berth_ad *berth_ad_ref(struct berth_ad *ad);

/* One owner fewer; with the last one the ad goes. */
void berth_ad_unref(struct berth_ad *ad);

/* The ad as a text, lent; `ret_len` may be NULL. In BERTH_FORM_ANY it is written as BERTH_FORM_CLASSAD. NULL when the ad cannot be written in that form.
 * Each line of the long form ends with a line end; the others have none at their end. Reads. */
const char *berth_ad_text(struct berth_context *context, const struct berth_ad *ad, int form, size_t *ret_len,
                          struct berth_error *error);

/* How many attributes the ad has. */
size_t berth_ad_count(const struct berth_ad *ad);

/* The name of the n-th attribute (from 0) as it was written; NULL past the last. It lives as long as the ad. Reads. */
const char *berth_ad_name(struct berth_context *context, const struct berth_ad *ad, size_t n);

/* What the attribute of that name is, as written (enum berth_type); -1 when the ad has none. Case does not matter in names. Reads. */
int berth_ad_type(struct berth_context *context, const struct berth_ad *ad, const char *name);

/* The attribute as an integer, which it must be as written. 0 and `*ret`; -1 when it is missing, of another type, or an expression: those are
 * for berth_eval_attribute. Reads. */
int berth_ad_get_integer(struct berth_context *context, const struct berth_ad *ad, const char *name, int64_t *ret);

/* The same for a real or an integer. Reads. */
int berth_ad_get_real(struct berth_context *context, const struct berth_ad *ad, const char *name, double *ret);

/* The same for a boolean: 1 or 0; -1 when the attribute is not one. Reads. */
int berth_ad_get_boolean(struct berth_context *context, const struct berth_ad *ad, const char *name);

/* The same for a string, lent; NULL when the attribute is not one. `ret_len` may be NULL. Reads. */
const char *berth_ad_get_string(struct berth_context *context, const struct berth_ad *ad, const char *name,
                                size_t *ret_len);

/* The attribute's expression, whatever it is; NULL when the ad has none of that name. Changes. */
struct berth_expr *berth_ad_get_expr(struct berth_context *context, const struct berth_ad *ad, const char *name);

/* Are these the same ad: the same attributes in the same order, each written alike? Case does not matter in names. */
int berth_ad_equal(const struct berth_ad *a, const struct berth_ad *b);

/* The bytes that the ad takes in memory. */
size_t berth_ad_size(const struct berth_ad *ad);

/* ## Making ads
 *
 * A maker gathers attributes; sealing it makes the ad. To change an ad is to make a new one from it. */

struct berth_maker;

/* A maker without attributes, or with those of an ad (`from`; NULL for none), whose dialect the new ad has then. NULL for an ad of another table. */
struct berth_maker *berth_maker_new(struct berth_context *context, struct berth_ad *from);

/* Gives a maker back that is not to be sealed. */
void berth_maker_free(struct berth_maker *maker);

/* Sets an attribute to an integer; one that was there keeps its place. These calls return 0, or -1 when the name is empty or longer than 65,535 bytes, or
 * the ad would be too large; then nothing is changed. All of them: changes. */
int berth_maker_integer(struct berth_maker *maker, const char *name, int64_t value, struct berth_error *error);

/* Sets an attribute to a real. */
int berth_maker_real(struct berth_maker *maker, const char *name, double value, struct berth_error *error);

/* Sets an attribute to true (not 0) or false. */
int berth_maker_boolean(struct berth_maker *maker, const char *name, int value, struct berth_error *error);

/* Sets an attribute to a string, which holds no NUL. */
int berth_maker_string(struct berth_maker *maker, const char *name, const char *text, size_t len,
                       struct berth_error *error);

/* Sets an attribute to an expression that is read from a text. The error's place is in that text. */
int berth_maker_parse(struct berth_maker *maker, const char *name, const char *text, size_t len,
                      struct berth_error *error);

/* Sets an attribute to an expression. */
int berth_maker_expr(struct berth_maker *maker, const char *name, const struct berth_expr *expr,
                     struct berth_error *error);

/* Sets an attribute to an ad inside this one. */
int berth_maker_ad(struct berth_maker *maker, const char *name, const struct berth_ad *ad, struct berth_error *error);

/* Takes an attribute out. 1, or 0 when there was none. */
int berth_maker_drop(struct berth_maker *maker, const char *name);

/* Makes the ad. The maker is given back by this, whether it succeeds or not. NULL when the ad would be too large or too deep. */
struct berth_ad *berth_maker_seal(struct berth_maker *maker, struct berth_error *error);

/* ## Many ads in one text */

struct berth_reader;

/* Reads ads from a text, which must stay where it is until the reader is given back. Never NULL. */
struct berth_reader *berth_reader_new(struct berth_context *context, int form, const char *text, size_t len);

/* 1 and the next ad; 0 at the end; -1 and the error, after which nothing more comes. Changes. */
int berth_reader_next(struct berth_reader *reader, struct berth_ad **ret_ad, struct berth_error *error);

/* The line in which the last ad began. */
unsigned berth_reader_line(const struct berth_reader *reader);

/* Gives a reader back. */
void berth_reader_free(struct berth_reader *reader);

/* ## Expressions */

/* Reads an expression; the whole text must be one. Changes. */
struct berth_expr *berth_expr_parse(struct berth_context *context, const char *text, size_t len,
                                    struct berth_error *error);

/* One more owner of the expression, which is returned. */
struct berth_expr *berth_expr_ref(struct berth_expr *expr);

/* One owner fewer. */
void berth_expr_unref(struct berth_expr *expr);

/* The expression as a text, lent. Reads. */
const char *berth_expr_text(struct berth_context *context, const struct berth_expr *expr, size_t *ret_len);

/* Are these the same expression? Case does not matter in names, nor do parentheses that change nothing. */
int berth_expr_equal(const struct berth_expr *a, const struct berth_expr *b);

/* What is left of the expression when the attributes of `ad` (NULL: of none) are folded in: it asks only about a counterpart. It is to be evaluated in that
 * ad. Changes. */
struct berth_expr *berth_expr_specialize(struct berth_context *context, const struct berth_expr *expr,
                                         const struct berth_ad *ad);

/* The names that the expression, standing in `ad` (or NULL), reads and the ad does not define: "other.Memory", "Arch". Sorted, each once, in a list that is
 * lent. How many there are; -1 for a bad call. Reads. */
ptrdiff_t berth_expr_references(struct berth_context *context, const struct berth_expr *expr, const struct berth_ad *ad,
                                const char *const **ret_names);

/* ## Values */

struct berth_value;

/* The value of an expression that stands in `ad` (or NULL) and sees `other` (or NULL) as its counterpart, lent. NULL only for a bad call. Reads. */
const struct berth_value *berth_eval(struct berth_context *context, const struct berth_expr *expr,
                                     const struct berth_ad *ad, const struct berth_ad *other);

/* The value of an attribute of the ad, which sees `other` (or NULL): undefined when there is none. Reads. */
const struct berth_value *berth_eval_attribute(struct berth_context *context, const struct berth_ad *ad,
                                               const char *name, const struct berth_ad *other);

/* What the value is (enum berth_type, never BERTH_EXPRESSION). */
int berth_value_type(const struct berth_value *value);

/* An integer, or the seconds of a time (since 1970) or of a span of time; a boolean as 0 or 1; a real without its fraction. -1 when it is none of these or
 * does not fit. */
int berth_value_integer(const struct berth_value *value, int64_t *ret);

/* A number as a double; -1 when the value is neither integer nor real. */
int berth_value_real(const struct berth_value *value, double *ret);

/* A boolean as 1 or 0; -1 when the value is not one. */
int berth_value_boolean(const struct berth_value *value);

/* The bytes of a string; NULL when the value is not one. `ret_len` may be NULL. They live as long as the value. */
const char *berth_value_string(const struct berth_value *value, size_t *ret_len);

/* The zone of a point in time, in minutes east of Greenwich; 0 for all others. */
int berth_value_zone(const struct berth_value *value);

/* How many elements a list has, or attributes an ad; 0 for all others. */
size_t berth_value_count(const struct berth_value *value);

/* The n-th element of a list (from 0), evaluated and lent: it lives as long as the list. NULL past the last. All elements together are paid from the limits
 * of one evaluation. Reads. */
const struct berth_value *berth_value_element(struct berth_context *context, const struct berth_value *value, size_t n);

/* The value in the language's own syntax, lent as long as the value itself. Lists and ads as they are written, not evaluated. Reads. */
const char *berth_value_text(struct berth_context *context, const struct berth_value *value, size_t *ret_len);

/* An ad value as an ad of its own, as it is written; NULL when the value is not one, or is larger than the limits. Changes. */
struct berth_ad *berth_value_ad(struct berth_context *context, const struct berth_value *value);

/* ## Two ads meet
 *
 * A constraint is the attribute Constraint, else Requirements; a missing one takes everybody, and anything but true refuses. */

/* Do both ads accept each other? Reads. */
int berth_match(struct berth_context *context, const struct berth_ad *left, const struct berth_ad *right);

/* Does the constraint of the first ad accept the second? One side of berth_match. Reads. */
int berth_accepts(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other);

/* How much the first ad wants the second: its Rank as a number, 0 when it is none. Reads. */
double berth_rank(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other);

/* Is the expression true of the ad? Plain names and those behind `other.` or TARGET. are the ad's. Reads. */
int berth_query(struct berth_context *context, const struct berth_expr *query, const struct berth_ad *ad);

/* What is left of an offer when the request has been given its part, by the offer's Residual; NULL when it has none, and is consumed. Changes. */
struct berth_ad *berth_residual(struct berth_context *context, const struct berth_ad *offer,
                                const struct berth_ad *request);

/* An ad that is made ready to meet many: its constraint has been specialised once, at the time of the context. It holds the ad. */
struct berth_party;

/* Makes a party of the ad. NULL for a bad call. Changes. */
struct berth_party *berth_party_new(struct berth_context *context, struct berth_ad *ad);

/* Gives a party back. Like unref, it may be called in any thread, but only once. */
void berth_party_free(struct berth_party *party);

/* Do both accept each other? The answer of berth_match, with a fraction of the work. Reads. */
int berth_party_match(struct berth_context *context, const struct berth_party *left, const struct berth_party *right);

/* ## One against many
 *
 * An index keeps offers under keys that the caller chooses, and finds those that match a request without trying each. */

struct berth_index;

/* An index without offers. Never NULL. */
struct berth_index *berth_index_new(struct berth_context *context);

/* Gives an index back, and the ads that it holds. */
void berth_index_free(struct berth_index *index);

/* Puts in many offers at once, with the keys 0, 1, ...; the index must be empty. Much quicker than one by one. 0, or -1. Changes. */
int berth_index_load(struct berth_context *context, struct berth_index *index, struct berth_ad *const *ads,
                     size_t count, struct berth_error *error);

/* Puts in an offer, in the place of the one that has that key. 0, or -1. Changes. */
int berth_index_put(struct berth_context *context, struct berth_index *index, uint64_t key, struct berth_ad *ad,
                    struct berth_error *error);

/* Takes an offer out. 1, or 0 when none had that key. Changes. */
int berth_index_drop(struct berth_context *context, struct berth_index *index, uint64_t key);

/* The offer of that key; NULL when there is none. The index owns it: take a ref to keep it. */
struct berth_ad *berth_index_get(const struct berth_index *index, uint64_t key);

/* How many offers there are. */
size_t berth_index_count(const struct berth_index *index);

/* The keys of all offers that match the request, in rising order, in a list that is lent. How many there are; -1 for a bad call. Changes. */
ptrdiff_t berth_index_all(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                          const uint64_t **ret_keys);

/* How many offers match the request; -1 for a bad call. Less work than to list them. Changes. */
ptrdiff_t berth_index_matches(struct berth_context *context, struct berth_index *index, const struct berth_ad *request);

/* The offer that the request ranks highest among those that match; of equal ones that which ranks the request highest; of equal ones the smallest key. An
 * offer that says Preempts comes after all others, and only if its Rank of the request is above its CurrentRank. 1 and the key; 0 when none matches. Changes. */
int berth_index_best(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                     uint64_t *ret_key);

/* ## Gangs
 *
 * A request with Ports wants several offers at once. */

/* Who docks where. Members are in the order in which ports are filled; the request itself is not among them. */
struct berth_member {
    size_t offer;      /* its place among the offers */
    size_t parent;     /* the place in the list of the member that it docks at; BERTH_ROOT: it docks at the request */
    const char *label; /* of the parent's port */
};
#define BERTH_ROOT ((size_t)-1)

/* The best gang for the request: all of its ports, and theirs. 1 and the members, in a list that is lent (an empty one for a request whose ports need nobody);
 * 0 when there is none; -1 and the error when the ports of an ad are not in order, or the search was given up (BERTH_TOO_MUCH). Changes. */
int berth_gang(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers, size_t count,
               const struct berth_member **ret_members, size_t *ret_count, struct berth_error *error);

/* ## Reasons */

/* Words for people, or one object of JSON. */
enum berth_manner { BERTH_WORDS = 0, BERTH_JSON = 1 };

/* Why the request matches none of the offers, or which it takes and why, lent. `manner` is of enum berth_manner; the JSON is described in docs/why.md. Offers are
 * called by their Name, or #1, #2, ... NULL and the error when the ports of the request are not in order. Changes. */
const char *berth_why(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers,
                      size_t count, int manner, struct berth_error *error);

/* Something in an ad that its author hardly meant. */
struct berth_finding {
    const char *kind;      /* "contradiction", "misspelt", ... */
    const char *attribute; /* in which it was found */
    const char *text;      /* what is wrong: a line */
};

/* What is wrong with an ad that can be seen without others, in a list that is lent. How many findings there are; -1 for a bad call. Changes. */
ptrdiff_t berth_lint(struct berth_context *context, const struct berth_ad *ad,
                     const struct berth_finding **ret_findings);

#ifdef __cplusplus
}
#endif
#endif
