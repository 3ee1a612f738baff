// What a block brought stands in its infos, for which no hash stands: they may be others, or not all.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { changed, INFOS, when } from '../../../../dev/tron/faults.ts';
import { hexAddress } from '../../../../src/chains/address-key.ts';
import { cursorOf } from '../asked.ts';
import { asideAt, heal, paid, STRANGER, secondOf, states, tronStage } from './scenes.ts';

/** Infos that are not those of the block, or not all of them; `test/chains/tron/broken.test.ts` has more. */
const WRONG = {
  'of another fork': INFOS.ofAnotherFork,
  'one too few': INFOS.oneTooFew,
  'that are not there for a full block': INFOS.none,
} as const;

describe('infos of Tron that do not belong to the block', () => {
  const live = tronStage();

  for (const [name, fault] of Object.entries(WRONG))
    it(`credit nothing and pass nothing over: ${name}`, async () => {
      await live.node.pay({ to: STRANGER, currency: 'USDT', units: 3n });
      const { address, number } = await paid(live, { currency: 'USDT', units: 30n });
      live.endpoint.fault = fault;
      await live.tryToCatchUp(2);
      expect(await live.deposits(address)).to.deep.equal([]);
      expect(Number((await cursorOf(live))['scanned_number'])).to.be.below(number);
      heal(live);
      expect(await live.tryToCatchUp(1)).to.deep.equal([]);
      expect(states(await live.deposits(address))).to.deep.equal(['30 USDT']);
    });

  it('verify nothing at the second read', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 31n });
    await live.catchUp();
    await live.node.mine(5);
    live.endpoint.fault = when(({ view }) => view === 'walletsolidity', INFOS.ofAnotherFork);
    await live.tryToCatchUp(2);
    expect(states(await live.deposits(address))).to.deep.equal(['31 USDT']);
    heal(live);
    expect(await live.tryToCatchUp(1)).to.deep.equal([]);
    expect(states(await live.deposits(address))).to.deep.equal(['31 USDT verified']);
  });

  it('hold a transfer whose log is left out until its block is final: credited if a log is there then, else set aside', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 32n });
    live.endpoint.fault = when(({ view }) => view === 'wallet', INFOS.withoutLogs);
    const [reason] = await live.tryToCatchUp(1);
    expect(reason).to.match(/incomplete block: logs are missing/);
    expect(await live.deposits(address)).to.deep.equal([]);
    await live.node.mine(5);
    await live.tryToCatchUp();
    expect(states(await live.deposits(address))).to.deep.equal(['32 USDT verified']);
    const never = await paid(live, { currency: 'USDT', units: 33n });
    live.endpoint.fault = INFOS.withoutLogs;
    await live.tryToCatchUp(1);
    await live.node.mine(5);
    await live.tryToCatchUp();
    expect(await live.deposits(never.address)).to.deep.equal([]);
    expect(await asideAt(live, never.address)).to.deep.equal([
      'null a successful transfer of the token of which no log tells',
    ]);
  });
});

describe('infos of Tron from one of two endpoints', () => {
  const live = tronStage({ others: 1 });
  const passOn = async (sun: bigint) => {
    const payer = await live.node.deploy(testContracts().Payer);
    const address = await live.newAddress();
    await payer.call('passOn', [hexAddress(address)], { valueSun: sun });
    await live.node.mine();
    await live.catchUp();
    return address;
  };

  for (const [name, fault] of Object.entries({ ...WRONG, 'without a log': INFOS.withoutLogs }))
    it(`are asked of the other one, and nothing waits: ${name}`, async () => {
      await live.node.pay({ to: STRANGER, currency: 'USDT', units: 3n });
      const { address } = await paid(live, { currency: 'USDT', units: 40n });
      live.endpoint.fault = fault;
      expect(await live.tryToCatchUp(1)).to.deep.equal([]);
      expect(states(await live.deposits(address))).to.deep.equal(['40 USDT']);
      await live.node.mine(5);
      expect(await live.tryToCatchUp(1)).to.deep.equal([]);
      expect(states(await live.deposits(address))).to.deep.equal(['40 USDT verified']);
      expect(await asideAt(live, address)).to.deep.equal([]);
    });

  it('are asked of every other one where a log is missing in a block that is final when it is first read', async () => {
    const { address, txHash } = await paid(live, { currency: 'USDT', units: 42n });
    const other = await paid(live, { currency: 'USDT', units: 43n });
    live.endpoint.fault = INFOS.withoutLogs;
    await live.node.mine(60);
    secondOf(live).fault = when(
      ({ path }) => path.includes('gettransactioninfo'),
      () => ({ status: 500, body: '' }),
    );
    expect((await live.tryToCatchUp(1)).join()).to.match(/logs are missing in|http 500/);
    const without = (hash: string) =>
      changed(['gettransactioninfobyblocknum'], (infos: readonly { readonly id: string }[]) =>
        infos.map((info) => (info.id === hash ? { ...info, log: undefined } : info)),
      );
    [live.endpoint.fault, secondOf(live).fault] = [without(txHash), without(other.txHash)];
    expect((await live.tryToCatchUp(1)).join()).to.match(/logs are missing in/);
    expect(await asideAt(live, address)).to.deep.equal([]);
    secondOf(live).fault = undefined;
    await live.tryToCatchUp(2);
    for (const [at, units] of [[address, 42] as const, [other.address, 43] as const])
      expect(states(await live.deposits(at))).to.deep.equal([`${units} USDT verified`]);
  });

  it('take nothing back where it is the other that shows less at the second read, or that stopped saving it', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 41n });
    const inside = await passOn(51n);
    expect(states(await live.deposits(inside))).to.deep.equal(['51 TRX']);
    secondOf(live).fault = INFOS.withoutLogs;
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal(['41 USDT verified']);
    const later = await passOn(52n);
    for (const one of [live.endpoint, secondOf(live)]) one.fault = INFOS.withoutInternals;
    live.restart();
    await live.finish();
    for (const [at, units] of [[inside, 51] as const, [later, 52] as const])
      expect(states(await live.deposits(at)).join()).to.match(new RegExp(`^${units} TRX`));
  });

  it('show TRX that a contract passed on at the second read, where the first endpoint never saves it', async () => {
    live.endpoint.fault = INFOS.withoutInternals;
    const address = await passOn(50n);
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal(['50 TRX verified']);
  });
});
