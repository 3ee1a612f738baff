import { LockMode } from '@mikro-orm/postgresql';
import { Refused } from '../../base/errors.ts';
import { SentTransaction } from '../../db/entities/index.ts';
import type { Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';

/** A transaction of one of our wallets that we did not sign, as `deposit stuck` prints it. */
export type ForeignUse = {
  readonly network: Network;
  readonly wallet: string;
  readonly transaction_hash: string;
  readonly since: string;
  readonly reason: string;
  readonly action: string;
};

/** An operator's decision about a transaction that needs none. Nothing was changed. */
export class NotForeign extends Refused {
  override readonly name = 'NotForeign';
}

const LISTED = 1_000;
const UNDECIDED = { state: 'foreign', decidedAt: null } as const;

/** Those that no operator has decided on, oldest first, at most `limit` (1,000). */
export async function listForeign(deps: Deps, limit = LISTED): Promise<ForeignUse[]> {
  const found = await deps.orm.em
    .fork()
    .find(SentTransaction, UNDECIDED, { orderBy: { createdAt: 'asc', id: 'asc' }, limit });
  return found.flatMap(({ network, fromAddress, hash, createdAt }) =>
    hash == null
      ? []
      : {
          network,
          wallet: fromAddress,
          transaction_hash: hash,
          since: isoSeconds(createdAt),
          reason: `transaction ${hash} used wallet ${fromAddress} on ${network}, and this gateway did not sign it: somebody else may have its key`,
          action: `find out who sent it; until then the wallet signs nothing. After a restore of the database run "payout adopt" for it first, which takes up what our own signer signed. Once it is known, run "payout accept --tx ${hash} --network ${network} --by NAME --reason TEXT"`,
        },
  );
}

/** How many of them there are, at most 1,000. */
export async function countForeign(deps: Deps): Promise<number> {
  return (await deps.orm.em.fork().find(SentTransaction, UNDECIDED, { limit: LISTED, fields: ['id'] }))
    .length;
}

export type Acceptance = {
  readonly network: Network;
  readonly hash: string;
  readonly by: string;
  readonly reason: string;
};

/**
 * Writes down that an operator knows who sent a transaction that we did not sign; from then on the wallets
 * that it used sign again. It stays a difference of their balances. Throws {@link NotForeign} where there is
 * none to decide.
 */
export async function acceptForeign(
  deps: Deps,
  { network, hash, by, reason }: Acceptance,
): Promise<{ readonly wallets: readonly string[] }> {
  return await transact(deps, async ({ em }) => {
    const found = await em.find(
      SentTransaction,
      { network, hash, state: 'foreign' },
      { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { fromKey: 'asc' } },
    );
    const [first] = found;
    if (!first)
      throw new NotForeign(
        `no wallet of ours is known to have sent ${hash} on ${network} without this gateway; see "deposit stuck"`,
      );
    const open = found.filter(({ decidedAt }) => !decidedAt);
    if (open.length === 0)
      throw new NotForeign(
        `${first.decidedBy} has accepted ${hash} already (${first.decidedReason}); there is nothing to decide`,
      );
    const now = deps.now();
    for (const row of open)
      Object.assign(row, { decidedAt: now, decidedBy: by, decidedReason: reason, updatedAt: now });
    await em.flush();
    const wallets = open.map(({ fromAddress }) => fromAddress);
    const after = { network, wallets };
    await recordAction(em, deps, { action: 'payout.accept', subject: hash, after, reason });
    return { wallets };
  });
}
