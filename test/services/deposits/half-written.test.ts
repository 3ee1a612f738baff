import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { Deposit, DepositAddress } from '../../../src/db/entities/index.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import { decideToFail, releaseDeposit } from '../../../src/services/deposits/operator.ts';
import { type IncomingTransfer, recordDeposits } from '../../../src/services/deposits/record.ts';
import { applyTransitions } from '../../../src/services/deposits/transition.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { linkDifferences, lockPayers } from '../../../src/services/payment-links/money.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

type Client = { query(...args: unknown[]): unknown };
const hashOf = (name: string): string => `0x${createHash('sha256').update(name).digest('hex')}`;

/** The database fails at the worst moment: whichever statement it is, all or nothing of a step is there. */
describe('a step of deposits whose statement fails', function () {
  this.timeout(180_000);
  let shop: Shop;
  let customerId: string;
  let address: DepositAddress;
  let sent = 0;
  let failAt = 0;

  before(async () => {
    shop = await startShop({ statementTimeoutMs: 10_000 });
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    const url = 'http://127.0.0.1:1/hooks';
    await createEndpoint(shop.deps, { ...scope, url, events: ['*'], description: null });
    customerId = await shop.customer();
    address = await shop.deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network: 'bsc' });
    const heard = new WeakSet<object>();
    const pool = await shop.deps.orm.em.getConnection().getNativeClient();
    pool.on('acquire', (client: Client) => {
      if (heard.has(client)) return;
      heard.add(client);
      const query = client.query.bind(client);
      client.query = (text, ...rest) => {
        sent += 1;
        return sent === failAt ? query('select 1 / 0') : query(text, ...rest);
      };
    });
  });
  after(() => shop?.stop());

  const incoming = (name: string, coins: string, block: string): IncomingTransfer => ({
    mode: 'live',
    merchantId: shop.merchantId,
    customerId,
    network: 'bsc',
    currency: 'USDT',
    address: address.address,
    addressKey: address.addressKey,
    fromAddress: null,
    transactionHash: hashOf(name),
    amountUnits: parseUnits(coins, 18),
    blockNumber: 7,
    blockHash: hashOf(block),
    minedAt: shop.clock.now,
    headNumber: 7,
    price: { usd8: 100_000_000n, source: 'test', at: shop.clock.now, stale: false },
    simulated: false,
  });

  /** Everything that the database holds, as one text for each table. */
  async function whole(): Promise<Record<string, string>> {
    const tables = await shop.sql<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    );
    const held: Record<string, string> = {};
    for (const { name } of tables) {
      const text = `select count(*) || ' ' || md5(coalesce(string_agg(t::text, ',' order by t::text), ''))
        as held from "${name}" t`;
      held[name] = (await shop.sql<{ held: string }>(text))[0]?.held ?? '';
    }
    return held;
  }

  /** Lets each statement of the step fail in turn, then lets all succeed; returns how many there were. */
  async function everywhere(step: () => Promise<unknown>): Promise<number> {
    const before = await whole();
    for (let place = 1; ; place += 1) {
      sent = 0;
      failAt = place;
      const failed = await step().then(
        () => false,
        (error: Error) => /division by zero/.test(error.message) || Promise.reject(error),
      );
      failAt = 0;
      if (!failed) return place - 1;
      const after = await whole();
      expect(after, `after statement ${place}`).to.deep.equal(before);
    }
  }

  const idOf = async (name: string): Promise<string> =>
    (await shop.deps.orm.em.fork().findOneOrFail(Deposit, { transactionHash: hashOf(name) })).id;
  const records = (...transfers: IncomingTransfer[]) =>
    transact(shop.deps, (tx) => recordDeposits(tx, shop.deps, transfers));
  const moves = (names: readonly string[], to: 'confirming' | 'completed' | 'failed') =>
    transact(shop.deps, async (tx) => {
      await lockPayers(tx.em, [customerId]);
      const steps: { deposit: Deposit; to: typeof to; failureCode: 'REORGED'; headNumber: null }[] = [];
      for (const name of names) {
        const deposit = await tx.em.findOneOrFail(Deposit, await idOf(name));
        if (to === 'failed') deposit.blockHash = null;
        steps.push({ deposit, to, failureCode: 'REORGED', headNumber: null });
      }
      return await applyTransitions(tx, shop.deps, steps);
    });

  it('has written nothing, wherever that was, and is written whole by the next try', async () => {
    const link = await shop.link({ customerId, usd: '12' });
    shop.pass(1);
    const other = await shop.link({ customerId, usd: '30' });
    shop.pass(61);
    const block = [incoming('a', '5', 'one'), incoming('b', '7', 'one'), incoming('c', '3', 'one')];
    const counts: number[] = [];
    counts.push(await everywhere(() => records(...block)));
    counts.push(await everywhere(() => moves(['a', 'b'], 'confirming')));
    counts.push(await everywhere(() => moves(['c'], 'failed')));
    const again = [incoming('d', '1', 'two'), incoming('c', '4', 'two'), incoming('a', '6', 'two')];
    counts.push(await everywhere(() => records(...again)));
    counts.push(await everywhere(() => moves(['a', 'b'], 'completed')));
    expect((await shop.row(link.id)).status).to.equal('completed');
    expect(await shop.completions(link.id)).to.have.length(1);
    const decision = async (name: string) => ({ depositId: await idOf(name), by: 'somebody', reason: 'so' });
    const toFail = await decision('d');
    await decideToFail(shop.deps, toFail);
    counts.push(await everywhere(() => records(incoming('d', '2', 'three'))));
    await shop.scanned('bsc', shop.clock.now);
    await shop.sql('update chain_cursors set reread_number = 9, anchored_number = 9');
    await shop.sql('update deposits set verified_at = ? where id = ?', [shop.clock.now, toFail.depositId]);
    counts.push(await everywhere(() => releaseDeposit(shop.deps, toFail)));
    expect(await shop.linkOf(toFail.depositId)).to.equal(other.id);
    expect((await auditLedger(shop.deps)).differences).to.deep.equal([]);
    const em = shop.deps.orm.em.fork();
    const start = { afterId: '00000000-0000-0000-0000-000000000000', limit: 100 };
    expect((await linkDifferences(em, start)).differences).to.deep.equal([]);
    for (const count of counts) expect(count).to.be.greaterThan(3);
    if (process.env['SHOW']) console.log(counts);
  });

  it('has moved nobody where one of them may not go there', async () => {
    await records(incoming('e', '2', 'four'), incoming('f', '2', 'four'));
    await moves(['f'], 'confirming');
    const before = await whole();
    const refused = await moves(['e', 'f'], 'confirming').catch((error: Error) => error.name);
    expect(refused).to.equal('IllegalTransition');
    expect(await whole()).to.deep.equal(before);
  });
});
