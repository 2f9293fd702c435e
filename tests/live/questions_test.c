/* questions_test.c: what providers ask about files, and what they send: spool, pieces, tries, files of jobs, with a real store and disk. */
#define _GNU_SOURCE /* nftw */
#include "common/tap.h"
#include "process.h"

#include "lang/ad/names.h"
#include "live/auth/secret_box.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/joblog.h"
#include "live/customerd/questions.h"
#include "live/customerd/secret_sets.h"
#include "live/data/samples_ad.h"
#include "live/data/stored.h"
#include "live/http/represent.h"
#include "live/providerd/job_order.h"
#include "pool/claim/duty.h"
#include "store/store.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"
#include "sys/secrets.h"

#include <sodium.h>
#include <sys/resource.h>

#define PATH_ROOM (LIVE_PATH_MAX + 64)
#define PROVIDER 77
#define NOW ((int64_t)time(NULL))

struct customerd_bench {
    char folder[LIVE_PATH_MAX], iwd[PATH_ROOM], outside[PATH_ROOM];
    struct symbols *symbols;
    struct shelf *shelf;
    struct questions questions;
    struct job_view view, next; /* the job; and the one that its claim is to have next: 0 for none */
    struct tree *ad;
    int news[NEWS_REFUSED + 1];
    char trouble[512], refused[512];
    struct buf answer;
};

static bool bench_job(void *user, uint64_t id, struct job_view *ret)
{
    const struct customerd_bench *bench = user;

    *ret = bench->next.id && id == bench->next.id ? bench->next : bench->view;
    return id == ret->id;
}

static uint64_t bench_ahead(void *user, uint64_t claim, bool promise)
{
    const struct customerd_bench *bench = user;

    (void)promise;
    return claim == 1 ? bench->next.id : 0;
}

static void bench_news(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                       const char *words)
{
    struct customerd_bench *bench = user;

    (void)view;
    (void)one;
    bench->news[news]++;
    if (news == NEWS_TROUBLE)
        snprintf(bench->trouble, sizeof bench->trouble, "%s", words);
    if (news == NEWS_REFUSED)
        snprintf(bench->refused, sizeof bench->refused, "%s", words);
}

static struct tree *ad_of(struct customerd_bench *bench, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(bench->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return ad;
}

static void bench_open(struct customerd_bench *bench)
{
    char path[PATH_ROOM];
    struct err err = {0};

    snprintf(path, sizeof path, "%s/berth.db", bench->folder);
    bench->shelf = store_open(path, &err);
    bench->questions = (struct questions){.symbols = bench->symbols,
                                          .shelf = bench->shelf,
                                          .job = bench_job,
                                          .ahead = bench_ahead,
                                          .news = bench_news,
                                          .user = bench};
    bench->questions.tries = bench->shelf ? attempts_new(bench->symbols, bench->shelf, &err) : NULL;
    snprintf(path, sizeof path, "%s/spool", bench->folder);
    bench->questions.spool = spool_new(path, 1 << 20, &err);
    snprintf(path, sizeof path, "%s/jobs", bench->folder);
    bench->questions.files = jobfiles_new(path, bench->symbols, &err);
    if (!bench->questions.tries || !bench->questions.spool || !bench->questions.files) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static void bench_close(struct customerd_bench *bench)
{
    questions_done(&bench->questions);
    attempts_free(bench->questions.tries);
    spool_free(bench->questions.spool);
    jobfiles_free(bench->questions.files);
    bench->shelf->kind->close(bench->shelf);
}

/* The job is given to that claim. */
static void bench_claim(struct customerd_bench *bench, uint64_t claim, uint64_t number, agent member)
{
    struct err err;
    bool made;

    bench->view.claim = claim;
    bench->view.number = number;
    bench->view.member = member;
    bench->view.state = JOB_RUNNING;
    attempts_begin(bench->questions.tries, bench->view.id, claim, number, member, NOW, &made);
    attempts_store(bench->questions.tries, bench->view.id, &err);
}

static void bench_start(struct customerd_bench *bench, const char *ad)
{
    memset(bench, 0, sizeof *bench);
    live_folder(bench->folder);
    snprintf(bench->iwd, sizeof bench->iwd, "%s/iwd", bench->folder);
    snprintf(bench->outside, sizeof bench->outside, "%s/outside", bench->folder);
    mkdir(bench->iwd, 0700);
    mkdir(bench->outside, 0700);
    bench->symbols = names_new(1);
    buf_init(&bench->answer);
    bench->ad = ad_of(bench, ad);
    bench->view = (struct job_view){.id = 5, .rooted = true, .root = ROOT_RUNNING, .owner = "alice", .ad = bench->ad};
    bench_open(bench);
    bench_claim(bench, 1, 1, PROVIDER);
}

static void bench_end(struct customerd_bench *bench)
{
    bench_close(bench);
    tree_unref(bench->ad);
    symbols_free(bench->symbols);
    buf_done(&bench->answer);
    live_remove(bench->folder);
}

/* The answer as text; "refused" when there is none. */
static const char *ask_as(struct customerd_bench *bench, agent who, uint64_t claim, uint64_t number, const char *rest)
{
    struct peer peer = {.agent = who, .identity = "bob"};
    struct agent_turn turn = {.durable = false};
    struct tree *question, *answer;
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "[Claim=\"%016llx\"; Number=\"%016llx\"; Job=5; %s]", (unsigned long long)claim,
             (unsigned long long)number, rest);
    question = ad_of(bench, buf_string(&text));
    buf_done(&text);
    answer = question_answer(&bench->questions, &peer, question, &turn);
    if (turn.waits) { /* as the agent does it: the rows are durable, and it is told again */
        struct err err;

        tree_unref(answer);
        bench->shelf->kind->commit(bench->shelf, &err);
        turn = (struct agent_turn){.durable = true, .mark = turn.mark};
        answer = question_answer(&bench->questions, &peer, question, &turn);
    }
    buf_reset(&bench->answer);
    if (answer)
        represent_ad(&bench->answer, FORM_CLASSAD, answer);
    else
        buf_adds(&bench->answer, "refused");
    tree_unref(answer);
    tree_unref(question);
    return buf_string(&bench->answer);
}

static const char *ask(struct customerd_bench *bench, const char *rest)
{
    return ask_as(bench, PROVIDER, 1, 1, rest);
}

static void hash_of(const char *bytes, size_t len, char ret[HASH_DIGITS + 1])
{
    unsigned char hash[HASH_DIGITS / 2];

    crypto_generichash(hash, sizeof hash, (const unsigned char *)bytes, len, NULL, 0);
    hex_print(hash, sizeof hash, ret);
}

/* A piece of a file, from its bytes: those at offset..offset+len. */
static const char *store_mode(struct customerd_bench *bench, uint64_t claim, uint64_t number, const char *kind,
                              const char *name, const char *whole, size_t offset, size_t len, bool grows, int mode)
{
    char hash[HASH_DIGITS + 1];
    struct buf text;
    const char *answer;

    hash_of(whole, strlen(whole), hash);
    buf_init(&text);
    buf_addf(&text, "Ask=\"store\"; Kind=\"%s\"; Name=\"%s\"; Offset=%zu; Size=%d; Mode=%d; ", kind, name, offset,
             grows ? -1 : (int)strlen(whole), mode);
    if (!grows)
        buf_addf(&text, "Hash=\"%s\"; ", hash);
    buf_adds(&text, "Bytes=\"");
    base64url_print(&text, whole + offset, len);
    buf_adds(&text, "\"");
    answer = ask_as(bench, PROVIDER, claim, number, buf_string(&text));
    buf_done(&text);
    return answer;
}

static const char *store(struct customerd_bench *bench, uint64_t claim, uint64_t number, const char *kind,
                         const char *name, const char *whole, size_t offset, size_t len, bool grows)
{
    return store_mode(bench, claim, number, kind, name, whole, offset, len, grows, 0644);
}

static const char *store_all(struct customerd_bench *bench, const char *kind, const char *name, const char *whole)
{
    return store(bench, 1, 1, kind, name, whole, 0, strlen(whole), false);
}

static bool file_is(const struct customerd_bench *bench, const char *name, const char *text)
{
    char path[2 * PATH_ROOM];
    struct buf have;
    bool same;

    snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    buf_init(&have);
    live_read_file(path, &have);
    same = have.len == strlen(text) && !memcmp(buf_string(&have), text, have.len) && access(path, F_OK) == 0;
    buf_done(&have);
    return same;
}

static bool says(const char *answer, const char *words)
{
    bool found = strstr(answer, words);

    if (!found)
        tap_diag("%s", answer);
    return found;
}

/* -------------------------------------------------------------------------------------------------------------- cases */

static void check_names(void)
{
    static const struct {
        const char *name;
        size_t len;
        bool good;
    } rows[] = {
        {"a", 1, true},   {"a/b.c", 5, true}, {"..a", 3, true},   {"a..", 3, true},    {".x", 2, true},
        {"", 0, false},   {"/a", 2, false},   {"a/", 2, false},   {"a//b", 4, false},  {".", 1, false},
        {"..", 2, false}, {"a/..", 4, false}, {"../x", 4, false}, {"a/./b", 5, false}, {"a\0b", 3, false},
    };
    bool good = true;
    char longest[CONFINED_NAME_MAX + 2];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (confined_name_is_good(rows[i].name, rows[i].len) != rows[i].good) {
            tap_diag("%s", rows[i].name);
            good = false;
        }
    tap_ok(good, "names that lead out of a folder, or nowhere, are told from good ones");
    for (size_t i = 0; i <= CONFINED_NAME_MAX; i++)
        longest[i] = i % 100 == 99 ? '/' : 'x';
    tap_ok(confined_name_is_good(longest, CONFINED_NAME_MAX) && !confined_name_is_good(longest, CONFINED_NAME_MAX + 1),
           "a name has at most %d bytes", CONFINED_NAME_MAX);
}

/* A whole sweep at once; returns how many files it has removed. */
static uint32_t spool_sweep(struct spool *spool, int64_t now, spool_named_fn *named, void *user)
{
    struct spool_sweep *sweep = spool_sweep_new(spool);
    uint32_t gone;

    while (spool_sweep_step(sweep, now, UINT32_MAX, named, user))
        ;
    gone = spool_sweep_gone(sweep);
    spool_sweep_free(sweep);
    return gone;
}

static void check_spool(void)
{
    struct customerd_bench bench;
    char hash[HASH_DIGITS + 1], question[512];
    struct piece piece = {.offset = 0, .bytes = "hello, ", .len = 7, .size = 12};
    struct err err = {0};
    uint64_t have;
    bool whole;

    hash_of("hello, world", 12, hash);
    snprintf(question, sizeof question, "[Cmd=\"x\"; Inputs={[Name=\"in/data\"; Hash=\"%s\"; Size=12; Mode=493]}]",
             hash);
    bench_start(&bench, question);
    tap_ok(spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err) == PIECE_MORE && have == 7,
           "a file comes into the spool piece by piece");
    piece = (struct piece){.offset = 9, .bytes = "rld", .len = 3, .size = 12};
    tap_ok(spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err) == PIECE_MORE && have == 7,
           "a piece behind a gap is not taken, and it is told where to go on");
    spool_free(bench.questions.spool);
    {
        char path[PATH_ROOM];

        snprintf(path, sizeof path, "%s/spool", bench.folder);
        bench.questions.spool = spool_new(path, 1 << 20, &err);
    }
    piece = (struct piece){.offset = 5, .bytes = ", world", .len = 7, .size = 12};
    tap_ok(spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err) == PIECE_WHOLE && have == 12 &&
               spool_have(bench.questions.spool, "alice", hash, &whole) == 12 && whole,
           "after a restart the rest comes, over what is there, and the hash is right");
    hash[0] ^= 1;
    piece = (struct piece){.offset = 0, .bytes = "hello, world", .len = 12, .size = 12};
    tap_ok(spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err) == PIECE_HASH && have == 0 &&
               !spool_have(bench.questions.spool, "alice", hash, &whole),
           "a file of another hash is not kept");
    piece.size = 2 << 20;
    piece.hash = NULL;
    tap_ok(spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err) == PIECE_DISK &&
               strstr(err.text, "SpoolMax"),
           "more than the spool holds is refused with the limit's name");
    hash[0] ^= 1;
    tap_ok(says(ask(&bench, "Ask=\"manifest\""), "Reason = \"ok\"") &&
               says(buf_string(&bench.answer), "Name = \"in/data\"") && says(buf_string(&bench.answer), "Mode = 493"),
           "the manifest names what the job reads");
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=7; Length=100", hash);
    tap_ok(says(ask(&bench, question), "Size = 12") && says(buf_string(&bench.answer), "Bytes = \"d29ybGQ\""),
           "its bytes are given from any place");
    hash[0] ^= 1;
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=0; Length=100", hash);
    tap_ok(says(ask(&bench, question), "unknown"), "what the manifest does not name is not given");
    tap_ok(!strcmp(ask_as(&bench, PROVIDER + 1, 1, 1, "Ask=\"manifest\""), "refused"),
           "another agent than the one that has the claim is refused");
    tap_ok(says(ask_as(&bench, PROVIDER, 9, 1, "Ask=\"manifest\""), "stale"), "a claim that never was is stale");
    bench_end(&bench);
}

