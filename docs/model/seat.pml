/* seat.pml: two processes that share a seat: a lease in a database, the fence of its transactions, and takeover.
 *
 * The rows of a daemon lie in a database. Process 0 or process 1 holds the seat: it knows the rows, acts, and writes. The row of the seat has an
 * epoch; a process that stands by looks at it, and takes it when it has not changed for a lease.
 *
 * Network. Whatever is asked comes to the database at any later time or never, and so do the answers. A transaction may be cut off: then nobody knows
 * whether it will be there, or is.
 * Time. One clock; a process may sleep at any place, and hears and says things as late as it likes. The lease L is 2 ticks.
 * Faults. Each process crashes and restarts at any time. The database may fail over FAILS times, and then loses its newest commits: all that its
 * standby did not have. What is acknowledged and lost in this way counts as not acknowledged; all else must hold.
 *
 * Rules: each is a switch. 1 is the rule as the protocol has it, 0 takes it away.
 *   SENT       the holder counts its lease from when it sent the renewal.            0: from when the answer came
 *   STOPS      a holder past its lease does not act.                                 0: it acts until it is told
 *   WHOLE      a standby waits for a whole lease.                                    0: for less
 *   SAW        it counts from when it saw the row.                                   0: from when it asked for it
 *   COMPARE    it takes the seat only if the row is still what it saw.               0: whatever the row is
 *   FENCE      a transaction checks that its holder has the seat.                    0: it does not
 *   HELD       from that check to the commit nobody can take the seat.               0: the check comes first, the commit at any later time
 *   LOADED     rows are read when the seat is taken.                                 0: before it
 *   ANEW       a holder that does not know what became of a transaction begins anew. 0: it goes on as if nothing had been written
 *   DURABLE    what is acknowledged is committed.                                    0: it is acknowledged as it is sent
 *   HISTORY    after a loss of commits no holder goes on; standbys wait anew.        0: the row is trusted as it came back
 */
#ifndef SENT
#define SENT 1
#endif
#ifndef STOPS
#define STOPS 1
#endif
#ifndef WHOLE
#define WHOLE 1
#endif
#ifndef SAW
#define SAW 1
#endif
#ifndef COMPARE
#define COMPARE 1
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef HELD
#define HELD 1
#endif
#ifndef LOADED
#define LOADED 1
#endif
#ifndef ANEW
#define ANEW 1
#endif
#ifndef DURABLE
#define DURABLE 1
#endif
#ifndef HISTORY
#define HISTORY 1
#endif
/* Bounds. */
#ifndef L
#define L 2        /* ticks of a lease */
#endif
#ifndef TAKES
#define TAKES 2    /* how often the seat is taken */
#endif
#ifndef WRITES
#define WRITES 2   /* the rows count what was written into them */
#endif
#ifndef FAILS
#define FAILS 1    /* how often the database fails over */
#endif
#ifndef REACH
#define REACH 0    /* 1: not a rule: asserts that no second holder goes on after a fail-over, to see that one can */
#endif

mtype = { IDLE, ASKED, GRANTED, REFUSED };

/* The database: the row of the seat, the rows, and how often commits were lost. Its standby has some older state. */
byte epoch, rows, history;
byte hepoch, hrows;       /* of the database's standby */
byte taken, fails;        /* counted for the bounds */

/* The outside: how much it was told that it is written. */
byte acknowledged;

/* The processes. */
bool holds[2];            /* it has taken the seat, and was not told that it is lost */
byte left[2];             /* ticks for which it may act */
byte mine[2], since[2];   /* epoch and history under which it has taken the seat */
byte knows[2];            /* the rows as it knows them */
mtype renewal[2] = IDLE;
byte age[2];              /* ticks since it has sent its renewal, its look or its taking; L: as many, or more */

/* A standby. */
bool based[2];            /* it has seen the row ... */
bool same[2];             /* ... and the row has not changed since */
byte left_to_wait[2];
mtype look[2] = IDLE, taking[2] = IDLE;
bool looksame[2], lookfresh[2]; /* the row as the database read it: as it was before; and not changed since */

