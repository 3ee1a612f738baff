import { Migration20261121000000_initial } from './Migration20261121000000_initial.ts';
import { Migration20261121000001_balances } from './Migration20261121000001_balances.ts';
import { Migration20261121000002_payment_links } from './Migration20261121000002_payment_links.ts';
import { Migration20261121000003_users } from './Migration20261121000003_users.ts';
import { Migration20261121000004_limits } from './Migration20261121000004_limits.ts';
import { Migration20261121000005_idempotency } from './Migration20261121000005_idempotency.ts';
import { Migration20261121000006_balance_totals } from './Migration20261121000006_balance_totals.ts';
import { Migration20261121000007_row_counts } from './Migration20261121000007_row_counts.ts';
import { Migration20261121000010_webhook_slots } from './Migration20261121000010_webhook_slots.ts';
import { Migration20261121000011_unrecognised_by_block } from './Migration20261121000011_unrecognised_by_block.ts';
import { Migration20261121000012_finality_is_a_hash } from './Migration20261121000012_finality_is_a_hash.ts';
import { Migration20261121000013_posting_count } from './Migration20261121000013_posting_count.ts';
import { Migration20261121000014_attributions } from './Migration20261121000014_attributions.ts';
import { Migration20261121000016_alarms } from './Migration20261121000016_alarms.ts';
import { Migration20261121000017_alarm_indexes } from './Migration20261121000017_alarm_indexes.ts';
import { Migration20261121000018_link_sums } from './Migration20261121000018_link_sums.ts';
import { Migration20261121000019_offered_networks } from './Migration20261121000019_offered_networks.ts';
import { Migration20261121000020_partitions } from './Migration20261121000020_partitions.ts';
import { Migration20261121000025_unrecognised } from './Migration20261121000025_unrecognised.ts';
import { Migration20261121000026_balanced_statements } from './Migration20261121000026_balanced_statements.ts';
import { Migration20261121000027_outbox_indexes } from './Migration20261121000027_outbox_indexes.ts';
import { Migration20261121000028_due_deliveries } from './Migration20261121000028_due_deliveries.ts';
import { Migration20261121000029_search } from './Migration20261121000029_search.ts';
import { Migration20261121000030_months_by_owner } from './Migration20261121000030_months_by_owner.ts';
import { Migration20261122000033_operator_actions } from './Migration20261122000033_operator_actions.ts';
import { Migration20261122000034_key_scopes } from './Migration20261122000034_key_scopes.ts';
import { Migration20261122000035_password_links } from './Migration20261122000035_password_links.ts';
import { Migration20261122000038_test_mode_apart } from './Migration20261122000038_test_mode_apart.ts';
import { Migration20261122000039_quotas } from './Migration20261122000039_quotas.ts';
import { Migration20261122000040_erasure } from './Migration20261122000040_erasure.ts';
import { Migration20261122000043_decisions } from './Migration20261122000043_decisions.ts';
import { Migration20261122000045_unwell_endpoints } from './Migration20261122000045_unwell_endpoints.ts';
import { Migration20261122000046_search_text } from './Migration20261122000046_search_text.ts';
import { Migration20261122000047_filters } from './Migration20261122000047_filters.ts';
import { Migration20261123000050_withdraw_addresses } from './Migration20261123000050_withdraw_addresses.ts';
import { Migration20261123000051_chain_identity } from './Migration20261123000051_chain_identity.ts';
import { Migration20261124000053_sent } from './Migration20261124000053_sent.ts';
import { Migration20261124000054_balances_ahead } from './Migration20261124000054_balances_ahead.ts';
import { Migration20261124000055_payouts } from './Migration20261124000055_payouts.ts';
import { Migration20261124000056_signer } from './Migration20261124000056_signer.ts';
import { Migration20261124000057_settlement_waits } from './Migration20261124000057_settlement_waits.ts';
import { Migration20261125000058_payout_decisions } from './Migration20261125000058_payout_decisions.ts';
import { Migration20261125000059_lending } from './Migration20261125000059_lending.ts';
import { Migration20261125000060_signed_in } from './Migration20261125000060_signed_in.ts';
import { Migration20261125000061_withdraw_changes } from './Migration20261125000061_withdraw_changes.ts';
import { Migration20261125000062_reads } from './Migration20261125000062_reads.ts';
import { Migration20261125000063_shown_secrets } from './Migration20261125000063_shown_secrets.ts';
import { Migration20261125000064_former_tokens } from './Migration20261125000064_former_tokens.ts';
import { Migration20261126000065_link_events } from './Migration20261126000065_link_events.ts';
import { Migration20261126000067_exact_filters } from './Migration20261126000067_exact_filters.ts';
import { Migration20261126000068_address_pages } from './Migration20261126000068_address_pages.ts';
import { Migration20261126000069_look_up } from './Migration20261126000069_look_up.ts';
import { Migration20261126000070_restores } from './Migration20261126000070_restores.ts';
import { Migration20261126000071_notices } from './Migration20261126000071_notices.ts';
import { Migration20261127000072_late_payments } from './Migration20261127000072_late_payments.ts';
import { Migration20261128000090_links_of_failed_deposits } from './Migration20261128000090_links_of_failed_deposits.ts';
import { Migration20261128000091_key_actions } from './Migration20261128000091_key_actions.ts';
import { Migration20261128000092_page_tokens } from './Migration20261128000092_page_tokens.ts';
import { Migration20261128000093_replacements } from './Migration20261128000093_replacements.ts';
import { Migration20261128000094_concluded_payouts } from './Migration20261128000094_concluded_payouts.ts';
import { Migration20261128000095_proof } from './Migration20261128000095_proof.ts';
import { Migration20261128000096_sealed_acts } from './Migration20261128000096_sealed_acts.ts';
import { Migration20261128000098_signed_in_once } from './Migration20261128000098_signed_in_once.ts';

