/* api.h: the handlers of the matchmaker's routes (routes.c). */
#ifndef BERTH_LIVE_MATCHMAKERD_API_H
#define BERTH_LIVE_MATCHMAKERD_API_H

#ifdef __cplusplus
extern "C" {
#endif

struct request;

void api_ready(struct request *request);
void api_metrics(struct request *request);
void api_whoami(struct request *request);
void api_link_create(struct request *request);
void api_session(struct request *request);
void api_signin(struct request *request);
void api_signin_callback(struct request *request);
void api_page(struct request *request);
void api_page_asset(struct request *request);
void api_root(struct request *request);
void api_keys(struct request *request);
void api_join(struct request *request);
void api_ad_get(struct request *request);
void api_ad_put(struct request *request);
void api_ad_delete(struct request *request);
void api_ads_list(struct request *request);
void api_ads_batch(struct request *request);
void api_ad_matches(struct request *request);
void api_ad_why(struct request *request);
void api_machines_list(struct request *request);
void api_machine_get(struct request *request);
void api_machine_forget(struct request *request);
void api_reservations_list(struct request *request);
void api_reservation_get(struct request *request);
void api_match(struct request *request);
void api_eval(struct request *request);
void api_lint(struct request *request);
void api_functions(struct request *request);
void api_overview(struct request *request);
void api_series(struct request *request);
void api_reasons(struct request *request);
void api_names(struct request *request);
void api_watch(struct request *request);
void api_desks_list(struct request *request);
void api_desk(struct request *request);
void api_pull(struct request *request);
void api_policy_get(struct request *request);
void api_policy_put(struct request *request);
void api_policy_try(struct request *request);
void api_matches_list(struct request *request);
void api_claims_list(struct request *request);
void api_claims_report(struct request *request);
void api_ends_post(struct request *request);
void api_ends_get(struct request *request);
void api_users_list(struct request *request);
void api_user_get(struct request *request);
void api_user_put(struct request *request);
void api_user_why(struct request *request);
void api_usage(struct request *request);
void api_audit_list(struct request *request);
void api_user_rights(struct request *request);
void api_user_disable(struct request *request);
void api_user_enable(struct request *request);
void api_shares_get(struct request *request);
void api_shares_put(struct request *request);
void api_groups_list(struct request *request);
void api_limits_list(struct request *request);
void api_agents_list(struct request *request);
void api_agent_get(struct request *request);
void api_agent_put(struct request *request);
void api_agent_policy(struct request *request);
void api_agent_command(struct request *request);
void api_commands_list(struct request *request);
void api_command_get(struct request *request);
void api_command_answer(struct request *request);
void api_status(struct request *request);
void api_events(struct request *request);
void api_relay(struct request *request);
void api_relay_answer(struct request *request);
void api_catalogue_list(struct request *request);
void api_catalogue_get(struct request *request);
void api_catalogue_put(struct request *request);
void api_catalogue_keep(struct request *request);
void api_catalogue_delete(struct request *request);
void api_catalogue_add(struct request *request);
void api_catalogue_drop(struct request *request);
void api_config_section(struct request *request);
void api_config_list(struct request *request);
void api_config_past(struct request *request);
void api_config_revision(struct request *request);
void api_config_back(struct request *request);
void api_config_option(struct request *request);
void api_config_put(struct request *request);
void api_config_put_option(struct request *request);
void api_config_delete(struct request *request);
void api_tokens_list(struct request *request);
void api_token_create(struct request *request);
void api_token_exchange(struct request *request);
void api_token_renew(struct request *request);
void api_token_lend(struct request *request);
void api_token_revoke(struct request *request);
void api_code_create(struct request *request);
void api_keys_rotate(struct request *request);

#ifdef __cplusplus
}
#endif
#endif
