/* claim.pml: how a gang is claimed, from the first `commit` to the first process.
 *
 *        root            The root R claims a leaf A and an inner node I; I claims its own child C.
 *       /    \           All members are essential. `verify` is left out: it decides whom to ask,
 *      A      I          not what holds afterwards.
 *             |
 *             C
 *
 * Network. A message that was sent stays in `net` for ever. Its receiver may read it at any later time, any number of
 * times, or never: so delay, loss, duplication and reordering are all there.
 * Time. A clock ticks; P is 8 ticks. Only ages are kept, and an age that no longer matters stops, so no run is cut
 * off.
 * Faults. The root and the inner node may crash at any point, any number of times (within the boot: what is on disk
 * stays). A and C may reboot (the pin or claim is gone). Anybody may be slow at any time.
 *
 * Rules: each is a switch. 1 is the rule as the protocol has it, 0 takes it away.
 *   BARRIER    `start` is sent when all essential members acknowledged `activate`.  0: work begins at `activate`
 *   INNERACK   an inner node acknowledges `activate` after its essential children.  0: at once
 *   INNERPIN   an inner node pins, and acknowledges, with its child's pin in hand.  0: at once
 *   RECORD     the decision is durable before `activate` is sent.                   0: it is sent first, then recorded
 *   COLLECT    the root activates only within P/4 of its first `commit`.            0: whenever all have acknowledged
 *   OBEY       a member obeys `activate` only within P/2 of its acknowledgement.    0: as long as it is pinned
 *   SAMEP      P and P/2 are the same in the whole tree.                            0: both are halved below I
 *   FIRSTACK   P counts from the first acknowledgement.                             0: a repeated `commit` renews it
 *   ONCE       a `commit` whose pin is over does not pin again.                     0: it does
 *   LEASE      from `activate` on the heart-beat lease holds, not P.                0: a claim, too, ends at P
 *   ROOTWAIT   a root that still collects answers `wait` to a member that asks.     0: `abort`
 *   INNERWAIT  an inner node in doubt answers `wait` to its child.                  0: `abort`
 *   INNERREC   an inner node records its children with its pin.                     0: a crash forgets them
 *   DURABLE    a pin is durable before it is acknowledged.                          0: a crash of I forgets it
 *
 * What is asserted (the numbers are the protocol's invariants):
 *   2, start    no process starts before all members have cleared the way; a member that cleared it and rebooted then
 *               counts as having done so: no protocol can know of that, and the heart beats end such a gang.
 *   2, pinned   when the root decides, and whenever a member obeys `activate`, no pin of the gang has run out.
 *   2, one      no member obeys an `abort` once the root has decided to activate: all are told the same.
 */
#ifndef BARRIER
#define BARRIER 1
#endif
#ifndef INNERACK
#define INNERACK 1
#endif
#ifndef INNERPIN
#define INNERPIN 1
#endif
#ifndef RECORD
#define RECORD 1
#endif
#ifndef COLLECT
#define COLLECT 1
#endif
#ifndef OBEY
#define OBEY 1
#endif
#ifndef SAMEP
#define SAMEP 1
#endif
#ifndef FIRSTACK
#define FIRSTACK 1
#endif
#ifndef ONCE
#define ONCE 1
#endif
#ifndef LEASE
#define LEASE 1
#endif
#ifndef ROOTWAIT
#define ROOTWAIT 1
#endif
#ifndef INNERWAIT
#define INNERWAIT 1
#endif
#ifndef INNERREC
#define INNERREC 1
#endif
#ifndef DURABLE
#define DURABLE 1
#endif

/* Bounds. */
#ifndef FAULTS
#define FAULTS 1   /* 0: nobody crashes or reboots */
#endif
#ifndef REACH
#define REACH 0    /* 1: not a rule: asserts that the gang never runs, to see that it can */
#endif
#ifndef P
#define P 8        /* ticks: a multiple of 8 */
#endif

/* The members. */
#define A 0
#define I 1
#define C 2

/* The messages to and from member n, as bits of the network. */
#define COMMIT(n)    (n)
#define PINNED_(n)   (3 + (n))    /* acknowledges commit */
#define ACTIVATE(n)  (6 + (n))
#define CLEARED(n)   (9 + (n))    /* acknowledges activate */
#define START(n)     (12 + (n))
#define ABORT(n)     (15 + (n))
#define ASK(n)       (18 + (n))   /* a member without news asks its parent */
#define came(m)      (net & (1 << (m)))
#define say(m)       net = net | (1 << (m))

