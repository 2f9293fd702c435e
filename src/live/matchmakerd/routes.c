/* routes.c: the routes of the matchmaker. */
#include "live/matchmakerd/matchmakerd_parts.h"

#include "live/http/query.h"
#include "live/http/represent.h"

#include <stdio.h>
#include <string.h>

#define QUERY "constraint select limit cursor"
#define ADS TYPE_CLASSAD " " TYPE_JSON
#define RESOURCES ADS " " TYPE_GRDL_XML " " TYPE_GRDL_JSON
#define TYPE_TEXT "text/plain"
#define TYPE_HTML "text/html"
#define TYPE_FILES "text/javascript text/css image/svg+xml"
#define TYPE_BYTES "application/octet-stream"
#define METRICS_TYPE_ONLY "application/openmetrics-text"

const struct route routes[] = {
    /* ads */
    {"ads.get", HTTP_GET, "/v1/ads/{id}", SCOPE_AD_READ, BODY_NONE, false, "select", "200 304 404", RESOURCES, "An ad.",
     api_ad_get},
    {"ads.put", HTTP_PUT, "/v1/ads/{id}", SCOPE_AD_WRITE, BODY_RESOURCE, false, "kind",
     "200 201 400 403 409 412 413 415", ADS,
     "Puts in or replaces an ad; without a body, under If-Match, only renews it.", api_ad_put},
    {"ads.delete", HTTP_DELETE, "/v1/ads/{id}", SCOPE_AD_WRITE, BODY_NONE, false, "", "204 403 404 409 412", "",
     "Withdraws an ad.", api_ad_delete},
    {"ads.list", HTTP_GET, "/v1/ads", SCOPE_AD_READ, BODY_NONE, false, "kind outcome " QUERY, "200 400", ADS,
     "The ads for which an expression is true (a one-way match).", api_ads_list},
    {"ads.batch", HTTP_POST, "/v1/ads", SCOPE_AD_WRITE, BODY_ADS, true, "", "200 400 412 413 415", ADS,
     "Many ads at once: messages `advertise` and `withdraw`, each answered in its place.", api_ads_batch},
    {"names", HTTP_GET, "/v1/names", SCOPE_AD_READ, BODY_NONE, false, "kind prefix limit", "200 400", ADS,
     "The names of attributes that ads have, the commonest first.", api_names},
    {"ads.matches", HTTP_GET, "/v1/ads/{id}/matches", SCOPE_AD_READ, BODY_NONE, false, "", "200 403 404", ADS,
     "The matches of an ad of one's own.", api_ad_matches},
    {"ads.why", HTTP_GET, "/v1/ads/{id}/why", SCOPE_MATCH, BODY_NONE, false, "", "200 404", TYPE_TEXT " " TYPE_JSON,
     "Why an ad matches nothing, or what it matches.", api_ad_why},
    /* matching */
    {"match", HTTP_POST, "/v1/match", SCOPE_MATCH, BODY_RESOURCE, false, "why kind limit", "200 400 413 415",
     ADS " " TYPE_TEXT, "What an ad would match now; nothing is consumed.", api_match},
    {"eval", HTTP_POST, "/v1/eval", SCOPE_MATCH, BODY_AD, false, "", "200 400 413 415", ADS,
     "An expression where two ads meet, all of them texts; nothing of the pool takes part.", api_eval},
    {"pull", HTTP_POST, "/v1/pull", SCOPE_AD_WRITE, BODY_RESOURCE, false, "id", "200 204 400 403 409 412 413 415 429",
     ADS, "An offer that is not kept asks for a request: it is matched at once, or told when to ask again.", api_pull},
    {"policy.get", HTTP_GET, "/v1/policy", SCOPE_AD_READ, BODY_NONE, false, "", "200 304", ADS,
     "The administrative policy that holds.", api_policy_get},
    {"policy.put", HTTP_PUT, "/v1/policy", SCOPE_CONFIG, BODY_AD, false, "", "200 400 412 413 415", ADS,
     "Applies a policy.", api_policy_put},
    {"policy.try", HTTP_POST, "/v1/policy/try", SCOPE_MATCH, BODY_AD, false, "compare limit", "200 400 413 415", ADS,
     "What a policy would give to whom, with the ads that are there; nothing is consumed.", api_policy_try},
    {"matches.list", HTTP_GET, "/v1/matches", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "The matches of one's own ads; of all, for an administrator.", api_matches_list},
    /* claims and users */
    {"claims.list", HTTP_GET, "/v1/claims", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "Claims that were reported, and those that were matched and are expected.", api_claims_list},
    {"claims.report", HTTP_POST, "/v1/claims", SCOPE_CLAIM, BODY_ADS, false, "", "200 400 412 413 415", ADS,
     "Messages `report`: a claim goes on, or is over.", api_claims_report},
    {"users.list", HTTP_GET, "/v1/users", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "What users have used lately, and their priority.", api_users_list},
    {"users.get", HTTP_GET, "/v1/users/{name}", SCOPE_AD_READ, BODY_NONE, false, "", "200 404", ADS, "A user.",
     api_user_get},
    {"users.put", HTTP_PUT, "/v1/users/{name}", SCOPE_ADMIN, BODY_AD, false, "", "200 400 413 415", ADS,
     "Sets the factor of a user's priority.", api_user_put},
    {"users.why", HTTP_GET, "/v1/users/{name}/why", SCOPE_AD_READ, BODY_NONE, false, "", "200 404", ADS,
     "Why a user's place is what it is, and what would change it.", api_user_why},
    {"shares.get", HTTP_GET, "/v1/shares", SCOPE_AD_READ, BODY_NONE, false, "", "200 304", ADS,
     "The groups, quotas and limits that hold.", api_shares_get},
    {"shares.put", HTTP_PUT, "/v1/shares", SCOPE_CONFIG, BODY_AD, false, "", "200 400 412 413 415", ADS,
     "Applies groups, quotas and limits.", api_shares_put},
    {"groups.list", HTTP_GET, "/v1/groups", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "What groups may have, and what they have in use.", api_groups_list},
    {"limits.list", HTTP_GET, "/v1/limits", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "How many there are of what has a limit, and how many are in use.", api_limits_list},
    /* agents */
    {"agents.list", HTTP_GET, "/v1/agents", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS, "The roster.",
     api_agents_list},
    {"agents.get", HTTP_GET, "/v1/agents/{agent}", SCOPE_AD_READ, BODY_NONE, false, "", "200 404", ADS, "An agent.",
     api_agent_get},
    {"agents.put", HTTP_PUT, "/v1/agents/{agent}", SCOPE_AD_WRITE, BODY_AD, false, "wait", "200 202 400 403 413 415",
     ADS, "What an agent says of itself: where it can be called, its keys, host, process and version.", api_agent_put},
    {"agents.command", HTTP_POST, "/v1/agents/{agent}/commands", SCOPE_AD_WRITE, BODY_AD, false, "",
     "201 400 403 404 409 413 415 429", ADS,
     "Takes a command for an agent of one's own: it waits until the agent has carried it out.", api_agent_command},
    {"commands.list", HTTP_GET, "/v1/commands", SCOPE_AD_READ, BODY_NONE, false, QUERY, "200 400", ADS,
     "Commands that wait for agents, and those that were answered lately.", api_commands_list},
    {"commands.get", HTTP_GET, "/v1/commands/{number}", SCOPE_AD_READ, BODY_NONE, false, "wait", "200 400 404", ADS,
     "A command, at once or when it was answered.", api_command_get},
    {"commands.answer", HTTP_POST, "/v1/commands/{number}", SCOPE_AD_WRITE, BODY_AD, false, "", "204 400 404 413 415",
     "", "What the agent that was commanded answers.", api_command_answer},
    {"desks.list", HTTP_GET, "/v1/desks", SCOPE_JOB_OWN, BODY_NONE, false, QUERY, "200 400", ADS,
     "Customers that can be asked by the matchmaker.", api_desks_list},
    {"desk.get", HTTP_GET, "/v1/desk/{agent}/{path...}", SCOPE_JOB_OWN, BODY_NONE, false,
     QUERY " ids offset wait after", "200 400 404 503 504", ADS " " TYPE_TEXT " " TYPE_BYTES,
     "What a customer says: handed on.", api_desk},
    {"desk.post", HTTP_POST, "/v1/desk/{agent}/{path...}", SCOPE_JOB_OWN, BODY_BYTES, true, "key force",
     "200 201 400 403 404 409 413 415 503 504", ADS, "What a customer is told: handed on.", api_desk},
    {"desk.put", HTTP_PUT, "/v1/desk/{agent}/{path...}", SCOPE_JOB_OWN, BODY_BYTES, false, "offset size",
     "200 201 400 403 404 413 422 503 504", ADS, "A piece of a file for a customer's spool: handed on.", api_desk},
    {"events", HTTP_GET, "/v1/events", SCOPE_AD_WRITE, BODY_NONE, false, "after wait", "200 400 429",
     ADS " " TYPE_EVENTS, "The letters of the agent that asks: a stream of events, or those after a number.",
     api_events},
    {"relay", HTTP_POST, "/v1/relay/{agent}", SCOPE_CLAIM, BODY_BYTES, false, "", "200 404 413 429 503 504", TYPE_BYTES,
     "Carries a message to an agent that cannot be called, and its answer back.", api_relay},
    {"relay.answer", HTTP_POST, "/v1/answers/{number}", SCOPE_CLAIM, BODY_BYTES, false, "", "204 404 413", "",
     "The answer to a message that was carried.", api_relay_answer},
    {"overview", HTTP_GET, "/v1/overview", SCOPE_AD_READ, BODY_NONE, false, "", "200", ADS,
     "The pool at a glance: offers by kind, requests by what became of their last try.", api_overview},
    {"reasons", HTTP_GET, "/v1/reasons", SCOPE_MATCH, BODY_NONE, false, "", "200", ADS,
     "Why the requests that wait are waiting, counted.", api_reasons},
    {"series", HTTP_GET, "/v1/series", SCOPE_AD_READ, BODY_NONE, false, "span", "200 400", ADS,
     "Offers, claims, what waits and matches over time.", api_series},
    {"watch", HTTP_GET, "/v1/watch", SCOPE_AD_READ, BODY_NONE, false, "", "200 429", ADS " " TYPE_EVENTS,
     "The pool as it changes: a stream of events.", api_watch},
    {"status", HTTP_GET, "/v1/status", SCOPE_AD_READ, BODY_NONE, false, "", "200", ADS, "The matchmaker's own ad.",
     api_status},
    /* the catalogue of files */
    {"files.list", HTTP_GET, "/v1/files", SCOPE_AD_READ, BODY_NONE, false, "prefix " QUERY, "200 400", ADS,
     "The files that are known, in the order of their names.", api_catalogue_list},
    {"files.get", HTTP_GET, "/v1/files/{name}", SCOPE_AD_READ, BODY_NONE, false, "", "200 304 404", ADS,
     "A file: its size, its hash and its replicas; '/' in its name is %2F.", api_catalogue_get},
    {"files.put", HTTP_PUT, "/v1/files/{name}", SCOPE_AD_WRITE, BODY_AD, false, "", "200 201 400 403 412 413 415 429",
     ADS, "Enters a file, or puts another entry in its place.", api_catalogue_put},
    {"files.delete", HTTP_DELETE, "/v1/files/{name}", SCOPE_AD_WRITE, BODY_NONE, false, "", "204 403 404 412", "",
     "Forgets a file; its replicas stay where they are.", api_catalogue_delete},
    {"replicas.add", HTTP_POST, "/v1/files/{name}/replicas", SCOPE_AD_WRITE, BODY_AD, false, "",
     "200 201 400 403 409 413 415 429", ADS, "Enters a replica of a file, and the file if it is new.",
     api_catalogue_add},
    {"replicas.delete", HTTP_DELETE, "/v1/files/{name}/replicas", SCOPE_AD_WRITE, BODY_NONE, false, "store",
     "204 400 403 404", "", "Forgets the replica in a store.", api_catalogue_drop},
    /* configuration */
    {"config.get", HTTP_GET, "/v1/config/{section}", SCOPE_AD_READ, BODY_NONE, false, "", "200 304 404", ADS,
     "A section of what the pool has configured.", api_config_section},
    {"config.option", HTTP_GET, "/v1/config/{section}/{option}", SCOPE_AD_READ, BODY_NONE, false, "", "200 304 404",
     ADS, "An option of a section.", api_config_option},
    {"config.put", HTTP_PUT, "/v1/config/{section}", SCOPE_CONFIG, BODY_AD, false, "", "200 201 400 412 413 415", ADS,
     "Writes a section.", api_config_put},
    {"config.put.option", HTTP_PUT, "/v1/config/{section}/{option}", SCOPE_CONFIG, BODY_BYTES, false, "",
     "200 201 400 412 413", ADS, "Writes an option: an expression.", api_config_put_option},
    {"config.delete", HTTP_DELETE, "/v1/config/{section}", SCOPE_CONFIG, BODY_NONE, false, "", "204 404 412", "",
     "Takes a section away.", api_config_delete},
    /* tokens and keys */
    {"tokens.list", HTTP_GET, "/v1/tokens", SCOPE_ADMIN, BODY_NONE, false, QUERY, "200 400", ADS,
     "The tokens that were made.", api_tokens_list},
    {"tokens.create", HTTP_POST, "/v1/tokens", SCOPE_ADMIN, BODY_AD, false, "", "201 400 413 415", ADS,
     "Makes a token.", api_token_create},
    {"tokens.revoke", HTTP_DELETE, "/v1/tokens/{id}", SCOPE_ADMIN, BODY_NONE, false, "", "204 400", "",
     "Revokes a token, and all that were delegated from it.", api_token_revoke},
    {"whoami", HTTP_GET, "/v1/whoami", SCOPE_AD_READ, BODY_NONE, false, "", "200", ADS,
     "Whose token it is, and for what.", api_whoami},
    {"links.create", HTTP_POST, "/v1/links", SCOPE_ADMIN, BODY_NONE, false, "", "201", ADS,
     "A link to the page that is good once, for the rights of who asks for it.", api_link_create},
    {"codes.create", HTTP_POST, "/v1/codes", SCOPE_ADMIN, BODY_NONE, false, "", "201 429", ADS,
     "Makes a code with which a machine joins.", api_code_create},
    {"keys.rotate", HTTP_POST, "/v1/keys", SCOPE_ADMIN, BODY_NONE, false, "", "200", ADS,
     "Rotates the pool's signing keys.", api_keys_rotate},
    /* open to all */
    {"keys", HTTP_GET, "/v1/keys", SCOPE_NONE, BODY_NONE, false, "", "200", ADS,
     "The pool's id, public keys and CA certificate.", api_keys},
    {"join", HTTP_POST, "/v1/join", SCOPE_NONE, BODY_AD, false, "", "200 400 403 413 415", ADS,
     "Redeems a code: a machine joins the pool.", api_join},
    {"session", HTTP_POST, "/v1/session", SCOPE_NONE, BODY_AD, false, "", "201 400 403 413 415", ADS,
     "The code of such a link becomes a token.", api_session},
    {"root", HTTP_GET, "/v1", SCOPE_NONE, BODY_NONE, false, "", "200", ADS, "What this is, and where to go on.",
     api_root},
    {"page", HTTP_GET, "/", SCOPE_NONE, BODY_NONE, false, "", "200 304", TYPE_HTML, "The page for browsers.", api_page},
    {"page.asset", HTTP_GET, "/assets/{name}", SCOPE_NONE, BODY_NONE, false, "", "200 304 404", TYPE_FILES,
     "A file of the page.", api_page_asset},
    {"openapi", HTTP_GET, "/openapi.json", SCOPE_NONE, BODY_NONE, false, "", "200", TYPE_JSON, "This description.",
     api_openapi},
    {"healthz", HTTP_GET, "/healthz", SCOPE_NONE, BODY_NONE, false, "", "200", TYPE_TEXT, "Does the process live?",
     api_health},
    {"readyz", HTTP_GET, "/readyz", SCOPE_NONE, BODY_NONE, false, "", "200 503", TYPE_TEXT, "Does it take requests?",
     api_ready},
    {"metrics", HTTP_GET, "/metrics", SCOPE_AD_READ, BODY_NONE, false, "", "200", METRICS_TYPE_ONLY,
     "Numbers for a monitoring system (OpenMetrics).", api_metrics},
};
const size_t route_count = sizeof routes / sizeof *routes;

