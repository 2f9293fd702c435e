/* lease.pml: a job under a claim, from the acknowledged `commit` to the result that is taken.
 *
 * A customer has claimed provider X for a job. Y is the other place: where the job would run if X were lost.
 *
 * Network. A message that was sent may be read at any later time, any number of times, or never. Heart beats and
 * their acknowledgements are kept by age, and only as long as they could still lengthen a lease.
 * Time. A clock ticks; the lease L is 3 ticks, P 2, the margin 1; stopping a job takes less than that. Only what is
 * left of each lease is kept, so no run is cut off.
 * Faults. The provider's agent crashes and restarts any number of times; its machine may reboot at any time; the
 * customer crashes up to LIVES - 1 times. A crash loses what is in memory; what is on disk stays, unless a rule is
 * taken away.
 *
 * Rules: each is a switch. 1 is the rule as the protocol has it, 0 takes it away.
 *   ACKED      only an acknowledged heart beat renews the lease.                    0: sending one does
 *   SENT       the member counts from when it sent the heart beat.                  0: from when that was acknowledged
 *   FIRST      the first lease counts from the acknowledged `commit`.               0: from when `activate` came
 *   MARGIN     the customer waits for lease and margin.                             0: for the lease
 *   LAUNCHER   the launcher holds the deadline and ends the job itself.             0: only the agent does
 *   KEEPLEASE  a provider that restarts keeps the deadline.                         0: it begins a fresh lease
 *   CHECK      a provider that restarts checks deadlines before it answers.         0: a message may come first
 *   KEEPCLAIM  a provider that restarts keeps its claims, and finds its launchers.  0: it says `lost`
 *   RECLAUNCH  the provider records a `start` before the launch.                    0: a crash forgets that it launched
 *   RECSTART   the customer records job and claim before it sends `start`.          0: after it
 *   WAIT       a customer that restarts waits for lease and margin.                 0: it gives up at once
 *   NOACK      it acknowledges no heart beat before re-attachment.                  0: it does
 *   NORENEW    re-attachment does not renew the lease.                              0: it does, from when it came
 *   RECEPOCH   it records the new epoch, then names it.                             0: it records it once confirmed
 *   FENCE      the provider obeys no message of an epoch before its own.            0: it obeys
 *   STOPPED    `released` is said when nothing of the job is left.                  0: when it was asked to stop
 *   CURRENT    a result is taken only from the claim recorded for the job.          0: from any
 *   TAKEN      that a result was taken is durable.                                  0: a crash forgets it
 *
 * What is asserted (the numbers are the protocol's invariants):
 *   3, one     the job never runs, or is being stopped, at X while it runs at Y; X never launches it twice, nor
 *              after Y.
 *   3, once    its result is taken once, and not from X when it was started at Y.
 *   epoch      a confirmation that the customer takes answers the question of its present life, and a `release` that
 *              X obeys is not from a life before the one that X was re-attached to.
 */
#ifndef ACKED
#define ACKED 1
#endif
#ifndef SENT
#define SENT 1
#endif
#ifndef FIRST
#define FIRST 1
#endif
#ifndef MARGIN
#define MARGIN 1
#endif
#ifndef LAUNCHER
#define LAUNCHER 1
#endif
#ifndef KEEPLEASE
#define KEEPLEASE 1
#endif
#ifndef CHECK
#define CHECK 1
#endif
#ifndef KEEPCLAIM
#define KEEPCLAIM 1
#endif
#ifndef RECLAUNCH
#define RECLAUNCH 1
#endif
#ifndef RECSTART
#define RECSTART 1
#endif
#ifndef WAIT
#define WAIT 1
#endif
#ifndef NOACK
#define NOACK 1
#endif
#ifndef NORENEW
#define NORENEW 1
#endif
#ifndef RECEPOCH
#define RECEPOCH 1
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef STOPPED
#define STOPPED 1
#endif
#ifndef CURRENT
#define CURRENT 1
#endif
#ifndef TAKEN
#define TAKEN 1
#endif

/* Bounds. */
#ifndef LIVES
#define LIVES 3    /* of the customer, 3 at most */
#endif
#ifndef REACH
#define REACH 0    /* 1: not a rule: asserts that no result comes after re-attachment, to see that it can */
#endif
#ifndef L
#define L 3        /* ticks of a lease, 5 at most */
#endif
#ifndef P
#define P 2        /* ticks of a pin, even, L at most */
#endif