/* Transactions: the one that its process waits for, and one that was cut off. */
mtype write[2] = IDLE;
bool checked[2];
byte value[2];
bool stray[2], straychecked[2];
byte strayvalue[2], strayepoch[2], strayhistory[2];

#define other(p)     (1 - (p))
#define mayact(p)    (holds[p] && (left[p] > 0 || !STOPS))
#define has(e, h)    (epoch == (e) && (history == (h) || !HISTORY))
#define changed()    same[0] = 0; same[1] = 0; lookfresh[0] = 0; lookfresh[1] = 0

inline acts(p)       { assert(!(mayact(p) && mayact(other(p)))) }       /* 12, one acts */
inline kept(p)       { assert(knows[p] >= acknowledged) }               /* 12, kept */
inline onto(v)       { assert(rows == (v) - 1) }                        /* 12, one writes */
inline ends()        { assert(!(REACH && rows == WRITES && epoch > 1 && acknowledged == WRITES && fails == FAILS)) } /* reached */

/* It knows nothing any more, and stands by. What was on its way stays on its way. */
inline forget(p) {
    holds[p] = 0; left[p] = 0; mine[p] = 0; since[p] = 0; knows[p] = 0; renewal[p] = IDLE; age[p] = 0;
    based[p] = 0; same[p] = 0; left_to_wait[p] = 0; look[p] = IDLE; taking[p] = IDLE; looksame[p] = 0; lookfresh[p] = 0;
    checked[p] = 0; value[p] = 0; write[p] = IDLE
}

/* Its transaction is cut off: it may come to the database later. */
inline cut(p) {
    if :: write[p] == ASKED && !stray[p] ->
          stray[p] = 1; straychecked[p] = checked[p]; strayvalue[p] = value[p];
          strayepoch[p] = mine[p]; strayhistory[p] = since[p]
       :: else
    fi;
    write[p] = IDLE; value[p] = 0; checked[p] = 0
}

active proctype clock() {
end: do
    :: atomic { true ->
           if :: left[0] > 0 -> left[0]-- :: else fi;
           if :: left[1] > 0 -> left[1]-- :: else fi;
           if :: left_to_wait[0] > 0 -> left_to_wait[0]-- :: else fi;
           if :: left_to_wait[1] > 0 -> left_to_wait[1]-- :: else fi;
           if :: (renewal[0] != IDLE || look[0] != IDLE || taking[0] != IDLE) && age[0] < L -> age[0]++ :: else fi;
           if :: (renewal[1] != IDLE || look[1] != IDLE || taking[1] != IDLE) && age[1] < L -> age[1]++ :: else fi }
    od
}

/* What the database does with the errands of a process. */
#define SERVES(p) \
    :: atomic { renewal[p] == ASKED -> \
           if :: has(mine[p], since[p]) -> renewal[p] = GRANTED; changed() \
              :: else -> renewal[p] = REFUSED \
           fi } \
    :: atomic { look[p] == ASKED -> look[p] = GRANTED; looksame[p] = based[p] && same[p]; lookfresh[p] = 1 } \
    :: atomic { taking[p] == ASKED && taken < TAKES -> \
           if :: same[p] || !COMPARE -> \
                 epoch++; taken++; taking[p] = GRANTED; changed(); \
                 mine[p] = epoch; since[p] = history \
              :: else -> taking[p] = REFUSED \
           fi } \
    :: atomic { write[p] == ASKED && !HELD && !checked[p] -> \
           if :: has(mine[p], since[p]) || !FENCE -> checked[p] = 1 \
              :: else -> write[p] = REFUSED \
           fi } \
    :: atomic { write[p] == ASKED && (HELD || checked[p]) -> \
           if :: checked[p] || has(mine[p], since[p]) || !FENCE -> \
                 onto(value[p]); rows = value[p]; write[p] = GRANTED; ends() \
              :: else -> write[p] = REFUSED \
           fi; \
           checked[p] = 0 } \
    :: atomic { stray[p] -> \
           if :: straychecked[p] || has(strayepoch[p], strayhistory[p]) || !FENCE -> \
                 onto(strayvalue[p]); rows = strayvalue[p] \
              :: else \
           fi; \
           stray[p] = 0; straychecked[p] = 0; strayvalue[p] = 0; strayepoch[p] = 0; strayhistory[p] = 0 }

