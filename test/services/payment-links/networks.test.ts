import { expect } from 'chai';
import type { Network } from '../../../src/domain/assets.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { payerPages } from '../../../src/web/checkout/index.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('the networks on which a link is offered', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop?.stop();
  });

  const watching = (...watchedNetworks: Network[]) =>
    Object.assign(shop.deps.settings.payments, { watchedNetworks });
  const methods = async (token: string) =>
    (await getPublicPayment(shop.deps, token)).methods.map(({ network }) => network);
  const newLink = async (mode: 'live' | 'test' = 'live') =>
    await shop.link({ customerId: await shop.customer(mode), mode });

  it('are in live mode those that are watched now, and in test mode both', async () => {
    watching('bsc');
    const [live, test] = [await newLink(), await newLink('test')];
    expect(await methods(live.token)).to.deep.equal(['bsc']);
    expect(await methods(test.token)).to.deep.equal(['bsc', 'tron']);
    watching('tron', 'bsc');
    expect(await methods(live.token)).to.deep.equal(['bsc', 'tron']);
    watching();
    expect(await methods(live.token)).to.deep.equal([]);
    expect(await methods(test.token)).to.deep.equal(['bsc', 'tron']);
  });

  it('may not be named where nobody would see the money, and the sentence names the setting', async () => {
    watching('bsc');
    const customerId = await shop.customer();
    const refused = async (network: Network) =>
      await shop.link({ customerId, network }).then(
        () => undefined,
        (error: unknown) => error,
      );
    const error = await refused('tron');
    expect(error).to.be.instanceOf(Refusal).and.include({ code: 'INVALID', field: 'network' });
    expect(String(error)).to.include('set TRON_API_URLS first');
    expect(await refused('bsc')).to.equal(undefined);
    watching();
    expect(String(await refused('bsc'))).to.include('set BSC_RPC_URLS first');
  });

  it('leave a page that says so where none is watched, without an address, for as long as the link is open', async () => {
    watching();
    const { token } = await newLink();
    const page = async () =>
      String(
        payerPages(shop.deps.settings.requiredConfirmations).render(
          await getPublicPayment(shop.deps, token),
          { refresh: true, lang: 'en' },
        ).body,
      );
    expect(await page())
      .to.include('cannot be paid at the moment')
      .and.not.include('data-part="address"');
    shop.pass(3_601);
    expect(await page()).to.not.include('cannot be paid at the moment');
  });
});
