/* api_catalogue.c: the catalogue of files: their names, sizes and hashes, and where their replicas lie.
 *
 *     POST /v1/files/run7%2Fa.dat/replicas    [Store = "se1"; Url = "http://..."; Size = 4096; Hash = "sha256:..."]
 *
 * Whoever may write ads may enter files. An entry is changed and removed by its owner, by whoever has entered it, or by an
 * administrator. Replicas are added by these, by agents that the owner has delegated to, and, up to a bound, by machines that were matched with a job of
 * the owner's, as a receipt shows: jobs are sent to where a replica is said to be, and machines fetch from there. Every change is durable before it is
 * answered.
 *
 * A dataset, a name for many files, is an entry as well: [Files = {"run7/a.dat", "run7/b.dat"}].
 *
 * That copies of a file are to be kept is a wish that its owner's customer carries out, with the owner's rights: it comes from the owner's account, or
 * from an administrator.
 *
 * A name belongs to whoever enters it first, except names that are kept: ~alice/run7/a.dat is entered by alice, by whoever acts for her,
 * and by machines that were matched with a job of hers, as a receipt shows; and it is hers whoever has entered it. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "live/http/weak_tag.h"
#include "live/world/runner.h"
#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/protocol/account.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECEIPT_FIELD_MAX 4096 /* bytes */
#define RECEIPT_REPLICAS 8     /* replicas of a file, from which on machines add none by a receipt alone */

/* Places of the words of METRIC_SET_QUESTION and METRIC_SET_CHANGE. */
enum { COUNT_FOUND, COUNT_MISSING, COUNT_LISTED };
enum { COUNT_TAKEN, COUNT_REFUSED };

/* ---------------------------------------------------------------------------------------------------------------- asking */

/* Is a number of copies of the file to be kept, and is it a file of that account? */
static bool is_kept_for(const struct file_entry *entry, const char *account)
{
    return entry->copies && entry->owner && account_same(entry->owner, account);
}

static bool list_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct request *request = collection->request;
    const struct file_book *book = &request_matchmakerd(request)->files;
    const char *prefix = request_query(request, "prefix"), *kept = request_query(request, "kept");

    if (prefix && !scan->from)
        scan->from = file_book_from(book, prefix);
    if (scan->from >= book->count || (prefix && strncmp(book->items[scan->from]->name, prefix, strlen(prefix)) != 0))
        return false;
    if (kept && !is_kept_for(book->items[scan->from], kept)) {
        scan->from++;
        scan->steps -= scan->steps > 0;
        return true;
    }
    return collection_add(collection, file_entry_ad(book->items[scan->from++], request_matchmakerd(request)->symbols));
}

void api_catalogue_list(struct request *request)
{
    metrics_add(request_matchmakerd(request)->metrics, METRIC_FILES_ASKED, COUNT_LISTED, 0, 1);
    collection_tour(request, list_step);
}

/* The file's name in the path; NULL, after a problem was answered, when it cannot be one. */
static const char *name_in_path(struct request *request)
{
    const char *name = request_variable(request, 0);

    if (file_name_is_good(name, strlen(name)))
        return name;
    request_problem(
        request, 400,
        "the name of a file has up to %d bytes: parts with '/' (in a path %%2F) between, none of them empty, "
        "\".\" or \"..\"",
        FILE_NAME_MAX);
    return NULL;
}

/* The entry that the path names; NULL, after a problem was answered, when there is none. */
static struct file_entry *entry_in_path(struct request *request)
{
    struct file_entry *entry = file_book_find(&request_matchmakerd(request)->files, request_variable(request, 0));

    if (!entry)
        request_problem(request, 404, "there is no such file in the catalogue");
    return entry;
}

static bool is_own(const struct request *request, const struct file_entry *entry)
{
    const char *who = request_identity(request);

    if (file_name_is_kept(entry->name)) /* even if somebody else entered it before names were kept */
        return request_administers(request) ||
               (file_name_is_of(entry->name, who) &&
                (account_len(who, strlen(who)) == strlen(who) || (entry->owner && !strcmp(entry->owner, who))));
    return request_administers(request) || (entry->owner && !strcmp(entry->owner, who)) ||
           (entry->by && !strcmp(entry->by, who));
}

