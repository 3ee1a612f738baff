import { expect } from 'chai';
import { when } from '../../../../dev/tron/faults.ts';
import { exactJson } from '../../../../dev/tron/http/json.ts';
import { forgetDeposit } from '../../reconciliation/support.ts';
import { STRANGER, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

describe('what an endpoint or a payer can do to the watching of Tron', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => {
    live.endpoint.fault = undefined;
  });
  after(() => live?.stop());

  const lies = {
    'names another receiver in what it decoded': (sent: string, ours: string, other: string) =>
      sent.replaceAll(`"to_address":"41${ours}"`, `"to_address":"41${other}"`),
    'names another receiver in the bytes too': (sent: string, ours: string, other: string) =>
      sent.replaceAll(`41${ours}`, `41${other}`),
    'calls a transfer something else': (sent: string) =>
      sent.replaceAll('"type":"TransferContract"', '"type":"VoteWitnessContract"'),
    'says that a transfer failed': (sent: string) =>
      sent.replaceAll('"contractRet":"SUCCESS"', '"contractRet":"REVERT"'),
  };
  for (const [name, lie] of Object.entries(lies))
    it(`loses no TRX to a first body that ${name}`, async () => {
      const address = await live.newAddress();
      live.endpoint.fault = when(
        ({ view, path }) => view === 'wallet' && path.includes('getblock'),
        async (_, answer) => ({ json: JSON.parse(lie(exactJson(await answer()), address, STRANGER)) }),
      );
      await live.node.pay({ to: address, currency: 'TRX', units: 11n });
      await live.node.mine();
      await live.tryToCatchUp(3);
      expect(states(await live.deposits(address))).to.deep.equal([]);
      live.endpoint.fault = undefined;
      await live.node.mine(5);
      await live.tryToCatchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['11 TRX verified']);
    });

  it('compares an address that is paid often as soon as it is read by itself', async () => {
    const [address, other] = [await live.newAddress(), await live.newAddress()];
    await live.finish();
    let looked = 0;
    live.endpoint.fault = when(
      ({ path, body }) => path.endsWith('getaccount') && JSON.stringify(body).includes(other),
      async () => {
        looked += 1;
        // While others are read as well, somebody pays.
        if (looked < 3) await live.node.pay({ to: address, currency: 'TRX', units: 1n });
        if (looked < 3) await live.finish();
        return undefined;
      },
    );
    const step = await live.reconcile();
    expect(step.did).to.equal('finished');
    const [pass] = await live.rows('select started_number, agreed_number from balance_rounds');
    expect(Number(pass?.['started_number'])).to.be.above(Number(pass?.['agreed_number']));
  });

  it('ends no comparison of balances by paying one address all the time', async () => {
    const address = await live.newAddress();
    await live.finish();
    let dust = 0;
    live.endpoint.fault = when(
      ({ path, body }) => path.endsWith('getaccount') && JSON.stringify(body).includes(address),
      async () => {
        dust += 1;
        await live.node.pay({ to: address, currency: 'TRX', units: 1n });
        await live.finish();
        return undefined;
      },
    );
    const step = await live.reconcile();
    expect(dust).to.be.at.least(5);
    expect(step.did).to.equal('finished');
  });

  it('finds what no read has shown once nobody pays the address all the time any more', async () => {
    const address = await live.newAddress();
    const txHash = await live.node.pay({ to: address, currency: 'TRX', units: 11n });
    await live.node.mine();
    await live.finish();
    await forgetDeposit(live, txHash);
    live.endpoint.fault = when(
      ({ path, body }) => path.endsWith('getaccount') && JSON.stringify(body).includes(address),
      async () => {
        await live.node.pay({ to: address, currency: 'TRX', units: 1n });
        await live.finish();
        return undefined;
      },
    );
    // Twice: it is the second pass without a comparison that would begin above that payment.
    await live.reconcile();
    await live.reconcile();
    expect(states(await live.deposits(address))).to.not.include('11 TRX verified');
    live.endpoint.fault = undefined;
    await live.finish();
    await live.reconcile();
    expect(states(await live.deposits(address))).to.include('11 TRX verified');
  });
});