mtype = { PINNED, CLAIMED, ENDED };                           /* X's claim */
mtype = { NONE, RECORDED, RUNS, STOPPING, FINISHED, DEAD };   /* a job, at X or Y */
mtype = { NOWHERE, AT_X, AT_Y };                              /* where the customer's disk says the job is */

/* The provider X. On disk: claim, epoch, whether `start` was heard, the result. With the launcher: the deadline. */
bool xup = 1;
mtype claim = PINNED;
mtype job = NONE;
bool xheard;              /* that a `start` came */
byte xleft = L;           /* ticks of the lease */
byte xepoch = 1;
byte xlife = 1;           /* which life of the customer it was re-attached to; only the assertion reads it */

/* The customer. On disk: place, epoch, done. */
bool cup = 1;
byte life = 1;
bool attached = 1;
byte cleft = L + MARGIN;  /* ticks until it may give X up */
mtype place = NOWHERE;
byte cepoch = 1;
bool done;
byte taken;               /* results; only the assertion reads it */

mtype atY = NONE;         /* the job at Y */

/* The messages. `activate` is on its way from the beginning. Those of a life of the customer are bits by life. */
bool start, released, lost;
byte beats, acks;         /* bit a: a heart beat sent a ticks ago, and its acknowledgement */
byte asks, confirms, releases;
byte named[4] = 1;       /* the epoch that the messages of a life name */

#define bit(k)     (1 << (k))
#define recent     ((1 << L) - 1)
#define live(j)    ((j) == RUNS || (j) == STOPPING)
#define inlease    (xleft > 0 || !CHECK)
#define pinover    (claim == PINNED && xleft <= L - P)
#define leaseover  (claim == CLAIMED && xleft == 0)
#define jobover    (job == RUNS && xleft == 0)
#define waiting    ((xup && (pinover || leaseover)) || (jobover && LAUNCHER) || job == STOPPING)

inline beat() {
    if :: xup && claim == CLAIMED ->
          beats = beats | 1;
          if :: !ACKED -> xleft = L :: else fi
       :: else
    fi
}

/* The claim is over. The job, if there is one, begins to stop. */
inline endclaim() {
    claim = ENDED;
    if :: job == RUNS -> job = STOPPING
       :: job == RECORDED -> job = DEAD
       :: else
    fi;
    if :: !live(job) -> xleft = 0 :: else fi
}

inline take() {
    done = 1; taken++;
    assert(taken <= 1);                                            /* 3, once */
    assert(!(REACH && life == LIVES && attached && place == AT_X)) /* reached */
}

inline notpast(k)  { assert(k >= xlife) }                          /* epoch */
inline mine(k)     { assert(k == life) }                           /* epoch */

/* The clock waits for those whose time is over, and for a job that is being stopped. */
active proctype clock() {
end: do
    :: atomic { !waiting ->
           if :: xleft > 0 -> xleft-- :: else fi;
           if :: cup && place != AT_Y && cleft > 0 -> cleft-- :: else fi;
           beats = (beats << 1) & recent;
           acks = (acks << 1) & recent;
           beat() }
    od
}

/* The launcher: it has the deadline, and outlives the agent. */
active proctype launcher() {
end: do
    :: atomic { jobover && (LAUNCHER || xup) -> job = STOPPING }
    :: atomic { job == STOPPING -> job = DEAD; if :: claim == ENDED -> xleft = 0 :: else fi }
    :: atomic { job == RUNS -> job = FINISHED }
    od
}

#define FROMLIFE(k) \
    /* The customer, restarted, asks with a new epoch. A repeat changes nothing, and is confirmed again. */ \
    :: atomic { xup && (asks & bit(k)) && claim == CLAIMED && inlease && named[k] >= xepoch && \
                (!(confirms & bit(k)) || named[k] > xepoch) -> \
           if :: named[k] > xepoch -> xepoch = named[k]; xlife = k; \
                 if :: !NORENEW -> xleft = L :: else fi \
              :: else \
           fi; \
           confirms = confirms | bit(k) } \
    :: atomic { xup && (releases & bit(k)) && claim == CLAIMED && inlease && (!FENCE || named[k] >= xepoch) -> \
           notpast(k); \
           endclaim(); \
           if :: !STOPPED -> released = 1 :: else fi }

#define ACKNOWLEDGED(a) \
    :: atomic { a < L && xup && claim == CLAIMED && inlease && (acks & bit(a)) && \
                (xleft + a < L || (!SENT && xleft < L)) -> \
           if :: SENT -> xleft = L - a :: else -> xleft = L fi }