/* May the caller, or an administrator, say how many copies are kept of a file of that owner? Its customer makes them. */
static bool may_wish(const struct request *request, const struct file_entry *entry)
{
    return !entry->owner || account_same(entry->owner, request_identity(request)) || request_administers(request);
}

/* What those watch who wait for a change of that file. */
static uint64_t file_mark(const char *name)
{
    uint64_t mark = text_hash(0, name, strlen(name));

    return mark ? mark : 1;
}

/* Where to go on from a file, and what the caller may do to it. */
static void links_print(struct buf *out, const struct request *request, const struct file_entry *entry)
{
    const char *self = exchange_raw_path(request->exchange);

    buf_addf(out, "<%s>; rel=\"self\", </v1/files>; rel=\"collection\"", self);
    if (!(request->caller.scope & SCOPE_AD_WRITE) || !is_own(request, entry))
        return;
    buf_addf(out, ", <%s>; rel=\"edit\"; method=\"PUT\", <%s>; rel=\"remove\"; method=\"DELETE\"", self, self);
    if (entry->files)
        return;
    buf_addf(out, ", <%s/replicas>; rel=\"replica\"; method=\"POST\"", self);
    if (may_wish(request, entry))
        buf_addf(out, ", <%s>; rel=\"keep\"; method=\"PATCH\"", self);
}

/* When the entry was changed, as far as this process knows: what it has read at its start was changed before. */
static int64_t changed_at(const struct request *request, const struct file_entry *entry)
{
    int64_t knows, began = matchmaker_began(request_matchmakerd(request)->matchmaker, &knows);

    return entry->changed ? entry->changed : (runner_wall() - (runner_now() - began)) / SECOND;
}

static void entry_answer(struct request *request, const struct file_entry *entry, const struct tree *ad,
                         const char *etag)
{
    char date[HTTP_DATE_MAX];
    struct http_field fields[3];
    struct buf links;

    http_date(changed_at(request, entry), date);
    buf_init(&links);
    links_print(&links, request, entry);
    fields[0] = (struct http_field){"ETag", etag};
    fields[1] = (struct http_field){"Link", buf_string(&links)};
    fields[2] = (struct http_field){"Last-Modified", date};
    request_ad(request, 200, ad, fields, 3);
    buf_done(&links);
}

void api_catalogue_get(struct request *request)
{
    const struct file_entry *entry = entry_in_path(request);
    struct tree *ad;
    char etag[KEPT_ETAG_MAX];

    metrics_add(request_matchmakerd(request)->metrics, METRIC_FILES_ASKED, entry ? COUNT_FOUND : COUNT_MISSING, 0, 1);
    if (!entry)
        return;
    ad = file_entry_ad(entry, request_matchmakerd(request)->symbols);
    kept_etag(ad, etag);
    if (!resource_waits(request, etag, file_mark(entry->name)) && !answered_unchanged(request, etag))
        entry_answer(request, entry, ad, etag);
    tree_unref(ad);
}

/* --------------------------------------------------------------------------------------------------------------- changes */

/* Answers with a refusal, and writes an audit line; returns false. */
static bool refuse(struct request *request, const struct file_entry *entry, const char *besides)
{
    char why[TOKEN_NAME_MAX + 100];

    snprintf(why, sizeof why, "this file is %s's%s", entry->owner ? entry->owner : "another", besides);
    metrics_add(request_matchmakerd(request)->metrics, METRIC_FILES_CHANGED, COUNT_REFUSED, 0, 1);
    LOG_AUDIT(&request_matchmakerd(request)->log, "refused", log_word("request", request->number),
              log_text("route", request->route->id), log_number("status", 403),
              log_text("subject", request_identity(request)), log_text("name", request_variable(request, 0)),
              log_text("why", why));
    request_problem(request, 403, "%s", why);
    return false;
}

/* May the caller change the entry? False, after a problem was answered, when not. */
static bool own_checked(struct request *request, const struct file_entry *entry)
{
    return is_own(request, entry) || refuse(request, entry, "");
}