static bool named_none(void *user, const char *hash)
{
    return user && !strcmp(user, hash);
}

/* Of what others have sent nobody learns by its hash, and everybody has a share. */
static void check_spool_shares(void)
{
    char hash[HASH_DIGITS + 1], other[HASH_DIGITS + 1], path[PATH_ROOM], big[1000];
    struct piece piece = {.bytes = "secret", .len = 6, .size = 6};
    struct customerd_bench bench;
    struct spool *spool;
    struct err err = {0};
    uint64_t have;
    bool whole, whole_too;

    bench_start(&bench, "[Cmd=\"x\"]");
    snprintf(path, sizeof path, "%s/shares", bench.folder);
    spool = spool_new(path, 4000, &err);
    spool_set_own(spool, "owner");
    hash_of("secret", 6, hash);
    tap_ok(spool_put(spool, "alice/laptop", hash, &piece, &have, &err) == PIECE_WHOLE &&
               spool_have(spool, "alice", hash, &whole) == 6 && whole,
           "what an account has sent it has, by whichever of its names");
    tap_ok(!spool_have(spool, "mallory", hash, &whole) && !whole, "another does not learn that it is there");
    piece = (struct piece){.bytes = "s", .len = 1, .size = 6};
    tap_ok(spool_put(spool, "mallory", hash, &piece, &have, &err) == PIECE_MORE && have == 1 &&
               !(spool_have(spool, "mallory", hash, &whole), whole),
           "nor has it the file for a byte of it");
    piece = (struct piece){.bytes = "guess!", .len = 6, .size = 6};
    tap_ok(spool_put(spool, "mallory", hash, &piece, &have, &err) == PIECE_HASH &&
               spool_have(spool, "alice", hash, &whole) == 6 && whole,
           "nor for others, which harm nobody");
    piece = (struct piece){.bytes = "secret", .len = 6, .size = 6};
    tap_ok(spool_put(spool, "bob", hash, &piece, &have, &err) == PIECE_WHOLE &&
               spool_have(spool, "bob", hash, &whole) == 6 && whole && spool_bytes(spool) == 6,
           "who sends it has it too, and it is kept once");
    memset(big, 'x', sizeof big);
    hash_of("none", 4, other);
    piece = (struct piece){.bytes = big, .len = 900, .size = 995};
    tap_ok(spool_put(spool, "bob/a", other, &piece, &have, &err) == PIECE_FULL &&
               strstr(err.text, "at most 1000 bytes of inputs are kept for a user") &&
               spool_put(spool, "bob", other, &(struct piece){.bytes = big, .len = 900, .size = 994}, &have, &err) ==
                   PIECE_MORE &&
               spool_put(spool, "owner", other, &(struct piece){.bytes = big, .len = 900, .size = 1500}, &have, &err) ==
                   PIECE_MORE,
           "an account has a share of the room, but for the one whose spool it is");
    spool_free(spool);
    spool = spool_new(path, 4000, &err);
    spool_set_own(spool, "owner");
    piece.size = 995;
    spool_have(spool, "alice", hash, &whole);
    spool_have(spool, "mallory", hash, &whole_too);
    tap_ok(whole && !whole_too && spool_bytes(spool) == 1806 &&
               spool_put(spool, "bob/b", other, &piece, &have, &err) == PIECE_FULL,
           "all that outlives a restart");
    spool_sweep(spool, NOW + SPOOL_KEPT + 10, named_none, NULL);
    tap_ok(!spool_bytes(spool) && !(spool_have(spool, "alice", hash, &whole), whole) &&
               spool_put(spool, "bob", other, &piece, &have, &err) == PIECE_MORE,
           "and ends when the files go");
    spool_free(spool);
    bench_end(&bench);
}

/* A file of that many bytes, of that account alone. */
static enum piece_result spool_fill(struct spool *spool, const char *who, size_t len, struct err *err)
{
    char hash[HASH_DIGITS + 1], bytes[1600];
    uint64_t have;

    memset(bytes, who[0], sizeof bytes);
    hash_of(bytes, len, hash);
    return spool_put(spool, who, hash, &(struct piece){.bytes = bytes, .len = len, .size = (int64_t)len}, &have, err);
}

/* A few who take all that they may leave room for those who need little. */
static void check_spool_last(void)
{
    struct customerd_bench bench;
    char path[PATH_ROOM];
    struct spool *spool;
    struct err err = {0};

    bench_start(&bench, "[Cmd=\"x\"]");
    snprintf(path, sizeof path, "%s/last", bench.folder);
    spool = spool_new(path, 6400, &err);
    spool_set_own(spool, "owner");
    tap_ok(spool_fill(spool, "alice", 1600, &err) == PIECE_WHOLE &&
               spool_fill(spool, "bob", 1600, &err) == PIECE_WHOLE &&
               spool_fill(spool, "carol", 1600, &err) == PIECE_WHOLE,
           "three users have all that they may");
    tap_ok(spool_fill(spool, "dora", 101, &err) == PIECE_FULL && strstr(err.text, "the last quarter of its 6400 bytes"),
           "the rest of the room is not for a fourth one who wants much");
    tap_ok(spool_fill(spool, "dora", 100, &err) == PIECE_WHOLE && spool_fill(spool, "erik", 60, &err) == PIECE_WHOLE &&
               spool_fill(spool, "owner", 500, &err) == PIECE_WHOLE,
           "but for those who need little, and for the one whose spool it is");
    tap_ok(spool_fill(spool, "dora", 10, &err) == PIECE_FULL && spool_fill(spool, "erik", 40, &err) == PIECE_WHOLE,
           "as long as they do");
    spool_free(spool);
    bench_end(&bench);
}

