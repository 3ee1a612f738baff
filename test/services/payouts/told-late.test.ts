// A gas wallet that watchers are told of when its transactions are in blocks already.
import { expect } from 'chai';
import { Wallet } from 'ethers';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
import { startTronWatcher, type TronWatcher } from '../watcher/tron/tron-watcher.ts';
import { shown } from './stage.ts';

const STRANGER = keyOfHex('5e'.repeat(20));
const SECRET = '6a'.repeat(32);
const GAS = keyOfHex(new Wallet(`0x${SECRET}`).address, 2);

describe('a gas wallet that is told late, where few blocks are read twice', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ readsAllAgain: false });
    await live.newAddress();
    await live.node.pay({ to: GAS, currency: 'TRX', units: 10n ** 9n });
    await live.finish();
  });
  after(() => live?.stop());
  const pay = (to: typeof GAS, units: bigint): Promise<string> =>
    live.node.pay({ to, currency: 'TRX', units, from: { address: GAS, privateKey: SECRET } });

  it('is seen in blocks whose second read is still to come', async () => {
    const customer = await live.newAddress();
    const stolen = await pay(STRANGER, 5_000_000n);
    await live.node.mine();
    const toUs = await pay(customer, 6_000_000n);
    await live.node.mine();
    await live.catchUp();
    expect(await live.rows('select hash from sent_transactions')).to.deep.equal([]);
    await publishGasWallets(live.deps, { tron: shown('tron', GAS) });
    await live.finish();
    const found = await live.rows(
      'select hash, state, verified_at is not null as twice from sent_transactions order by block_number',
    );
    expect(found).to.deep.equal([stolen, toUs].map((hash) => ({ hash, state: 'foreign', twice: true })));
    const deposits = await live.deposits(customer);
    expect(deposits.map((row) => [row['transaction_hash'], row['block_hash']])).to.deep.equal([[toUs, null]]);
  });
});
