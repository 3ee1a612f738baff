import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Transfer } from '../../../src/chains/reader.ts';
import type { Deposit } from '../../../src/db/entities/index.ts';
import { cancelPayout, planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { DESTINATION } from '../../support/payout-rows.ts';
import { startWorld, type World } from '../ledger/support.ts';

describe('a payout and the watcher, who lock the same deposits,', function () {
  this.timeout(60_000);
  let world: World;
  let payoutId: string;
  let transfers: Transfer[];
  let lowest: string;
  beforeEach(async () => {
    world = await startWorld();
    transfers = [];
    const to = await world.newAddress();
    // Ids follow no order: one of the later deposits has a lower id than the first.
    let ids: string[] = [];
    for (let i = 0; i < 2 || ids[0] === ids.toSorted()[0]; i += 1) {
      transfers.push(world.transfer({ to, units: 40n }));
      world.chain.mine(transfers.slice(-1));
      await world.poll();
      ids = await world.depositIds();
    }
    lowest = ids.toSorted()[0] ?? '';
    for (let i = 0; i < 3; i++) world.chain.mine();
    world.chain.final = world.chain.blocks.length - 1;
    await world.poll();
    await world.advance();
    const place = { network: 'bsc', currency: 'USDT', destination: DESTINATION } as const;
    const addressKey = to.slice(2) as Deposit['addressKey'];
    const made = await transact(world.deps, (tx) => planPayout(tx.em, world.deps, { ...place, addressKey }));
    payoutId = made?.id ?? expect.fail('nothing to pay out');
  });
  afterEach(() => world?.stop());

  /** Lets both begin while one deposit is locked by somebody else, the second behind the first. */
  async function atOnce(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
    const other = world.deps.orm.em.fork();
    await other.begin();
    await other.execute('select 1 from deposits where id = ? for update', [lowest]);
    const both: Promise<unknown>[] = [];
    for (const work of [first, second]) {
      both.push(work());
      await eventually(`${both.length} wait for the deposit`, async () => {
        const waiting = await world.rows(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length === both.length;
      });
    }
    await other.rollback();
    for (const one of await Promise.allSettled(both))
      expect(one.status === 'rejected' ? String(one.reason) : '', 'neither is given up').to.equal('');
  }
  const cancel = () =>
    transact(world.deps, (tx) => cancelPayout(tx.em, world.deps, payoutId, 'the destination changed'));

  it('never wait in a circle where the watcher goes back', async () => {
    world.chain.replace(transfers.length + 3);
    await atOnce(world.poll, cancel);
    expect(await world.rows('select 1 from deposits where block_hash is not null or payout_id is not null'))
      .to.be.empty;
  });

  it('never wait in a circle where it reads them once more', async () => {
    world.chain.replace(transfers.length + 3);
    await world.poll();
    world.chain.mine(transfers);
    await atOnce(world.poll, cancel);
    expect(await world.rows('select 1 from deposits where block_hash is null or payout_id is not null')).to.be
      .empty;
  });
});
