// What looks like money and is none, and what is money and does not look like it, from the chain to the rows.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../../dev/tron/contracts.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { asideAt, STRANGER, states, tronStage } from './scenes.ts';

/** No floating-point number is that. */
const LARGE_SUN = 9_007_199_254_740_993n;

describe('what comes on Tron', () => {
  const live = tronStage();
  let payer: TronContract;
  let foreign: TronContract;
  before(async () => {
    payer = await live.node.deploy(testContracts().Payer);
    foreign = await live.node.deploy(testContracts().Token, [6]);
    await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000_000n });
    await live.node.pay({ to: payer.key, currency: 'USDT', units: 1_000_000n });
    await live.node.mine();
    await live.catchUp();
    await sendAll();
  });
  const tokenOf = () => live.node.usdt.key;

  type Send = (to: AddressKey, second: AddressKey) => Promise<string>;
  /** What the first address gets, and the second; what is set aside, and what the node says of it. */
  type Outcome = { credited?: string[]; creditedToo?: string[]; aside?: string[]; result?: string };
  const REVERTED: Outcome = { result: 'REVERT' };
  const NOTHING: Outcome = { result: 'SUCCESS' };
  const one = (credited: string): Outcome => ({ credited: [credited] });
  const TRAPS: Readonly<Record<string, readonly [Send, Outcome]>> = {
    'a payment of the token that fails inside a call which goes on': [
      (to) => payer.call('payAndSwallow', [tokenOf(), to, 50n]),
      NOTHING,
    ],
    'TRX that is passed on inside a call which fails': [
      (to) => payer.call('payCoinAndFail', [to, 50n]),
      REVERTED,
    ],
    'token and TRX in one transaction': [
      (to) => payer.call('payBoth', [tokenOf(), to, 50n, 60n]),
      { credited: ['50 USDT verified', '60 TRX verified'] },
    ],
    'one transaction that pays two customers': [
      (to, second) => payer.call('pay', [tokenOf(), [to, second, STRANGER], [50n, 60n, 70n]]),
      { credited: ['50 USDT verified'], creditedToo: ['60 USDT verified'] },
    ],
    'a Transfer of another contract': [
      (to) => foreign.call('mint', [to, 50n]),
      { aside: ['50 another token'] },
    ],
    'more sun than a floating-point number holds, passed on by a contract': [
      (to) => payer.call('passOn', [to], { valueSun: LARGE_SUN }),
      one(`${LARGE_SUN} TRX verified`),
    ],
  };

  type Sent = { readonly first: AddressKey; readonly second: AddressKey; readonly txHash: string };
  const sent = new Map<string, Sent & { readonly atHead: readonly string[] }>();
  /** All at once, each in a block of its own. */
  async function sendAll(): Promise<void> {
    const all: [name: string, Sent][] = [];
    for (const [name, [send]] of Object.entries(TRAPS)) {
      const [first, second] = [await live.newAddress(), await live.newAddress()];
      all.push([name, { first, second, txHash: await send(first, second) }]);
      await live.node.mine();
    }
    await live.catchUp();
    for (const [name, one] of all) sent.set(name, { ...one, atHead: states(await live.deposits(one.first)) });
    await live.finish();
  }

  for (const [name, [, { credited = [], creditedToo = [], aside = [], result }]] of Object.entries(TRAPS)) {
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
    const { first } = sent.get('a Transfer of another contract') ?? expect.fail('it was not sent');
    const [row] = await live.rows('select * from unrecognised_transfers where address_key = ?', [first]);
    expect(row).to.include({
      address: TRON_ADDRESSES.format(first),
      contract_address: TRON_ADDRESSES.format(foreign.key),
    });
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
});