/* Does the wish for copies of the entry, if there is one, come from the account whose customer makes them? False, after a problem was answered, when not:
 * who has entered a file may change it, but puts nothing into others' stores by that. */
static bool wish_checked(struct request *request, const struct file_entry *entry, uint32_t copies)
{
    if (!copies || may_wish(request, entry))
        return true;
    return refuse(request, entry, ": its owner says how many copies are kept");
}

static bool match_checked(struct request *request, const struct file_entry *entry)
{
    struct tree *ad = entry ? file_entry_ad(entry, request_matchmakerd(request)->symbols) : NULL;
    char etag[KEPT_ETAG_MAX];
    bool met;

    if (ad)
        kept_etag(ad, etag);
    met = conditions_met(request, ad ? etag : NULL);
    tree_unref(ad);
    return met;
}

/* Is there room for an entry of the caller's, in the place of another one (NULL: it is new)? False, after a problem was answered, when not. */
static bool room_checked(struct request *request, const struct file_entry *entry, const struct file_entry *before)
{
    const struct file_book *book = &request_matchmakerd(request)->files;
    uint64_t most = config_count(&request_matchmakerd(request)->config, CONFIG_FILES_PER_IDENTITY);
    uint32_t weight = file_entry_weight(entry), had = before ? file_entry_weight(before) : 0;

    if (weight <= had || (book->weight + weight - had <= FILES_MAX &&
                          file_book_owned(book, request_identity(request)) + weight - had <= most))
        return true;
    request_problem(request, 429, "FilesPerIdentity: at most %" PRIu64 " files of one identity are in the catalogue",
                    most);
    return false;
}

/* The entry was changed or removed: writes its row, and answers when that is durable. */
static void change_keep(struct request *request, const char *what, unsigned status)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    struct file_entry *entry = file_book_find(&matchmakerd->files, name);
    struct tree *ad = entry && status != 204 ? file_entry_ad(entry, matchmakerd->symbols) : NULL;
    struct err err = {0};

    if (file_book_keep(&matchmakerd->files, matchmakerd->shelf, matchmakerd->symbols, name, &err) < 0) {
        tree_unref(ad);
        request_store_failed(request, err.text);
        return;
    }
    if (entry)
        entry->changed = runner_wall() / SECOND;
    front_mark(request->front, file_mark(name));
    metrics_add(matchmakerd->metrics, METRIC_FILES_CHANGED, COUNT_TAKEN, 0, 1);
    LOG_AUDIT(&matchmakerd->log, "file", log_text("subject", request_identity(request)), log_text("what", what),
              log_text("name", name));
    request_answer_durable(request, status, ad);
}

/* Does the caller show, by a receipt, that it was matched with a job of some user? Then `ret_account` gets that user's account. */
static bool receipt_account(struct request *request, struct text *ret_account)
{
    const char *field = exchange_field(request->exchange, CATALOGUE_RECEIPT), *mark;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct tree *ad = NULL;
    struct receipt receipt;
    struct err err;
    struct buf text;
    bool good;

    buf_init(&text);
    good = field && *field && strlen(field) <= RECEIPT_FIELD_MAX && base64url_read(&text, field, strlen(field)) &&
           wire_parse(matchmakerd->symbols, text.text, text.len, &ad, &err) == 0 &&
           matchmaker_receipt(matchmakerd->matchmaker, &secrets_live, ad, &receipt) &&
           receipt.agent == request_handle(request);
    if (good) {
        mark = strchr(receipt.account.bytes, GROUPS_MARK); /* the account may be the user's in a group */
        mark = mark ? mark + 1 : receipt.account.bytes;
        text_set(ret_account, mark, strlen(mark));
    }
    tree_unref(ad);
    buf_done(&text);
    return good;
}

/* The same, of the user to whom this name belongs. */
static bool receipt_shown(struct request *request, const char *name, struct text *ret_account)
{
    return receipt_account(request, ret_account) && file_name_is_of(name, ret_account->bytes);
}