/* Small files cost as much as larger ones: their number has a limit, too. */
static void check_spool_files(void)
{
    struct customerd_bench bench;
    char path[PATH_ROOM];
    struct spool *spool;
    struct err err = {0};

    bench_start(&bench, "[Cmd=\"x\"]");
    snprintf(path, sizeof path, "%s/files", bench.folder);
    for (int i = 0; i < 2; i++) { /* the second time after a restart */
        spool = spool_new(path, 64000, &err);
        spool_set_own(spool, "owner");
        spool_set_files(spool, 3);
        for (size_t len = 1; !i && len <= 3; len++)
            tap_ok(spool_fill(spool, "alice", len, &err) == PIECE_WHOLE, "a small file is taken");
        tap_ok(spool_fill(spool, "alice", 4, &err) == PIECE_FULL && strstr(err.text, "at most 3 files"),
               i ? "nor after a restart" : "but no more of one user than the limit says");
        tap_ok(spool_fill(spool, "alice", 3, &err) == PIECE_WHOLE && spool_fill(spool, "bob", 4, &err) == PIECE_WHOLE,
               "one that is there is taken, and so are those of others");
        if (!i)
            spool_free(spool);
    }
    for (size_t len = 1; len <= 5; len++)
        if (spool_fill(spool, "owner", len, &err) != PIECE_WHOLE)
            tap_diag("the owner was refused: %s", err.text);
    spool_sweep(spool, NOW + SPOOL_KEPT + 10, named_none, NULL);
    tap_ok(spool_fill(spool, "alice", 4, &err) == PIECE_WHOLE && spool_fill(spool, "alice", 5, &err) == PIECE_WHOLE &&
               spool_fill(spool, "alice", 6, &err) == PIECE_WHOLE && spool_fill(spool, "alice", 7, &err) == PIECE_FULL,
           "when they have gone there is room again");
    spool_free(spool);
    bench_end(&bench);
}

static void check_garbage(void)
{
    char a[HASH_DIGITS + 1], b[HASH_DIGITS + 1];
    struct customerd_bench bench;
    struct err err = {0};
    uint64_t have;
    bool whole;

    bench_start(&bench, "[Cmd=\"x\"]");
    hash_of("a", 1, a);
    hash_of("b", 1, b);
    spool_put(bench.questions.spool, "alice", a, &(struct piece){.bytes = "a", .len = 1, .size = 1}, &have, &err);
    spool_put(bench.questions.spool, "alice", b, &(struct piece){.bytes = "b", .len = 1, .size = 1}, &have, &err);
    tap_ok(spool_sweep(bench.questions.spool, NOW, named_none, NULL) == 0 && spool_bytes(bench.questions.spool) == 2,
           "inputs of today are kept, though no job names them yet");
    tap_ok(spool_sweep(bench.questions.spool, NOW + SPOOL_KEPT + 10, named_none, a) == 1 &&
               spool_have(bench.questions.spool, "alice", a, &whole) == 1 &&
               !spool_have(bench.questions.spool, "alice", b, &whole) && spool_bytes(bench.questions.spool) == 1,
           "a day later those that no job names go, and the others stay");
    bench_end(&bench);
}

static void check_store(void)
{
    struct customerd_bench bench;
    struct job_place place = {.job = 5, .claim = 1, .number = 1};
    uint64_t size;
    bool whole;
    int fd;

    bench_start(&bench, "[Cmd=\"x\"]");
    tap_ok(says(store(&bench, 1, 1, "output", "out/a", "0123456789", 0, 4, false), "Have = 4") &&
               says(store(&bench, 1, 1, "output", "out/a", "0123456789", 6, 4, false), "Have = 4"),
           "a gap in an output is answered with what is there");
    tap_ok(says(store(&bench, 1, 1, "output", "out/a", "0123456789", 0, 4, false), "Have = 4") &&
               says(store(&bench, 1, 1, "output", "out/a", "0123456789", 2, 8, false), "Have = 10") &&
               file_is(&bench, "jobs/5/output/out/a", "0123456789"),
           "pieces that are sent again change nothing, and the whole is put in its place");
    tap_ok(says(store(&bench, 1, 1, "output", "out/a", "0123456789", 6, 4, false), "Have = 10"),
           "the last piece again, its answer lost, is answered as before");
    tap_ok(says(ask(&bench, "Ask=\"store\"; Kind=\"output\"; Name=\"w\"; Offset=0; Size=1; Bytes=\"eA\"; "
                            "Hash=\"0000000000000000000000000000000000000000000000000000000000000000\""),
                "Reason = \"hash\"; Have = 0") &&
               !file_is(&bench, "jobs/5/output/w", "x"),
           "an output with another hash than was said begins anew");
    tap_ok(says(store_all(&bench, "output", "empty", ""), "Reason = \"ok\"") &&
               file_is(&bench, "jobs/5/output/empty", ""),
           "an empty output is one");
    tap_ok(says(store_all(&bench, "output", "../x", "bad"), "name") &&
               says(store_all(&bench, "output", "/etc/x", "bad"), "name") &&
               says(store_all(&bench, "output", "a/../../x", "bad"), "name") &&
               says(store_all(&bench, "output", "", "bad"), "name") && !file_is(&bench, "jobs/5/x", "bad") &&
               !file_is(&bench, "jobs/x", "bad") && !file_is(&bench, "x", "bad"),
           "names that lead elsewhere are refused");
    tap_ok(says(store_all(&bench, "nothing", "x", "bad"), "invalid"), "a kind that does not exist is refused");
    store(&bench, 1, 1, "log", "stdout", "line 1\n", 0, 7, true);
    fd = jobfiles_open(bench.questions.files, &place, JOB_FILE_LOG, "stdout", &size, &whole);
    tap_ok(fd >= 0 && size == 7 && !whole, "a log that grows can be read");
    close(fd);
    tap_ok(says(store(&bench, 1, 1, "log", "stdout", "line 1\nline 2\n", 7, 7, false), "Have = 14") &&
               (fd = jobfiles_open(bench.questions.files, &place, JOB_FILE_LOG, "stdout", &size, &whole)) >= 0 &&
               size == 14 && whole,
           "and becomes whole");
    close(fd);
    tap_ok(says(ask(&bench, "Ask=\"report\"; State=\"staging\""), "ok") && bench.news[NEWS_STAGING] == 1 &&
               says(ask(&bench, "Ask=\"report\"; State=\"running\"; Message=\"half\\nway\"; Cpu=1.5; Memory=4096"),
                    "ok") &&
               bench.news[NEWS_RUNNING] == 1 && !strcmp(attempts_last(bench.questions.tries, 5)->message, "half"),
           "what it reports is known, a message as one line");
    ask(&bench, "Ask=\"report\"; Memory=9223372036854775807; Disk=9223372036854775807; MayCpus=1; "
                "MayMemory=9223372036854775807; MayDisk=9223372036854775807");
    tap_ok(attempts_last(bench.questions.tries, 5)->memory == 4096 && !attempts_last(bench.questions.tries, 5)->disk &&
               !attempts_last(bench.questions.tries, 5)->may_memory,
           "but for amounts that no machine has");
    tap_ok(says(ask(&bench, "Ask=\"finish\"; Wall=3.5; Words=\"fine\""), "ok") && bench.news[NEWS_FINISHED] == 1 &&
               says(ask(&bench, "Ask=\"finish\""), "ok") && bench.news[NEWS_FINISHED] == 1,
           "the end is told once, however often it is said");
    bench_close(&bench);
    bench_open(&bench);
    {
        const struct job_attempt *one = attempts_last(bench.questions.tries, 5);

        tap_ok(one && one->finished && one->cpu == 1.5 && one->wall == 3.5 && one->memory == 4096 && one->started &&
                   one->member == PROVIDER && !strcmp(one->words, "fine"),
               "all that is known of a try outlives a restart");
    }
    fd = jobfiles_open(bench.questions.files, &place, JOB_FILE_OUTPUT, "out/a", &size, &whole);
    tap_ok(fd >= 0 && size == 10 && whole, "and so do the files");
    close(fd);
    tap_ok(says(store_all(&bench, "output", "late", "x"), "stale"), "nothing is taken behind the end");
    bench_end(&bench);
}

/* The job is another, whose outputs go to a folder. */
static void job_is(struct customerd_bench *bench, const char *rest)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "[Cmd=\"x\"; Iwd=\"%s\"; %s]", bench->iwd, rest);
    tree_unref(bench->ad);
    bench->view.ad = bench->ad = ad_of(bench, buf_string(&text));
    buf_done(&text);
}

