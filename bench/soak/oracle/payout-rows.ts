// What the gateway's own tables say of payouts, read with plain SQL and none of its code.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Stage } from '../stage.ts';

export type PayoutRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly destination: string;
  readonly state: string;
  readonly fee_units: string | null;
  readonly transaction_hash: string | null;
  /** Milliseconds since 1970 of its first signature. */
  readonly signed_ms: number | null;
};
export type SentRow = {
  readonly network: Network;
  readonly hash: string | null;
  /** Null for what the gateway did not sign. */
  readonly purpose: string | null;
  readonly payout_id: string | null;
  readonly state: string;
  readonly from_address: string;
  readonly to_address: string | null;
  readonly amount_units: string | null;
  readonly nonce: string | null;
  readonly signed: boolean;
  readonly in_block: boolean;
  readonly ok: boolean | null;
  readonly fee_units: string | null;
};

/** Every payout of real money. */
export function readPayouts({ sql }: Pick<Stage, 'sql'>): Promise<PayoutRow[]> {
  return sql(
    `select p.id, p.merchant_id, p.network, p.currency, p.address, p.destination, p.state,
       p.fee_units::text as fee_units, p.transaction_hash,
       (select extract(epoch from min(s.signed_at)) * 1000 from sent_transactions s
         where s.payout_id = p.id and s.purpose = 'payout')::float8 as signed_ms
     from payouts p where not p.simulated`,
  );
}

/** Every transaction that the gateway has asked for, or that a wallet of its sent. */
export function readSent({ sql }: Pick<Stage, 'sql'>): Promise<SentRow[]> {
  return sql(
    `select network, hash, purpose, payout_id, state, from_address, to_address,
       amount_units::text as amount_units, nonce::text as nonce, raw is not null as signed,
       block_hash is not null as in_block, ok, fee_units::text as fee_units
     from sent_transactions`,
  );
}