mtype = { IDLE, PINNED, CLAIMED, RUNNING, GONE };                    /* a member */
mtype = { NEW, COLLECTING, UNRECORDED, ACTIVATING, ABORTING, DOWN }; /* the root */
mtype = { WAITING, GATHERING, GATHERED, FORGOTTEN };                 /* the inner node towards its child */

int net;
mtype member[3] = IDLE;
byte age[3];              /* of the pin; 0 when there is none */
bool rebooted[3];

mtype root = NEW;
byte rootage;             /* since the first commit, while collecting */
bool decided;             /* on the root's disk */

mtype inner = WAITING;
byte innerage;            /* since its commit, while gathering */

#define pinlease(n)  ((!SAMEP && n == C) -> P / 2 : P)
#define obeytime(n)  ((!OBEY) -> P : ((!SAMEP && n == C) -> P / 4 : P / 2))
#define timed(n)     (member[n] == PINNED || (!LEASE && (member[n] == CLAIMED || member[n] == RUNNING)))
#define due(n)       (timed(n) && age[n] >= pinlease(n))
#define claimed(n)   (member[n] == CLAIMED || member[n] == RUNNING)
#define held(n)      (rebooted[n] || claimed(n) || (member[n] == PINNED && age[n] < pinlease(n)))
#define cleared(n)   (claimed(n) || (rebooted[n] && came(CLEARED(n))))

#define allheld      (held(A) && held(I) && held(C))
#define allcleared   (cleared(A) && cleared(I) && cleared(C))

inline pin(n)    { member[n] = PINNED; age[n] = 0; say(PINNED_(n)) }
inline leave(n)  { member[n] = GONE; age[n] = 0 }

inline begin(n) {
    member[n] = RUNNING;
    assert(allcleared);                                                   /* 2, start */
    assert(!(REACH && member[A] == RUNNING && member[I] == RUNNING && member[C] == RUNNING))   /* reached */
}

inline claim(n) {
    assert(allheld);                                                      /* 2, pinned */
    member[n] = CLAIMED;
    if :: LEASE -> age[n] = 0 :: else fi;
    if :: !BARRIER -> begin(n) :: else fi
}

inline obeyabort(n) {
    assert(!decided && !came(ACTIVATE(A)) && !came(ACTIVATE(I)));         /* 2, one */
    leave(n)
}

inline older(n) { if :: timed(n) -> age[n]++ :: else fi }

/* The clock waits for those whose time is over: a pin ends at P, not some time later. */
active proctype clock() {
end: do
    :: atomic { !due(A) && !due(I) && !due(C) ->
           older(A); older(I); older(C);
           if :: root == COLLECTING && rootage <= P / 4 -> rootage++ :: else fi;
           if :: inner == GATHERING && innerage <= P / 8 -> innerage++ :: else fi }
    od
}

active proctype theroot() {
end: do
    :: atomic { root == NEW -> say(COMMIT(A)); say(COMMIT(I)); root = COLLECTING }

    /* All have acknowledged, in time: decide. */
    :: atomic { root == COLLECTING && came(PINNED_(A)) && came(PINNED_(I)) && (!COLLECT || rootage <= P / 4) ->
           assert(allheld);                                               /* 2, pinned */
           rootage = 0;
           if :: RECORD -> decided = 1; root = ACTIVATING
              :: else -> say(ACTIVATE(A)); say(ACTIVATE(I)); root = UNRECORDED
           fi }
    :: atomic { root == UNRECORDED -> decided = 1; root = ACTIVATING }
    :: atomic { root == ACTIVATING && !came(ACTIVATE(A)) -> say(ACTIVATE(A)); say(ACTIVATE(I)) }

    /* The way is clear: start. */
    :: atomic { BARRIER && root == ACTIVATING && came(CLEARED(A)) && came(CLEARED(I)) && !came(START(A)) ->
           say(START(A)); say(START(I)) }

    /* It need not wait for the end of the collecting time. */
    :: atomic { root == COLLECTING -> rootage = 0; say(ABORT(A)); say(ABORT(I)); root = ABORTING }

    /* Without ROOTWAIT it says `abort` to one that asks, and goes on collecting. Once it has decided, or aborted, the
     * answer is that message, which is in the network already. */
    :: atomic { !ROOTWAIT && root == COLLECTING && came(ASK(A)) && !came(ABORT(A)) -> say(ABORT(A)) }

    :: atomic { FAULTS && root != NEW && root != DOWN -> rootage = 0; root = DOWN }
    :: atomic { root == DOWN ->
           if :: decided -> root = ACTIVATING
              :: else -> say(ABORT(A)); say(ABORT(I)); root = ABORTING
           fi }
    od
}

