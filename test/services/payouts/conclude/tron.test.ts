import { expect } from 'chai';
import { changed, firstOf, when } from '../../../../dev/tron/faults.ts';
import { rescan } from '../../../../src/services/watcher/rescan.ts';
import { isPaid, reasonOf } from '../settle/steps.ts';
import { startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';
import { concluding } from './concluding.ts';

type Answer = { txID?: string; id?: string; transactions?: Answer[]; block?: Answer[] };

describe('concluding a payout on Tron that the only endpoint had hidden', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ others: 0 });
  });
  after(() => the?.stop());

  it('settles the failed payout, at a second look an hour later; nothing is paid twice meanwhile', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    await the.settle(key, isPaid);
    const hash = String((await the.sent(key)).at(-1)?.['hash']);
    const without = (one: Answer): Answer =>
      one.transactions ? { ...one, transactions: one.transactions.filter(({ txID }) => txID !== hash) } : one;
    the.endpoint.fault = firstOf(
      changed(['getblock', 'getblockbynum', 'getnowblock'], without),
      changed(['getblockbylimitnext'], (piece: Answer) => ({ block: (piece.block ?? []).map(without) })),
      changed(['gettransactioninfobyblocknum'], (infos: Answer[]) => infos.filter(({ id }) => id !== hash)),
      when(
        ({ path, body }) => path.endsWith('gettransactioninfobyid') && body['value'] === hash,
        () => ({
          json: {},
        }),
      ),
    );
    await the.node.pay({ to: the.gas, currency: 'TRX', units: 1n });
    const from = await the.node.mine();
    await the.finish();
    await the.letItsTimePass();
    await the.step(key);
    const [payout] = await the.payouts(key);
    expect(payout?.['state']).to.equal('failed');
    the.endpoint.fault = undefined;
    const { signal } = new AbortController();
    await rescan(the.deps, the.watchedChain, { from, to: from, signal, progress: () => undefined });
    await the.finish();
    const id = String(payout?.['id']);
    expect(reasonOf(await the.step(key))).to.include(`"payout conclude ${id} --tx ${hash}`);
    const conclude = concluding(the);
    expect(await conclude(id, hash)).to.include({ kind: 'seen' });
    expect(await conclude(id, hash)).to.include({ kind: 'seen' });
    expect(await the.states(key)).to.deep.equal(['failed']);
    the.clock.aheadMs += 61 * 60_000;
    expect(await conclude(id, hash)).to.include({ kind: 'concluded', payoutId: id });
    expect(await the.states(key)).to.deep.equal(['settled']);
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['settled']);
    expect(await conclude.refused(id, hash)).to.match(/is settled: there is nothing to conclude/);
    await the.pay(key, ['TRX', 25n * TRX]);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    await the.agrees();
  });
});
