import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { LINK_STATUSES, LINK_TRANSITIONS, type LinkStatus } from '../../src/domain/payment-link.ts';
import { type Shop, startShop } from '../support/payment-shop.ts';

/** The rules of payment links that hold whatever the program does. */
describe('PostgreSQL holds the rules of payment links by itself:', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop?.stop();
  });

  const refusal = (text: string, params: unknown[]): Promise<string | null> =>
    shop.sql(text, params).then(
      () => null,
      (error: Error) => error.message,
    );
  const newLink = async () => await shop.link({ customerId: await shop.customer() });
  const move = (id: string, to: LinkStatus, set = '') =>
    refusal(
      `update payment_links set status = ?, sequence = sequence + 1, paid_units = amount_units,
         completed_at = case when ? = 'completed' then now() end ${set} where id = ?`,
      [to, to, id],
    );

  /** A link that came into a status by legal steps. */
  async function linkIn(status: LinkStatus): Promise<string> {
    const { id } = await newLink();
    if (status !== 'pending') expect(await move(id, status)).to.equal(null);
    return id;
  }

  for (const from of LINK_STATUSES)
    for (const to of LINK_STATUSES.filter((status) => status !== from)) {
      const allowed = LINK_TRANSITIONS[from].includes(to);
      it(`a link ${allowed ? 'may' : 'may not'} go from ${from} to ${to}, as the domain's table says`, async () => {
        const answer = await move(await linkIn(from), to);
        expect(answer === null, String(answer)).to.equal(allowed);
      });
    }

  it('a link is completed only with its money, and by one step', async () => {
    const { id } = await newLink();
    const complete = `update payment_links set status = 'completed', completed_at = now(), sequence = ?, paid_units = ?::numeric where id = ?`;
    expect(await refusal(complete, [2, '24874999999999999999', id])).to.include('only by its money');
    expect(await refusal(complete, [3, '25000000000000000000', id])).to.include('raises the sequence');
    expect(await refusal(complete, [2, '24875000000000000000', id])).to.equal(null);
    expect(await refusal('update payment_links set transaction_hash = ? where id = ?', ['0x1', id])).to.include('never changes');
  });

  it('what a link asks for never changes, and no link is removed', async () => {
    const { id } = await newLink();
    const changes = [
      'amount_units = amount_units + 1',
      'least_units = 1',
      'amount_cents = 1',
      "token = 'x'",
      'expires_at = now()',
      "network = 'bsc'",
    ];
    for (const change of changes)
      expect(await refusal(`update payment_links set ${change} where id = ?`, [id]), change).to.include('never changes');
    expect(await refusal('delete from payment_links where id = ?', [id])).to.include('never removed');
    expect(await refusal('truncate payment_links cascade', [])).to.be.a('string');
  });

  it('a deposit is assigned once, to a link of its own customer, until it fails', async () => {
    const [one, two] = [await newLink(), await newLink()];
    const deposit = await shop.pay(one.customer_id, { coins: '10', state: 'detected' });
    const assign = (link: string | null) => refusal('update deposits set payment_link_id = ? where id = ?', [link, deposit]);
    expect((await shop.deposit(deposit)).paymentLinkId).to.equal(one.id);
    expect(await assign(two.id)).to.include('assigned once');
    expect(await assign((await shop.link({ customerId: one.customer_id })).id)).to.include('assigned once');
    expect(await assign(null)).to.include('assigned once');
    expect(await assign(randomUUID())).to.be.a('string');
    const fail = "update deposits set status = 'failed', failure_code = 'REORGED', sequence = sequence + 1";
    expect(await refusal(`${fail} where id = ?`, [deposit])).to.include('deposits_payment_check');
    expect(await refusal(`${fail}, payment_link_id = null where id = ?`, [deposit])).to.equal(null);
    const plain = await shop.pay(await shop.customer(), { coins: '1', state: 'detected' });
    expect(await refusal('update deposits set payment_link_id = ? where id = ?', [two.id, plain])).to.include('own customer');
  });
});
