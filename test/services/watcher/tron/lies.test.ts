// Endpoints that lie, alone or both at once: nothing false is completed where an honest answer decides, and
// nothing that came is lost.
import { expect } from 'chai';
import { when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { exactJson } from '../../../../dev/tron/http/json.ts';
import { heal, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

/** Changes the text of the blocks that are not final yet. */
const firstBodies = (change: (sent: string) => string): TronFault =>
  when(
    ({ view, path }) => view === 'wallet' && path.includes('getblock'),
    async (_, answer) => ({ json: JSON.parse(change(exactJson(await answer()))) }),
  );

describe('a first body of Tron that lies about what its bytes say', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => heal(live));
  after(() => live?.stop());

  const LIES: Readonly<Record<string, (sent: string, own: string) => string>> = {
    'of nothing': (sent) => sent.replaceAll('"amount":11', '"amount":0'),
    'of no amount': (sent) => sent.replaceAll(/,"amount":11|"amount":11,/g, ''),
    'of more': (sent) => sent.replaceAll('"amount":11', '"amount":1100'),
    'of one of our own addresses': (sent, own) =>
      sent.replaceAll(/"owner_address":"41[0-9a-f]{40}"/g, `"owner_address":"41${own}"`),
  };
  for (const [name, lie] of Object.entries(LIES))
    it(`neither hides nor enlarges a transfer: ${name}`, async () => {
      const [address, own] = [await live.newAddress(), await live.newAddress()];
      live.endpoint.fault = firstBodies((sent) => lie(sent, own));
      await live.node.pay({ to: address, currency: 'TRX', units: 11n });
      await live.node.mine();
      await live.tryToCatchUp(2);
      expect(states(await live.deposits(address))).to.deep.equal([]);
      heal(live);
      await live.tryToCatchUp(1);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['11 TRX verified']);
    });
});
