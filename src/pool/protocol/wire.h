/* wire.h: messages and records as ads: what travels between parties, and what a store keeps.
 *
 *     [Message="commit";Claim="00000000000000a1";Epoch="0000000000000002";Sequence="0000000000000007";Collect=3750000]
 *     [Record="shape";Row="000000000000002a";Removed=false;Owner="alice";Ad=[Memory=64;Constraint=other.Disk>10]]
 *
 * The language's own printer and parser write and read them, so they are JSON or XML by form.h as well. Each field is an attribute: its
 * name is the field's (superior_ad: SuperiorAd), its value depends on the sort:
 *
 *     NUMBER   an integer                              TEXT    a string of up to TEXT_MAX bytes, no NUL among them
 *     WORD     16 hexadecimal digits, in a string      KEY     64 hexadecimal digits, in a string
 *     FLAG     true or false                           SEEN    an ad
 *     REASON   "ok", "challenge", "busy", ...          EDGES   a list of up to EDGES_MAX ads; not there when NULL
 *     AD       an ad; not there when NULL. One of another dialect than the message's, or one so deep that it could not be read inside
 *              another, is a string: the name of its dialect, a blank and its text, "condor [a=1]"
 *
 * Kinds and reasons are their identifiers in lower case, digits too are lower case. Reading is strict: each field once, of its type
 * and within its range, and nothing else. So whatever is accepted can be written again and read back equal, and a message in memory
 * that came from a stranger has only values that our own code could have given it.
 *
 * Versions: fields that came later (fields.h) may be missing, and a row may have unknown fields, which are passed over. So the
 * rows of an older version are read, and those of a newer one as far as they are understood. */
#ifndef BERTH_POOL_PROTOCOL_WIRE_H
#define BERTH_POOL_PROTOCOL_WIRE_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "pool/protocol/message.h"
#include "pool/protocol/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_BYTES_MAX (16u << 20) /* of one text */
#define WIRE_CELLS_MAX (1u << 20)  /* of one text's tree: EDGES_MAX large ads */
#define WIRE_LEVELS_MAX 100 /* of an ad inside a message; TREE_DEPTH_MAX less the levels around it, and parentheses */

/* The message or record as an ad; the caller unrefs it. All ads inside must use that table of symbols. */
struct tree *wire_message(struct symbols *symbols, const struct message *message);
struct tree *wire_record(struct symbols *symbols, const struct record *record);

/* Return 0, and the caller gives `ret` back with message_done or record_done; its ads are trees of their own. Return -1
 * when the ad is not a message or record: the error names the field. */
int wire_read_message(const struct tree *ad, struct message *ret, struct err *err);
int wire_read_record(const struct tree *ad, struct record *ret, struct err *err);

/* The same for a message that a person wrote: missing fields are 0, false or empty. The field called `skip` (NULL:
 * none) may be anything, and stays 0: its reader knows better. */
int wire_read_brief(const struct tree *ad, const char *skip, struct message *ret, struct err *err);

/* wire_print appends the text of such an ad, in one line. wire_parse reads it: 0 and an ad that the caller unrefs, or
 * -1 and the place of the error. */
void wire_print(struct buf *out, const struct tree *ad);
int wire_parse(struct symbols *symbols, const char *text, size_t len, struct tree **ret, struct err *err);

/* Does the message or record come back equal, through ad, text and ad again? If not, `why` says so. */
bool wire_same(struct symbols *symbols, const struct message *message, struct err *why);
bool wire_same_record(struct symbols *symbols, const struct record *record, struct err *why);

#ifdef __cplusplus
}
#endif
#endif
