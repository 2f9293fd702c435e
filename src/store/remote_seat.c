/* remote_seat.c: the seat of a namespace: taken, renewed by a thread with a connection of its own, given up.
 *
 * When a holder may act and when a seat may be taken is decided by pool/protocol/tenure.h. Before a seat is taken whose holder is past its lease, the
 * sessions that it left are ended: one that was stopped amid a transaction would keep the row locked. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "pool/protocol/tenure.h"
#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SPAN (200 * MILLISECOND) /* between two looks at a seat that is held */
#define AWAY_AFTER SECOND             /* that renewals fail before it is told */

/* What the database has acknowledged. None of it ever becomes less, unless it has lost some. */
struct heard {
    uint64_t epoch, renewals, commits;
};
#define HEARD \
    "epoch, renewals, coalesce((SELECT commits FROM berth_commits WHERE berth_commits.namespace = $1::text), 0)::bigint"

struct seat {
    struct place place;
    char holder[40]; /* of this taking alone */
    char who[160];   /* for people */
    struct link link;
    atomic_bool stop;
    pthread_t thread;
    bool begun;
    int news;
    pthread_mutex_t lock;
    /* under the lock: */
    struct tenure tenure;
    int64_t away; /* since when renewals fail; 0: they do not */
    int64_t renewed;
    struct heard heard;
    struct err why, lost;
    struct replicas replicas; /* of the thread, until it is copied under the lock: */
    struct store_replica seen[STORE_REPLICAS_MAX];
    uint32_t seen_count;
    char *reached; /* the URL that is to be told from now on; NULL: it has been taken */
};

static void rest(int64_t span)
{
    nanosleep(&(struct timespec){span / SECOND, span % SECOND * 1000}, NULL);
}

/* -------------------------------------------------------------------------------------------------------------- taking */

static const char see[] = "SELECT epoch, renewals, holder, who FROM berth_holders WHERE namespace = $1::text";
static const char make[] =
    "INSERT INTO berth_holders VALUES ($1::text, 0, 0, '', '', '-infinity') ON CONFLICT DO NOTHING";
static const char end_sessions[] =
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = current_user"
    " AND datname = current_database() AND application_name = current_setting('application_name')";
static const char take[] =
    "UPDATE berth_holders SET epoch = epoch + 1, renewals = renewals + 1, holder = $4::text, who = "
    "$5::text, until = clock_timestamp() + interval '3 seconds'"
    " WHERE namespace = $1::text AND epoch = $2::bigint AND renewals = $3::bigint RETURNING " HEARD;
static const char renew[] =
    "UPDATE berth_holders SET renewals = renewals + 1, until = clock_timestamp() + interval '3 seconds'"
    " WHERE namespace = $1::text AND holder = $2::text RETURNING " HEARD;
static const char leave[] = "UPDATE berth_holders SET renewals = renewals + 1, holder = '', until = clock_timestamp()"
                            " WHERE namespace = $1::text AND holder = $2::text";
static const char next_epoch[] =
    "UPDATE berth_holders SET epoch = epoch + 1 WHERE namespace = $1::text AND holder = $2::text RETURNING " HEARD;

static struct heard heard_of(const PGresult *result)
{
    return (struct heard){answer_number(result, 0, 0), answer_number(result, 0, 1), answer_number(result, 0, 2)};
}

static struct heard seat_heard(struct seat *seat)
{
    struct heard heard;

    pthread_mutex_lock(&seat->lock);
    heard = seat->heard;
    pthread_mutex_unlock(&seat->lock);
    return heard;
}

/* The seat as it is seen: who has it is a copy. */
struct seen_seat {
    struct vigil vigil;
    char who[160];
    bool empty;
    unsigned changes; /* how often it was another than before */
};

