// What looks like money and is none, and what is money and does not look like it, from the chain to the rows.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../../dev/tron/contracts.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { ownKey } from '../test-watcher.ts';
import { advanced, asideAt, STRANGER, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const MARKUP = '<script>alert(1)</script>"; drop table deposits; --';
const MINIMUM = 5n;
/** No floating-point number is either of them. */
const LARGE = { sun: 9_007_199_254_740_993n, tokens: 12_345_678_901_234_567n } as const;

describe('what comes on Tron', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  let payer: TronContract;
  let foreign: TronContract;
  before(async () => {
    live = await startTronWatcher({
      settings: { minDepositUnits: new Map([['USDT.tron', MINIMUM]]) },
    });
    payer = await live.node.deploy(testContracts().Payer);
    foreign = await live.node.deploy(testContracts().Token, [6]);
    await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000_000n });
    await live.node.pay({ to: payer.key, currency: 'USDT', units: 1_000_000n });
    await live.node.mine();
    await live.catchUp();
    await sendAll();
  });
  after(() => live?.stop());
  const penniless = () => live.node.accounts[1];
  const tokenOf = () => live.node.usdt.key;

  type Trap = {
    readonly send: (to: AddressKey, second: AddressKey) => Promise<string>;
    readonly credited?: readonly string[];
    /** What the second address gets. */
    readonly creditedToo?: readonly string[];
    readonly aside?: readonly string[];
    /** What the node itself says of it. */
    readonly result?: string;
  };
  const TRAPS: Readonly<Record<string, Trap>> = {
    'a transfer of the token that is reverted': {
      send: (to) => live.node.usdt.call('transfer', [to, 50n], { from: penniless() }),
      result: 'REVERT',
    },
    'a transfer of the token that runs out of energy': {
      send: (to) => live.node.usdt.call('transfer', [to, 50n], { feeLimit: 100n }),
      result: 'OUT_OF_ENERGY',
    },
    'a payment of the token inside a call that fails': {
      send: (to) => payer.call('payAndFail', [tokenOf(), to, 50n]),
      result: 'REVERT',
    },
    'a payment of the token that fails inside a call which goes on': {
      send: (to) => payer.call('payAndSwallow', [tokenOf(), to, 50n]),
      result: 'SUCCESS',
    },
    'TRX that is passed on inside a call which fails': {
      send: (to) => payer.call('payCoinAndFail', [to, 50n]),
      result: 'REVERT',
    },
    'TRX that is passed on by what fails inside a call which goes on': {
      send: (to) => payer.call('payCoinAndSwallow', [to, 50n]),
      result: 'SUCCESS',
    },
    'TRX from a contract that then pays itself': {
      send: (to) =>
        payer.call('payCoins', [
          [to, payer.key],
          [50n, 7n],
        ]),
      result: 'TRANSFER_FAILED',
    },
    'a call that passes on nothing': {
      send: (to) => payer.call('payCoin', [to, 0n]),
      result: 'SUCCESS',
    },
    'a transfer of nothing': { send: (to) => live.node.usdt.call('transfer', [to, 0n]), result: 'SUCCESS' },
    'TRX that a contract passes on': {
      send: (to) => payer.call('payCoin', [to, 50n]),
      credited: ['50 TRX verified'],
    },
    'token and TRX in one transaction': {
      send: (to) => payer.call('payBoth', [tokenOf(), to, 50n, 60n]),
      credited: ['50 USDT verified', '60 TRX verified'],
    },
    'two equal payments in one transaction': {
      send: (to) => payer.call('pay', [tokenOf(), [to, to], [50n, 50n]]),
      credited: ['100 USDT verified'],
    },
    'one transaction that pays two customers': {
      send: (to, second) => payer.call('pay', [tokenOf(), [to, second, STRANGER], [50n, 60n, 70n]]),
      credited: ['50 USDT verified'],
      creditedToo: ['60 USDT verified'],
    },
    'one transaction that passes TRX on to two customers': {
      send: (to, second) =>
        payer.call('payCoins', [
          [to, second],
          [50n, 60n],
        ]),
      credited: ['50 TRX verified'],
      creditedToo: ['60 TRX verified'],
    },
    'a Transfer of another contract': {
      send: (to) => foreign.call('mint', [to, 50n]),
      aside: ['50 another token'],
    },
    'TRC-10': {
      send: (to) =>
        live.node.send({
          type: 'TransferAssetContract',
          value: { asset_name: Buffer.from('1000001').toString('hex'), to_address: `41${to}`, amount: 50n },
        }),
    },
    'a memo with markup': {
      send: (to) =>
        live.node.pay({ to, currency: 'TRX', units: 50n, memo: Buffer.from(MARKUP).toString('hex') }),
      credited: ['50 TRX verified'],
    },
    'more sun than a floating-point number holds': {
      send: (to) => live.node.pay({ to, currency: 'TRX', units: LARGE.sun }),
      credited: [`${LARGE.sun} TRX verified`],
    },
    'more of the token than a floating-point number holds': {
      send: (to) => live.node.pay({ to, currency: 'USDT', units: LARGE.tokens }),
      credited: [`${LARGE.tokens} USDT verified`],
    },
    'more sun than that, passed on by a contract': {
      send: (to) => payer.call('passOn', [to], { valueSun: LARGE.sun }),
      credited: [`${LARGE.sun} TRX verified`],
    },
  };

  type Sent = { readonly first: AddressKey; readonly second: AddressKey; readonly txHash: string };
  const sent = new Map<string, Sent & { readonly atHead: readonly string[] }>();
  /** All at once, each in a block of its own. */
  async function sendAll(): Promise<void> {
    const all: [name: string, Sent][] = [];
    for (const [name, { send }] of Object.entries(TRAPS)) {
      const [first, second] = [await live.newAddress(), await live.newAddress()];
      all.push([name, { first, second, txHash: await send(first, second) }]);
      await live.node.mine();
    }
    await live.catchUp();
    for (const [name, one] of all) sent.set(name, { ...one, atHead: states(await live.deposits(one.first)) });
    await live.finish();
  }

  for (const [name, { credited = [], creditedToo = [], aside = [], result }] of Object.entries(TRAPS)) {
    it(`is credited to the unit and nothing else: ${name}`, async () => {
      const { first, second, txHash, atHead } = sent.get(name) ?? expect.fail('it was not sent');
      if (result !== undefined)
        expect(await live.node.ask('wallet/gettransactionbyid', { value: txHash })).to.nested.include({
          'ret[0].contractRet': result,
        });
      expect(atHead.map((state) => state.replace(' verified', ''))).to.have.members(
        credited.map((state) => state.replace(' verified', '')),
      );
      expect(states(await live.deposits(first))).to.have.members([...credited]);
      expect(states(await live.deposits(second))).to.have.members([...creditedToo]);
      for (const row of await live.deposits(first)) expect(row['transaction_hash']).to.equal(txHash);
      expect(await asideAt(live, first)).to.deep.equal([...aside]);
    });
  }

  it('is shown in base58 where it is set aside, with the contract that only looks like ours', async () => {
    const to = await live.newAddress();
    await foreign.call('mint', [to, 51n]);
    await live.finish();
    const [row] = await live.rows('select * from unrecognised_transfers where address_key = ?', [to]);
    expect(row).to.include({
      address: TRON_ADDRESSES.format(to),
      contract_address: TRON_ADDRESSES.format(foreign.key),
    });
  });

  it('leaves nothing in any row of what a memo says', async () => {
    const { txHash } = sent.get('a memo with markup') ?? expect.fail('it was not sent');
    const hex = Buffer.from(MARKUP).toString('hex');
    const shown = await live.node.ask('wallet/gettransactionbyid', { value: txHash });
    expect(inspect(shown, { depth: null })).to.include(hex);
    const tables = await live.rows(
      `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    const kept = await Promise.all(
      tables.map(async ({ relname }) => {
        const [row] = await live.rows(`select string_agg(kept::text, ' ') as text from "${relname}" kept`);
        return `${relname} ${row?.['text']}`;
      }),
    );
    expect(kept.join(), 'its deposit').to.include(txHash);
    for (const text of kept)
      expect(text).not.to.include(MARKUP.slice(0, 9)).and.not.to.include(hex.slice(0, 18));
  });

  it('is nothing while it waits to be mined, and nothing where it never is', async () => {
    const to = await live.newAddress();
    const txHash = await live.node.pay({ to, currency: 'TRX', units: 52n });
    const pending = await live.node.ask('wallet/gettransactionbyid', { value: txHash });
    expect(pending).to.nested.include({ 'ret[0].contractRet': 'SUCCESS' });
    await live.catchUp();
    expect(await live.deposits(to)).to.deep.equal([]);
    await live.node.forget(txHash);
    await live.finish();
    expect(await live.deposits(to)).to.deep.equal([]);
  });

  it('is no deposit where one of our own addresses sent it', async () => {
    const [from, to] = [await live.newAddress(), await live.newAddress()];
    await live.node.pay({ to: from, currency: 'TRX', units: 200_000_000n });
    await live.node.pay({ to: from, currency: 'USDT', units: 100n });
    await live.node.mine();
    await live.catchUp();
    const sender = { from: { address: from, privateKey: ownKey('tron', from) } };
    await live.node.pay({ ...sender, to, currency: 'USDT', units: 53n });
    await live.node.pay({ ...sender, to, currency: 'TRX', units: 54n });
    await live.finish();
    expect(await live.deposits(to)).to.deep.equal([]);
    expect(states(await live.deposits(from))).to.have.members([
      '200000000 TRX verified',
      '100 USDT verified',
    ]);
  });

  it('is held where it is below the minimum, and credited where it is that much', async () => {
    const [less, enough] = [await live.newAddress(), await live.newAddress()];
    await live.node.pay({ to: less, currency: 'USDT', units: MINIMUM - 1n });
    await live.node.pay({ to: enough, currency: 'USDT', units: MINIMUM });
    await live.finish();
    await live.node.mine(25);
    await live.catchUp();
    expect(await advanced(live, less)).to.deep.equal(['failed']);
    expect((await live.deposits(less))[0]).to.include({ failure_code: 'BELOW_MINIMUM' });
    expect(await advanced(live, enough)).to.deep.equal(['completed']);
  });
});
