/* config_parts.h: what the files of the configuration share. */
#ifndef BERTH_LIVE_CONFIG_CONFIG_PARTS_H
#define BERTH_LIVE_CONFIG_CONFIG_PARTS_H

#include "lang/ad/eval.h"
#include "live/config/config.h"

/* Reads a setting from the value of an expression; texts are copied to the arena. `from` and `over` stay as they were. -1 with "expected ..., got ...". */
int config_read_value(struct arena *arena, enum config_key key, struct eval *eval, const struct value *value,
                      struct config_value *ret, struct err *err);

/* Is the value of the sort that the key wants, be it right or wrong? */
bool config_value_fits(enum config_key key, const struct value *value);

/* Reads a text that is no expression: a list has commas, a flag may be `on`. */
int config_read_text(struct arena *arena, enum config_key key, const char *text, size_t len, struct config_value *ret,
                     struct err *err);

/* Reads a list of ads, whose expressions are not evaluated. */
struct expr;
int config_read_ads(struct arena *arena, enum config_key key, const struct tree *tree, const struct expr *e,
                    struct config_value *ret, struct err *err);

/* Appends what the key may be: "seconds from 0.001 to 86400", "auto, on or off". */
void config_expected(struct buf *out, enum config_key key);

#endif