/* May the caller enter a new file of that name, for that owner? False, after a problem was answered, when not. */
static bool name_checked(struct request *request, struct file_entry *entry)
{
    const char *name = request_variable(request, 0), *who = request_identity(request);
    struct text account = {""};

    if (!file_name_is_kept(name))
        return true;
    if (!request_administers(request) && !file_name_is_of(name, who) && !receipt_shown(request, name, &account))
        return refuse(request, &(struct file_entry){0},
                      ": names that begin with '~' are entered by the user whose they are, and by machines for that "
                      "user's jobs");
    if (!entry->owner && (*account.bytes || file_name_is_of(name, who)))
        entry->owner = *account.bytes ? mem_dup(account.bytes, strlen(account.bytes)) : mem_dup(who, strlen(who));
    if (entry->owner && file_name_is_of(name, entry->owner))
        return true;
    request_problem(request, 403, "Owner: '%s' is a name of another user", name);
    return false;
}

/* Sets the owner of a new entry, and who has entered it. */
static void entry_sign(const struct request *request, struct file_entry *entry)
{
    const char *who = request_identity(request);

    if (!entry->owner)
        entry->owner = mem_dup(who, strlen(who));
    if (!entry->by && strcmp(entry->owner, who) != 0)
        entry->by = mem_dup(who, strlen(who));
}

/* Enters the file. Takes the entry. */
static void entry_enter(struct request *request, struct file_entry *entry, const char *what, unsigned status)
{
    const char *name = request_variable(request, 0);

    if (!entry->name)
        entry->name = mem_dup(name, strlen(name));
    entry_sign(request, entry);
    (void)file_book_put_take(&request_matchmakerd(request)->files, entry);
    change_keep(request, what, status);
}

/* Reads the entry in the body, which must have the name in the path; false after a problem was answered. */
static bool body_read(struct request *request, const char *names,
                      int (*read)(const struct tree *, struct file_entry *, struct err *), struct file_entry *ret)
{
    const char *name = name_in_path(request);
    struct tree *ad = name ? request_body_of(request, names) : NULL;
    struct err err = {0};
    bool good;

    if (!ad)
        return false;
    good = read(ad, ret, &err) == 0;
    tree_unref(ad);
    if (!good) {
        request_problem(request, 400, "%s", err.text);
        return false;
    }
    if (!ret->name || !strcmp(ret->name, name))
        return true;
    request_problem(request, 400, "Name: the path says '%s'", name);
    file_entry_done(ret);
    return false;
}

void api_catalogue_put(struct request *request)
{
    struct file_entry entry = {0};
    const struct file_entry *before;

    if (!body_read(request, "Name Size Hash Replicas Owner Files Copies CopiesAt", file_entry_read, &entry))
        return;
    before = file_book_find(&request_matchmakerd(request)->files, request_variable(request, 0));
    if (before && !entry.owner && before->owner &&
        (!file_name_is_kept(before->name) || file_name_is_of(before->name, before->owner)))
        entry.owner = mem_dup(before->owner, strlen(before->owner));
    if (!match_checked(request, before) || (before && !own_checked(request, before)) ||
        !room_checked(request, &entry, before) || !name_checked(request, &entry) ||
        !wish_checked(request, &entry, entry.copies)) {
        file_entry_done(&entry);
        return;
    }
    if (before && before->by && !entry.by)
        entry.by = mem_dup(before->by, strlen(before->by));
    entry_enter(request, &entry, "put", before ? 200 : 201);
}

void api_catalogue_keep(struct request *request)
{
    struct tree *ad = request_body_of(request, "Copies CopiesAt");
    struct file_entry *entry = ad ? entry_in_path(request) : NULL, wish = {0};
    struct err err = {0};

    if (!entry) {
        tree_unref(ad);
        return;
    }
    if (file_keep_read(ad, &wish, &err) < 0)
        request_problem(request, 400, "%s", err.text);
    else if (!ad_find(ad, "Copies"))
        request_problem(request, 400, "Copies: expected how many stores are to have the file");
    else if (entry->files)
        request_problem(request, 409, "%s is a dataset; copies are kept of files", entry->name);
    else if (own_checked(request, entry) && wish_checked(request, entry, wish.copies) &&
             match_checked(request, entry)) {
        file_keep_take(entry, &wish);
        change_keep(request, "kept", 200);
    }
    file_entry_done(&wish);
    tree_unref(ad);
}