/** Every migration in order. A released one is never edited: a change is a new class at the end. */
export const MIGRATIONS = [
  { name: 'Migration20261121000000_initial', class: Migration20261121000000_initial },
  { name: 'Migration20261121000001_balances', class: Migration20261121000001_balances },
  { name: 'Migration20261121000002_payment_links', class: Migration20261121000002_payment_links },
  { name: 'Migration20261121000003_users', class: Migration20261121000003_users },
  { name: 'Migration20261121000004_limits', class: Migration20261121000004_limits },
  { name: 'Migration20261121000005_idempotency', class: Migration20261121000005_idempotency },
  { name: 'Migration20261121000006_balance_totals', class: Migration20261121000006_balance_totals },
  { name: 'Migration20261121000007_row_counts', class: Migration20261121000007_row_counts },
  { name: 'Migration20261121000010_webhook_slots', class: Migration20261121000010_webhook_slots },
  {
    name: 'Migration20261121000011_unrecognised_by_block',
    class: Migration20261121000011_unrecognised_by_block,
  },
  { name: 'Migration20261121000012_finality_is_a_hash', class: Migration20261121000012_finality_is_a_hash },
  { name: 'Migration20261121000013_posting_count', class: Migration20261121000013_posting_count },
  { name: 'Migration20261121000014_attributions', class: Migration20261121000014_attributions },
  { name: 'Migration20261121000016_alarms', class: Migration20261121000016_alarms },
  { name: 'Migration20261121000017_alarm_indexes', class: Migration20261121000017_alarm_indexes },
  { name: 'Migration20261121000018_link_sums', class: Migration20261121000018_link_sums },
  { name: 'Migration20261121000019_offered_networks', class: Migration20261121000019_offered_networks },
  { name: 'Migration20261121000020_partitions', class: Migration20261121000020_partitions },
  { name: 'Migration20261121000025_unrecognised', class: Migration20261121000025_unrecognised },
  { name: 'Migration20261121000026_balanced_statements', class: Migration20261121000026_balanced_statements },
  { name: 'Migration20261121000027_outbox_indexes', class: Migration20261121000027_outbox_indexes },
  { name: 'Migration20261121000028_due_deliveries', class: Migration20261121000028_due_deliveries },
  { name: 'Migration20261121000029_search', class: Migration20261121000029_search },
  { name: 'Migration20261121000030_months_by_owner', class: Migration20261121000030_months_by_owner },
  { name: 'Migration20261122000033_operator_actions', class: Migration20261122000033_operator_actions },
  { name: 'Migration20261122000034_key_scopes', class: Migration20261122000034_key_scopes },
  { name: 'Migration20261122000035_password_links', class: Migration20261122000035_password_links },
  { name: 'Migration20261122000038_test_mode_apart', class: Migration20261122000038_test_mode_apart },
  { name: 'Migration20261122000039_quotas', class: Migration20261122000039_quotas },
  { name: 'Migration20261122000040_erasure', class: Migration20261122000040_erasure },
  { name: 'Migration20261122000043_decisions', class: Migration20261122000043_decisions },
  { name: 'Migration20261122000045_unwell_endpoints', class: Migration20261122000045_unwell_endpoints },
  { name: 'Migration20261122000046_search_text', class: Migration20261122000046_search_text },
  { name: 'Migration20261122000047_filters', class: Migration20261122000047_filters },
  { name: 'Migration20261123000050_withdraw_addresses', class: Migration20261123000050_withdraw_addresses },
  { name: 'Migration20261123000051_chain_identity', class: Migration20261123000051_chain_identity },
  { name: 'Migration20261124000053_sent', class: Migration20261124000053_sent },
  { name: 'Migration20261124000054_balances_ahead', class: Migration20261124000054_balances_ahead },
  { name: 'Migration20261124000055_payouts', class: Migration20261124000055_payouts },
  { name: 'Migration20261124000056_signer', class: Migration20261124000056_signer },
  { name: 'Migration20261124000057_settlement_waits', class: Migration20261124000057_settlement_waits },
  { name: 'Migration20261125000058_payout_decisions', class: Migration20261125000058_payout_decisions },
  { name: 'Migration20261125000059_lending', class: Migration20261125000059_lending },
  { name: 'Migration20261125000060_signed_in', class: Migration20261125000060_signed_in },
  { name: 'Migration20261125000061_withdraw_changes', class: Migration20261125000061_withdraw_changes },
  { name: 'Migration20261125000062_reads', class: Migration20261125000062_reads },
  { name: 'Migration20261125000063_shown_secrets', class: Migration20261125000063_shown_secrets },
  { name: 'Migration20261125000064_former_tokens', class: Migration20261125000064_former_tokens },
  { name: 'Migration20261126000065_link_events', class: Migration20261126000065_link_events },
  { name: 'Migration20261126000067_exact_filters', class: Migration20261126000067_exact_filters },
  { name: 'Migration20261126000068_address_pages', class: Migration20261126000068_address_pages },
  { name: 'Migration20261126000069_look_up', class: Migration20261126000069_look_up },
  { name: 'Migration20261126000070_restores', class: Migration20261126000070_restores },
  { name: 'Migration20261126000071_notices', class: Migration20261126000071_notices },
  { name: 'Migration20261127000072_late_payments', class: Migration20261127000072_late_payments },
  {
    name: 'Migration20261128000090_links_of_failed_deposits',
    class: Migration20261128000090_links_of_failed_deposits,
  },
  { name: 'Migration20261128000091_key_actions', class: Migration20261128000091_key_actions },
  { name: 'Migration20261128000092_page_tokens', class: Migration20261128000092_page_tokens },
  { name: 'Migration20261128000093_replacements', class: Migration20261128000093_replacements },
  {
    name: 'Migration20261128000094_concluded_payouts',
    class: Migration20261128000094_concluded_payouts,
  },
  { name: 'Migration20261128000095_proof', class: Migration20261128000095_proof },
  { name: 'Migration20261128000096_sealed_acts', class: Migration20261128000096_sealed_acts },
  { name: 'Migration20261128000098_signed_in_once', class: Migration20261128000098_signed_in_once },
];