const struct parameter parameters[] = {
    {"constraint", "string", "an expression that is true of what is asked for"},
    {"select", "string", "names of the attributes that are wanted, with commas between"},
    {"limit", "integer", "how many, at most"},
    {"cursor", "string", "where to go on: from the link `next` of the answer before"},
    {"id", "string", "the offer that asks: an id of the caller's own, which its tickets name"},
    {"kind", "string", "offers or requests; of an ad that is put, or that would match: offer or request"},
    {"why", "boolean", "explain as well"},
    {"compare", "boolean", "tell only the requests that would get something else than by the policy that holds"},
    {"outcome", "string",
     "of requests: those alone whose last try ended so: waiting, matched, nobody, gave-up or held"},
    {"prefix", "string", "what the names begin with"},
    {"span", "string", "hour, day or month"},
    {"store", "string", "the name of a store"},
    {"ids", "string", "numbers of jobs"},
    {"offset", "integer", "where in the file to begin"},
    {"size", "integer", "how large the whole file is"},
    {"key", "string", "of the submission: with the same one it is not submitted twice"},
    {"force", "boolean", "submit also what nobody could run now"},
    {"after", "string", "the id of the last event that was seen"},
    {"wait", "integer", "seconds to wait for the first event, or for the answer to a command"},
};
const size_t parameter_count = sizeof parameters / sizeof *parameters;

const char *method_name(enum http_method method)
{
    static const char *const words[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"};

    return method < sizeof words / sizeof *words ? words[method] : "other";
}

enum route_result route_find(enum http_method method, const char *raw_path, struct route_match *ret)
{
    bool other = false;

    if (method == HTTP_HEAD)
        method = HTTP_GET;
    ret->allow[0] = '\0';
    for (size_t i = 0; i < route_count; i++) {
        size_t used = strlen(ret->allow);

        if (!path_fits(routes[i].path, raw_path, true, sizeof ret->variables[0], ret->variables[0]))
            continue;
        ret->route = &routes[i];
        if (routes[i].method == method)
            return ROUTE_FOUND;
        other = true;
        snprintf(ret->allow + used, sizeof ret->allow - used, "%s%s%s", used ? ", " : "", method_name(routes[i].method),
                 routes[i].method == HTTP_GET ? ", HEAD" : "");
    }
    return other ? ROUTE_OTHER_METHOD : ROUTE_NOT_THERE;
}