void api_catalogue_delete(struct request *request)
{
    const struct file_entry *entry = entry_in_path(request);

    if (!entry || !own_checked(request, entry) || !match_checked(request, entry))
        return;
    file_book_remove(&request_matchmakerd(request)->files, request_variable(request, 0));
    change_keep(request, "removed", 204);
}

/* -------------------------------------------------------------------------------------------------------------- replicas */

/* Is this a replica of that very file? False, after a problem was answered, when not. */
static bool sameness_checked(struct request *request, const struct file_entry *entry, const struct file_entry *added)
{
    if (entry->files)
        request_problem(request, 409, "%s: the catalogue has a dataset of that name", entry->name);
    else if (entry->size != added->size)
        request_problem(request, 409,
                        "%s: the catalogue has it with the size %" PRId64 ", and this replica has %" PRId64,
                        entry->name, entry->size, added->size);
    else if (strcmp(entry->hash, added->hash) != 0)
        request_problem(request, 409, "%s: the catalogue has it with the hash %s, and this replica has %s", entry->name,
                        entry->hash, added->hash);
    else
        return true;
    return false;
}

/* Is the replica there already? Then nothing changes, whoever says so: a caller that got no answer repeats itself. */
static bool replica_is_there(const struct file_entry *entry, const struct file_replica *added)
{
    int place = file_replica_find(entry, added->store);

    return place >= 0 && !strcmp(entry->replicas[place].url, added->url);
}

/* Has the caller run a job of the owner's, and are there not too many replicas already? The bytes are another matter: who fetches them checks them. */
static bool receipt_serves(struct request *request, const struct file_entry *entry)
{
    struct text account = {""};

    return entry->owner && entry->count < RECEIPT_REPLICAS && receipt_account(request, &account) &&
           !strcmp(entry->owner, account.bytes);
}

/* May the caller add a replica? Only those who may change the whole entry may change a replica that is there. */
static bool addition_checked(struct request *request, const struct file_entry *entry, const struct file_replica *added)
{
    bool entered = file_name_is_kept(entry->name) && entry->by && !strcmp(entry->by, request_identity(request));

    if (is_own(request, entry) ||
        (file_replica_find(entry, added->store) < 0 &&
         (entered || (entry->owner && account_same(entry->owner, request_identity(request))) ||
          receipt_serves(request, entry))))
        return true;
    return refuse(request, entry,
                  ": its replicas are entered by its owner, by who has entered it, and by administrators");
}

/* Adds a replica to an entry that is there. */
static void replica_add(struct request *request, struct file_entry *entry, const struct file_entry *added)
{
    const struct file_replica *replica = &added->replicas[0];
    struct err err = {0};

    if (!sameness_checked(request, entry, added))
        return;
    if (replica_is_there(entry, replica))
        request_answer_durable(request, 200, file_entry_ad(entry, request_matchmakerd(request)->symbols));
    else if (!addition_checked(request, entry, replica))
        return;
    else if (file_book_replica_put(&request_matchmakerd(request)->files, entry, replica->store, replica->url, &err) < 0)
        request_problem(request, 400, "%s", err.text);
    else
        change_keep(request, "replica", 200);
}

void api_catalogue_add(struct request *request)
{
    struct file_entry added = {0}, *entry;

    if (!body_read(request, "Name Store Url Size Hash Owner", file_addition_read, &added))
        return;
    entry = file_book_find(&request_matchmakerd(request)->files, request_variable(request, 0));
    if (entry)
        replica_add(request, entry, &added);
    else if (room_checked(request, &added, NULL) && name_checked(request, &added))
        entry_enter(request, &added, "entered", 201);
    file_entry_done(&added);
}

void api_catalogue_drop(struct request *request)
{
    struct file_entry *entry = entry_in_path(request);
    const char *store = request_query(request, "store");

    if (!entry)
        return;
    if (!store || !*store)
        request_problem(request, 400, "store: expected the name of the store");
    else if (!own_checked(request, entry))
        return;
    else if (!file_book_replica_drop(&request_matchmakerd(request)->files, entry, store))
        request_problem(request, 404, "%s has no replica in that store", entry->name);
    else
        change_keep(request, "replica removed", 204);
}
