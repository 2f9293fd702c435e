/* gang.pml: a gang that runs, and loses a member or its root.
 *
 * A root has started a gang at two members, both essential. It would start it elsewhere if it lost one. Heart beats
 * run both ways: from each member to the root, and from the root to each member.
 *
 * Network. A message that was sent may be read at any later time, any number of times, or never. Heart beats are kept
 * by age for two leases, their acknowledgements as long as they could still lengthen a lease.
 * Time. A clock ticks; the lease L is 3 ticks, the margin 1; stopping a process takes less than that. Only what is
 * left is kept, so no run is cut off.
 * Faults. Each member may reboot; the root crashes and restarts any number of times, and may be cut off from either
 * member. Messages of a life of the root before the present one are fenced off by the epoch (lease.pml), and are not
 * here.
 *
 * Rules: each is a switch. 1 is the rule as the protocol has it, 0 takes it away.
 *   ESSENTIAL  a gang that lost an essential member is released.                    0: the others go on
 *   BOTHWAYS   that a member is there counts from the root's own heart beat, sent,  0: from when the member's own came,
 *              which the member acknowledged.                                          which may be late
 *   SILENT     once a gang is to be released, no heart beat is acknowledged.        0: as long as members run, it is
 *   WHOLE      after a restart of the root a gang is re-attached whole.             0: member by member
 *   EVERY      it runs elsewhere when every member is released, lost, or past       0: when one is
 *              lease and margin.
 *
 * What is asserted (the numbers are the protocol's invariants):
 *   2, stopped  when a member is lost, all are stopped within two leases and a margin.
 *   3, one      no process of the gang runs, or is being stopped, when the gang is started elsewhere.
 */
#ifndef ESSENTIAL
#define ESSENTIAL 1
#endif
#ifndef BOTHWAYS
#define BOTHWAYS 1
#endif
#ifndef SILENT
#define SILENT 1
#endif
#ifndef WHOLE
#define WHOLE 1
#endif
#ifndef EVERY
#define EVERY 1
#endif

/* Bounds. */
#ifndef L
#define L 3        /* ticks of a lease, 3 at most */
#endif
#ifndef REACH
#define REACH 0    /* 1: not a rule: asserts that a gang is never re-attached, to see that it can be */
#endif
#define M 1        /* the margin */

mtype = { RUNS, STOPPING, OVER };                     /* a member */
mtype = { ATTACHED, ASKING, ENDING, ELSEWHERE, DOWN };/* the root */

/* Member n. */
mtype member[2] = RUNS;
byte left[2] = L;         /* ticks of its lease */

/* The root. */
mtype root = ATTACHED;
byte seen[2] = L;         /* ticks until it holds member n for lost; 0: not heard of in this life */
byte until[2] = L + M;    /* ticks until member n has certainly ended */
bool over[2];             /* member n said that nothing is left */

/* The messages. Bit a: sent a ticks ago. */
byte beats[2], acks[2];   /* from member n to the root, and back */
byte asks[2], answers[2]; /* from the root to member n, and back */
bool release;
bool askedever[2];        /* an older one of `asks` may still come */

byte since;               /* ticks since a member was lost, while the other one is not over */

#define bit(a)       (1 << (a))
#define recent       ((1 << L) - 1)
#define twice        ((1 << 2 * L) - 1)
#define live(n)      (member[n] == RUNS || member[n] == STOPPING)
#define expired(n)   (member[n] == RUNS && left[n] == 0)
#define up           (root == ATTACHED || root == ASKING || root == ENDING)
#define past(n)      (over[n] || until[n] == 0)
#define unseen       (seen[0] == 0 || seen[1] == 0 || over[0] || over[1])
#define toolong      (until[0] == 0 || until[1] == 0)
#define mustend      (ESSENTIAL && ((root == ATTACHED && unseen) || (root == ASKING && toolong)))
#define mayack(n)    ((root == ATTACHED && !mustend) || (!WHOLE && root == ASKING && seen[n] > 0) || \
                      (!SILENT && root == ENDING))
#define waiting      (member[0] == STOPPING || member[1] == STOPPING || expired(0) || expired(1) || mustend)

