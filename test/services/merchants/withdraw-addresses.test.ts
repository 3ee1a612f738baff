import { expect } from 'chai';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { listMerchants, updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { requireNoContract } from '../../../src/services/merchants/withdraw-addresses.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas-wallets.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { shown } from '../payouts/stage.ts';

/** Nobody's. */
const DESTINATION = shown('bsc', keyOfHex('d1'.repeat(20)));

describe('a withdraw address', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());
  const set = (network: Network, address: string) =>
    updateMerchant(shop.deps, { merchantId: shop.merchantId, withdraw: { [network]: address } });
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.fail('not refused'),
      (error: Error) => error.message,
    );

  it('is refused where nobody owns it, or where what is sent comes back, and nothing is changed', async () => {
    const { contracts } = shop.deps.settings;
    await shop.customer();
    await shop.customer('test');
    const ours = await shop.sql<{ network: Network; address: string }>(
      'select network, address from deposit_addresses order by network, mode',
    );
    expect(ours).to.have.length(4);
    const gas = {
      bsc: shown('bsc', keyOfHex('9a'.repeat(20))),
      tron: shown('tron', keyOfHex('9a'.repeat(20))),
    };
    await publishGasWallets(shop.deps, gas);
    const wrong: (readonly [Network, string, RegExp])[] = [
      ...ours.map(({ network, address }) => [network, address, /is an address of this gateway\. /] as const),
      ...(['bsc', 'tron'] as const).flatMap((network) => [
        [network, shown(network, keyOfHex('0'.repeat(40))), /is the address zero, /] as const,
        [network, contracts[network], /is the contract of the token\. /] as const,
        [network, gas[network], /is an address of this gateway\. /] as const,
      ]),
    ];
    for (const [network, address, says] of wrong) {
      const said = await refusal(set(network, address));
      expect(said, address).to.match(says);
      expect(said, address).to.match(/Ask the merchant for an address of a wallet of their own\.$/);
    }
    const [view] = await listMerchants(shop.deps);
    expect(view?.withdraw).to.deep.equal({ bsc: null, tron: null });
    expect((await set('bsc', DESTINATION.toLowerCase())).withdraw).to.include({ bsc: DESTINATION });
  });

  it('is refused where code runs at it, or where nobody can say so, each with what to do', async () => {
    const chain = (hasCode: () => Promise<boolean>) => new Map([['bsc' as const, { hasCode }]]);
    const ask = (chains: Parameters<typeof requireNoContract>[0]) =>
      requireNoContract(chains, 'bsc', DESTINATION);
    expect(await ask(chain(async () => false))).to.equal(true);
    // Nothing is paid out on a chain that is not watched, so that nobody need be asked.
    expect(await ask(new Map())).to.equal(false);
    expect(await ask(new Map([['bsc' as const, {}]]))).to.equal(false);
    const cases: (readonly [Parameters<typeof requireNoContract>[0], RegExp])[] = [
      [chain(async () => true), /is a contract on bsc\. Ask the merchant/],
      [chain(() => Promise.reject(new Error('away'))), /no RPC endpoint of bsc answers\. See with "doctor"/],
    ];
    for (const [chains, says] of cases) {
      const said = await refusal(ask(chains));
      expect(said).to.match(says);
      expect(said).to.match(
        /, or give --allow-contract if the merchant is sure that it takes such payments\.$/,
      );
    }
  });

  it('is paused and goes on by what "merchant set" says', async () => {
    const { merchantId } = shop;
    const paused = async (payoutsPaused: boolean) =>
      (await updateMerchant(shop.deps, { merchantId, payoutsPaused })).payoutsPaused;
    expect([await paused(true), await paused(true), await paused(false)]).to.deep.equal([true, true, false]);
    expect((await updateMerchant(shop.deps, { merchantId, name: 'Same' })).payoutsPaused).to.equal(false);
    expect(await shop.sql('select kind from payout_decisions order by id')).to.deep.equal([
      { kind: 'pause' },
      { kind: 'resume' },
    ]);
  });
});