static int seat_see(struct seat *seat, struct seen_seat *seen, struct err *err)
{
    struct given name = given_text(seat->place.name);
    PGresult *result = link_ask(&seat->link, see, &name, 1, REMOTE_PATIENCE, err);
    struct vigil before = seen->vigil;

    if (result && !libpq()->ntuples(result)) {
        libpq()->clear(result);
        result = link_ask(&seat->link, make, &name, 1, REMOTE_PATIENCE, err);
        libpq()->clear(result);
        result = result ? link_ask(&seat->link, see, &name, 1, REMOTE_PATIENCE, err) : NULL;
    }
    if (!result)
        return -1;
    if (libpq()->ntuples(result)) {
        vigil_sees(&seen->vigil, answer_number(result, 0, 0), answer_number(result, 0, 1), clock_now());
        seen->empty = !*answer_text(result, 0, 2);
        snprintf(seen->who, sizeof seen->who, "%s", answer_text(result, 0, 3));
        seen->changes += before.seen && before.since != seen->vigil.since;
    }
    libpq()->clear(result);
    return 0;
}

/* 1: it is taken; 0: somebody else was faster, or has renewed it. */
static int seat_try(struct seat *seat, const struct seen_seat *seen, struct err *err)
{
    struct given given[] = {given_text(seat->place.name), given_number(seen->vigil.epoch),
                            given_number(seen->vigil.renewals), given_text(seat->holder), given_text(seat->who)};
    PGresult *result;
    int64_t asked;
    int taken;

    if (!seen->empty && link_run(&seat->link, end_sessions, err) < 0)
        return -1;
    asked = clock_now();
    result = link_ask(&seat->link, take, given, 5, REMOTE_PATIENCE, err);
    if (!result)
        return -1;
    taken = libpq()->ntuples(result);
    if (taken)
        seat->heard = heard_of(result);
    libpq()->clear(result);
    if (taken)
        tenure_take(&seat->tenure, asked, TENURE_SPAN);
    return taken;
}

/* Takes it as soon as that is allowed: 1; 0: it is too early; -1: the database does not answer. */
static int seat_step(struct seat *seat, struct seen_seat *seen, struct err *err)
{
    if (!seat->link.conn) {
        seen->vigil.seen = false; /* it may be another database, which has lost renewals: the same row says nothing */
        if (link_open(&seat->link, &seat->place, err) < 0 || remote_migrate(&seat->link, err) < 0)
            return -1;
    }
    if (seat_see(seat, seen, err) < 0)
        return -1;
    if (!seen->empty && !vigil_may_take(&seen->vigil, clock_now(), TENURE_SPAN))
        return 0;
    return seat_try(seat, seen, err);
}

static void tell_once(bool *told, store_tell_fn *tell, void *user, const char *label, const char *words)
{
    char line[1200];

    if (*told || !tell)
        return;
    *told = true;
    snprintf(line, sizeof line, "%s: %s", label, words);
    tell(user, line);
}

/* Without the label in front, which comes again. */
static const char *text_behind(const char *text, const char *label)
{
    size_t len = strlen(label);

    return !strncmp(text, label, len) && !strncmp(text + len, ": ", 2) ? text + len + 2 : text;
}

/* Tells whoever waits with us who is there. */
static int wait_meet(struct seat *seat, const struct store_wait *wait, struct err *err)
{
    int64_t told = seat->replicas.told;

    if (!wait)
        return 0;
    if (replicas_meet(&seat->replicas, &seat->link, seat->holder, seat->who, false, err) < 0)
        return -1;
    if (wait->seen && seat->replicas.told != told)
        wait->seen(wait->user, seat->replicas.items, seat->replicas.count);
    return 0;
}

