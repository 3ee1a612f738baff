import { Deposit, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { amountAt, depositIdAt, type Place } from './place.ts';

/** Who decided and why, if a person did. */
export type Decider = { readonly by: string; readonly reason: string };

/**
 * How much a transaction brought in all, and how much of it was recorded before. By the block
 * `foundNumber`, `arrivedUnits` had come to the address; both are null if no balance was asked.
 */
export type Carried = {
  readonly beforeUnits: bigint;
  readonly carriedUnits: bigint;
  readonly foundNumber: number | null;
  readonly arrivedUnits: bigint | null;
};

type Reason = Carried & {
  readonly place: Place;
  readonly txHash: string;
  readonly basis: DepositAttribution['basis'];
  readonly decider: Decider | undefined;
};

/**
 * Keeps the reason in an audit row. The deposit then counts as read twice, because its amount
 * is not decided by a read. Money on a test-mode address has no deposit, and gets no row.
 */
export async function keepReason(
  em: Em,
  deps: Deps,
  { place, txHash, basis, decider, ...facts }: Reason,
): Promise<void> {
  const deposit = await em.findOne(Deposit, depositIdAt(place, txHash), { refresh: true });
  if (!deposit || deposit.amountUnits !== facts.carriedUnits) return;
  deposit.verifiedAt ??= deps.now();
  const number = (await em.count(DepositAttribution, { depositId: deposit.id })) + 1;
  em.create(DepositAttribution, {
    depositId: deposit.id,
    number,
    ...place,
    basis,
    ...facts,
    byName: decider?.by ?? null,
    reason: decider?.reason ?? null,
    at: deps.now(),
  });
  await em.flush();
  const { merchantId, mode, id: subject } = deposit;
  const [before, after] = [facts.beforeUnits, facts.carriedUnits].map((units) => ({
    amount: amountAt(place, units),
  }));
  const kept = {
    action: 'deposit.claim',
    merchantId,
    mode,
    subject,
    before,
    after,
    reason: decider?.reason,
  } as const;
  await recordAction(em, deps, kept);
}
