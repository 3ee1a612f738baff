// What a block brought stands in its infos, for which no hash stands: they may be others, or not all.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { INFOS, when } from '../../../../dev/tron/faults.ts';
import { hexAddress } from '../../../../src/chains/address-key.ts';
import { asideAt, heal, paid, STRANGER, secondOf, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

/** Infos that are not those of the block, or not all of them. */
const WRONG = {
  'of another fork': INFOS.ofAnotherFork,
  'of another time': INFOS.ofAnotherTime,
  'of another height': INFOS.ofAnotherHeight,
  'one too few': INFOS.oneTooFew,
  'in another order': INFOS.inAnotherOrder,
  'that are not there for a full block': INFOS.none,
} as const;

describe('infos that do not belong to the block', function () {
  this.timeout(60_000);

  describe('from the only endpoint', () => {
    let live: TronWatcher;
    before(async () => {
      live = await startTronWatcher();
      await live.catchUp();
    });
    afterEach(() => heal(live));
    after(() => live?.stop());

    for (const [name, fault] of Object.entries(WRONG)) {
      it(`credit nothing and pass nothing over: ${name}`, async () => {
        await live.node.pay({ to: STRANGER, currency: 'USDT', units: 3n });
        const { address, number } = await paid(live, { currency: 'USDT', units: 30n });
        live.endpoint.fault = fault;
        await live.tryToCatchUp(2);
        expect(await live.deposits(address)).to.deep.equal([]);
        const [cursor] = await live.rows('select scanned_number from chain_cursors');
        expect(Number(cursor?.['scanned_number'])).to.be.below(number);
        heal(live);
        expect(await live.tryToCatchUp(1)).to.deep.equal([]);
        expect(states(await live.deposits(address))).to.deep.equal(['30 USDT']);
      });

      it(`verify nothing at the second read: ${name}`, async () => {
        await live.node.pay({ to: STRANGER, currency: 'USDT', units: 3n });
        const { address } = await paid(live, { currency: 'USDT', units: 31n });
        await live.catchUp();
        await live.node.mine(5);
        live.endpoint.fault = when(({ view }) => view === 'walletsolidity', fault);
        await live.tryToCatchUp(2);
        expect(states(await live.deposits(address))).to.deep.equal(['31 USDT']);
        heal(live);
        expect(await live.tryToCatchUp(1)).to.deep.equal([]);
        expect(states(await live.deposits(address))).to.deep.equal(['31 USDT verified']);
      });
    }

    it('hold a transfer whose log is left out until its block is final, and credit it if a log is there then', async () => {
      const { address } = await paid(live, { currency: 'USDT', units: 32n });
      live.endpoint.fault = when(({ view }) => view === 'wallet', INFOS.withoutLogs);
      const [reason] = await live.tryToCatchUp(1);
      expect(reason).to.match(/incomplete block: logs are missing/);
      expect(await live.deposits(address)).to.deep.equal([]);
      await live.node.mine(5);
      await live.tryToCatchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['32 USDT verified']);
    });

    it('set aside for the operator what no log tells of when it is final, and say so once', async () => {
      const { address } = await paid(live, { currency: 'USDT', units: 33n });
      live.endpoint.fault = INFOS.withoutLogs;
      await live.tryToCatchUp(1);
      await live.node.mine(5);
      await live.tryToCatchUp();
      expect(await live.deposits(address)).to.deep.equal([]);
      expect(await asideAt(live, address)).to.deep.equal([
        'null a successful transfer of the token of which no log tells',
      ]);
    });
  });

  describe('from the first of two endpoints', () => {
    let live: TronWatcher;
    before(async () => {
      live = await startTronWatcher({ others: 1 });
      await live.catchUp();
    });
    afterEach(() => {
      heal(live);
      live.restart();
    });
    after(() => live?.stop());

    for (const [name, fault] of Object.entries({ ...WRONG, 'without a log': INFOS.withoutLogs })) {
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
    }

    it('take nothing back where it is the other that shows less at the second read', async () => {
      const { address } = await paid(live, { currency: 'USDT', units: 41n });
      await live.catchUp();
      secondOf(live).fault = INFOS.withoutLogs;
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['41 USDT verified']);
    });
  });
});

describe('TRX that contracts passed on', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ others: 1 });
    await live.catchUp();
  });
  beforeEach(() => {
    heal(live);
    live.restart();
  });
  after(() => live?.stop());
  const passOn = async (sun: bigint) => {
    const payer = await live.node.deploy(testContracts().Payer);
    const address = await live.newAddress();
    await payer.call('passOn', [hexAddress(address)], { valueSun: sun });
    await live.node.mine();
    return address;
  };

  it('is credited by the second read where the first endpoint never saves it and the other does', async () => {
    live.endpoint.fault = INFOS.withoutInternals;
    const address = await passOn(50n);
    await live.catchUp();
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal(['50 TRX verified']);
  });

  it('is credited as well where no call names its receiver, which code keeps', async () => {
    const address = await live.newAddress();
    const heir = await live.node.deploy(testContracts().Heir, [STRANGER, 0n, address]);
    await live.node.trigger({ contract: heir.key, data: '', valueSun: 500n });
    await live.finish();
    live.restart();
    live.endpoint.fault = INFOS.withoutInternals;
    await heir.call('pay', [52n]);
    await live.node.mine();
    await live.catchUp();
    expect(await live.deposits(address)).to.deep.equal([]);
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal(['52 TRX verified']);
  });

  it('costs one question a minute more where no endpoint saves it', async () => {
    for (const one of [live.endpoint, secondOf(live)]) one.fault = INFOS.withoutInternals;
    const askedFor = async (blocks: number): Promise<number> => {
      const before = secondOf(live).requests.length;
      for (let made = 0; made < blocks; made += 1) {
        await live.node.pay({ to: STRANGER, currency: 'USDT', units: 1n });
        await live.node.mine();
        await live.catchUp();
      }
      await live.finish();
      const asked = secondOf(live).requests.slice(before);
      return asked.filter(({ path }) => path === 'walletsolidity/gettransactioninfobyblocknum').length;
    };
    expect(await askedFor(1)).to.equal(1);
    expect(await askedFor(5)).to.equal(0);
    live.later(60_001);
    expect(await askedFor(1)).to.equal(1);
  });

  it('is not denied by a node that stopped saving it between the reads', async () => {
    const address = await passOn(51n);
    await live.catchUp();
    expect(states(await live.deposits(address))).to.deep.equal(['51 TRX']);
    for (const one of [live.endpoint, secondOf(live)]) one.fault = INFOS.withoutInternals;
    live.restart();
    await live.finish();
    expect(states(await live.deposits(address)).map((state) => state.replace(' verified', ''))).to.deep.equal(
      ['51 TRX'],
    );
  });
});
