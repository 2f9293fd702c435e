/* units.pml: the ledger of units between the matchmaker and one advertiser.
 *
 * The advertiser has N equal units. It sends texts (`PUT`): each says how many units are free, `Count`, and which
 * matches that figure takes into account, `Seen`. The matchmaker gives units away as matches and tells the
 * advertiser: a notification. Texts and notifications cross each other. What the matchmaker may give away is
 *
 *      Count of the text it has  -  matches that this text does not name and that may still be taken up
 *
 * The advertiser takes a unit for each match it hears of in time, and may free it again later (the claim failed, or
 * ended).
 *
 * Network. A text may be read at any time after it was sent, any number of times, or never; two may be on their way,
 * in any order. A notification says how old the match was when it was sent, and is on its way for D at most; it may come
 * any number of times, or never. Each answer of the matchmaker has
 * its clock, and each text the clock that its sender heard last: so the matchmaker knows when it was written at the
 * earliest, however long it was on its way.
 * Time. A clock ticks; a match has a window of W ticks. Only ages are kept, so no run is cut off.
 * Faults. The matchmaker may restart once at any point: it forgets text and matches, and has a new incarnation.
 * Notifications of the one before may still be on their way.
 *
 * Rules: each is a switch. 1 is the rule as the design has it, 0 takes it away.
 *   TAKEOFF      matches that a text does not name are taken off it again.         0: a text stands as it was written
 *   GIVEBACK     a match still unnamed after window and deadline is given back.    0: it is taken off for ever
 *   DEADLINE     that is after the window and the request deadline.                0: after the window
 *   HEARD        that is so when the text was written, by what its sender heard.   0: when it is read
 *   AGE          a notification carries its age; one past the window is dropped.   0: it is taken up
 *   KNOWN        a match that the receiver knows is dropped.                       0: it is taken up again
 *   GAPS         `Seen` is the last number without a gap, and those beyond.        0: the highest number
 *   VERSION      an older text never replaces a newer one.                         0: it does
 *   INCARNATION  numbers of another incarnation name nothing.                      0: they are read as one's own
 *   UNKNOWN      an unknown incarnation takes off all matches of the present one.  0: such a text stands as written
 *   RENEWAL      no renewal without body once text or `Seen` has moved.            0: it is sent all the same
 *
 * What is asserted: the protocol's invariant 8, within an incarnation.
 *   8, double    what the matchmaker may give away is never more than what the advertiser has free, less the matches
 *                that it may still take up. (A unit taken by a match of the incarnation before, of which the present
 *                one cannot know, is not counted: there the advertiser's own record protects.)
 *   8, vanish    when the advertiser's latest text, or its renewal, comes in, it is not less either: only the matches
 *                that window and deadline still keep are off it.
 */
#ifndef TAKEOFF
#define TAKEOFF 1
#endif
#ifndef GIVEBACK
#define GIVEBACK 1
#endif
#ifndef DEADLINE
#define DEADLINE 1
#endif
#ifndef HEARD
#define HEARD 1
#endif
#ifndef AGE
#define AGE 1
#endif
#ifndef KNOWN
#define KNOWN 1
#endif
#ifndef GAPS
#define GAPS 1
#endif
#ifndef VERSION
#define VERSION 1
#endif
#ifndef INCARNATION
#define INCARNATION 1
#endif
#ifndef UNKNOWN
#define UNKNOWN 1
#endif
#ifndef RENEWAL
#define RENEWAL 1
#endif

/* Bounds. */
#ifndef N
#define N 2        /* units */
#endif
#ifndef K
#define K 2        /* matches in an incarnation, 3 at most */
#endif
#ifndef RESTART
#define RESTART 1  /* 0: the matchmaker does not restart */
#endif
#ifndef REACH
#define REACH 0    /* 1: not a rule: after a restart never all units are free again: to see that they can */
#endif
#define W 1
#define D 1
#define OLD (W + D + 1)   /* an age at which a match is over for everybody */

/* A set of matches of one incarnation is a byte of bits. */
#define bit(m)       (1 << (m))
#define size(s)      (((s) & 1) + (((s) >> 1) & 1) + (((s) >> 2) & 1))
#define upto(s)      ((s) | ((s) >> 1) | ((s) >> 2))       /* all numbers up to the highest */

/* The matches of both incarnations, 0 and 1. */
byte made[2];             /* by the matchmaker: each is a notification on its way */
byte known[2];            /* to the advertiser: taken into account */
byte age[6];              /* of match m of incarnation i, at 3 * i + m */

/* The advertiser. */
byte free = N;
bool moved = 1;           /* text or Seen are no longer those it sent last */

/* Texts on their way. The younger is texts[latest]. `Seen` is that of the newest incarnation heard of. */
typedef text { bool there; bool overtaken; byte heard; byte count; byte seen[2] };
text texts[2];
byte latest;

/* The matches that were overdue by the matchmaker's clock, as the advertiser last heard it. */
byte heard;

/* A renewal without body on its way: it names a text by its tag. */
bool renewal, renewalfits;
byte renewalheard;

/* The matchmaker. */
byte now;                 /* its incarnation */
bool has;                 /* a text */
byte count;               /* of it */
byte open;                /* matches to be taken off it */
bool newest;              /* it is the text that the advertiser sent last */
byte basis[2];            /* the matches that its count takes into account; only the assertion reads it */

#define agein(i, m)  age[3 * (i) + (m)]
#define limit        ((DEADLINE) -> (W + D) : (W))
#define overdue(m)   ((agein(now, m) > limit) -> bit(m) : 0)
#define alloverdue   (overdue(0) | overdue(1) | overdue(2))
#define givenback(h) ((GIVEBACK) -> ((HEARD) -> (h) : alloverdue) : 0)

