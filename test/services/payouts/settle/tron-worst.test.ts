import { expect } from 'chai';
import { changed, firstOf, when } from '../../../../dev/tron/faults.ts';
import type { Block } from '../../../../dev/tron/types.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { rescan } from '../../../../src/services/watcher/rescan.ts';
import { isPaid, isSent, reasonOf, says, wordsOf } from './steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;

describe('payouts on Tron with one of two endpoints that lies', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(() => nobodyLies());
  const states = async (key: AddressKey): Promise<unknown[]> =>
    (await the.payouts(key)).map(({ state }) => state);

  /** Whichever endpoint is asked first says that trials take this part of their energy, in percent. */
  const tellsEnergy = (percent: number): void => {
    let liar: number | undefined;
    for (const [index, endpoint] of [the.endpoint, ...the.others].entries())
      endpoint.fault = changed(['triggerconstantcontract'], (answer: { energy_used?: number }) => {
        liar ??= index;
        if (liar !== index) return answer;
        return { ...answer, energy_used: Math.ceil((Number(answer.energy_used) * percent) / 100) };
      });
  };
  const nobodyLies = (): void => {
    for (const endpoint of [the.endpoint, ...the.others]) endpoint.fault = undefined;
  };

  it('goes on within minutes where the energy was overstated once', async () => {
    const key = await the.paid(['USDT', 4n * USDT]);
    tellsEnergy(600);
    expect(wordsOf(await the.step(key))).to.match(/it would cost up to/);
    nobodyLies();
    the.clock.aheadMs += 60_000;
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('burns coins once where the energy is understated, for this address and for all others', async () => {
    const keys = [await the.paid(['USDT', 10n * USDT]), await the.paid(['USDT', 20n * USDT])];
    const [first, second] = keys as [AddressKey, AddressKey];
    tellsEnergy(10);
    await the.settle(first);
    expect(await states(first)).to.deep.equal(['failed', 'settled']);
    await the.settle(second);
    expect(await states(second)).to.deep.equal(['settled']);
  });

  it('pays out although three top-ups in a row landed nowhere', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, isSent);
      const hash = String((await the.sent(key)).at(-1)?.['hash']);
      await the.node.forget(hash);
      await the.letItsTimePass();
    }
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  const hides = (hash: string): void => {
    type One = { txID?: string; id?: string; transactions?: One[]; block?: One[] };
    const without = (one: One): One =>
      one.transactions ? { ...one, transactions: one.transactions.filter(({ txID }) => txID !== hash) } : one;
    the.endpoint.fault = firstOf(
      changed(['getblock', 'getblockbynum', 'getnowblock'], without),
      changed(['getblockbylimitnext'], (piece: One) => ({ block: (piece.block ?? []).map(without) })),
      changed(['gettransactioninfobyblocknum'], (infos: One[]) => infos.filter(({ id }) => id !== hash)),
      when(
        ({ path, body }) => path.endsWith('gettransactioninfobyid') && body['value'] === hash,
        () => ({ json: {} }),
      ),
    );
  };

  it('pays nothing twice where an endpoint hides the transaction, and settles once its block is read again', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key, isPaid);
    const hash = String((await the.sent(key)).at(-1)?.['hash']);
    hides(hash);
    await the.node.pay({ to: the.gas, currency: 'TRX', units: 1n });
    const from = await the.node.mine();
    await the.finish();
    await the.letItsTimePass();
    const step = await the.step(key);
    expect(await states(key)).to.deep.equal(['paying']);
    the.endpoint.fault = undefined;
    await readAgain(from);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
    const [payout] = await the.payouts(key);
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(BigInt(String(payout?.['net_units'])));
    expect(reasonOf(step)).to.match(/rescan/);
  });

  const readAgain = (number: number): Promise<unknown> =>
    rescan(the.deps, the.watchedChain, {
      from: number,
      to: number,
      signal: new AbortController().signal,
      progress: () => undefined,
    });

  /** Two reads of a block have shown an outcome of this transaction, as an endpoint does that lies twice. */
  async function showedTwice(hash: string, ok: boolean, { header, id }: Block): Promise<number> {
    const moves = ok
      ? "jsonb_build_array(jsonb_build_object('to', to_address, 'currency', currency, 'units', amount_units::text))"
      : "'[]'::jsonb";
    await the.rows(
      `update sent_transactions set state = 'mined', block_number = ?, block_hash = ?, ok = ?, fee_units = 0,
        moves = ${moves} where hash = ?`,
      [header.number, id, ok, hash],
    );
    await the.rows("update sent_transactions set state = 'final', verified_at = now() where hash = ?", [
      hash,
    ]);
    return header.number;
  }

  it('gives nothing back by the clock of one endpoint, and pays once what lands meanwhile', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    await the.settle(key, isPaid);
    await the.node.forget(String((await the.sent(key)).at(-1)?.['hash']));
    await the.finish();
    // What it showed of the last block that was read twice, and what it says of the end of the chain.
    await the.rows(
      `update chain_blocks b set mined_at = b.mined_at + interval '3 hours' from chain_cursors c
        where c.network = 'tron' and b.network = c.network and b.number = c.verified_number`,
    );
    type Header = { block_header: { raw_data: { timestamp: number } } };
    the.endpoint.fault = changed(['getblock'], (one: Header) => {
      const raw = one.block_header.raw_data;
      return { ...one, block_header: { raw_data: { ...raw, timestamp: raw.timestamp + 3 * 3_600_000 } } };
    });
    expect(reasonOf(await the.step(key))).to.match(/counts once two RPC endpoints say so/);
    expect(await states(key)).to.deep.equal(['paying']);
    the.endpoint.fault = undefined;
    await the.finish();
    the.clock.aheadMs += 60_000;
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('settles nothing by the word of one endpoint that another denies, and pays it once that is out', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    await the.settle(key, isPaid);
    const hash = String((await the.sent(key)).at(-1)?.['hash']);
    await the.node.forget(hash);
    await the.node.mine();
    const block = the.node.head();
    await the.finish();
    const number = await showedTwice(hash, true, block);
    const hosts = [the.endpoint, ...the.others].map(({ url }) => new URL(url).host).join(' and ');
    const deny = `the RPC endpoints ${hosts} say that it failed or is in no block`;
    expect(says(deny)(await the.step(key))).to.equal(true);
    expect((await the.wait(key))?.['reason']).to.match(/ read again with "rescan"$/);
    expect(await states(key)).to.deep.equal(['paying']);
    await readAgain(number);
    await the.letItsTimePass();
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['failed', 'settled']);
  });

  it('fails nothing by the word of one endpoint, and settles it once its block is read again without that', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    await the.settle(key, isPaid);
    const hash = String((await the.sent(key)).at(-1)?.['hash']);
    await the.node.mine();
    const number = await showedTwice(hash, false, the.node.head());
    await the.finish();
    expect(says(/says? that it succeeded/)(await the.step(key))).to.equal(true);
    expect(await states(key)).to.deep.equal(['paying']);
    await readAgain(number);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
