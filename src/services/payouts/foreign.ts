import { LockMode } from '@mikro-orm/postgresql';
import { Refused } from '../../base/errors.ts';
import type { Spending } from '../../chains/spending.ts';
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

const AGREEING = 2;
const LISTED = 1_000;
const UNDECIDED = { state: 'foreign', decidedAt: null } as const;

/** Those that no operator has decided on, oldest first, at most 1,000. */
export async function listForeign(deps: Deps): Promise<ForeignUse[]> {
  const found = await deps.orm.em
    .fork()
    .find(SentTransaction, UNDECIDED, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: LISTED });
  return found.flatMap(({ network, fromAddress, hash, createdAt }) =>
    hash == null
      ? []
      : {
          network,
          wallet: fromAddress,
          transaction_hash: hash,
          since: isoSeconds(createdAt),
          reason: `transaction ${hash} used wallet ${fromAddress} on ${network}, and this gateway did not sign it: somebody else may have its key`,
          action: `find out who sent it; until then the wallet signs nothing. After a restore of the database "payout conclude ${fromAddress} --tx ${hash} --journal FILE" takes up what our own signer signed. Where it paid the merchant and no journal knows it, the same without --journal books it. Once it is known, run "payout accept --tx ${hash} --network ${network} --by NAME --reason TEXT"; where no explorer has it, "payout deny" with the same`,
        },
  );
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
    if (!first) throw unknown(network, hash);
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

/**
 * Forgets a transaction that we did not sign, because it is in no block: the endpoint that showed it, or
 * whoever wrote the row, was wrong. Two endpoints have to deny it, where there are two, and none may show it;
 * where there is one, that and the operator's word are enough. What the blocks that were read have lost is in
 * none. Throws {@link NotForeign} otherwise.
 */
export async function denyForeign(
  deps: Deps,
  { spending, signal }: { readonly spending: Spending | undefined; readonly signal: AbortSignal },
  { network, hash, reason }: Omit<Acceptance, 'by'>,
): Promise<{ readonly wallets: readonly string[] }> {
  const which = { network, hash, state: 'foreign' } as const;
  const known = await deps.orm.em.fork().find(SentTransaction, which);
  if (known.length === 0) throw unknown(network, hash);
  requireUnbooked(known);
  const bound = known.find(({ blockHash }) => blockHash != null);
  const block = { number: bound?.blockNumber ?? 0, hash: bound?.blockHash ?? '' };
  if (bound) {
    const { held = [], absent = [], asked = [] } = (await spending?.outcomes(hash, block, signal)) ?? {};
    const isDenied = held.length === 0 && absent.length >= Math.min(AGREEING, Math.max(asked.length, 1));
    if (!isDenied)
      throw new NotForeign(
        `of the RPC endpoints ${asked.join(', ')} block ${block.number} is shown with ${hash} by ${held.length} and denied by ${absent.length}: where an explorer has it, find out who sent it and run "payout accept"; else see that they answer, take the one out that is wrong, and run this again`,
      );
  }
  return await transact(deps, async ({ em }) => {
    const found = await em.find(SentTransaction, which, { lockMode: LockMode.PESSIMISTIC_WRITE });
    requireUnbooked(found);
    if (found.some(({ blockHash }) => blockHash != null && blockHash !== block.hash))
      throw new NotForeign(`another block shows ${hash} by now: run this again`);
    em.remove(found);
    await em.flush();
    const wallets = found.map(({ fromAddress }) => fromAddress);
    await recordAction(em, deps, {
      action: 'payout.deny',
      subject: hash,
      after: { network, wallets },
      reason,
    });
    return { wallets };
  });
}

/** What a payout was concluded by is what its books stand on, whatever has become of its block. */
function requireUnbooked(found: readonly SentTransaction[]): void {
  const { hash, payoutId } = found.find((one) => one.payoutId != null) ?? {};
  if (payoutId != null)
    throw new NotForeign(
      `${hash} has paid payout ${payoutId}, as "payout conclude" booked it: it is not forgotten; see "payout show ${payoutId}"`,
    );
}

const unknown = (network: Network, hash: string): NotForeign =>
  new NotForeign(
    `no wallet of ours is known to have sent ${hash} on ${network} without this gateway; see "deposit stuck"`,
  );
