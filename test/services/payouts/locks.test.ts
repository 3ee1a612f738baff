import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Transfer } from '../../../src/chains/reader.ts';
import { type PayableWorld, startPayableWorld } from './payable-world.ts';

describe('a payout and the watcher, who lock the same deposits,', function () {
  this.timeout(60_000);
  let world: PayableWorld;
  let payoutId: string;
  let transfers: Transfer[];
  let lowest: string;
  beforeEach(async () => {
    world = await startPayableWorld();
    transfers = [];
    // Ids follow no order: one of the later deposits has a lower id than the first.
    let ids: string[] = [];
    for (let i = 0; i < 2 || ids[0] === ids.toSorted()[0]; i += 1) {
      transfers.push(world.transfer({ to: world.address, units: 40n }));
      world.chain.mine(transfers.slice(-1));
      await world.poll();
      ids = await world.depositIds();
    }
    lowest = ids.toSorted()[0] ?? '';
    await world.finish();
    payoutId = (await world.planOne()).id;
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
  for (const isReadAgain of [false, true])
    it(`never wait in a circle where it ${isReadAgain ? 'reads them once more' : 'goes back'}`, async () => {
      world.chain.replace(transfers.length + 3);
      if (isReadAgain) {
        await world.poll();
        world.chain.mine(transfers);
      }
      await atOnce(world.poll, () => world.cancelled(payoutId));
      const wrong = `block_hash is ${isReadAgain ? '' : 'not '}null or payout_id is not null`;
      expect(await world.rows(`select 1 from deposits where ${wrong}`)).to.be.empty;
    });
});
