import { expect } from 'chai';
import { startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

describe('a payout on Tron that waits for gas', function () {
  this.timeout(120_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ gasTrx: 1n });
  });
  after(() => the?.stop());

  it('goes on with the block that brings coins to the gas wallet, of which operators are told then', async () => {
    const key = await the.paid(['USDT', 10n * TRX]);
    const told = async () =>
      (await the.rows("select workflow_id from outbox where workflow_id like 'settlement:%'")).map(
        ({ workflow_id: id }) => id,
      );
    const level = async () => (await the.rows('select units from gas_levels'))[0]?.['units'];
    await the.settle(key, ({ kind }) => kind === 'wait');
    expect(await the.wait(key)).to.include({ code: 'waiting_for_gas' });
    await the.rows('delete from outbox');
    await the.finish();
    expect([await told(), await level()], 'nothing has moved').to.deep.equal([[], String(TRX)]);
    await the.node.pay({ to: the.gas, currency: 'TRX', units: 999n * TRX });
    await the.finish();
    expect(await told()).to.deep.equal([`settlement:tron:${key}`]);
    expect(await level()).to.equal(String(1_000n * TRX));
    expect((await the.step(key)).kind, 'not held by what was seen before').to.equal('went');
    await the.settle(key);
    expect(BigInt(String(await level())) < 1_000n * TRX, 'what left is told too').to.equal(true);
  });
});
