import { expect } from 'chai';
import { changed } from '../../../dev/support/faults.ts';
import { bscStage, cursorOf } from './asked.ts';

/**
 * Endpoints that contradict themselves from one call to
 * the next, as a balancer in front of unequal nodes does.
 */
describe('a chain behind a balancer', () => {
  const { live } = bscStage({ longestRestMs: 20 });

  const header = (number: number) =>
    live.chain.anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);

  it('does not go back with a head or a finality that goes back', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 1n]);
    const head = await live.chain.mine(4);
    await live.catchUp();
    const before = await cursorOf(live);
    const [older, olderFinal] = [await header(head - 3), await header(head - 6)];
    live.proxy.fault = (call) => {
      if (call.method !== 'eth_getBlockByNumber') return undefined;
      if (call.params[0] === 'latest') return { json: { jsonrpc: '2.0', id: call.id, result: older } };
      return call.params[0] === 'finalized'
        ? { json: { jsonrpc: '2.0', id: call.id, result: olderFinal } }
        : undefined;
    };
    await live.catchUp();
    const after = await cursorOf(live);
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
    const first = Number((await cursorOf(live))['scanned_number']) + 1;
    for (let i = 0; i < 6; i++) {
      hashes.push(await live.chain.usdt.call('transfer', [address, BigInt(i + 1)]));
      await live.chain.mine();
    }
    // Each question is met by a lagging node twice before it is answered.
    const asked = new Map<string, number>();
    live.proxy.fault = ({ method, params: [what], id }) => {
      const number = Number.parseInt(String(what), 16);
      if (method !== 'eth_getBlockReceipts' && (method !== 'eth_getBlockByNumber' || !(number >= first)))
        return undefined;
      const times = asked.get(`${method} ${what}`) ?? 0;
      asked.set(`${method} ${what}`, times + 1);
      return times < 2 ? { json: { jsonrpc: '2.0', id, result: null } } : undefined;
    };
    // A look that meets the lagging node ends where it stood; the watcher comes again.
    for (let looks = 0; looks < 60 && Number((await cursorOf(live))['scanned_number']) < first + 5; looks++)
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

  it('forgets what only the first read set aside, and keeps what the final block holds', async () => {
    const aside = async (address: string) =>
      await live.rows('select transaction_hash from unrecognised_transfers where address_key = ?', [
        address.slice(2),
      ]);
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
    expect([await aside(second), await aside(first)]).to.deep.equal([[], [{ transaction_hash: real }]]);
  });
});