/* Outputs go where the job says, and only there. */
static void check_iwd(void)
{
    struct customerd_bench bench;
    char path[2 * PATH_ROOM];
    struct job_place place = {.job = 5, .claim = 1, .number = 1};
    uint64_t size;
    bool whole;
    int fd;

    bench_start(&bench, "[Cmd=\"x\"]");
    job_is(&bench, "");
    place.iwd = bench.iwd;
    tap_ok(says(store_all(&bench, "output", "deep/er/result", "42"), "ok") &&
               file_is(&bench, "iwd/deep/er/result", "42"),
           "an output is put where the job says, with its folders");
    fd = jobfiles_open(bench.questions.files, &place, JOB_FILE_OUTPUT, "deep/er/result", &size, &whole);
    tap_ok(fd >= 0 && size == 2 && whole, "and can be read from there");
    close(fd);
    snprintf(path, sizeof path, "%s/link", bench.iwd);
    if (symlink(bench.outside, path) < 0)
        tap_diag("no link");
    tap_ok(says(store_all(&bench, "output", "link/evil", "x"), "ok") && !file_is(&bench, "outside/evil", "x") &&
               file_is(&bench, "jobs/5/output/link/evil", "x") && strstr(bench.trouble, "link/evil"),
           "a link in that folder is not followed: the output stays here, and that is told");
    snprintf(path, sizeof path, "%s/file", bench.iwd);
    {
        char target[2 * PATH_ROOM];

        snprintf(target, sizeof target, "%s/target", bench.outside);
        live_write_file(target, "safe");
        if (symlink(target, path) < 0)
            tap_diag("no link");
    }
    tap_ok(says(store_all(&bench, "output", "file", "new"), "ok") && file_is(&bench, "outside/target", "safe") &&
               file_is(&bench, "iwd/file", "safe") && file_is(&bench, "iwd/file.5", "new"),
           "a link in the place of an output that the job does not name stays: the output comes beside it");
    job_is(&bench, "Outputs={\"file\",\"sly\"}");
    tap_ok(says(store_all(&bench, "output", "file", "named"), "ok") && file_is(&bench, "outside/target", "safe") &&
               file_is(&bench, "iwd/file", "named"),
           "in the place of one that it names it is replaced, and what it pointed to stays");
    snprintf(path, sizeof path, "%s/jobs/5/part/0000000000000001-0000000000000001/output/sly", bench.folder);
    if (symlink(bench.outside, path) < 0)
        tap_diag("no link: %s", strerror(errno));
    tap_ok(!strstr(store_all(&bench, "output", "sly/x", "x"), "\"ok\"") && !file_is(&bench, "outside/x", "x"),
           "nor is a link followed among what is on its way");
    bench_end(&bench);
}

static unsigned mode_of(const struct customerd_bench *bench, const char *name)
{
    char path[2 * PATH_ROOM];
    struct stat stat_of;

    snprintf(path, sizeof path, "%s/iwd/%s", bench->folder, name);
    return lstat(path, &stat_of) < 0 ? 0 : stat_of.st_mode & 07777;
}

static void mine(const struct customerd_bench *bench, const char *name, const char *text)
{
    char path[2 * PATH_ROOM];

    snprintf(path, sizeof path, "%s/iwd/%s", bench->folder, name);
    live_write_file(path, text);
}

/* A provider that the job did go to, and that writes whatever it likes: without Outputs. */
static void check_hostile_unnamed(void)
{
    struct customerd_bench bench;
    char path[2 * PATH_ROOM];

    bench_start(&bench, "[Cmd=\"x\"]");
    job_is(&bench, "Inputs={[Name=\"in.dat\"; Hash=\"00\"; Size=1]}; Checkpoint={\"state\"}");
    snprintf(path, sizeof path, "%s/.ssh", bench.iwd);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/sub", bench.iwd);
    mkdir(path, 0700);
    mine(&bench, ".ssh/authorized_keys", "my key");
    mine(&bench, "sub/thesis.tex", "my thesis");
    mine(&bench, "in.dat", "my data");
    tap_ok(says(store_all(&bench, "output", ".ssh/authorized_keys", "evil"), "name") &&
               file_is(&bench, "iwd/.ssh/authorized_keys", "my key") &&
               !strcmp(bench.refused,
                       ".ssh/authorized_keys: a part of its name begins with a dot, and Outputs does not name it"),
           "a provider does not replace .ssh/authorized_keys, and that it tried is told");
    tap_ok(says(store_all(&bench, "output", ".bashrc", "evil"), "name") &&
               says(store_all(&bench, "output", "sub/.git/config", "evil"), "name") &&
               says(store_all(&bench, "output", ".", "evil"), "name") && !mode_of(&bench, ".bashrc") &&
               !mode_of(&bench, "sub/.git") &&
               access(strcat(strcpy(path, bench.folder), "/jobs/5/part/0000000000000001-0000000000000001"), F_OK) < 0,
           "nor does it leave a new name with a dot, and nothing of it was written anywhere");
    tap_ok(says(store_all(&bench, "output", "sub/thesis.tex", "evil"), "ok") &&
               file_is(&bench, "iwd/sub/thesis.tex", "my thesis") && file_is(&bench, "iwd/sub/thesis.tex.5", "evil") &&
               strstr(bench.trouble, "sub/thesis.tex is there already"),
           "what lies in a subfolder is not replaced: it comes beside, and that is told");
    tap_ok(says(store_all(&bench, "output", "in.dat", "changed"), "ok") && file_is(&bench, "iwd/in.dat", "my data") &&
               file_is(&bench, "iwd/in.dat.5", "changed") && strstr(bench.trouble, "it came as in.dat.5"),
           "an input is not replaced: what became of it comes beside it, as NAME.JOB, and that is told");
    tap_ok(says(store_mode(&bench, 1, 1, "output", "tool", "#!evil", 0, 6, false, 06777), "ok") &&
               mode_of(&bench, "tool") == 0644,
           "what is not named is not executable, whatever is said");
    bench_claim(&bench, 2, 1, PROVIDER);
    mine(&bench, "mine", "my own");
    tap_ok(says(store(&bench, 2, 1, "output", "tool", "second", 0, 6, false), "ok") &&
               file_is(&bench, "iwd/tool", "second") &&
               says(store(&bench, 2, 1, "output", "in.dat", "again", 0, 5, false), "ok") &&
               file_is(&bench, "iwd/in.dat.5", "again") && file_is(&bench, "iwd/in.dat", "my data"),
           "the next try replaces what the one before has brought");
    tap_ok(says(store(&bench, 2, 1, "output", "mine", "evil", 0, 4, false), "ok") &&
               file_is(&bench, "iwd/mine", "my own") && file_is(&bench, "iwd/mine.5", "evil"),
           "and nothing else");
    tap_ok(says(store(&bench, 2, 1, "checkpoint", "in.dat", "evil", 0, 4, false), "name") &&
               says(store(&bench, 2, 1, "checkpoint", "prog", "evil", 0, 4, false), "name") &&
               says(store(&bench, 2, 1, "checkpoint", "state", "good", 0, 4, false), "ok"),
           "of checkpoints only those are taken that the job names: the next try would begin with them");
    tap_ok(says(store(&bench, 2, 1, "log", "other", "evil", 0, 4, false), "name") &&
               says(store(&bench, 2, 1, "log", "stdout", "hello", 0, 5, false), "ok"),
           "and of logs the two that there are");
    bench_end(&bench);
}

/* The same, where the job says what its outputs are. */
static void check_hostile_named(void)
{
    struct customerd_bench bench;

    bench_start(&bench, "[Cmd=\"x\"]");
    bench.view.index = 3;
    job_is(&bench, "Inputs={[Name=\"in.dat\"; Hash=\"00\"; Size=1], [Name=\"both\"; Hash=\"00\"; Size=1], "
                   "[Name=\"tables/in\"; Hash=\"00\"; Size=1]}; Out=\"run.log\"; "
                   "Outputs={\"a\", \"both\", strcat(\"part.\", JobIndex), \"tables\", \".named/x\"}");
    mine(&bench, "a", "old");
    mine(&bench, "both", "old");
    mine(&bench, "in.dat", "my data");
    tap_ok(says(store_mode(&bench, 1, 1, "output", "a", "new", 0, 3, false, 07777), "ok") &&
               file_is(&bench, "iwd/a", "new") && mode_of(&bench, "a") == 0755 &&
               says(store_all(&bench, "output", "both", "new"), "ok") && file_is(&bench, "iwd/both", "new"),
           "an output that is named replaces what was there, also an input, and may be executable");
    tap_ok(says(store_all(&bench, "output", "part.3", "3"), "ok") &&
               says(store_all(&bench, "output", "part.4", "4"), "name") &&
               says(store_all(&bench, "output", "run.log", "log"), "ok") &&
               says(store_all(&bench, "output", ".named/x", "x"), "ok") && file_is(&bench, "iwd/.named/x", "x"),
           "names that are computed, the name of standard output, and a dot that is named are good");
    tap_ok(says(store_all(&bench, "output", "b", "evil"), "name") &&
               says(store_all(&bench, "output", "in.dat", "evil"), "name") &&
               says(store_all(&bench, "output", "a/b", "evil"), "ok") == !mode_of(&bench, "a/b") &&
               says(store_all(&bench, "output", ".named/y", "evil"), "name") &&
               says(store_all(&bench, "output", "tablesx", "evil"), "name") &&
               file_is(&bench, "iwd/in.dat", "my data") && !mode_of(&bench, "b") && !mode_of(&bench, ".named/y") &&
               file_is(&bench, "iwd/a", "new"),
           "what is not named is refused, though it be new");
    tap_ok(says(store_all(&bench, "output", "tables/deep/t.csv", "1,2"), "ok") &&
               file_is(&bench, "iwd/tables/deep/t.csv", "1,2") &&
               says(store_all(&bench, "output", "tables/.hidden", "evil"), "name") &&
               !mode_of(&bench, "tables/.hidden"),
           "of a folder that is named all comes but what begins with a dot");
    mine(&bench, "tables/in", "my data");
    tap_ok(says(store_all(&bench, "output", "tables/in", "evil"), "ok") &&
               file_is(&bench, "iwd/tables/in", "my data") && file_is(&bench, "iwd/tables/in.5", "evil"),
           "and an input in it is not replaced");
    tap_ok(attempts_last(bench.questions.tries, 5)->missing.count == 0, "nobody misses what nobody asked for");
    job_is(&bench, "Ports={[Label=cpu; Constraint=true]}; Outputs={\"a\", strcat(\"on.\", Gang.cpu.Name)}");
    mine(&bench, "x", "my own");
    tap_ok(says(store_all(&bench, "output", "on.heron", "1"), "ok") && file_is(&bench, "iwd/on.heron", "1") &&
               says(store_all(&bench, "output", "x", "evil"), "ok") && file_is(&bench, "iwd/x", "my own") &&
               says(store_all(&bench, "output", ".x", "evil"), "name"),
           "where only the machine can tell the names, new ones are taken, and nothing is replaced");
    job_is(&bench, "Outputs={}");
    tap_ok(says(store_all(&bench, "output", "y", "evil"), "name") && !mode_of(&bench, "y"),
           "a job that leaves nothing gets nothing");
    bench_end(&bench);
}

