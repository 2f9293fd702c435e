/* copies.h: files of the catalogue of which a number of copies is to be kept (Copies): looked at from time to time, and copied where copies are
 * missing; private to the live customer.
 *
 *     once in CopiesPeriod: the catalogues -> the files of its user that have Copies -> each replica is asked for -> too few?
 *                           -> fetched from one that is there -> put into a store that has none -> entered in the catalogues
 *
 * A customer does that for the files of the account that it runs for, with that account's rights. What is too many stays. */
#ifndef BERTH_LIVE_CUSTOMERD_COPIES_H
#define BERTH_LIVE_CUSTOMERD_COPIES_H

struct customerd;
struct copies;
struct request;

struct copies *copies_new(struct customerd *customerd);
/* Ends what is under way; before the agent and the catalogues are freed. Takes NULL. */
void copies_stop(struct copies *copies);
void copies_free(struct copies *copies); /* after copies_stop; takes NULL */
/* Goes on with what is due; called often. */
void copies_tick(struct copies *copies);
/* Answers which files are kept, and how they stand. */
void api_copies(struct request *request);

#endif