static int seat_wait(struct seat *seat, bool patient, const struct store_terms *terms, struct err *err)
{
    const struct store_wait *wait = terms ? terms->wait : NULL;
    store_tell_fn *tell = terms ? terms->tell : NULL;
    void *user = terms ? terms->user : NULL;
    bool told_held = false, told_away = false;
    struct seen_seat seen = {.empty = false};
    char words[1100];
    int step;

    while ((step = seat_step(seat, &seen, err)) <= 0) {
        if (step < 0 && (!patient || !seat->link.away))
            return -1;
        if (step < 0) {
            snprintf(words, sizeof words, "%.900s; it is waited for", text_behind(err->text, seat->place.label));
            tell_once(&told_away, tell, user, seat->place.label, words);
        } else if (!patient && seen.changes) {
            return err_set(err, "%s: is in use by %s, which renews its lease of 3 s", seat->place.label, seen.who);
        } else if (patient) {
            snprintf(words, sizeof words, "is held by %s, until 3 s after that one is gone; it is waited for",
                     seen.who);
            tell_once(&told_held, tell, user, seat->place.label, words);
        }
        if (step == 0)
            wait_meet(seat, wait, err); /* a connection that is lost by that is made anew */
        rest(LOOK_SPAN);
        if (wait && wait->stops && wait->stops(wait->user))
            return err_set(err, "%s: it was waited for", seat->place.label);
    }
    return 0;
}

static void seat_name(struct seat *seat)
{
    unsigned char bytes[16] = {0};
    char host[100] = "";

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort();
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(seat->holder + 2 * i, 3, "%02x", bytes[i]);
    gethostname(host, sizeof host - 1);
    snprintf(seat->who, sizeof seat->who, "process %ld of %s", (long)getpid(), host);
}

struct seat *seat_take(const struct place *place, bool patient, const struct store_terms *terms, struct err *err)
{
    struct seat *seat = mem_alloc(sizeof *seat);