static const char *store_sized(struct customerd_bench *bench, const char *kind, const char *name, long long offset,
                               long long size)
{
    char question[256];

    snprintf(question, sizeof question,
             "Ask=\"store\"; Kind=\"%s\"; Name=\"%s\"; Offset=%lld; Size=%lld; Bytes=\"eHh4eA\"", kind, name, offset,
             size);
    return ask(bench, question);
}

/* More than the job's disk, and more files than there may be. */
static void check_hostile_amounts(void)
{
    struct customerd_bench bench;
    char name[32];
    int taken = 0;

    bench_start(&bench, "[Cmd=\"x\"]");
    job_is(&bench, "RequestDisk=1000");
    tap_ok(says(store_sized(&bench, "output", "big", 0, 1001), "RequestDisk, 1000 bytes") &&
               says(buf_string(&bench.answer), "Reason = \"name\"") &&
               attempts_last(bench.questions.tries, 5)->missing.count == 1,
           "a file that is larger than the job's disk is refused before a byte is taken, and is missing");
    tap_ok(says(store_sized(&bench, "output", "a", 0, 600), "Have = 4") &&
               says(store_sized(&bench, "output", "b", 0, 600), "RequestDisk") &&
               says(store_sized(&bench, "output", "b", 0, 400), "Have = 4") &&
               says(store_sized(&bench, "output", "c", 0, 1), "invalid") &&
               says(store_sized(&bench, "output", "c", 0, 4), "invalid") &&
               says(store_sized(&bench, "output", "c", 0, 5), "RequestDisk"),
           "so are several that are too much together, as they are announced");
    tap_ok(says(store_sized(&bench, "log", "stdout", 0, -1), "Have = 4") &&
               says(store_sized(&bench, "log", "stdout", 996, -1), "Have = 4") &&
               says(store_sized(&bench, "log", "stdout", 997, -1), "RequestDisk"),
           "and a log that grows without end");
    bench_close(&bench);
    bench_open(&bench);
    tap_ok(says(store_sized(&bench, "output", "c", 0, 997), "RequestDisk") &&
               says(store_sized(&bench, "output", "a", 4, 600), "Have = 8"),
           "a restart forgets nothing of it");
    for (int claim = 2; claim < 12; claim++) {
        bench_claim(&bench, (uint64_t)claim, 1, PROVIDER);
        for (int i = 0; i < 9; i++) {
            char bytes[101];

            memset(bytes, 'x', 100);
            bytes[100] = '\0';
            snprintf(name, sizeof name, "fill.%d.%d", claim, i);
            taken += strstr(store(&bench, (uint64_t)claim, 1, "output", name, bytes, 0, 100, false), "\"ok\"") != NULL;
        }
    }
    tap_ok(taken <= 10 * JOBFILES_TRIES && taken >= 30,
           "a machine that takes the job again and again does not fill the disk (%d)", taken);
    bench_end(&bench);
    bench_start(&bench, "[Cmd=\"x\"]");
    taken = 0;
    for (int i = 0; i < JOB_FILES_MAX + 500; i++) {
        snprintf(name, sizeof name, "f%d", i);
        taken += strstr(store_sized(&bench, "output", name, i % 2 ? 7 : 0, 20), "\"ok\"") != NULL;
    }
    tap_ok(taken == JOB_FILES_MAX && attempts_last(bench.questions.tries, 5)->missing.count == 500,
           "of files without end %d are taken, though nothing of them comes (%d)", JOB_FILES_MAX, taken);
    bench_end(&bench);
}

/* The customer has no descriptors left: nothing of what is asked then is an answer for good. */
static void check_descriptors(void)
{
    char hash[HASH_DIGITS + 1], question[512];
    struct rlimit before, none, disk, full;
    struct customerd_bench bench;
    struct err err = {0};
    uint64_t have;
    struct buf told;

    hash_of("hello", 5, hash);
    snprintf(question, sizeof question,
             "[Cmd=\"x\"; Checkpoint={\"state\"}; Inputs={[Name=\"in\"; Hash=\"%s\"; Size=5; Mode=420]}]", hash);
    bench_start(&bench, question);
    spool_put(bench.questions.spool, "alice", hash, &(struct piece){.bytes = "hello", .len = 5, .size = 5}, &have,
              &err);
    store_all(&bench, "checkpoint", "state", "so far");
    store_all(&bench, "output", "first", "1");
    bench_close(&bench);
    bench_open(&bench);
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=0; Length=100", hash);
    buf_init(&told);
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    buf_addf(&told, "%s ", ask(&bench, "Ask=\"manifest\""));
    buf_addf(&told, "%s ", ask(&bench, question));
    buf_addf(&told, "%s", store_all(&bench, "output", "out", "42"));
    setrlimit(RLIMIT_NOFILE, &before);
    getrlimit(RLIMIT_FSIZE, &disk);
    full = disk;
    full.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &full);
    buf_addf(&told, " %s", store_all(&bench, "output", "full", "42"));
    setrlimit(RLIMIT_FSIZE, &disk);
    tap_ok(says(buf_string(&told), "Words = \"File too large\" ]") &&
               !attempts_last(bench.questions.tries, 5)->missing.count &&
               says(store_all(&bench, "output", "full", "42"), "Reason = \"ok\"") &&
               file_is(&bench, "jobs/5/output/full", "42"),
           "what cannot be written comes again when it can");
    tap_ok(says(buf_string(&told),
                "[ Reason = \"wait\"; Pause = 2 ] [ Reason = \"wait\"; Pause = 2 ] [ Reason = \"disk\"; ") &&
               !attempts_last(bench.questions.tries, 5)->read &&
               !attempts_last(bench.questions.tries, 5)->missing.count,
           "a customer without descriptors says that one has to wait, and not that there is nothing");
    tap_ok(says(ask(&bench, "Ask=\"manifest\""), "Name = \"state\"") &&
               says(ask(&bench, question), "Reason = \"ok\"") &&
               says(store_all(&bench, "output", "out", "42"), "Reason = \"ok\"") &&
               file_is(&bench, "jobs/5/output/out", "42") && file_is(&bench, "jobs/5/output/first", "1"),
           "then it has all of it");
    buf_done(&told);
    bench_end(&bench);
}

/* What a job used over its life comes with reports, and outlives a restart; what makes no sense is not taken. */
static void check_samples(void)
{
    const struct job_attempt *one;
    struct customerd_bench bench;
    struct samples samples;

    bench_start(&bench, "[Cmd=\"x\"]");
    ask(&bench, "Ask=\"report\"; State=\"running\"; Samples=[Span=10; Memory={5, 7}; CpuPercent={1, 2}]");
    ask(&bench, "Ask=\"report\"; Samples=[Span=11; Memory={9}; CpuPercent={1}]; Read=-7");
    ask(&bench, "Ask=\"report\"; Samples=\"many\"; Written=\"all\"");
    one = attempts_last(bench.questions.tries, 5);
    tap_ok(one && one->samples && samples_read(one->samples, &samples) && samples.count == 2 &&
               samples.points[1].memory == 7 && !one->moved[0] && !one->moved[1],
           "samples that make no sense change nothing");
    tap_ok(
        says(ask(&bench, "Ask=\"finish\"; Samples=[Span=20; Memory={8}; CpuPercent={1}]; Read=4096; Written=1"), "ok"),
        "the last ones come with the end");
    bench_close(&bench);
    bench_open(&bench);
    one = attempts_last(bench.questions.tries, 5);
    tap_ok(one && one->samples && samples_read(one->samples, &samples) && samples.span == 20 &&
               samples.points[0].memory == 8 && one->moved[0] == 4096 && one->moved[1] == 1,
           "and outlive a restart");
    bench_end(&bench);
}

static void check_missing(void)
{
    const struct job_attempt *one;
    struct customerd_bench bench;

    bench_start(&bench, "[Cmd=\"x\"]");
    tap_ok(says(ask(&bench, "Ask=\"finish\"; Missing=[Count=700; Files={[Name=\"a\\nb\"; Why=\"gone\"], "
                            "[Name=\"c\"], 5, [Why=\"x\"]}]; NotMade=[Count=1; Files={[Name=\"n\"]}]"),
                "ok") &&
               !strcmp(bench.trouble, "the job has not made n"),
           "the end says what could not come");
    bench_close(&bench);
    bench_open(&bench);
    one = attempts_last(bench.questions.tries, 5);
    tap_ok(one && one->missing.count == 700 && one->missing.known == 2 && !strcmp(one->missing.files[0].name, "a?b") &&
               !strcmp(one->missing.files[0].why, "gone"),
           "and that outlives a restart");
    bench_end(&bench);
}

