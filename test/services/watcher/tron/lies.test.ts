// Endpoints that lie, alone or both at once: nothing false is completed where an honest answer decides, and
// nothing that came is lost.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { changed, firstOf, INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { exactJson } from '../../../../dev/tron/http/json.ts';
import { type AddressKey, hexAddress } from '../../../../src/chains/address-key.ts';
import { advanced, heal, STRANGER, states, tronStage } from './scenes.ts';
import { startTronWatcher } from './tron-watcher.ts';

/** Changes the text of the blocks that are not final yet. */
const firstBodies = (change: (sent: string) => string): TronFault =>
  when(
    ({ view, path }) => view === 'wallet' && path.includes('getblock'),
    async (_, answer) => ({ json: JSON.parse(change(exactJson(await answer()))) }),
  );

describe('a first answer of Tron that lies', () => {
  const live = tronStage();

  /** What is made of the text of a block that brings 11 to `to`; `own` is another address of ours. */
  const BODIES: Readonly<Record<string, (sent: string, to: AddressKey, own: AddressKey) => string>> = {
    'tells of nothing': (sent) => sent.replaceAll('"amount":11', '"amount":0'),
    'tells of more': (sent) => sent.replaceAll('"amount":11', '"amount":1100'),
    'tells of a transfer by one of our own addresses': (sent, _, own) =>
      sent.replaceAll(/"owner_address":"41[0-9a-f]{40}"/g, `"owner_address":"41${own}"`),
    'names another receiver in the bytes too': (sent, to) => sent.replaceAll(`41${to}`, `41${STRANGER}`),
    'says that a transfer failed': (sent) =>
      sent.replaceAll('"contractRet":"SUCCESS"', '"contractRet":"REVERT"'),
  };
  for (const [name, lie] of Object.entries(BODIES))
    it(`neither hides nor enlarges a transfer, where its body ${name}`, async () => {
      const [address, own] = [await live.newAddress(), await live.newAddress()];
      live.endpoint.fault = firstBodies((sent) => lie(sent, address, own));
      await live.node.pay({ to: address, currency: 'TRX', units: 11n });
      await live.node.mine();
      await live.tryToCatchUp(2);
      expect(states(await live.deposits(address))).to.deep.equal([]);
      heal(live);
      await live.tryToCatchUp(1);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['11 TRX verified']);
    });

  type Body = {
    transactions?: readonly { readonly txID: string }[];
    block_header: { raw_data: object };
  };

  const LISTS: Readonly<Record<string, (body: Body, hash: string) => object>> = {
    'says that the block is empty': ({ transactions: _, ...body }) => ({
      ...body,
      block_header: {
        ...body.block_header,
        raw_data: { ...body.block_header.raw_data, txTrieRoot: '0'.repeat(64) },
      },
    }),
    'leaves out the one that pays us': ({ transactions = [], ...body }, hash) => ({
      ...body,
      transactions: transactions.filter(({ txID: id }) => id !== hash),
    }),
  };
  for (const [name, lie] of Object.entries(LISTS))
    it(`hides a payment until the second read at most, where it ${name}`, async () => {
      const address = await live.newAddress();
      await live.node.pay({ to: STRANGER, currency: 'USDT', units: 1n });
      const hash = await live.node.pay({ to: address, currency: 'TRX', units: 12n });
      const isShown = (id: string): boolean => !name.includes('empty') && id !== hash;
      const bodies = changed(['getblock', 'getblockbynum'], (body: Body) =>
        body.transactions?.some(({ txID: id }) => id === hash) ? lie(body, hash) : body,
      );
      const infos = changed(['gettransactioninfobyblocknum'], (list: readonly { readonly id: string }[]) =>
        list.some(({ id }) => id === hash) ? list.filter(({ id }) => isShown(id)) : list,
      );
      live.endpoint.fault = when(({ view }) => view === 'wallet', firstOf(bodies, infos));
      const { foundLate } = live.seen;
      await live.node.mine();
      await live.catchUp();
      expect(await live.deposits(address)).to.deep.equal([]);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['12 TRX verified']);
      expect(live.seen.foundLate - foundLate).to.equal(1);
    });
});

describe('an answer of Tron that shows less than an earlier one did', () => {
  let aheadMs = 0;

  it('holds TRX that a contract passed on where nobody else can be asked, until it is shown again', async () => {
    const live = await startTronWatcher({ now: () => new Date(Date.now() + aheadMs) });
    try {
      const payer = await live.node.deploy(testContracts().Payer);
      const address = await live.newAddress();
      // The endpoint has shown within the hour what contracts pass on.
      for (const [to, valueSun] of [[STRANGER, 1n] as const, [address, 51n] as const]) {
        await payer.call('passOn', [hexAddress(to)], { valueSun });
        await live.node.mine();
        await live.catchUp();
      }
      expect(states(await live.deposits(address))).to.deep.equal(['51 TRX']);
      live.endpoint.fault = INFOS.withoutInternals;
      await live.finish();
      await live.node.mine(25);
      await live.catchUp();
      expect(await advanced(live, address)).to.deep.equal(['confirming']);
      heal(live);
      aheadMs += 6_000;
      await live.catchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['51 TRX verified']);
      expect(await advanced(live, address)).to.deep.equal(['completed']);
    } finally {
      await live.stop();
    }
  });
});