    *seat = (struct seat){.place = *place, .news = -1};
    seat->link = (struct link){.place = &seat->place, .stop = &seat->stop};
    pthread_mutex_init(&seat->lock, NULL);
    seat_name(seat);
    if (terms && terms->wait) {
        seat->replicas.url = mem_dup(terms->wait->url, strlen(terms->wait->url));
        seat->link.wait = terms->wait;
    }
    if (seat_wait(seat, patient, terms, err) == 0) {
        seat->link.wait = NULL;
        return seat;
    }
    seat->link.wait = NULL;
    seat_free(seat);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ renewing */

static void news_tell(const struct seat *seat)
{
    uint64_t one = 1;

    if (seat->news >= 0 && write(seat->news, &one, sizeof one) < 0)
        return; /* it is readable already */
}

/* Says what has come of a renewal. */
static void seat_told(struct seat *seat, enum tenure_answer answer, const struct err *why)
{
    enum tenure_state before, after;
    int64_t now;

    pthread_mutex_lock(&seat->lock);
    now = clock_now();
    before = tenure_state(&seat->tenure, now);
    after = tenure_answered(&seat->tenure, answer, now);
    if (answer == TENURE_GRANTED) {
        seat->away = 0;
        seat->renewed = now;
    } else if (!seat->away)
        seat->away = now;
    if (answer != TENURE_GRANTED)
        seat->why = *why;
    if (answer == TENURE_REFUSED)
        seat->lost = *why;
    pthread_mutex_unlock(&seat->lock);
    if (before != after)
        news_tell(seat);
}

/* What comes was asked when `before` was known. Is anything of that gone? Where it is not, more is known now. */
static bool seat_hears(struct seat *seat, const struct heard *before, const struct heard *now, struct err *ret_why)
{
    if (now->epoch < before->epoch || now->renewals < before->renewals || now->commits < before->commits)
        return err_set(ret_why,
                       "%s: " STORE_LOST_WORDS ", as one that fails over may: this process stops, and begins anew "
                       "from what is there",
                       seat->place.label) == 0;
    pthread_mutex_lock(&seat->lock);
    seat->heard.epoch = now->epoch > seat->heard.epoch ? now->epoch : seat->heard.epoch;
    seat->heard.renewals = now->renewals > seat->heard.renewals ? now->renewals : seat->heard.renewals;
    pthread_mutex_unlock(&seat->lock);
    return true;
}

/* Who waits for it? Asked behind a renewal that was granted, which has time left. */
static void seat_meets(struct seat *seat)
{
    struct err ignored;
    char *reached;

    pthread_mutex_lock(&seat->lock);
    reached = seat->reached;
    seat->reached = NULL;
    pthread_mutex_unlock(&seat->lock);
    if (reached && seat->replicas.url) {
        free((char *)(uintptr_t)seat->replicas.url);
        seat->replicas.url = reached;
        reached = NULL;
    }
    free(reached);
    if (replicas_meet(&seat->replicas, &seat->link, seat->holder, seat->who, true, &ignored) < 0)
        return;
    pthread_mutex_lock(&seat->lock);
    memcpy(seat->seen, seat->replicas.items, sizeof seat->seen);
    seat->seen_count = seat->replicas.count;
    pthread_mutex_unlock(&seat->lock);
}

void seat_reached(struct seat *seat, const char *url)
{
    pthread_mutex_lock(&seat->lock);
    free(seat->reached);
    seat->reached = mem_dup(url, strlen(url));
    pthread_mutex_unlock(&seat->lock);
}

uint32_t seat_replicas(struct seat *seat, struct store_replica ret[STORE_REPLICAS_MAX])
{
    uint32_t count;

    pthread_mutex_lock(&seat->lock);
    count = seat->seen_count;
    memcpy(ret, seat->seen, sizeof seat->seen);
    pthread_mutex_unlock(&seat->lock);
    return count;
}

static void seat_renew(struct seat *seat)
{
    struct given given[] = {given_text(seat->place.name), given_text(seat->holder)};
    struct seen_seat seen = {.empty = true};
    struct heard before = seat_heard(seat), now;
    struct err why = {0}, ignored;
    PGresult *result = NULL;
    bool ours;
    bool there = seat->link.conn || link_open(&seat->link, &seat->place, &why) == 0;

    pthread_mutex_lock(&seat->lock);
    tenure_asked(&seat->tenure, clock_now());
    pthread_mutex_unlock(&seat->lock);
    if (there)
        result = link_ask(&seat->link, renew, given, 2, TENURE_SPAN / 3, &why);
    if (!result) {
        seat_told(seat, TENURE_SILENCE, &why);
        return;
    }
    ours = libpq()->ntuples(result);
    if (ours) {
        now = heard_of(result);
        before.renewals++; /* by this renewal */
        ours = seat_hears(seat, &before, &now, &why);
    } else {
        seat_see(seat, &seen, &ignored);
        err_set(&why, "%s: was taken by %s: this process stops", seat->place.label, seen.empty ? "another" : seen.who);
    }
    seat_told(seat, ours ? TENURE_GRANTED : TENURE_REFUSED, &why);
    libpq()->clear(result);
    if (ours)
        seat_meets(seat);
}

static void *seat_thread(void *given)
{
    struct seat *seat = given;
    enum tenure_due due;
    int64_t now, next;

    while (!atomic_load(&seat->stop)) {
        pthread_mutex_lock(&seat->lock);
        now = clock_now();
        due = tenure_due(&seat->tenure, now);
        next = tenure_next(&seat->tenure, now);
        pthread_mutex_unlock(&seat->lock);
        if (due == TENURE_ASK)
            seat_renew(seat);
        now = clock_now();
        if (next > now)
            rest(next - now < 50 * MILLISECOND ? next - now : 50 * MILLISECOND);
    }
    return NULL;
}

int seat_begin(struct seat *seat, int news, struct err *err)
{
    seat->news = news;
    seat->begun = thread_start(&seat->thread, seat_thread, seat);
    return seat->begun ? 0 : err_set(err, "%s: no thread could be started", seat->place.label);
}

void seat_free(struct seat *seat)
{
    struct err ignored;

    if (!seat)
        return;
    atomic_store(&seat->stop, true);
    if (seat->begun)
        pthread_join(seat->thread, NULL);
    atomic_store(&seat->stop, false);
    replicas_leave(&seat->replicas, &seat->link, seat->holder);
    if (seat->link.conn && seat->tenure.span) {
        struct given given[] = {given_text(seat->place.name), given_text(seat->holder)};
        PGresult *result = link_ask(&seat->link, leave, given, 2, SECOND, &ignored);

        libpq()->clear(result);
    }
    link_close(&seat->link);
    free((char *)(uintptr_t)seat->replicas.url);
    free(seat->reached);
    pthread_mutex_destroy(&seat->lock);
    free(seat);
}

/* ---------------------------------------------------------------------------------------------------------------- asked */

bool seat_holds(struct seat *seat)
{
    bool holds;

    pthread_mutex_lock(&seat->lock);
    holds = tenure_state(&seat->tenure, clock_now()) == TENURE_HOLDS;
    pthread_mutex_unlock(&seat->lock);
    return holds;
}

bool seat_lost(struct seat *seat, struct err *ret_why)
{
    bool lost;

    pthread_mutex_lock(&seat->lock);
    lost = seat->tenure.lost;
    if (lost && ret_why)
        *ret_why = seat->lost;
    pthread_mutex_unlock(&seat->lock);
    return lost;
}

int64_t seat_away(struct seat *seat, char *ret_why, size_t room)
{
    int64_t now = clock_now(), since;

    pthread_mutex_lock(&seat->lock);
    since = seat->away && (now - seat->away > AWAY_AFTER || tenure_state(&seat->tenure, now) != TENURE_HOLDS)
                ? seat->away
                : 0;
    if (since)
        snprintf(ret_why, room, "%s", seat->why.text);
    pthread_mutex_unlock(&seat->lock);
    return since;
}

static void seat_lose(struct seat *seat, const struct err *why)
{
    pthread_mutex_lock(&seat->lock);
    if (!seat->tenure.lost)
        seat->lost = *why;
    seat->tenure.lost = true;
    pthread_mutex_unlock(&seat->lock);
    news_tell(seat);
}

void seat_is_lost(struct seat *seat)
{
    struct err why;

    err_set(&why, "%s: was taken by another: this process stops", seat->place.label);
    seat_lose(seat, &why);
}

int64_t seat_renewed(struct seat *seat)
{
    int64_t renewed;

    pthread_mutex_lock(&seat->lock);
    renewed = seat->renewed;
    pthread_mutex_unlock(&seat->lock);
    return renewed;
}

uint64_t seat_commits(struct seat *seat)
{
    return seat_heard(seat).commits;
}

void seat_committed(struct seat *seat, uint64_t commits)
{
    pthread_mutex_lock(&seat->lock);
    seat->heard.commits = commits;
    pthread_mutex_unlock(&seat->lock);
}

int seat_epoch(struct seat *seat, struct link *link, uint64_t *ret_epoch, struct err *err)
{
    struct given given[] = {given_text(seat->place.name), given_text(seat->holder)};
    struct heard before = seat_heard(seat), now;
    PGresult *result = link_ask(link, next_epoch, given, 2, REMOTE_PATIENCE, err);

    if (!result)
        return -1;
    if (libpq()->ntuples(result)) {
        now = heard_of(result);
        *ret_epoch = now.epoch;
        before.epoch++; /* by this */
        link->fenced = !seat_hears(seat, &before, &now, err);
    } else {
        err_set(err, "%s: was taken by another: this process stops", seat->place.label);
        link->fenced = true;
    }
    libpq()->clear(result);
    if (!link->fenced)
        return 0;
    link->away = false;
    seat_lose(seat, err);
    return -1;
}

const char *seat_holder(const struct seat *seat)
{
    return seat->holder;
}
