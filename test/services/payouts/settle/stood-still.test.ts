import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { startSettleStage } from './stage.ts';
import { overtaken, standingStill } from './standing-still.ts';
import { startTronSettleStage, TRX } from './tron-stage.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
/** What a worker asks a chain, or sends to it, in the life of a token's payout. */
const MOMENTS = [
  'a plan is made',
  'coins for gas are asked for',
  'coins for gas are sent',
  'the transfer is asked for',
  'the transfer is sent',
] as const;

const CHAINS = {
  'BNB Chain': {
    usdt: 10n ** 18n,
    start: async () => {
      const the = await startSettleStage();
      await the.chain.send({ to: `0x${the.gas}`, valueUnits: 10n ** 18n });
      return the;
    },
  },
  Tron: {
    usdt: 10n ** 6n,
    start: async () => {
      const the = await startTronSettleStage();
      await the.node.pay({ to: the.gas, currency: 'TRX', units: 10_000n * TRX });
      return the;
    },
  },
} as const;
type Stage = Awaited<ReturnType<(typeof CHAINS)[keyof typeof CHAINS]['start']>>;

/** Any number of workers may be at one address, wherever each of them believes to be. */
for (const [name, { usdt, start }] of Object.entries(CHAINS))
  describe(`a worker on ${name} that stood still while another one went on`, function () {
    this.timeout(300_000);
    let the: Stage;
    before(async () => {
      the = await start();
      await the.finish();
    });
    after(() => the?.stop());
    const states = async (key: AddressKey): Promise<unknown[]> =>
      (await the.payouts(key)).map(({ state }) => state);
    const sent = async (key: AddressKey): Promise<string[]> =>
      (await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`);

    for (const [index, moment] of MOMENTS.entries())
      it(`where ${moment} writes nothing and pays nothing`, async () => {
        const key = await the.paid(['USDT', 50n * usdt], ['USDT', 20n * usdt]);
        const late = standingStill(the.spending, index + 1);
        expect(await overtaken(the, key, DESTINATION, late)).to.equal(70n * usdt);
        expect(await states(key)).to.deep.equal(['settled']);
        expect(await sent(key)).to.deep.equal(['gas final', 'payout final']);
      });
  });