static void check_checkpoint(void)
{
    struct customerd_bench bench;
    struct job_attempt *one;

    bench_start(&bench, "[Cmd=\"x\"; Checkpoint={\"state\"}]");
    ask(&bench, "Ask=\"manifest\"");
    ask(&bench, "Ask=\"report\"; State=\"running\"");
    store(&bench, 1, 1, "checkpoint", "state", "first", 0, 2, false);
    bench_claim(&bench, 2, 1, PROVIDER);
    tap_ok(says(ask_as(&bench, PROVIDER, 2, 1, "Ask=\"manifest\""), "Reason = \"wait\"; Pause = "),
           "the next try waits for the checkpoint of the one before");
    tap_ok(says(store_all(&bench, "output", "late", "x"), "stale"), "outputs of the try before are not taken any more");
    tap_ok(says(store(&bench, 1, 1, "checkpoint", "state", "first", 2, 3, false), "Have = 5") &&
               says(ask(&bench, "Ask=\"finish\""), "ok"),
           "its checkpoint is");
    tap_ok(says(ask_as(&bench, PROVIDER, 2, 1, "Ask=\"manifest\""), "Kind = \"checkpoint\"") &&
               says(buf_string(&bench.answer), "Name = \"state\""),
           "then the next one begins with it");
    {
        char hash[HASH_DIGITS + 1], question[256];

        hash_of("first", 5, hash);
        snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=0; Length=10", hash);
        tap_ok(says(ask_as(&bench, PROVIDER, 2, 1, question), "Bytes = \"Zmlyc3Q\""), "and fetches it");
    }
    tap_ok(says(store(&bench, 1, 1, "checkpoint", "state", "older", 0, 5, false), "stale"),
           "what the try before sends later is not taken");
    bench_claim(&bench, 3, 1, PROVIDER);
    one = attempts_find(bench.questions.tries, 5, 2, 1);
    one->started = NOW - 1000;
    one->heard = NOW - 1000;
    attempts_last(bench.questions.tries, 5)->began = NOW - CHECKPOINT_WAIT - 1;
    tap_ok(says(ask_as(&bench, PROVIDER, 3, 1, "Ask=\"manifest\""), "Reason = \"ok\""),
           "a try before that says nothing more is not waited for for ever");
    bench.view.state = JOB_HELD;
    tap_ok(says(ask_as(&bench, PROVIDER, 3, 1, "Ask=\"manifest\""), "stale"), "a job that is held is not begun");
    bench.view.id = 6;
    tap_ok(says(ask_as(&bench, PROVIDER, 3, 1, "Ask=\"finish\""), "ok") &&
               says(ask_as(&bench, PROVIDER, 3, 1, "Ask=\"report\""), "stale"),
           "of a job that is written down already, the end is taken and nothing else");
    bench_end(&bench);
}

/* A try of a gang, of which others than the claimed agent ask. */
static void check_passes(void)
{
    const struct key pass = {{0xaa, 1}};
    char question[400], hash[HASH_DIGITS + 1], leader[2 * KEY_BYTES + 1], helper[2 * KEY_BYTES + 1];
    struct customerd_bench bench;
    struct key lead, help;
    struct err err;

    hash_of("hello", 5, hash);
    snprintf(question, sizeof question, "[Inputs={[Name=\"in\";Size=5;Hash=\"%s\";Mode=420]}; Checkpoint={\"state\"}]",
             hash);
    bench_start(&bench, question);
    duty_pass_for(&secrets_live, &pass, 99, false, &lead);
    duty_pass_for(&secrets_live, &pass, 98, true, &help);
    hex_print(lead.bytes, KEY_BYTES, leader);
    hex_print(help.bytes, KEY_BYTES, helper);
    tap_ok(!strcmp(ask_as(&bench, 99, 1, 1, "Ask=\"manifest\""), "refused"), "an agent that has no claim is refused");
    snprintf(question, sizeof question, "Ask=\"manifest\"; Pass=\"%s\"", leader);
    tap_ok(!strcmp(ask_as(&bench, 99, 1, 1, question), "refused"), "where there is no pass none is good");
    snprintf(question, sizeof question, "Ask=\"manifest\"; Pass=\"%064d\"", 0);
    tap_ok(!strcmp(ask_as(&bench, 99, 1, 1, question), "refused"), "nor is the one of zeros");
    bench.view.pass = pass;
    tap_ok(!strcmp(ask_as(&bench, PROVIDER, 1, 1, "Ask=\"manifest\""), "refused"),
           "in a gang the one that was claimed is told nothing without a pass: it may run nothing");
    snprintf(question, sizeof question, "Ask=\"manifest\"; Pass=\"%s\"", leader);
    tap_ok(!strcmp(ask_as(&bench, PROVIDER, 1, 1, question), "refused") &&
               !strcmp(ask_as(&bench, 98, 1, 1, question), "refused"),
           "a pass is its agent's: nobody else gets in with it");
    snprintf(question, sizeof question,
             "Ask=\"store\"; Pass=\"%s\"; Kind=\"output\"; Name=\"x\"; Offset=0; Size=-1; Bytes=\"\"", helper);
    tap_ok(!strcmp(ask_as(&bench, 98, 1, 1, question), "refused"), "a helper stores nothing");
    snprintf(question, sizeof question, "Ask=\"report\"; Pass=\"%s\"", helper);
    tap_ok(!strcmp(ask_as(&bench, 98, 1, 1, question), "refused") &&
               !strcmp(ask_as(&bench, PROVIDER, 1, 1, question), "refused"),
           "and reports nothing, though its agent had the claim besides");
    snprintf(question, sizeof question, "Ask=\"finish\"; Pass=\"%s\"", helper);
    tap_ok(!strcmp(ask_as(&bench, 98, 1, 1, question), "refused"), "nor does it finish the job");
    store(&bench, 1, 1, "checkpoint", "state", "so far", 0, 6, false);
    bench_claim(&bench, 2, 1, PROVIDER);
    snprintf(question, sizeof question, "Ask=\"manifest\"; Pass=\"%s\"", helper);
    tap_ok(strstr(ask_as(&bench, 98, 2, 1, question), "Name = \"in\"") && !strstr(buf_string(&bench.answer), "state") &&
               !attempts_last(bench.questions.tries, 5)->read,
           "a helper is told the inputs, and no checkpoint; the leader's try is not touched");
    hash_of("so far", 6, hash);
    snprintf(question, sizeof question, "Ask=\"fetch\"; Pass=\"%s\"; Hash=\"%s\"; Offset=0; Length=10", helper, hash);
    tap_ok(strstr(ask_as(&bench, 98, 2, 1, question), "unknown") != NULL, "nor does it get one by its hash");
    snprintf(question, sizeof question, "Ask=\"report\"; State=\"running\"; Pass=\"%s\"; Provider=\"deep\"", leader);
    tap_ok(strstr(ask_as(&bench, 99, 2, 1, question), "ok") && attempts_last(bench.questions.tries, 5)->started &&
               !strcmp(attempts_last(bench.questions.tries, 5)->provider, "deep"),
           "the leader is known by its pass, wherever in the gang it is, and says where it is");
    bench.view.state = JOB_DONE;
    bench.view.pass = (struct key){{0}};
    attempts_store(bench.questions.tries, 5, &err);
    bench.shelf->kind->commit(bench.shelf, &err);
    bench_close(&bench);
    bench_open(&bench);
    snprintf(question, sizeof question, "Ask=\"manifest\"; Pass=\"%s\"", helper);
    tap_ok(strstr(ask_as(&bench, 98, 2, 1, question), "stale") != NULL, "when the job is over a helper gets nothing");
    snprintf(question, sizeof question, "Ask=\"finish\"; Pass=\"%s\"", leader);
    tap_ok(strstr(ask_as(&bench, 99, 2, 1, question), "ok") && attempts_last(bench.questions.tries, 5)->finished,
           "the leader's pass is good until all is stored, also when the gang is gone and the customer has restarted");
    snprintf(question, sizeof question, "Ask=\"finish\"; Pass=\"%s\"", "short");
    tap_ok(!strcmp(ask_as(&bench, 99, 2, 1, question), "refused"), "what is no pass is refused");
    bench_end(&bench);
}

static uint32_t bench_members(void *user, uint64_t job, struct member_view *ret, uint32_t room)
{
    static const agent agents[] = {99, 98, 97};

    (void)user;
    (void)job;
    for (uint32_t i = 0; i < 3 && i < room; i++)
        ret[i] = (struct member_view){.who = agents[i], .name = "node", .name_len = 4};
    return 3;
}

static struct tree *bench_beside(void *user, const struct job_view *view, agent who, const struct tree *question)
{
    struct customerd_bench *bench = user;

    (void)view;
    (void)who;
    (void)question;
    return ad_of(bench, "[Reason=\"ok\"]");
}

/* Asks as the helper at that agent, which says that it has that number. */
static const char *ask_member(struct customerd_bench *bench, agent who, int number, const char *rest)
{
    char question[600], digits[2 * KEY_BYTES + 1];
    struct key pass;

    duty_pass_for(&secrets_live, &bench->view.pass, who, who != 99, &pass);
    hex_print(pass.bytes, KEY_BYTES, digits);
    snprintf(question, sizeof question, "Pass=\"%s\"; Member=%d; %s", digits, number, rest);
    return ask_as(bench, who, 1, 1, question);
}

