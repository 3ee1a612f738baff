// Decisions of people about payouts. A decision is a row before anybody acts by it (docs/adr/0013).
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
    resumed,
  }: {
    readonly kind: PayoutDecisionKind;
    readonly merchantId: string | null;
    readonly place: DecisionPlace | null;
    readonly reason: string | null;
    /** Of what lets payouts go on: when, and the seal by which the signer knows who said so. */
    readonly resumed?: { readonly at: Date; readonly seal: Buffer };
  },
): Promise<string> {
  const byName =
    actor?.kind === 'operator' ? actor.name : actor?.kind === 'user' ? actor.userId : 'the gateway';
  // A restore pauses payouts in the database of an older version, which knows no seals of decisions.
  const [column, seal] = resumed ? [sql`, seal`, sql`, ${resumed.seal}`] : [sql``, sql``];
  await run(
    em,
    sql`insert into payout_decisions (kind, merchant_id, network, address_key, by_name, reason, at${column})
      values (${kind}, ${merchantId}::uuid, ${place?.network ?? null}, ${place?.addressKey ?? null},
        ${byName}, ${reason}, ${resumed?.at ?? now()}${seal})`,
  );
  // The signer notes it at once: from then on nobody takes a pause back who has no key.
  if (kind !== 'retry') await run(em, sql`select pg_notify('signer', '')`);
  return byName;
}
