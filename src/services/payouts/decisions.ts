// Decisions of people about payouts. A decision is a row before anybody acts by it (docs/adr/0026).
import type { AddressKey } from '../../chains/address-key.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { PayoutDecisionKind } from '../../domain/payouts/pause.ts';
import type { TxDeps } from '../deps.ts';

export type DecisionPlace = { readonly network: Network; readonly addressKey: AddressKey };

/** Writes a decision down under the name of whoever acts, which it returns. */
export async function writeDecision(
  em: Em,
  { actor, now }: Pick<TxDeps, 'actor' | 'now'>,
  {
    kind,
    merchantId,
    place,
    reason,
  }: {
    readonly kind: PayoutDecisionKind;
    readonly merchantId: string | null;
    readonly place: DecisionPlace | null;
    readonly reason: string | null;
  },
): Promise<string> {
  const byName =
    actor?.kind === 'operator' ? actor.name : actor?.kind === 'user' ? actor.userId : 'the gateway';
  await run(
    em,
    sql`insert into payout_decisions (kind, merchant_id, network, address_key, by_name, reason, at)
      values (${kind}, ${merchantId}::uuid, ${place?.network ?? null}, ${place?.addressKey ?? null},
        ${byName}, ${reason}, ${now()})`,
  );
  return byName;
}
