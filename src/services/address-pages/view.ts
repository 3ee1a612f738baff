import type { DepositView } from '../../contract/deposit.ts';
import type { Currency, Network } from '../../domain/assets.ts';

/** A currency that an address takes; `minimum` in coins, null where no amount is too small. */
export type TakenCurrency = { readonly currency: Currency; readonly minimum: string | null };

/** An address of the customer on a network that is watched. */
export type AddressWay = {
  readonly network: Network;
  readonly address: string;
  /** What a wallet opens; it holds the address and no amount. */
  readonly address_uri: string;
  readonly contract_address: string;
  readonly currencies: readonly TakenCurrency[];
  readonly required_confirmations: number;
};

/** A deposit as its payer sees it. */
export type ShownDeposit = Pick<
  DepositView,
  | 'transaction_hash'
  | 'network'
  | 'currency'
  | 'amount'
  | 'confirmations'
  | 'status'
  | 'failure_code'
  | 'detected_at'
>;

/**
 * What a customer's page shows to whoever has its token: the addresses and what came of them, the shop's
 * name, and nothing else of the customer or the merchant.
 */
export type AddressPageView = {
  readonly token: string;
  readonly merchant: { readonly name: string };
  readonly is_live: boolean;
  readonly server_time: string;
  readonly methods: readonly AddressWay[];
  /** Newest first, at most {@link MAX_DEPOSITS_SHOWN}. */
  readonly deposits: readonly ShownDeposit[];
  /** There are older ones, which are not in the view. */
  readonly more_deposits: boolean;
};

/** Of a customer who deposits every hour the newest; the merchant's own lists have all. */
export const MAX_DEPOSITS_SHOWN = 50;