/* What the matchmaker may give away, as a figure that may be below 0, and what there really is. */
#define offered      (count - size(open))
#define mayyet(m)    (((made[now] & ~known[now]) & bit(m)) && (agein(now, m) <= W + D || !AGE))
#define foreign      (size(known[1 - now] & ~basis[1 - now]))
#define real         (free + foreign - mayyet(0) - mayyet(1) - mayyet(2))

#define owed(h)      (free - size(made[now] & ~known[now] & ~(h)))

inline hasone(i)  { assert(free > 0 || known[1 - i]) }                            /* 8, double */

inline nodouble() { assert(!has || offered <= real) }                             /* 8, double */

inline novanish(sure) {
    assert(!newest || moved || offered >= owed(sure));                             /* 8, vanish */
    assert(!(REACH && now == 1 && made[1] == bit(K) - 1 && known[0] && offered == N))   /* reached */
}

/* The age of a match that both sides have done with matters no more. */
#define settled(i, m) (KNOWN && (i != now || !(open & bit(m))) && (known[i] & bit(m)))

inline older(i, m) {
    if :: (made[i] & bit(m)) && agein(i, m) < OLD ->
          if :: settled(i, m) || (i != now && agein(i, m) >= W + D) -> agein(i, m) = OLD
             :: else -> agein(i, m)++
          fi
       :: else
    fi
}

inline forget(t) { texts[t].there = 0; texts[t].overtaken = 0; texts[t].heard = 0; texts[t].count = 0;
                   texts[t].seen[0] = 0; texts[t].seen[1] = 0 }

active proctype clock() {
end: do
    :: atomic {
           older(0, 0); older(0, 1); older(0, 2); older(1, 0); older(1, 1); older(1, 2) }
    od
}

/* A notification comes. An advertiser without a free unit refuses the match, and has then taken it into account. */
#define NOTIFIED(i, m) \
    :: atomic { (made[i] & bit(m)) && (!AGE || agein(i, m) <= W + D) && (!KNOWN || !(known[i] & bit(m))) -> \
           hasone(i); \
           if :: free > 0 -> free-- :: else fi; \
           known[i] = known[i] | bit(m); \
           moved = 1; \
           nodouble() }

#define SEND(t) \
    :: atomic { !texts[t].there -> \
           texts[t].there = 1; texts[t].count = free; texts[t].heard = heard; \
           texts[t].seen[0] = known[0]; texts[t].seen[1] = known[1]; \
           latest = t; newest = 0; moved = 0 }

active proctype advertiser() {
end: do
    NOTIFIED(0, 0)
    NOTIFIED(0, 1)
    NOTIFIED(0, 2)
    NOTIFIED(1, 0)
    NOTIFIED(1, 1)
    NOTIFIED(1, 2)
    /* A claim failed, or ended. */
    :: atomic { free < N -> free++; moved = 1; nodouble() }
    SEND(0)
    SEND(1)
    /* An answer comes, with the clock. */
    :: atomic { heard != alloverdue -> heard = alloverdue }
    /* A renewal, when the last text was answered; it may be lost. */
    :: atomic { !renewal && newest && (!moved || !RENEWAL) -> renewal = 1; renewalfits = 1; renewalheard = heard }
    :: atomic { renewal -> renewal = 0; renewalfits = 0; renewalheard = 0 }
    od
}

/* The numbers of the present incarnation that text t names. */
#define incarnation(t)  ((texts[t].seen[1]) -> 1 : 0)
#define numbers(t)      ((GAPS) -> (texts[t].seen[incarnation(t)]) : upto(texts[t].seen[incarnation(t)]))
#define named(t) \
    ((incarnation(t) == now || !INCARNATION) -> numbers(t) : ((UNKNOWN) -> 0 : made[now]))

#define RECEIVE(t) \
    :: atomic { texts[t].there && (!VERSION || !texts[t].overtaken) -> \
           has = 1; count = texts[t].count; \
           if :: TAKEOFF -> open = open & ~named(t) & ~givenback(texts[t].heard) :: else -> open = 0 fi; \
           basis[0] = texts[t].seen[0]; basis[1] = texts[t].seen[1]; \
           newest = (t == latest); \
           if :: t == latest && texts[1 - t].there -> texts[1 - t].overtaken = 1 :: else fi; \
           renewalfits = 0; \
           nodouble(); novanish(texts[t].heard) } \
    :: atomic { texts[t].there -> forget(t) }

#define MATCH(m) \
    :: atomic { m < K && has && offered > 0 && made[now] == bit(m) - 1 -> \
           made[now] = made[now] | bit(m); \
           open = open | bit(m); \
           nodouble() }

active proctype matchmaker() {
end: do
    MATCH(0)
    MATCH(1)
    MATCH(2)
    RECEIVE(0)
    RECEIVE(1)
    /* A renewal counts as the text that it names, if that is the text in hand; else it is refused. */
    :: atomic { renewal && renewalfits -> open = open & ~givenback(renewalheard);
                nodouble(); novanish(renewalheard) }
    /* Another incarnation. */
    :: atomic { RESTART && now == 0 ->
           now = 1; has = 0; count = 0; open = 0; newest = 0; basis[0] = 0; basis[1] = 0;
           renewalfits = 0; texts[0].overtaken = 0; texts[1].overtaken = 0;
           heard = 0; texts[0].heard = 0; texts[1].heard = 0; renewalheard = 0 }
    od
}
