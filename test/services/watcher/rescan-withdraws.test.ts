import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { advancedTo, bscStage, readAgain } from './asked.ts';
import { lying, together } from './lies.ts';
import type { Row } from './test-watcher.ts';

const away: Fault = () => ({ status: 503, body: '' });

/**
 * A repeated read is a chance to find what was missed. What two reads
 * have shown it takes back only where two endpoints do not have it.
 */
describe('a repeated read that does not show a deposit which was verified', () => {
  const { live } = bscStage({ others: 1 });
  const second = () => live.others[0] ?? live.proxy;

  const rowsOf = async (addresses: readonly string[]): Promise<Row[]> =>
    (await Promise.all(addresses.map((address) => live.deposits(address)))).flat();
  const kept = () =>
    live.api.lines.filter((line) => line.text.startsWith('a repeated read does not show a deposit')).length;

  /** USDT and BNB in one block that was read twice, and an endpoint that shows neither. */
  async function verified() {
    const [usdt, bnb] = [await live.newAddress(), await live.newAddress()];
    await live.chain.usdt.call('transfer', [usdt, 40n]);
    await live.chain.send({ to: bnb, valueUnits: 40n });
    const number = await live.chain.mine();
    await live.finish();
    const rows = await rowsOf([usdt, bnb]);
    expect(rows.map((row) => [row['currency'], row['verified_at'] !== null])).to.deep.equal([
      ['USDT', true],
      ['BNB', true],
    ]);
    const hiding = together([lying(usdt, { logs: () => [] }), lying(bnb, { value: () => 0n })]);
    return { addresses: [usdt, bnb], number, rows, hiding };
  }

  it('withdraws nothing on the word of one of two, and says so', async () => {
    const { addresses, number, rows, hiding } = await verified();
    const before = kept();
    live.proxy.fault = hiding;
    await readAgain(live, number);
    expect(await rowsOf(addresses)).to.deep.equal(rows);
    expect(kept()).to.equal(before + 2);
  });

  it('withdraws nothing on the word of the only one that answers', async () => {
    const { addresses, number, rows, hiding } = await verified();
    second().fault = away;
    live.proxy.fault = hiding;
    await readAgain(live, number);
    expect(await rowsOf(addresses)).to.deep.equal(rows);
  });

  it('withdraws it where neither of two shows it', async () => {
    const { addresses, number, hiding } = await verified();
    live.proxy.fault = hiding;
    second().fault = hiding;
    await eventually('both are asked', async () => {
      await readAgain(live, number);
      return (await rowsOf(addresses)).every((row) => row['block_hash'] === null);
    });
    for (const row of await rowsOf(addresses)) expect(row).to.include({ verified_at: null });
  });

  it('does not touch one that is completed', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 40n]);
    const number = await live.chain.mine();
    await live.chain.mine(20);
    await live.catchUp();
    const [row] = await rowsOf([address]);
    expect(await advancedTo(live.deps, row?.['id'])).to.equal('completed');
    const before = await rowsOf([address]);
    live.proxy.fault = lying(address, { logs: () => [] });
    await readAgain(live, number);
    expect(await rowsOf([address])).to.deep.equal(before);
  });
});
