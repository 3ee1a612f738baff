import { expect } from 'chai';
import { changed } from '../../../dev/support/faults.ts';
import { type Row, startTestWatcher, type TestWatcher } from './test-watcher.ts';

/** Finality 32 blocks below the head, so that reorgs of up to that depth are honest. */
const FINAL_BEHIND = 32;

/**
 * Blocks that are replaced, down to finality. While an outage is caught up
 * with, and between two lives of the watcher: `either.test.ts`.
 */
describe('following a chain that replaces many blocks', function () {
  this.timeout(90_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher({ slotsInAnEpoch: FINAL_BEHIND / 2 });
    await live.chain.usdt.call('transfer', [live.chain.accounts[3], 1_000n]);
    await live.chain.mine(FINAL_BEHIND + 3);
    await live.newAddress();
    await live.catchUp();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
  });

  const cursor = async (): Promise<Row> => (await live.rows('select * from chain_cursors'))[0] ?? {};
  const rowOf = async (hash: string): Promise<Row> =>
    (await live.rows('select * from deposits where transaction_hash = ?', [hash]))[0] ?? {};
  const rawOf = async (hash: string) =>
    String(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
  const headHash = async () =>
    ((await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { hash: string }).hash;
  /** Every kept block is in the chain now, and each links to the one before. */
  async function expectOnChain(): Promise<void> {
    expect((await cursor())['scanned_hash']).to.equal(await headHash());
    const kept = await live.rows(
      'select number, hash, parent_hash from chain_blocks order by number desc limit 60',
    );
    for (const [index, { parent_hash: parent }] of kept.slice(0, -1).entries())
      expect(parent).to.equal(kept[index + 1]?.['hash']);
  }
  /**
   * `from` another account where the payment shall be lost alone:
   * a lost one holds up all that its sender sent after it.
   */
  const pay = async (units: bigint, from = live.chain.accounts[0] ?? '') => {
    const address = await live.newAddress();
    return { address, hash: await live.chain.usdt.call('transfer', [address, units], { from }) };
  };

  it('unbinds what a reorg down to finality took, binds what came back elsewhere, and keeps what lies below', async () => {
    const below = await pay(1n);
    await live.chain.mine(3);
    const gone = await pay(2n, live.chain.accounts[3]);
    await live.chain.mine(10);
    const moved = await pay(3n);
    await live.chain.mine(FINAL_BEHIND - 14);
    await live.catchUp();
    const raw = await rawOf(moved.hash);
    const before = await rowOf(moved.hash);
    const held = await rowOf(below.hash);
    await live.chain.reorg(FINAL_BEHIND - 3);
    await live.catchUp();
    expect(await rowOf(gone.hash)).to.include({ block_hash: null, status: 'detected' });
    expect(await rowOf(moved.hash)).to.include({ block_hash: null, status: 'detected' });
    expect((await rowOf(below.hash))['block_hash'], 'its block was not replaced').to.equal(
      held['block_hash'],
    );
    await expectOnChain();
    await live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await live.finish();
    const after = await rowOf(moved.hash);
    expect(after['block_hash']).to.be.a('string').and.not.equal(before['block_hash']);
    expect(after['verified_at']).to.not.equal(null);
    expect(await rowOf(gone.hash)).to.include({ block_hash: null });
    await expectOnChain();
  });

  const aside = async (address: string) =>
    await live.rows(
      'select transaction_hash from unrecognised_transfers where address_key = ? order by amount_units',
      [address.slice(2)],
    );

  it('forgets what only the first read showed, and keeps what the final block holds', async () => {
    const [first, second] = [await live.newAddress('test'), await live.newAddress('test')];
    const real = await live.chain.usdt.call('transfer', [first, 7n]);
    await live.chain.mine(1);
    live.proxy.fault = changed('eth_getBlockReceipts', (receipts: { logs: { topics: string[] }[] }[]) =>
      receipts.map((receipt) => ({
        ...receipt,
        logs: [
          ...receipt.logs,
          ...receipt.logs.map((log, at) => ({
            ...log,
            logIndex: `0x3e${at}`,
            topics: [log.topics[0], log.topics[1], `0x${second.slice(2).padStart(64, '0')}`],
          })),
        ],
      })),
    );
    await live.catchUp();
    expect(await aside(second), 'an invented transfer is set aside at first').to.deep.equal([
      { transaction_hash: real },
    ]);
    live.proxy.fault = undefined;
    await live.finish();
    expect(await aside(second)).to.deep.equal([]);
    expect(await aside(first)).to.deep.equal([{ transaction_hash: real }]);
  });
});

/**
 * Endpoints that contradict themselves from one call to
 * the next, as a balancer in front of unequal nodes does.
 */
describe('following a chain through a balancer', function () {
  this.timeout(60_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher();
    await live.catchUp();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
  });
  const cursor = async (): Promise<Row> => (await live.rows('select * from chain_cursors'))[0] ?? {};
  const header = (number: number) =>
    live.chain.anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);

  it('does not go back with a head or a finality that goes back', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 1n]);
    const head = await live.chain.mine(4);
    await live.catchUp();
    const before = await cursor();
    const [older, olderFinal] = [await header(head - 3), await header(head - 6)];
    live.proxy.fault = (call) => {
      if (call.method !== 'eth_getBlockByNumber') return undefined;
      if (call.params[0] === 'latest') return { json: { jsonrpc: '2.0', id: call.id, result: older } };
      return call.params[0] === 'finalized'
        ? { json: { jsonrpc: '2.0', id: call.id, result: olderFinal } }
        : undefined;
    };
    await live.catchUp();
    const after = await cursor();
    for (const name of [
      'scanned_number',
      'scanned_hash',
      'verified_number',
      'finalized_number',
      'head_number',
    ])
      expect(after[name], name).to.equal(before[name]);
    expect((await live.deposits(address))[0]?.['block_hash']).to.be.a('string');
  });

  it('skips no block that the node behind it does not have yet, nor one without its receipts', async () => {
    const address = await live.newAddress();
    const hashes: string[] = [];
    const first = Number((await cursor())['scanned_number']) + 1;
    for (let i = 0; i < 6; i++) {
      hashes.push(await live.chain.usdt.call('transfer', [address, BigInt(i + 1)]));
      await live.chain.mine();
    }
    let asked = 0;
    live.proxy.fault = (call) => {
      const number = Number.parseInt(String(call.params[0]), 16);
      const lags =
        call.method === 'eth_getBlockReceipts' || (call.method === 'eth_getBlockByNumber' && number >= first);
      asked += lags ? 1 : 0;
      return lags && asked % 3 === 1 ? { json: { jsonrpc: '2.0', id: call.id, result: null } } : undefined;
    };
    // A look that meets the lagging node ends where it stood; the watcher comes again.
    for (let looks = 0; looks < 60 && Number((await cursor())['scanned_number']) < first + 5; looks++)
      await live.catchUp().catch(() => undefined);
    live.proxy.fault = undefined;
    await live.finish();
    expect((await live.deposits(address)).map((row) => row['transaction_hash'])).to.deep.equal(hashes);
    expect(
      (await live.rows('select number from chain_blocks order by number')).map((row) =>
        Number(row['number']),
      ),
    ).to.satisfy((numbers: number[]) =>
      numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1),
    );
  });

  it('never completes a deposit whose transaction the final block’s own receipts do not hold', async () => {
    const address = await live.newAddress();
    const hash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.chain.mine();
    await live.catchUp();
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: hash });
    await live.chain.reorg(1);
    // The final block is another one; whoever only looked at heights would complete the deposit now.
    await live.finish();
    const [row] = await live.deposits(address);
    expect(row).to.include({ block_hash: null, verified_at: null });
    expect(row?.['status']).to.not.equal('completed');
  });
});
