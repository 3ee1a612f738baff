import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { tronEnv } from '../../dev/support/live-chains.ts';
import { addressOn } from '../../dev/support/live-money.ts';
import { type FreshDatabase, freshDatabase, tempDir, temporal } from '../../dev/support/parts.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import type { Gateway } from '../../src/app/compose.ts';
import { deriveAddresses } from '../../src/chains/addresses.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { composeOver, LIMIT_MS, type Looks, looksInto } from './composed.ts';
import { answer, type Env, gateway, oneObject, type Running, running, sideBySide } from './support.ts';

/** Nobody's. */
const THEIRS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

type DepositRow = Record<'id' | 'status' | 'network' | 'address' | 'amount' | 'transaction_hash', string>;
type Checks = { checks: { name: string; ok: boolean; detail: string }[] };

const BLOCK_EVERY_MS = 250;
const HASH = /^[0-9a-f]{64}$/;
const API_KEY = 'key-of-the-provider-4711';

/** All values in it as text, the bytes of payloads as what they say. */
function legible(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(legible).join('\n');
}

describe('command line: Tron', function () {
  this.timeout(90_000);
  let database: FreshDatabase;
  let node: TronNode;
  let env: Env;
  let local: Gateway;
  let looks: Looks;
  let service: Running;
  let merchantId: string;
  let address: string;

  before(async () => {
    [database, node] = await Promise.all([
      freshDatabase(),
      startTronNode({ solidDistance: 4, blockTimeMs: BLOCK_EVERY_MS }),
    ]);
    env = {
      ...(tronEnv(node) as Env),
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('cli-tron'),
      TEMPORAL_ADDRESS: (await temporal()).address,
      PORT: '0',
      DUST_FLOOR: 'none',
      LOG_LEVEL: 'debug',
      TRON_API_KEY: API_KEY,
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
      SECRETS_KEY: randomBytes(32).toString('hex'),
    };
    await answer(['migrate'], env);
    local = await composeOver(env);
    looks = looksInto(local);
    merchantId = (await answer<{ merchant_id: string }>(['merchant', 'create', '--name', 'Shop'], env))
      .merchant_id;
    address = await newCustomer('first');
    service = await running(['start'], env);
  });

  after(async () => {
    await service?.stop();
    await local?.close();
    await node?.stop();
    await database?.drop();
  });

  async function newCustomer(externalId: string): Promise<string> {
    const names = { externalId, email: null, name: null, metadata: {} };
    return addressOn(await createCustomer(local.deps, { merchantId, mode: 'live', ...names }), 'tron');
  }

  const listed = async (): Promise<DepositRow[]> =>
    (await answer<{ deposits: DepositRow[] }>(['deposit', 'list', '--network', 'tron'], env)).deposits;
  const pay = (to: string, units: bigint) =>
    node.pay({ to: TRON_ADDRESSES.key(to), currency: 'USDT', units });
  /** Pays an address that no customer has yet, and gives it to one once the watcher is past the payment. */
  async function payTooEarly(externalId: string, units: bigint): Promise<{ hash: string; to: string }> {
    const to = deriveAddresses(local.deps.xpubs.live, await looks.nextWalletIndex()).tron;
    const hash = await pay(to, units);
    const number = node.head().header.number + 10;
    await eventually(
      'the second read past it',
      async () => (await looks.readTwiceNumber()) > number,
      LIMIT_MS,
    );
    expect(await newCustomer(externalId)).to.equal(to);
    return { hash, to };
  }
  const blockOf = async (hash: string): Promise<number> => {
    const info = (await node.ask('wallet/gettransactioninfobyid', { value: hash })) as {
      blockNumber: number;
    };
    return Number(info.blockNumber);
  };

  it('lists and shows a deposit as its merchant sees it, and nothing is stuck', async () => {
    const hash = await pay(address, 5_250_000n);
    const found = await eventually(
      'the deposit',
      () => looks.firstRow('select id from deposits where transaction_hash = ?', [hash]),
      LIMIT_MS,
    );
    await looks.inState(found.id, 'completed');
    const expected = { id: found.id, status: 'completed', network: 'tron', address, amount: '5.25' };
    const [row] = await listed();
    expect(row).to.include({ ...expected, transaction_hash: hash });
    const shown = await answer<{ deposit: DepositRow; workflow_id: string }>(
      ['deposit', 'show', found.id],
      env,
    );
    expect(shown.deposit).to.include(expected);
    expect(shown.deposit.transaction_hash).to.match(HASH);
    expect(shown.workflow_id).to.equal(`deposit:tron:${hash}:${address}:USDT`);
    expect(await answer(['deposit', 'stuck'], env)).to.deep.include({ stuck: [] });
  });

  it('is well according to doctor, which tells identity, finality, internal transactions and requests', async () => {
    const { checks } = oneObject<Checks>((await gateway(['doctor', '--json'], env)).stdout);
    const detail = (name: string): string => {
      const check = checks.find((one) => one.name === name);
      expect(check?.ok, `${name}: ${check?.detail}`).to.equal(true);
      return check?.detail ?? '';
    };
    expect(detail('tron')).to.match(
      /^the genesis block is the right one, USDT has 6 decimals, head \d+, finalized \d+$/,
    );
    expect(detail('finality_tron')).to.match(/^the solidified block is [3-6] behind the head$/);
    expect(detail('internal_transfers_tron')).to.match(
      /^127\.0\.0\.1:\d+ showed none in its newest 3 blocks/,
    );
    expect(detail('requests_tron')).to.match(/10,000,000 a day.*every block is read twice/);
    expect(detail('requests_today_tron')).to.match(/^[1-9][\d,]* of 10,000,000 requests sent today \(UTC\)$/);
    const ran = await gateway(['doctor', '--json'], {
      ...env,
      TRON_API_URLS: `http://127.0.0.1:1/${API_KEY}`,
    });
    expect(ran.stderr + ran.stdout).not.to.include(API_KEY);
    const away = oneObject<Checks>(ran.stdout);
    expect(away.checks.find(({ name }) => name === 'tron')).to.include({ ok: false });
  });

  it('has its figures in /metrics and is ready, and the key of its provider is nowhere', async () => {
    const shown = async (path: string): Promise<string> =>
      await (await fetch(`${String(service.ready['ops'])}${path}`)).text();
    const heights = ['scan_height', 'head_height', 'finalized_height', 'verified_height'];
    const counted = [...heights, 'chain_requests_today'].map(
      (figure) => new RegExp(`^gateway_${figure}\\{network="tron"\\} [1-9]\\d*$`, 'm'),
    );
    const metrics = await eventually(
      'the figures of the chain',
      async () => {
        const text = await shown('/metrics');
        return counted.every((line) => line.test(text)) && text;
      },
      LIMIT_MS,
    );
    const ready = await shown('/health/ready');
    for (const figure of ['scan_lag_blocks', 'verified_age_seconds', 'balance_differences'])
      expect(metrics).to.include(`gateway_${figure}{network="tron"} `);
    expect(metrics).to.match(/^gateway_rpc_endpoints\{network="tron",state="\w+"\} 1$/m);
    expect(JSON.parse(ready)).to.include({ ready: true });
    for (const text of [metrics, ready, service.stderr()]) expect(text).not.to.include(API_KEY);
  });

  it('keeps the key that its provider repeats out of the log, the rows and the histories of Temporal', async () => {
    const hash = await pay(address, 6_000_000n);
    await eventually(
      'the deposit',
      () => looks.firstRow('select id from deposits where transaction_hash = ?', [hash]),
      LIMIT_MS,
    );
    node.fault = () => ({ status: 401, body: JSON.stringify({ Error: `ApiKey ${API_KEY} not exists` }) });
    const isReady = async (): Promise<string> =>
      await (await fetch(`${String(service.ready['ops'])}/health/ready`)).text();
    const said = /tron was not read for \d+ s: .*ApiKey \*\*\* not exists/;
    try {
      const told = await eventually(
        'readiness with what the provider says',
        async () => said.test(await isReady()) && (await isReady()),
        LIMIT_MS,
      );
      const actors = [`deposit:tron:${hash}:${address}:USDT`, 'chain:tron'].map((id) =>
        local.link?.client.workflow.getHandle(id),
      );
      const written = [told, service.stderr()];
      for (const actor of actors)
        written.push(legible(await actor?.fetchHistory()), legible((await actor?.describe())?.raw));
      written.push(legible(await looks.firstRow('select * from chain_cursors where network = ?', ['tron'])));
      expect(written.at(-1)).to.include('ApiKey *** not exists');
      for (const text of written) {
        expect(text).to.have.length.above(100);
        expect(text).not.to.include(API_KEY);
      }
    } finally {
      node.fault = undefined;
    }
    await eventually('readiness', async () => (await isReady()).includes('"ready":true'), LIMIT_MS);
  });

  it('finds with rescan what the watcher could not know, once', async () => {
    const { hash, to } = await payTooEarly('rescanned', 7_000_000n);
    const block = await blockOf(hash);
    const range = ['rescan', '--network', 'tron', '--from', `${block - 1}`, '--to', `${block + 1}`];
    expect(await answer(range, env)).to.include({ network: 'tron', blocks: 3, found: 1 });
    expect(await answer(range, env)).to.include({ blocks: 3, found: 0 });
    const [found] = await listed();
    expect(found).to.include({ address: to, amount: '7', transaction_hash: hash });
    await looks.inState(found?.id ?? '', 'completed');
  });

  it('claims a transaction by its hash in either case, once', async () => {
    const { hash, to } = await payTooEarly('claimed', 8_000_000n);
    const claim = ['deposit', 'claim', '--network', 'tron', '--tx', hash.toUpperCase()];
    const { deposits } = await answer<{ deposits: DepositRow[] }>(claim, env);
    expect(deposits).to.have.length(1);
    expect(deposits[0]).to.include({ address: to, amount: '8', transaction_hash: hash });
    await looks.inState(deposits[0]?.id ?? '', 'completed');
    const again = await gateway(claim, env);
    expect([again.code, again.stdout]).to.deep.equal([1, '']);
    expect(again.stderr).to.match(/is recorded already; look at it with "deposit show/);
  });

  it('compares the balances with the ledger, and says when they agree', async () => {
    const ran = await gateway(['reconcile', '--network', 'tron'], env);
    expect(ran.stderr + ran.stdout).to.match(/Every balance agrees with the ledger\.\n$/);
    expect(ran.code).to.equal(0);
  });

  it('refuses every other spelling of an address or hash with exit code 2, and names the option', async () => {
    const key = TRON_ADDRESSES.key(address);
    const typo = address.slice(0, -1) + (address.endsWith('1') ? '2' : '1');
    const spellings = [typo, `41${key}`, `0x41${key}`, `0x${key}`, key, address.toLowerCase(), `${address}1`];
    const claim = ['deposit', 'claim', '--network', 'tron', '--tx', 'ab'.repeat(32), '--amount', '1'];
    const wrong: [string, string[]][] = [
      ...spellings.flatMap((text): [string, string[]][] => [
        ['--address', [...claim, '--by', 'Ann', '--reason', 'x', '--address', text]],
        ['--withdraw-tron', ['merchant', 'set', merchantId, '--withdraw-tron', text]],
      ]),
      ['--tx', ['deposit', 'claim', '--network', 'tron', '--tx', `0x${'ab'.repeat(32)}`]],
      ['--tx', ['deposit', 'claim', '--network', 'tron', '--tx', 'ab'.repeat(31)]],
    ];
    await sideBySide(wrong, async ([option, args]) => {
      const ran = await gateway(args, env);
      expect([ran.code, ran.stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(ran.stderr).to.include(`${option} must be `);
    });
    const set = ['merchant', 'set', merchantId, '--withdraw-tron'];
    expect(await answer([...set, THEIRS], env)).to.include({ withdraw_tron: THEIRS });
    // The double is asked whether it is a contract; ours are none, and are refused all the same.
    for (const wrong of [address, TRON_ADDRESSES.format(node.usdt.key)]) {
      const refused = await gateway([...set, wrong, '--allow-contract'], env);
      expect([refused.code, refused.stdout], wrong).to.deep.equal([1, '']);
    }
    expect((await gateway([...set, TRON_ADDRESSES.format(node.usdt.key)], env)).stderr).to.match(
      /is a contract on tron\. .*--allow-contract/,
    );
    expect(await answer([...set, 'none'], env)).to.include({ withdraw_tron: null });
  });
});
