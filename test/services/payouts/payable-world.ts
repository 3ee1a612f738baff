// The scripted chain with one customer's address: what is paid there, and payouts of it, from plan to end.
import { expect } from 'chai';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { Payout } from '../../../src/db/entities/index.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { failPayout, settlePayout } from '../../../src/services/payouts/finish.ts';
import { cancelPayout, planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { DESTINATION } from '../../support/payout-rows.ts';
import { startWorld } from '../ledger/support.ts';

export type PayableWorld = Awaited<ReturnType<typeof startPayableWorld>>;

/** `paidOutOn`: where actors are told of what may be paid out. */
export async function startPayableWorld(paidOutOn: readonly Network[] = []) {
  const world = await startWorld(paidOutOn);
  const { deps, chain } = world;
  const address = await world.newAddress();
  /** All so far is as far as the chain permits. */
  const finish = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) chain.mine();
    chain.final = chain.blocks.length - 1;
    await world.poll();
    await world.advance();
  };
  const plan = async (currency: Currency = 'USDT', at = address) => {
    const place = { network: 'bsc', addressKey: at.slice(2) as AddressKey, currency } as const;
    return await transact(deps, (tx) => planPayout(tx.em, deps, { ...place, destination: DESTINATION }));
  };
  return {
    ...world,
    address,
    finish,
    plan,
    planOne: async (currency?: Currency, at?: string): Promise<Payout> =>
      (await plan(currency, at)) ?? expect.fail('nothing to pay out'),
    /** Tokens in one block after the other, which are completed then. */
    async pay(units: readonly bigint[], to = address): Promise<void> {
      for (const one of units) chain.mine([world.transfer({ to, units: one })]);
      await finish();
    },
    settled: (payoutId: string) =>
      transact(deps, (tx) => settlePayout(tx, deps, { payoutId, headNumber: null })),
    failed: (payoutId: string) =>
      transact(deps, (tx) => failPayout(tx.em, deps, { payoutId, reason: 'it ran out of gas' })),
    cancelled: (payoutId: string) =>
      transact(deps, (tx) => cancelPayout(tx.em, deps, payoutId, 'the destination changed')),
  };
}
