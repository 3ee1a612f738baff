import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveChains, startLiveChains, tronEnv } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { type ExpectedDeposit, expectWhole, isQuiet } from '../../support/whole.ts';

const BLOCK_EVERY_MS = 300;
/** Longer than a watcher is missed: its heartbeat has ten seconds, its locks in the database twenty. */
const FROZEN_MS = 32_000;
const PAID_EVERY_MS = 1_000;

/** A worker that watches Tron gets no time for a while, as on a host that swaps or is moved. */
describe('a worker that is frozen while deposits come in on Tron', function () {
  this.timeout(240_000);
  let chains: LiveChains;
  let live: LiveMoney;
  const children = new Set<GatewayChild>();
  const paid: ExpectedDeposit[] = [];

  before(async () => {
    chains = await startLiveChains({ tron: { blockTimeMs: BLOCK_EVERY_MS } });
    live = chains.live;
    // Only the children work; the gateway of this process is kept for its services.
    await live.gateway.stopWorker();
  });
  after(async () => {
    for (const one of children) await end(one);
    await chains?.stop();
  });

  async function startWorker(): Promise<GatewayChild> {
    const env = { DATABASE_URL: live.databaseUrl, TEMPORAL_ADDRESS: live.temporal.now.address };
    const child = await startGatewayChild({ ...env, DUST_FLOOR: 'none', ...tronEnv(chains.node) }, 'worker');
    children.add(child);
    return child;
  }
  async function end(one: GatewayChild): Promise<void> {
    one.child.resume();
    await one.child.kill();
    children.delete(one);
  }
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  async function watched(): Promise<void> {
    const since = new Date();
    const looked = 'select 1 from chain_cursors where network = ? and polled_at > ?';
    await eventually(
      'a look at the chain',
      async () => (await live.gateway.deps.orm.em.fork().execute(looked, ['tron', since])).length > 0,
      40_000,
    );
  }
  /** Each payment is another amount, in USDT and in the coin in turn. */
  async function pay(): Promise<string> {
    const amountUnits = BigInt(paid.length + 1) * 1_000_000n;
    const currency = paid.length % 2 === 0 ? 'USDT' : 'coin';
    const transactionHash = await chains.tron.pay({ currency, units: amountUnits });
    paid.push({ transactionHash, amountUnits });
    return transactionHash;
  }
  async function payFor(ms: number): Promise<string[]> {
    const until = Date.now() + ms;
    const hashes: string[] = [];
    while (Date.now() < until) {
      hashes.push(await pay());
      await sleep(PAID_EVERY_MS);
    }
    return hashes;
  }
  async function expectAllOnce(): Promise<void> {
    await eventually('the end of every deposit', () => isQuiet(live.gateway.deps, paid), 90_000);
    await expectWhole(live.gateway.deps, live.receiver.requests, paid);
    expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
  }

  it('goes on by itself where it is the only one, and takes nothing twice', async () => {
    const only = await startWorker();
    await watched();
    const before = await payFor(3_000);
    only.child.pause();
    const during = await payFor(FROZEN_MS);
    expect(await live.deposits(during.at(-1))).to.deep.equal([]);
    only.child.resume();
    for (const hash of [...before, ...during]) await live.eventOf('deposit.completed', hash, 90_000);
    await expectAllOnce();
    expect(only.child.running(), 'the same worker').to.equal(true);
    await end(only);
  });

  it('is replaced by another one within 30 s, and does no harm when it comes back', async () => {
    const frozen = await startWorker();
    await watched();
    const other = await startWorker();
    await payFor(3_000);
    frozen.child.pause();
    const sinceMs = Date.now();
    const first = await pay();
    const during = payFor(FROZEN_MS);
    await eventually(
      'a deposit that only the other one can have seen',
      async () => (await live.deposits(first)).length > 0,
      30_000,
    );
    const hashes = await during;
    expect(Date.now() - sinceMs).to.be.at.least(FROZEN_MS);
    await live.eventOf('deposit.completed', first, 60_000);
    frozen.child.resume();
    await payFor(5_000);
    for (const hash of hashes) await live.eventOf('deposit.completed', hash, 90_000);
    await expectAllOnce();
    expect(frozen.child.running(), 'the thawed one lives').to.equal(true);
    await end(other);
    await payFor(3_000);
    await expectAllOnce();
  });
});