active proctype database() {
end: do
    SERVES(0)
    SERVES(1)
    :: atomic { hepoch != epoch || hrows != rows -> hepoch = epoch; hrows = rows }
    /* Its standby takes over, with what it has. What is under way may still come. */
    :: atomic { fails < FAILS ->
           fails++;
           epoch = hepoch; rows = hrows; history++;
           if :: acknowledged > rows -> acknowledged = rows :: else fi;
           changed() }
    od
}

#define PROCESS(p) \
    :: atomic { mayact(p) -> acts(p) } \
    /* The holder: its renewals. */ \
    :: atomic { holds[p] && renewal[p] == IDLE -> renewal[p] = ASKED; age[p] = 0 } \
    :: atomic { holds[p] && renewal[p] == GRANTED -> \
           if :: !SENT -> left[p] = L \
              :: SENT && L - age[p] > left[p] -> left[p] = L - age[p] \
              :: else \
           fi; \
           renewal[p] = IDLE; age[p] = 0; \
           if :: mayact(p) -> acts(p) :: else fi } \
    :: atomic { holds[p] && renewal[p] == REFUSED -> cut(p); forget(p) } \
    /* The holder: its writes. It acknowledges them while it may act. */ \
    :: atomic { mayact(p) && write[p] == IDLE && knows[p] < WRITES -> \
           write[p] = ASKED; value[p] = knows[p] + 1; \
           if :: !DURABLE -> acknowledged = value[p] :: else fi } \
    :: atomic { mayact(p) && write[p] == GRANTED -> \
           knows[p] = value[p]; value[p] = 0; write[p] = IDLE; \
           if :: knows[p] > acknowledged && rows >= knows[p] -> acknowledged = knows[p] :: else fi; \
           ends() } \
    :: atomic { holds[p] && write[p] == REFUSED -> forget(p) } \
    :: atomic { holds[p] && (write[p] == ASKED || write[p] == GRANTED) && !stray[p] -> \
           cut(p); \
           if :: ANEW -> forget(p) :: else fi } \
    /* A standby: it looks, waits, and takes. */ \
    :: atomic { !holds[p] && look[p] == IDLE && taking[p] == IDLE -> look[p] = ASKED; age[p] = 0 } \
    :: atomic { !holds[p] && look[p] == GRANTED -> \
           if :: !looksame[p] -> \
                 based[p] = 1; same[p] = lookfresh[p]; \
                 if :: !WHOLE -> left_to_wait[p] = L - 1 \
                    :: WHOLE && SAW -> left_to_wait[p] = L \
                    :: else -> left_to_wait[p] = L - age[p] \
                 fi \
              :: else \
           fi; \
           look[p] = IDLE; looksame[p] = 0; lookfresh[p] = 0; age[p] = 0 } \
    :: atomic { !holds[p] && based[p] && left_to_wait[p] == 0 && look[p] == IDLE && taking[p] == IDLE && taken < TAKES -> \
           taking[p] = ASKED; age[p] = 0; \
           if :: !LOADED -> knows[p] = rows :: else fi } \
    :: atomic { taking[p] == GRANTED -> \
           holds[p] = 1; left[p] = L - age[p]; taking[p] = IDLE; age[p] = 0; \
           based[p] = 0; same[p] = 0; \
           if :: LOADED -> knows[p] = rows :: else fi; \
           kept(p); \
           if :: mayact(p) -> acts(p) :: else fi } \
    :: atomic { taking[p] == REFUSED -> forget(p) } \
    /* It crashes, and restarts. */ \
    :: atomic { holds[p] || based[p] -> cut(p); forget(p) }

active proctype zero() {
end: do
    PROCESS(0)
    od
}

active proctype one() {
end: do
    PROCESS(1)
    od
}
