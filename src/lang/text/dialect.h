/* dialect.h: the switches by which the dialects of the language differ.
 *
 * The lexer, the parser, the printer, the operators and the functions read these switches; nothing else asks which dialect
 * is in force. A dialect belongs to the tree that holds an expression, so both dialects can meet in one match. */
#ifndef BERTH_LANG_TEXT_DIALECT_H
#define BERTH_LANG_TEXT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dialect {
    const char *name;
    unsigned bit; /* for tables whose rows say in which dialects they hold */

    /* reading and printing */
    bool quoted_names;         /* '...' is an attribute name; else a time */
    bool scale_suffixes;       /* 2K is 2048.0 */
    bool last_duplicate_holds; /* the same attribute may stand twice in an ad; else that is an error */
    bool short_intervals;      /* "07:00" is seven minutes and days end in '+'; else seven hours and 'd' */
    bool early_times;          /* an absolute time may lie before 1970; else it is an error */
    bool reals_as_e15;         /* a real becomes a string as C's %.15E; else as it prints */

    /* operators */
    bool logic_by_order;        /* && and || go left to right and may stop; else the tables of section 2.4.4 */
    bool booleans_count;        /* a boolean counts as 0 or 1 where a number is wanted, and a number as a condition */
    bool outside_list_is_error; /* a subscript outside the list is error; else undefined */
    bool ads_take_subscripts;   /* ad["attr"] */
    bool lists_take_names;      /* list.attr is the list of each element's attr */
    bool is_refuses_aggregates; /* `is` between two lists or two ads is error; else false */
    bool infinite_reals;        /* reals may be divided by zero, and only +INF as a result is error */
    bool alone_in_empty_ad;     /* an expression given alone stands in an empty ad; else in none */
    bool zone_of_evaluation;    /* parts of a time are read in the zone of the evaluation; else in the time's own */
};

#define DIALECT_CLASSIC 1u
#define DIALECT_CONDOR 2u
#define DIALECT_ALL 3u

extern const struct dialect dialect_classic; /* the dissertation's dialect */
extern const struct dialect dialect_condor;  /* the dialect of today's HTCondor */

const struct dialect *dialect_find(const char *name); /* NULL when no dialect has that name */

#ifdef __cplusplus
}
#endif
#endif
