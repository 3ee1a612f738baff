// Who bounds the text of each column of limited length.

/** Columns whose text has a form of its own: words of the code's tables, hashes, addresses, ids and dates. */
const OF_ONE_FORM =
  /^(mode|network|currency|account|basis|status|amount_status|kind|type|event_type|list|month|day|position|method|prefix|last4)$/;
const FORMS =
  /(^|_)(hash|address|destination|address_key|from_key|to_key|token|state|network|currency|bsc|tron|hint)$/;
const CODES = [
  'chain_blocks.fingerprint',
  'chain_cursors.identity',
  'deposits.failure_code',
  'deposit_transitions.failure_code',
  'loop_runs.name',
  'users.password_hash',
  'api_keys.hash',
  'operator_actions.action',
  'quotas.quota',
  'sent_transactions.purpose',
  'signer_state.name',
  'signer_state.sealed_code',
  'settlement_waits.code',
  'notices.severity',
  'withdraw_changes.outcome',
];
/** A door (a schema of the API, an option of the command line, the configuration) refuses what is longer. */
const REFUSED_AT_A_DOOR = [
  'merchants.name',
  'api_keys.label',
  'customers.external_id',
  'customers.email',
  'customers.name',
  'users.email',
  'webhook_endpoints.url',
  'webhook_endpoints.description',
  'idempotency_answers.key',
  'payment_links.url',
  'payment_links.description',
  'payment_links.external_id',
  'payment_links.success_url',
  'payment_links.cancel_url',
  'payment_links.webhook_url',
  'deposit_attributions.by_name',
  'deposit_attributions.reason',
  'deposit_decisions.by_name',
  'deposit_decisions.reason',
  'payout_decisions.by_name',
  'payout_decisions.reason',
  'deposit_transitions.by_name',
  'partition_months.detached_by',
  'partition_months.detached_reason',
  'operator_actions.by_name',
  'sent_transactions.decided_by',
  'sent_transactions.decided_reason',
  'operator_actions.reason',
  'restores.by_name',
  'restores.reason',
];
/** Sentences of the code and of people: each is bounded where it is made, the composed ones by a test. */
const SENTENCES = [
  'deposits.failure_reason',
  'deposit_transitions.reason',
  'payouts.reason',
  'webhook_endpoints.disabled_reason',
  'withdraw_changes.reason',
];
/** Made of parts, each of which has a bound. */
const COMPOSED = [
  'outbox.workflow_id',
  'idempotency_answers.path',
  'rate_limits.id',
  'login_budgets.key',
  'user_sites.site',
  'sessions.site',
  'api_keys.last_used_site',
  'withdraw_changes.asked_from',
  'operator_actions.subject',
];
/** What others said, cut where it is written. */
const CUT = [
  'chain_cursors.fault',
  'balance_rounds.fault',
  'balance_differences.reason',
  'settlement_waits.reason',
  'unrecognised_transfers.reason',
  'loop_runs.last_error',
  'notices.key',
  'notices.reason',
  'notices.action',
  'notices.last_error',
  'operator_actions.origin',
  'outbox.last_error',
  'deposits.rate_source',
  'sent_transactions.refused',
  'signer_state.sealed_reason',
  'webhook_attempts.error',
  'webhook_attempts.response_body',
];

/** Each column that is named by itself, as `table.column`; a new one is put into the list of its reason. */
export const NAMED: readonly string[] = [...CODES, ...REFUSED_AT_A_DOOR, ...SENTENCES, ...COMPOSED, ...CUT];

/** Whether the name of a column says that its texts have a form of their own. */
export function hasForm(column: string): boolean {
  return OF_ONE_FORM.test(column) || FORMS.test(column);
}