inline beat(n) { if :: member[n] == RUNS -> beats[n] = beats[n] | 1 :: else fi }
inline ask(n)  { if :: root == ATTACHED || root == ASKING -> asks[n] = asks[n] | 1; askedever[n] = 1 :: else fi }
inline gone(n) { member[n] = OVER; left[n] = 0 }

inline less(x) { if :: x > 0 -> x-- :: else fi }

inline older(n) {
    less(left[n]);
    if :: up -> less(seen[n]); less(until[n]) :: else fi;
    beats[n] = (beats[n] << 1) & twice;
    acks[n] = (acks[n] << 1) & recent;
    asks[n] = (asks[n] << 1) & recent;
    answers[n] = (answers[n] << 1) & recent
}

inline notlong() { assert(since < 2 * L + M) }                                    /* 2, stopped */

active proctype clock() {
end: do
    :: atomic { !waiting ->
           older(0); older(1);
           beat(0); beat(1);
           ask(0); ask(1);
           if :: live(0) != live(1) -> since++; notlong()
              :: else -> since = 0
           fi }
    od
}

#define BEAT(n, a) \
    /* The root hears member n, and acknowledges if the gang is whole. Older heart beats then change nothing. */ \
    :: atomic { a < 2 * L && up && (beats[n] & bit(a)) && mayack(n) -> \
           beats[n] = beats[n] & (bit(a) - 1); acks[n] = acks[n] | (bit(a) & recent); until[n] = L + M; \
           if :: !BOTHWAYS -> seen[n] = L :: else fi } \
    /* The member is acknowledged. */ \
    :: atomic { a < L && member[n] == RUNS && left[n] > 0 && left[n] + a < L && (acks[n] & bit(a)) -> \
           left[n] = L - a } \
    /* The member hears the root, and answers. */ \
    :: atomic { a < L && member[n] == RUNS && left[n] > 0 && (asks[n] & bit(a)) && !(answers[n] & bit(a)) -> \
           answers[n] = answers[n] | bit(a) } \
    /* The root is answered. */ \
    :: atomic { a < L && (root == ATTACHED || root == ASKING) && seen[n] + a < L && (answers[n] & bit(a)) -> \
           if :: BOTHWAYS || root == ASKING -> seen[n] = L - a :: else fi }

#define MEMBER(n) \
    BEAT(n, 0) \
    BEAT(n, 1) \
    BEAT(n, 2) \
    BEAT(n, 3) \
    BEAT(n, 4) \
    BEAT(n, 5) \
    :: atomic { expired(n) -> member[n] = STOPPING } \
    :: atomic { member[n] == RUNS && release -> member[n] = STOPPING } \
    :: atomic { member[n] == STOPPING -> gone(n) } \
    :: atomic { live(n) -> gone(n) }                   /* a reboot */ \
    :: atomic { member[n] == OVER && (release || askedever[n]) && !over[n] -> over[n] = 1 }

inline elsewhere() {
    root = ELSEWHERE;
    assert(!live(0) && !live(1))                                                  /* 3, one */
}

inline again()     { assert(!REACH) }                                             /* reached */

active proctype members() {
end: do
    MEMBER(0)
    MEMBER(1)
    od
}

active proctype theroot() {
end: do
    :: atomic { mustend -> root = ENDING; release = 1; seen[0] = 0; seen[1] = 0 }
    :: atomic { root == ATTACHED || root == ASKING -> root = ENDING; release = 1; seen[0] = 0; seen[1] = 0 }
    :: atomic { root == ASKING && !mustend && !unseen -> root = ATTACHED; again() }
    :: atomic { (root == ENDING || (!ESSENTIAL && up)) && (past(0) || past(1)) && (!EVERY || (past(0) && past(1))) ->
           elsewhere() }

    :: atomic { up -> root = DOWN; seen[0] = 0; seen[1] = 0; until[0] = 0; until[1] = 0;
           asks[0] = 0; asks[1] = 0; answers[0] = 0; answers[1] = 0 }
    :: atomic { root == DOWN -> root = ASKING; until[0] = L + M; until[1] = L + M; ask(0); ask(1) }
    od
}