active proctype provider() {
end: do
    :: atomic { xup && (pinover || leaseover) -> endclaim() }
    :: atomic { xup && claim == PINNED && L - xleft <= P / 2 ->
           claim = CLAIMED;
           if :: !FIRST -> xleft = L :: else fi;
           beat() }
    ACKNOWLEDGED(0)
    ACKNOWLEDGED(1)
    ACKNOWLEDGED(2)
    ACKNOWLEDGED(3)
    ACKNOWLEDGED(4)

    /* A `start`: record it, then launch. */
    :: atomic { xup && claim == CLAIMED && inlease && start && !xheard ->
           xheard = 1;
           assert(job == NONE);                                    /* 3, one */
           job = RECORDED }
    :: atomic { xup && claim == CLAIMED && inlease && job == RECORDED ->
           assert(atY == NONE);                                    /* 3, one */
           job = RUNS }

    FROMLIFE(1)
    FROMLIFE(2)
    FROMLIFE(3)
    :: atomic { xup && releases && claim == ENDED && (job == NONE || job == DEAD) && !released -> released = 1 }
    :: atomic { xup && asks && claim == ENDED && (job == NONE || job == DEAD || (live(job) && !KEEPCLAIM)) && !lost ->
           lost = 1 }

    /* The agent crashes. A `start` on record without launcher is lost. */
    :: atomic { xup ->
           xup = 0;
           if :: job == RECORDED -> endclaim()
              :: else -> if :: !RECLAUNCH -> xheard = 0 :: else fi
           fi }
    :: atomic { !xup ->
           xup = 1;
           if :: !KEEPLEASE && claim != ENDED -> xleft = L :: else fi;
           if :: !KEEPCLAIM && claim == CLAIMED -> claim = ENDED :: else fi;
           if :: xleft > 0 -> beat() :: else fi }

    /* The machine reboots: claim and job are gone, a result stays. */
    :: atomic { claim != ENDED || live(job) ->
           xup = 1; claim = ENDED; xleft = 0;
           if :: job == FINISHED || job == NONE -> skip :: else -> job = DEAD fi }
    od
}

#define BEAT(a) \
    :: atomic { a < L && cup && !done && place != AT_Y && (attached || !NOACK) && (beats & bit(a)) -> \
           acks = acks | bit(a); \
           if :: attached -> cleft = L + MARGIN :: else fi }

#define CONFIRMED(k) \
    :: atomic { cup && !done && place != AT_Y && !attached && (confirms & bit(k)) && named[k] == named[life] -> \
           mine(k); \
           attached = 1; cepoch = named[life] }

active proctype customer() {
end: do
    BEAT(0)
    BEAT(1)
    BEAT(2)
    BEAT(3)
    BEAT(4)
    CONFIRMED(2)
    CONFIRMED(3)

    /* The record, then the message. */
    :: atomic { cup && attached && place == NOWHERE && (RECSTART || start) -> place = AT_X }
    :: atomic { cup && attached && !start && !done && (place == AT_X || (!RECSTART && place == NOWHERE)) -> start = 1 }

    /* The user asks for it, or another member of the gang was lost. */
    :: atomic { cup && !done && place != AT_Y && !(releases & bit(life)) -> releases = releases | bit(life) }

    /* X is released, lost, or past lease and margin; or nothing is on record with X. */
    :: atomic { cup && !done && place != AT_Y && (released || lost || cleft == 0 || (place == NOWHERE && life > 1)) ->
           place = AT_Y; attached = 0; cleft = 0; atY = RUNS;
           assert(!live(job)) }                                    /* 3, one */
    :: atomic { atY == RUNS -> atY = FINISHED }

    /* A result. */
    :: atomic { cup && !done && job == FINISHED && (place == AT_X || !CURRENT) ->
           assert(atY == NONE);                                    /* 3, once */
           take() }
    :: atomic { cup && !done && atY == FINISHED -> take() }

    :: atomic { cup && life < LIVES ->
           cup = 0; attached = 0; cleft = 0;
           if :: !TAKEN -> done = 0 :: else fi }
    :: atomic { !cup ->
           cup = 1; life++;
           named[life] = cepoch + 1;
           if :: RECEPOCH -> cepoch++ :: else fi;
           if :: place != AT_Y && !done ->
                 asks = asks | bit(life);
                 if :: WAIT -> cleft = L + MARGIN :: else fi
              :: else
           fi }
    od
}
