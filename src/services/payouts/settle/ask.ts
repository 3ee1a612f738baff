import { addressKeyOf } from '../../../chains/addresses.ts';
import type { Payout } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, run, sql } from '../../../db/sql.ts';
import { NATIVE_CURRENCY } from '../../../domain/assets.ts';
import type { TxDeps } from '../../deps.ts';
import type { GasWallet } from './coins.ts';
import type { Ready } from './outgoing.ts';

const PURPOSE = { pay_out: 'payout', top_up: 'gas', lend: 'delegate', take_back: 'reclaim' } as const;
/** What is taken back of what was lent for a payout. */
type TakenBack = Omit<Extract<Ready, { from: GasWallet }>, 'does'> & { readonly does: 'take_back' };

/**
 * Asks the signer for a transaction, in the transaction that holds the payout locked: the next attempt of its
 * purpose. The signer reads everything again and may refuse it.
 */
export async function ask(em: Em, deps: TxDeps, payout: Payout, ready: Ready | TakenBack): Promise<void> {
  const { id: payoutId, network, address, addressKey, destination } = payout;
  const purpose = PURPOSE[ready.does];
  const way =
    ready.does === 'pay_out'
      ? { from: { address, addressKey }, to: destination, currency: payout.currency }
      : { from: ready.from, to: address, currency: NATIVE_CURRENCY[network] };
  const before = await firstRow(
    em,
    sql<{ attempts: number }>`select coalesce(max(attempt), 0)::int as attempts from sent_transactions
      where payout_id = ${payoutId} and purpose = ${purpose}`,
  );
  const now = deps.now();
  await run(
    em,
    sql`insert into sent_transactions (id, network, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, terms, created_at, updated_at)
      values (${deps.newId()}, ${network}, ${purpose}, ${payoutId}, ${(before?.attempts ?? 0) + 1}, 'asked',
        ${way.from.address}, ${way.from.addressKey}, ${way.to}, ${addressKeyOf(network, way.to)},
        ${way.currency}, ${ready.units.toString()}::numeric, ${JSON.stringify(ready.terms)}::jsonb,
        ${now}, ${now})`,
  );
}
