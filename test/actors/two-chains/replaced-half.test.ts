import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { createPaymentLink } from '../../../dev/support/use-cases.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { bodies, paymentLinksOf } from '../support/payment-links.ts';

/** One half of what is asked for, on either chain. */
const HALF = { bsc: 12_500_000_000_000_000_000n, tron: 12_500_000n } as const;
/** Ten minutes of blocks, and some more. */
const CAUGHT_UP = 240;
const OTHER = { bsc: 'tron', tron: 'bsc' } as const;

describe('a payment link that is paid half on each chain', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let own: Receiver;
  before(async () => {
    own = await startReceiver();
    chains = await startLiveChains({});
    live = chains.live;
    // Its blocks begin in the past, and what came before a link was made does not pay it.
    await chains.tron.mine(CAUGHT_UP);
  });
  after(async () => {
    await chains?.stop();
    await own?.stop();
  });
  const expectToldOnce = async (id: string): Promise<void> => {
    await eventually('the webhook of the link', () => bodies(own, id).length > 0);
    expect(bodies(own, id)).to.have.length(1);
  };
  const { view, becomes, ends } = paymentLinksOf(() => live);
  const half = (chain: LiveChain, to: string) =>
    chain.pay({ currency: 'USDT', units: HALF[chain.network] }, to);

  for (const network of ['bsc', 'tron'] as const satisfies readonly Network[])
    it(`is not paid while the block of the half on ${network} is replaced, and once when it is there again`, async () => {
      const customer = await live.newCustomer();
      const { link, webhookSecret } = await createPaymentLink(live.gateway.deps, {
        merchantId: live.merchantId,
        mode: 'live',
        customerId: customer.id,
        amountCents: 2_500n,
        publicUrl: 'https://pay.example',
        webhookUrl: own.url,
        expiresInS: 300,
      });
      own.setSecret(webhookSecret);
      const [lost, kept] = [chains[network], chains[OTHER[network]]];
      const to = { bsc: customer.address, tron: customer.tron };
      const stays = await half(kept, to[kept.network]);
      await kept.mine();
      const goes = await half(lost, to[network]);
      await lost.mine();
      await live.eventOf('deposit.detected', stays);
      await live.eventOf('deposit.detected', goes);
      await lost.replace(1);
      await Promise.all([kept.finish(), lost.finish()]);
      await live.eventOf('deposit.completed', stays);
      await live.eventOf('deposit.failed', goes);
      await becomes(link.id, 'partially_paid');
      expect(await view(link.id)).to.include({ paid_amount_usd: 12.5, amount_status: 'underpaid' });
      await lost.again(goes);
      await lost.mine();
      await lost.finish();
      await becomes(link.id, 'completed');
      await ends(link.id);
      const paid = await view(link.id);
      expect(paid).to.include({ amount_status: 'exact', paid_amount_usd: 25 });
      expect(paid.transactions.map((row) => row.transaction_hash)).to.have.members([stays, goes]);
      await expectToldOnce(link.id);
    });
});