/* Processes of a parallel job: each sends what it has written, and the first waits for the others. */
static void check_members(void)
{
    static const char *const refused[] = {
        "Kind=\"log\"; Name=\"stdout\"",       "Kind=\"log\"; Name=\"stdout.2\"",
        "Kind=\"log\"; Name=\"other.1\"",      "Kind=\"output\"; Name=\"run.out\"",
        "Kind=\"output\"; Name=\"data.1\"",    "Kind=\"checkpoint\"; Name=\"state.1\"",
        "Kind=\"output\"; Name=\"run.out.11\""};
    struct customerd_bench bench;
    char question[200];
    bool good = true;

    bench_start(&bench, "[Out=\"run.out\"; Checkpoint={\"state\"}]");
    bench.view.pass = (struct key){{0xaa, 1}};
    bench.questions.members = bench_members;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(question, sizeof question, "Ask=\"store\"; %s; Offset=0; Size=-1; Bytes=\"aGk\"", refused[i]);
        good = strstr(ask_member(&bench, 98, 1, question), "\"name\"") && good;
    }
    tap_ok(good, "a process of a parallel job leaves what it has written, under its own number, and nothing else");
    snprintf(question, sizeof question,
             "Ask=\"store\"; Kind=\"log\"; Name=\"stdout.1\"; Offset=0; Size=-1; Bytes=\"aGk\"");
    tap_ok(!strcmp(ask_member(&bench, 97, 1, question), "refused") &&
               !strcmp(ask_member(&bench, 98, 0, question), "refused") &&
               !strcmp(ask_member(&bench, 98, 7, question), "refused"),
           "a number is its agent's: nobody else writes under it");
    tap_ok(strstr(ask_member(&bench, 98, 1, question), "Have = 2") != NULL, "its own is taken");
    tap_ok(strstr(ask_member(&bench, 99, 0, "Ask=\"finish\""), "wait") &&
               !attempts_last(bench.questions.tries, 5)->finished,
           "the end of the first waits for what the others have written");
    tap_ok(strstr(ask_member(&bench, 98, 1, "Ask=\"finish\"; Status=0; Cpu=1.5"), "ok") &&
               strstr(ask_member(&bench, 99, 0, "Ask=\"finish\""), "wait"),
           "for all of them");
    tap_ok(!strstr(ask_member(&bench, 98, 1, question), "\"ok\""), "whoever has finished sends nothing more");
    tap_ok(strstr(ask_member(&bench, 97, 2, "Ask=\"finish\"; Status=3"), "ok") &&
               strstr(ask_member(&bench, 99, 0, "Ask=\"finish\"; Cpu=2.0"), "ok") &&
               attempts_last(bench.questions.tries, 5)->finished,
           "then it is over");
    tap_ok(strstr(ask_member(&bench, 98, 1, "Ask=\"beside\"; Key=\"0000000000000001\""), "refused") != NULL,
           "none of them begins a command beside another, unless the job says so");
    bench.questions.beside = bench_beside;
    tree_unref(bench.ad);
    bench.view.ad = bench.ad = ad_of(&bench, "[ProcessesExec=true]");
    tap_ok(strstr(ask_member(&bench, 98, 1, "Ask=\"beside\"; Key=\"0000000000000001\""), "\"ok\"") &&
               !strcmp(ask_as(&bench, 98, 1, 1, "Ask=\"beside\"; Key=\"0000000000000001\""), "refused"),
           "then it does, with its pass");
    bench.view.state = JOB_DONE;
    tap_ok(strstr(ask_member(&bench, 98, 1, "Ask=\"beside\"; Key=\"0000000000000001\""), "stale") != NULL,
           "while the job runs");
    bench_close(&bench);
    bench_open(&bench);
    good = attempts_last(bench.questions.tries, 5)->members.count == 3;
    tap_ok(good && attempts_last(bench.questions.tries, 5)->members.items[1].cpu == 1.5 &&
               attempts_last(bench.questions.tries, 5)->members.items[2].status == 3,
           "what each of them told is kept over a restart");
    bench_end(&bench);
}

/* Files that go to stores: told after the claim is over, kept over a restart. */
static void check_stored(void)
{
    static const char waits[] = "Ask=\"stored\"; Total=2; Files={[Name=\"r/a\"; State=\"waits\"]}",
                      there[] = "Ask=\"stored\"; Total=2; Files={[Name=\"r/a\"; State=\"stored\"; Store=\"s\"; "
                                "Url=\"http://s/r/a\"]}",
                      none[] = "Ask=\"stored\"; Total=2; Files={[Name=\"b\"; State=\"not made\"]}";
    struct customerd_bench bench;
    struct job_attempt *one;

    bench_start(&bench, "[Cmd=\"x\"; OutputData={[File=\"a\"; Name=\"r/a\"], \"b\"}]");
    tap_ok(says(ask(&bench, "Ask=\"finish\"; Transfers=1000000000"), "ok") &&
               attempts_last(bench.questions.tries, 5)->transfers == 2,
           "the end says how many files go to stores: no more than the job leaves for them");
    bench.view.state = JOB_DONE;
    bench.view.changed = NOW;
    one = attempts_last(bench.questions.tries, 5);
    tap_ok(job_files_due(&bench.view, one, NOW) && !job_files_due(&bench.view, one, NOW + STORED_KEPT),
           "they are waited for, but not for ever");
    tap_ok(!strcmp(ask_as(&bench, 78, 1, 1, there), "refused"), "another agent tells nothing of them");
    tap_ok(says(ask(&bench, waits), "ok") && says(ask(&bench, there), "ok") && bench.news[NEWS_STORED] == 1,
           "the one that had the job does");
    tap_ok(says(ask(&bench, there), "ok") && says(ask(&bench, waits), "ok") && bench.news[NEWS_STORED] == 1,
           "the same again changes nothing, nor does what is older");
    tap_ok(says(ask(&bench, "Ask=\"stored\"; Total=2; Files={[Name=\"../a\"; State=\"stored\"]}"), "invalid"),
           "what is malformed is refused");
    tap_ok(says(ask(&bench, "Ask=\"stored\"; Total=2; Files={[Name=\"evil\"; State=\"stored\"; Store=\"s\"]}"),
                "invalid") &&
               says(ask(&bench, "Ask=\"stored\"; Total=900; Files={}"), "invalid"),
           "nor is it believed of files that the job does not leave for stores");
    bench_close(&bench);
    bench_open(&bench);
    one = attempts_last(bench.questions.tries, 5);
    tap_ok(one && one->transfers == 2 && stored_count(one->stored).stored == 1 && job_files_due(&bench.view, one, NOW),
           "a restart loses nothing of it");
    tap_ok(says(ask(&bench, none), "ok") && !job_files_due(&bench.view, attempts_last(bench.questions.tries, 5), NOW),
           "when it is known of all what became of them, nothing is waited for");
    bench.view.state = JOB_IDLE;
    tap_ok(says(ask(&bench, there), "wait"), "a job that waits again may yet take this result");
    bench_claim(&bench, 2, 1, PROVIDER);
    tap_ok(says(ask(&bench, there), "stale"), "a try that is not the last one has nothing to store");
    bench.view.id = 6;
    tap_ok(says(ask(&bench, there), "ok"), "of a job that is written down already, it is heard");
    bench_end(&bench);
}

static void check_joblog(void)
{
    struct customerd_bench bench;
    struct buf text;
    uint64_t size;

    bench_start(&bench, "[Cmd=\"x\"]");
    buf_init(&text);
    joblog_read(bench.questions.files, 5, 0, 0, NULL, 0, 1000, &text);
    tap_ok(!strcmp(buf_string(&text), "1970-01-01T00:00:00Z submitted\n"),
           "a job to which nothing happened was submitted");
    joblog_add(bench.questions.files, 5, 0, 60, "running on %s", "har\nbour");
    buf_reset(&text);
    size = joblog_read(bench.questions.files, 5, 0, 0, NULL, 31, 1000, &text);
    tap_ok(!strcmp(buf_string(&text), "1970-01-01T00:01:00Z running on har bour\n") && size == 31 + text.len,
           "events are lines, whatever their words are, and can be read on");
    for (int i = 0; i < JOBLOG_MAX / 900; i++)
        joblog_add(bench.questions.files, 5, 0, 60, "%0900d", i);
    buf_reset(&text);
    size = joblog_read(bench.questions.files, 5, 0, 0, NULL, JOBLOG_MAX - 900, 4000, &text);
    tap_ok(size < JOBLOG_MAX + 2000 && strstr(buf_string(&text), "Z the log is full: nothing more is written here\n") &&
               text.text[text.len - 1] == '\n',
           "of more than there is room for the first is kept, and the last line says so");
    buf_done(&text);
    bench_end(&bench);
}

