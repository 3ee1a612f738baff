import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { setPaused } from '../../../../src/services/payouts/pauses.ts';
import { type SettleStage, startFundedStage, USDT } from './stage.ts';

describe('payouts that are paused', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());
  afterEach(() => pause(false));
  const pause = (paused: boolean) => setPaused(the.deps, { merchantId: null, paused });
  const wait = async (key: Parameters<SettleStage['wait']>[0]) => (await the.wait(key))?.['code'];

  it('are not planned: the address rests, says why, and is paid out once they go on', async () => {
    await pause(true);
    const key = await the.paid(['USDT', 5n * USDT]);
    const step = await the.step(key);
    expect(step).to.include({ kind: 'rest' });
    expect('note' in step && step.note).to.match(/all payouts are paused by .* since .*"payout resume"/);
    expect([await wait(key), await the.payouts(key)]).to.deep.equal(['paused', []]);
    await pause(false);
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled']);
    expect(await the.wait(key)).to.equal(undefined);
  });

  it('stay planned, and nothing is asked for them; of what was asked for nothing is signed', async () => {
    const [first, second] = [await the.paid(['USDT', 5n * USDT]), await the.paid(['USDT', 6n * USDT])];
    expect(await the.step(first)).to.include({ kind: 'went', state: 'planned' });
    expect(await the.step(second)).to.include({ kind: 'went', state: 'planned' });
    await the.signer.stop();
    expect(await the.step(second)).to.include({ kind: 'went', state: 'planned' });
    await pause(true);
    await the.signer.start();
    expect(await the.step(first)).to.include({ kind: 'wait', stuck: false });
    await eventually('the refusal', async () =>
      String((await the.sent(second))[0]?.['refused']).startsWith('paused: '),
    );
    expect(await the.step(second)).to.include({ kind: 'wait', stuck: false });
    expect(await wait(second)).to.equal('paused');
    expect([await wait(first), await the.sent(first)]).to.deep.equal(['paused', []]);
    const [asked] = await the.sent(second);
    expect(asked).to.include({ state: 'asked', raw: null });
    await pause(false);
    for (const key of [first, second]) {
      await the.settle(key);
      expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled']);
    }
  });

  it('go on where they were signed before', async () => {
    const key = await the.paid(['BNB', 10n ** 17n]);
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'paying');
    await pause(true);
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled']);
  });
});