/* What a leaf and an inner node do alike: the pin's end, asking, and, for a leaf, all the rest. */
#define MEMBER(n) \
    :: atomic { due(n) -> leave(n) } \
    :: atomic { member[n] == PINNED && age[n] >= P / 4 && !came(ASK(n)) -> say(ASK(n)) } \
    :: atomic { !FIRSTACK && member[n] == PINNED && age[n] > 0 && came(COMMIT(n)) -> age[n] = 0 }

#define LEAF(n) \
    MEMBER(n) \
    :: atomic { member[n] == IDLE && came(COMMIT(n)) -> pin(n) } \
    :: atomic { !ONCE && member[n] == GONE && !rebooted[n] && came(COMMIT(n)) -> pin(n) } \
    :: atomic { member[n] == PINNED && !due(n) && came(ABORT(n)) -> obeyabort(n) } \
    :: atomic { member[n] == PINNED && !due(n) && came(ACTIVATE(n)) && age[n] <= obeytime(n) -> \
           claim(n); say(CLEARED(n)) } \
    :: atomic { member[n] == CLAIMED && came(START(n)) -> begin(n) } \
    :: atomic { FAULTS && (member[n] == PINNED || claimed(n)) -> rebooted[n] = 1; leave(n) }

active proctype leafA() {
end: do
    LEAF(A)
    od
}

active proctype leafC() {
end: do
    LEAF(C)
    od
}

active proctype theinner() {
end: do
    MEMBER(I)
    :: atomic { member[I] == IDLE && inner == WAITING && came(COMMIT(I)) ->
           say(COMMIT(C)); inner = GATHERING;
           if :: INNERPIN -> skip :: else -> pin(I) fi }

    /* It gathers for half the time that its parent collects. */
    :: atomic { inner == GATHERING && came(PINNED_(C)) && innerage <= P / 8 ->
           innerage = 0; inner = GATHERED;
           if :: member[I] == IDLE -> pin(I) :: else fi }
    :: atomic { inner == GATHERING && member[I] == IDLE -> innerage = 0; inner = FORGOTTEN; leave(I); say(ABORT(C)) }

    :: atomic { member[I] == PINNED && !due(I) && came(ABORT(I)) -> obeyabort(I); say(ABORT(C)) }
    :: atomic { member[I] == PINNED && !due(I) && came(ACTIVATE(I)) && age[I] <= obeytime(I) ->
           claim(I); say(ACTIVATE(C));
           if :: !INNERACK -> say(CLEARED(I)) :: else fi }
    :: atomic { claimed(I) && came(CLEARED(C)) && !came(CLEARED(I)) -> say(CLEARED(I)) }
    :: atomic { member[I] == CLAIMED && came(START(I)) -> say(START(C)); begin(I) }

    /* Its child asks: `wait` while it gathers or is in doubt, `abort` if it knows nothing of the gang. */
    :: atomic { came(ASK(C)) && !came(ABORT(C)) &&
                (member[I] == GONE || inner == FORGOTTEN || (!INNERWAIT && member[I] == PINNED)) -> say(ABORT(C)) }

    /* A crash within the boot: what was not yet pinned is forgotten, a pin is not. */
    :: atomic { FAULTS && inner != WAITING && member[I] != GONE ->
           if :: member[I] == IDLE -> innerage = 0; inner = FORGOTTEN; leave(I)
              :: else ->
                 if :: !INNERREC -> innerage = 0; inner = FORGOTTEN :: else fi;
                 if :: !DURABLE && member[I] == PINNED -> leave(I) :: else fi
           fi }
    od
}