static void check_history(void)
{
    struct customerd_bench bench;
    struct history *history;
    struct history_row row;
    struct err err = {0};
    struct tree *ad;
    bool ordered;

    bench_start(&bench, "[Cmd=\"x\"; State=\"Done\"; Owner=\"alice\"]");
    history = history_new(bench.symbols, bench.shelf, &err);
    for (uint64_t i = 1; i <= 5; i++)
        history_add(history,
                    &(struct history_row){.job = i,
                                          .ended = 1000 + (int64_t)i / 2,
                                          .standing = i == 2 ? STANDING_CANCELLED : STANDING_DONE},
                    bench.ad, &err);
    bench.shelf->kind->commit(bench.shelf, &err);
    for (int round = 0; round < 2; round++) {
        ordered = history_count(history) == 5;
        for (uint64_t i = 5, place = history_newest(history); i; i--, place--)
            ordered = ordered && (place = history_before(history, place, &row)) && row.job == i;
        tap_ok(ordered, "the history has the newest first%s", round ? ", and after a restart" : "");
        tap_ok(history_find(history, 2, &row) && row.standing == STANDING_CANCELLED && !history_find(history, 6, &row),
               "a job is found by its number");
        history_free(history);
        bench_close(&bench);
        bench_open(&bench);
        history = history_new(bench.symbols, bench.shelf, &err);
    }
    ad = history_ad(history, 3);
    buf_reset(&bench.answer);
    represent_ad(&bench.answer, FORM_CLASSAD, ad);
    tap_ok(says(buf_string(&bench.answer), "State = \"Cleared\"") && says(buf_string(&bench.answer), "Cmd = \"x\""),
           "its ad is as it was, but for its state");
    tree_unref(ad);
    history_free(history);
    bench_end(&bench);
}

static void check_ranges(void)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {{"1", true},    {"1-20,31", true}, {"5,1-3", true}, {"", false},   {"0", false},
                {"3-1", false}, {"1,", false},     {",1", false},   {"1-", false}, {"-1", false},
                {"a", false},   {"1 2", false},    {"1--2", false}};
    struct id_ranges ranges;
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (id_ranges_read(rows[i].text, strlen(rows[i].text), &ranges) != rows[i].good) {
            tap_diag("%s", rows[i].text);
            good = false;
        }
    tap_ok(good, "numbers and ranges are told from other texts");
    id_ranges_read("8,2-3,3-5", 9, &ranges);
    tap_ok(id_ranges_next(&ranges, 0) == 2 && id_ranges_next(&ranges, 2) == 3 && id_ranges_next(&ranges, 4) == 5 &&
               id_ranges_next(&ranges, 5) == 8 && id_ranges_next(&ranges, 8) == 0,
           "they are gone through in their order, each number once");
}

/* --------------------------------------------------------------------------------------------------------------- secrets */

/* Does the answer have them, for those keys and that try? */
static bool secrets_are(const struct customerd_bench *bench, const struct box_keys *keys, uint64_t number,
                        const char *bytes)
{
    struct secret_place place = {SECRET_SENT, {5, 1, number}};
    const char *text = bench->answer.len ? strstr(bench->answer.text, "Sealed") : NULL;
    struct secret secret = {0}, other;
    struct buf box, bundle;
    struct err err;
    bool are = false;

    buf_init(&box);
    buf_init(&bundle);
    text = text ? strchr(text, '"') : NULL;
    if (text && base64url_read(&box, text + 1, strcspn(text + 1, "\"")) &&
        secret_box_open(&bundle, keys, &place, box.text, box.len, &err) == 0)
        are = secret_bundle_find(bundle.text, bundle.len, "token", 5, &secret) && secret.len == strlen(bytes) &&
              !memcmp(secret.bytes, bytes, secret.len) &&
              !secret_bundle_find(bundle.text, bundle.len, "word", 4, &other);
    buf_done(&box);
    secret_wipe(&bundle);
    return are;
}

static void check_secrets(void)
{
    char question[128], digits[2 * BOX_KEY_BYTES + 1], ad[128];
    struct customerd_bench bench;
    struct box_keys keys, others;
    struct err err = {0};
    struct buf bundle;
    uint64_t id = 0;

    bench_start(&bench, "[Cmd=\"a\"]");
    bench.questions.secrets = secret_sets_new(bench.shelf, bench.folder, &err);
    buf_init(&bundle);
    secret_bundle_add(&bundle, "token", 5, "hunter2", 7, &err);
    secret_bundle_add(&bundle, "word", 4, "xyz", 3, &err);
    secret_sets_add(bench.questions.secrets, "alice", bundle.text, bundle.len, NOW, &id, &err);
    secret_wipe(&bundle);
    box_keys_draw(&keys);
    box_keys_draw(&others);
    hex_print(keys.open.bytes, BOX_KEY_BYTES, digits);
    snprintf(question, sizeof question, "Ask=\"secrets\"; Key=\"%s\"", digits);
    tap_ok(strstr(ask(&bench, question), "unknown") && bench.news[NEWS_TROUBLE] == 1,
           "a job without secrets has none, and its log says so");
    tree_unref(bench.ad);
    snprintf(ad, sizeof ad, "[Cmd=\"a\"; Secrets={\"token\"}; SecretsId=\"%016llx\"]", (unsigned long long)id);
    bench.view.ad = bench.ad = ad_of(&bench, ad);
    tap_ok(strstr(ask(&bench, question), "ok") && !strstr(bench.answer.text, "hunter2") &&
               secrets_are(&bench, &keys, 1, "hunter2"),
           "who has the claim gets those that the job names, sealed");
    tap_ok(!secrets_are(&bench, &others, 1, "hunter2") && !secrets_are(&bench, &keys, 2, "hunter2"),
           "for its key and that try alone");
    tap_ok(!strcmp(ask_as(&bench, PROVIDER + 1, 1, 1, question), "refused"), "another agent is told nothing");
    tap_ok(strstr(ask_as(&bench, PROVIDER, 1, 7, question), "stale") != NULL, "nor is who asks for another try");
    tap_ok(!strcmp(ask(&bench, "Ask=\"secrets\""), "refused") &&
               !strcmp(ask(&bench, "Ask=\"secrets\"; Key=\"00\""), "refused"),
           "without a key there is no answer");
    tap_ok(strstr(ask(&bench, "Ask=\"secrets\"; "
                              "Key=\"0000000000000000000000000000000000000000000000000000000000000000\""),
                  "unknown") != NULL,
           "nor to a key that is none");
    bench_claim(&bench, 1, 2, PROVIDER);
    tap_ok(strstr(ask(&bench, question), "stale") != NULL, "a try that is over gets none");
    tap_ok(strstr(ask_as(&bench, PROVIDER, 1, 2, question), "ok") && secrets_are(&bench, &keys, 2, "hunter2"),
           "the next one does");
    bench.view.state = JOB_HELD;
    tap_ok(strstr(ask_as(&bench, PROVIDER, 1, 2, question), "stale") != NULL, "and a job that is held does not");
    secret_sets_free(bench.questions.secrets);
    bench_end(&bench);
}

/* ---------------------------------------------------------------------------------------------------------------- ahead */

static void check_ahead(void)
{
    struct customerd_bench bench;
    char hash[HASH_DIGITS + 1], ad[512], question[512];
    struct piece piece = {.offset = 0, .bytes = "hello, world", .len = 12, .size = 12};
    struct err err = {0};
    struct tree *next;
    uint64_t have;

    hash_of("hello, world", 12, hash);
    snprintf(ad, sizeof ad,
             "[Cmd=\"x\"; InputData={\"run7/b\"}; Inputs={[Name=\"in\"; Hash=\"%s\"; Size=12; Mode=420]}]", hash);
    bench_start(&bench, "[Cmd=\"x\"]");
    spool_put(bench.questions.spool, "alice", hash, &piece, &have, &err);
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=7; Length=100; Ahead=true", hash);
    tap_ok(says(ask(&bench, "Ask=\"ahead\""), "unknown") && says(ask(&bench, question), "unknown"),
           "where no job waits for the claim there is nothing to be fetched ahead");
    next = ad_of(&bench, ad);
    bench.next = (struct job_view){.id = 6, .owner = "alice", .ad = next};
    tap_ok(says(ask(&bench, "Ask=\"ahead\""), "Next = 6") && says(buf_string(&bench.answer), "Name = \"in\"") &&
               says(buf_string(&bench.answer), hash) && says(buf_string(&bench.answer), "InputData = { \"run7/b\" }"),
           "while a job runs its machine is told what the claim's next job reads");
    tap_ok(says(ask(&bench, question), "Bytes = \"d29ybGQ\""), "and is given that");
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=7; Length=100", hash);
    tap_ok(says(ask(&bench, question), "unknown"), "which is none of the running job's files");
    hash[0] ^= 1;
    snprintf(question, sizeof question, "Ask=\"fetch\"; Hash=\"%s\"; Offset=7; Length=100; Ahead=true", hash);
    tap_ok(says(ask(&bench, question), "unknown"), "and nothing else");
    tap_ok(!strcmp(ask_as(&bench, PROVIDER + 1, 1, 1, "Ask=\"ahead\""), "refused"),
           "another agent than the one that has the claim is refused");
    bench.next.owner = "bob";
    tap_ok(says(ask(&bench, "Ask=\"ahead\""), "unknown"), "files of another user's job are nobody's business");
    bench.next.owner = "alice";
    bench.view.state = JOB_DONE;
    tap_ok(says(ask(&bench, "Ask=\"ahead\""), "unknown"), "nor is it told when the job has ended");
    tree_unref(next);
    bench_end(&bench);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    check_names();
    check_spool();
    check_garbage();
    check_spool_shares();
    check_spool_last();
    check_spool_files();
    check_store();
    check_iwd();
    check_hostile_unnamed();
    check_hostile_named();
    check_hostile_amounts();
    check_descriptors();
    check_missing();
    check_samples();
    check_checkpoint();
    check_passes();
    check_members();
    check_stored();
    check_joblog();
    check_history();
    check_ranges();
    check_secrets();
    check_ahead();
    return tap_done();
}
