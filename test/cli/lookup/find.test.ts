import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startTestChain, type TestChain, USDT_UNIT } from '../../../dev/support/chain.ts';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import type { Gateway } from '../../../src/app/compose.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { pay } from '../../support/payment-shop.ts';
import { composeOver } from '../composed.ts';
import { answer, type Env, gateway, oneObject } from '../support.ts';

type Answer = {
  found: { kind: string; id: string; links: Record<string, string | null> }[];
  read: { network: string; scanned: number }[];
  chains: {
    network: string;
    outcome: string;
    says: string;
    action: string;
    moves: { ours: string | null }[];
  }[];
};

/** "The customer says he paid, here is the hash", without a gateway that runs: commands over its stores. */
describe('command line: a hash that nobody knows', function () {
  this.timeout(90_000);
  let database: FreshDatabase;
  let chain: TestChain;
  let env: Env;
  let local: Gateway;
  let merchantId: string;
  let customer: { id: string; bsc: string };

  before(async () => {
    [database, chain] = await Promise.all([migratedDatabase(), startTestChain()]);
    const stores = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('cli-find'),
      TEMPORAL_UI_URL: 'http://temporal.example:8233',
      PUBLIC_URL: 'https://pay.example.com',
      BSC_RPC_URLS: chain.url,
      BSC_USDT_CONTRACT: chain.usdt.address,
      LOG_LEVEL: 'silent',
      SECRETS_KEY: randomBytes(32).toString('hex'),
    };
    local = await composeOver(stores);
    env = { ...stores, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    merchantId = (await createMerchant(local.deps, { name: 'Shop', subscriptionActive: true })).merchantId;
    customer = await newCustomer('live');
    await cursor(0, 0);
  });
  after(async () => {
    await local?.close();
    await chain?.stop();
    await database?.drop();
  });

  async function newCustomer(mode: 'live' | 'test') {
    const names = { externalId: `${mode}-1`, email: `${mode}@example.com`, name: null, metadata: {} };
    const made = await createCustomer(local.deps, { merchantId, mode, ...names });
    return { id: made.id, bsc: made.addresses.find(({ network }) => network === 'bsc')?.address ?? '' };
  }
  /** The chain as a watcher would have read it. */
  async function cursor(scanned: number, finalized: number): Promise<void> {
    await local.deps.orm.em.fork().execute(
      `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number, anchored_number,
        head_number, finalized_number, moved_at, finalized_moved_at, polled_at, version, created_at)
       values ('bsc', 1, ?, '0x1', 0, 0, ?, ?, now(), now(), now(), 1, now())
       on conflict (network) do update set scanned_number = excluded.scanned_number,
         head_number = excluded.head_number, finalized_number = excluded.finalized_number`,
      [scanned, scanned, finalized],
    );
  }
  /** What the chain says; exit code 1 says that no row has it. */
  async function ask(hash: string) {
    const ran = await gateway(['find', hash, '--json'], env);
    expect(ran.code).to.equal(1);
    const { chains, read } = oneObject<Answer>(ran.stdout);
    return { bsc: chains.find(({ network }) => network === 'bsc'), chains, read };
  }
  /** The same for a person, as one line. */
  async function lines(hash: string): Promise<string> {
    const ran = await gateway(['find', hash], env);
    expect([ran.code, ran.stdout.slice(0, 12)]).to.deep.equal([1, 'Nobody knows']);
    return ran.stdout.replaceAll(/\s+/g, ' ');
  }

  it('is told to be on its way, to be read next, or to be read again, with the very command', async () => {
    const hash = await chain.usdt.call('transfer', [customer.bsc, 5n * USDT_UNIT]);
    expect((await ask(hash)).bsc).to.include({ outcome: 'waits' });
    const block = await chain.mine();
    const next = await ask(hash.slice(2).toUpperCase());
    expect(next.bsc?.says).to.match(/pays an address of ours; blocks are read up to 0/);
    expect(next.bsc?.moves[0]?.ours).to.equal(`the bsc address of customer ${customer.id} (live)`);
    expect(next.read).to.have.length(1);
    await cursor(block + 5, block);
    const missed = await ask(hash);
    expect(missed.bsc?.says).to.match(/its block was read, and no deposit is recorded/);
    const text = await lines(hash);
    expect(text).to.include(
      `bsc is read from block 1 to ${block + 5}; its head is ${block + 5}, final is ${block}`,
    );
    expect(text).to.match(/5(\.0)? USDT to 0x/);
    expect(text).to.include(`rescan --network bsc --from ${block} --to ${block}`);
  });

  it('is told to have failed, to be elsewhere, to be a test address, and to be of no token of ours', async () => {
    const tester = await newCustomer('test');
    const poor = chain.accounts[5] ?? '';
    const [failed, elsewhere, tested, token] = [
      await chain.send({
        from: poor,
        to: chain.usdt.address,
        data: chain.usdt.data('transfer', [customer.bsc, 1n]),
      }),
      await chain.send({ to: chain.accounts[3] ?? '', valueUnits: 7n }),
      await chain.send({ to: tester.bsc, valueUnits: 7n }),
      await chain.send({ to: customer.bsc, valueUnits: 0n }),
    ];
    await chain.mine();
    expect((await ask(failed)).bsc?.says).to.match(/failed: it moved nothing/);
    expect((await ask(elsewhere)).bsc?.says).to.match(/pays none of our addresses/);
    expect((await ask(tested)).bsc?.says).to.match(/address of test mode/);
    expect((await ask(token)).bsc?.says).to.match(/pays none of our addresses/);
  });

  it('is told where was looked and what to do where no chain has it either', async () => {
    const { bsc, chains } = await ask(`0x${'7'.repeat(64)}`);
    const text = await lines(`0x${'7'.repeat(64)}`);
    expect(bsc).to.include({ outcome: 'unknown' });
    expect(chains.find(({ network }) => network === 'tron')).to.include({ outcome: 'off' });
    expect(text).to.match(/Looked among the deposits of both modes, payouts/);
    expect(text).to.match(/→ set TRON_API_URLS here/);
    expect(text).to.include(`https://bscscan.com/tx/0x${'7'.repeat(64)}`);
    const away = await gateway(['find', `0x${'7'.repeat(64)}`, '--json'], {
      ...env,
      BSC_RPC_URLS: 'http://127.0.0.1:9/SECRET',
    });
    const [said] = oneObject<Answer>(away.stdout).chains;
    expect(said).to.include({ outcome: 'no_answer', action: 'see "doctor", and ask again' });
    expect(away.stdout + away.stderr).to.not.include('SECRET');
  });

  it('shows of what is known the links, and the same reason as "deposit show", which takes the hash too', async () => {
    const hash = `0x${randomBytes(32).toString('hex')}`;
    const id = await pay(local.deps, customer.id, { coins: '3', state: 'detected', hash });
    const { found } = await answer<Answer>(['find', hash], env);
    expect(found).to.have.length(1);
    expect(found[0]?.links).to.deep.equal({
      temporal: `http://temporal.example:8233/namespaces/default/workflows/${encodeURIComponent(`deposit:bsc:${hash}:${customer.bsc}:USDT`)}`,
      dashboard: `https://pay.example.com/dashboard/deposits/${id}`,
      explorer: `https://bscscan.com/tx/${hash}`,
    });
    const text = await gateway(['find', hash], env);
    const shown = await gateway(['deposit', 'show', hash.slice(2)], env);
    const reason = shown.stdout.split('\n')[0] ?? '';
    expect(reason).to.match(/^0 of \d+ confirmations/);
    // Behind it may stand for how many seconds, which are two commands apart.
    expect(text.stdout).to.include(`\n${reason.slice(0, 20)}`);
    expect(shown.stdout.split('\n\n')[0]).to.match(/\n→ /);
    expect(shown.stdout).to.include(`https://bscscan.com/tx/${hash}\n`);
    // Nobody hides a customer by taking its id for the external id of another.
    const names = { externalId: customer.id, email: null, name: null, metadata: {} };
    await createCustomer(local.deps, { merchantId, mode: 'live', ...names });
    const { found: both } = await answer<Answer>(['find', customer.id], env);
    const [own, ...others] = both.filter((one) => 'deposits' in one);
    expect([own?.id, others]).to.deep.equal([customer.id, []]);
  });
});
