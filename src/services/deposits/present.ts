import type { DepositView } from '../../contract/deposit.ts';
import type { Deposit } from '../../db/entities/index.ts';
import { assetOf, NATIVE_CURRENCY } from '../../domain/assets.ts';
import { isoSeconds, isoSecondsOrNull } from '../../domain/events.ts';
import { centsToJsonNumber, formatUnits, rateToJsonNumber } from '../../domain/money.ts';

/** What {@link presentDeposit} reads of a deposit. */
export const DEPOSIT_FIELDS = [
  ...([
    'id',
    'mode',
    'customerId',
    'network',
    'currency',
    'contractAddress',
    'amountUnits',
    'amountUsdCents',
  ] as const),
  ...([
    'rateUnits',
    'rateSource',
    'rateAt',
    'address',
    'fromAddress',
    'transactionHash',
    'blockNumber',
    'blockHash',
  ] as const),
  ...([
    'requiredConfirmations',
    'status',
    'failureCode',
    'failureReason',
    'sequence',
    'simulated',
    'paymentLinkId',
    'payoutId',
    'settledUnits',
    'settlementFeeUnits',
  ] as const),
  ...(['detectedAt', 'completedAt', 'settledAt'] as const),
] as const;
export type DepositRow = Pick<Deposit, (typeof DEPOSIT_FIELDS)[number]>;

/** Of the payout that settled a deposit. */
export const PAYOUT_FIELDS = ['id', 'destination', 'transactionHash'] as const;
export type PaidBy = { readonly destination: string; readonly transactionHash?: string | null };

/**
 * The names of the deposit's customer, the head of its network as last seen (null: never seen), the token of
 * the link that it pays, and its payout, which only a settled one needs.
 */
export type DepositContext = {
  readonly externalId: string | null;
  readonly email: string | null;
  readonly headNumber: number | null;
  readonly paymentToken?: string | null;
  readonly payout?: PaidBy | null | undefined;
};

/**
 * The deposit as the API and its events show it. Coin amounts are
 * decimal strings; `*_usd` are numbers, null until there is a price.
 */
export function presentDeposit(row: DepositRow, more: DepositContext): DepositView {
  return {
    id: row.id,
    customer_id: row.customerId,
    external_id: more.externalId,
    email: more.email,
    network: row.network,
    currency: row.currency,
    contract_address: row.contractAddress ?? null,
    amount: formatUnits(row.amountUnits, assetOf(row.network, row.currency).decimals),
    amount_raw: row.amountUnits.toString(),
    amount_usd: usd(row.amountUsdCents),
    rate_usd: rateToJsonNumber(row.rateUnits ?? null),
    rate_source: row.rateSource ?? null,
    rate_at: isoSecondsOrNull(row.rateAt),
    address: row.address,
    from_address: row.fromAddress ?? null,
    transaction_hash: row.transactionHash,
    block_number: row.blockNumber,
    block_hash: row.blockHash ?? null,
    confirmations: confirmationsOf(row, more.headNumber),
    required_confirmations: row.requiredConfirmations,
    status: row.status,
    failure_code: row.failureCode ?? null,
    failure_reason: row.failureReason ?? null,
    payment_token: more.paymentToken ?? null,
    settlement: settlementOf(row, more.payout),
    sequence: row.sequence,
    is_live: row.mode === 'live',
    detected_at: isoSeconds(row.detectedAt),
    completed_at: isoSecondsOrNull(row.completedAt),
    settled_at: isoSecondsOrNull(row.settledAt),
  };
}

/** What was paid out for a deposit, and what that cost; null until it is settled. */
function settlementOf(row: DepositRow, payout: PaidBy | null | undefined): DepositView['settlement'] {
  const { network, currency, settledUnits, settlementFeeUnits, settledAt } = row;
  if (settledUnits == null || settlementFeeUnits == null || !payout?.transactionHash || !settledAt)
    return null;
  const feeCurrency = NATIVE_CURRENCY[network];
  return {
    transaction_hash: payout.transactionHash,
    destination: payout.destination,
    amount: formatUnits(settledUnits, assetOf(network, currency).decimals),
    fee_amount: formatUnits(settlementFeeUnits, assetOf(network, feeCurrency).decimals),
    fee_currency: feeCurrency,
    settled_at: isoSeconds(settledAt),
  };
}

/**
 * A deposit whose block was replaced has no confirmations; a simulated
 * one shows what its state promises, because no chain counts for it.
 */
function confirmationsOf(row: DepositRow, headNumber: number | null): number {
  if (row.blockHash === null || row.blockHash === undefined) return 0;
  if (row.simulated) return simulatedConfirmations(row);
  return headNumber === null ? 0 : Math.max(0, headNumber - row.blockNumber);
}

function simulatedConfirmations(row: DepositRow): number {
  if (row.status === 'detected') return 0;
  return row.status === 'confirming' ? 1 : row.requiredConfirmations;
}

function usd(cents: bigint | null | undefined): number | null {
  return cents === null || cents === undefined ? null : centsToJsonNumber(cents);
}
