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
  const move = (id: string, to: LinkStatus, sequence = 'sequence + 1') =>
    refusal(
      `update payment_links set status = ?, sequence = ${sequence},
        completed_at = case when ? = 'completed' then now() end where id = ?`,
      [to, to, id],
    );

  /** A link in `processing` whose money is completed: the program would complete it at once. */
  async function funded(coins = '25'): Promise<string> {
    const { id, customer_id } = await newLink();
    const deposit = await shop.pay(customer_id, { coins, state: 'detected' });
    const step = 'update deposits set sequence = sequence + 1, status =';
    await shop.sql(`${step} 'confirming' where id = ?`, [deposit]);
    await shop.sql(`${step} 'completed', completed_at = now() where id = ?`, [deposit]);
    return id;
  }

  const WAYS: Readonly<Record<LinkStatus, readonly LinkStatus[]>> = {
    pending: ['pending'],
    processing: [],
    partially_paid: ['partially_paid'],
    completed: ['completed'],
    expired: ['expired'],
    cancelled: ['pending', 'cancelled'],
  };

  /** A link that came into a status by legal steps. */
  async function linkIn(status: LinkStatus): Promise<string> {
    const id = await funded();
    for (const step of WAYS[status]) expect(await move(id, step)).to.equal(null);
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
    expect(await move(await funded('24.874999999999999999'), 'completed')).to.include('only by its money');
    const id = await funded('24.875');
    expect(await move(id, 'completed', '4')).to.include('raises the sequence');
    expect(await move(id, 'completed')).to.equal(null);
    expect(
      await refusal('update payment_links set transaction_hash = ? where id = ?', ['0x1', id]),
    ).to.include('never changes');
  });

  it('money comes late only for a link of its own customer, and stays so', async () => {
    const [link, other] = [await newLink(), await newLink()];
    shop.pass(3_700);
    const deposit = await shop.pay(link.customer_id, { coins: '25' });
    const late = 'late_payments where deposit_id = ?';
    expect(await shop.sql(`select payment_link_id as id from ${late}`, [deposit])).to.deep.equal([
      { id: link.id },
    ]);
    const more = await shop.pay(link.customer_id, { coins: '3' });
    const own = 'a deposit comes late only for a link of its own customer';
    expect(await refusal('insert into late_payments values (?, ?, now())', [more, other.id])).to.include(own);
    expect(
      await refusal('update late_payments set payment_link_id = ? where deposit_id = ?', [other.id, deposit]),
    ).to.include(own);
    expect(await refusal(`delete from ${late}`, [deposit])).to.be.a('string');
    expect(await refusal('truncate late_payments', [])).to.be.a('string');
    shop.pass(-3_700);
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
      expect(await refusal(`update payment_links set ${change} where id = ?`, [id]), change).to.include(
        'never changes',
      );
    expect(await refusal('delete from payment_links where id = ?', [id])).to.include('never removed');
    expect(await refusal('truncate payment_links cascade', [])).to.be.a('string');
  });

  it('the time of a link ends earlier in test mode alone, while the link is open, and never later', async () => {
    const { id } = await shop.link({ mode: 'test', customerId: await shop.customer('test') });
    const ends = (time: string) =>
      refusal(`update payment_links set expires_at = ${time} where id = ?`, [id]);
    expect(await ends("expires_at + interval '1 second'")).to.include('never changes');
    expect(await ends("expires_at - interval '1 second'")).to.equal(null);
    expect(await move(id, 'expired')).to.equal(null);
    expect(await ends("expires_at - interval '1 second'")).to.include('never changes');
    const live = await newLink();
    const change = "update payment_links set expires_at = expires_at - interval '1 second' where id = ?";
    expect(await refusal(change, [live.id])).to.include('never changes');
  });

  it('the sums of a link change with its deposits, and in no other way', async () => {
    const { id, customer_id } = await newLink();
    const sums = async () => {
      const { assignedUnits, paidUnits, openCount } = await shop.row(id);
      return [assignedUnits, paidUnits, openCount];
    };
    for (const change of ['paid_units = 1', 'assigned_units = assigned_units + 1', 'open_count = 1'])
      expect(await refusal(`update payment_links set ${change} where id = ?`, [id]), change).to.include(
        'only with its deposits',
      );
    const unit = 10n ** 18n;
    const deposit = await shop.pay(customer_id, { coins: '10', network: 'tron', state: 'detected' });
    expect(await sums()).to.deep.equal([10n * unit, 0n, 1]);
    expect(await refusal('update deposits set amount_units = 4000000 where id = ?', [deposit])).to.equal(
      null,
    );
    expect(await sums()).to.deep.equal([4n * unit, 0n, 1]);
    await shop.move(deposit, 'confirming');
    await shop.move(deposit, 'completed');
    expect(await sums()).to.deep.equal([4n * unit, 4n * unit, 0]);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await sums()).to.deep.equal([0n, 0n, 0]);
    expect(
      await refusal(
        `insert into payment_links select
          (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'token', 'other',
      'status', 'pending', 'sequence', 1, 'assigned_units', 5))).* from payment_links l where id = ?`,
        [id],
      ),
    ).to.include('without money');
  });

  it('a deposit is assigned once, to a link of its own customer, until it comes back after a failure', async () => {
    const [one, two] = [await newLink(), await newLink()];
    const deposit = await shop.pay(one.customer_id, { coins: '10', state: 'detected' });
    const assign = (link: string | null) =>
      refusal('update deposits set payment_link_id = ? where id = ?', [link, deposit]);
    expect((await shop.deposit(deposit)).paymentLinkId).to.equal(one.id);
    expect(await assign(two.id)).to.include('assigned once');
    expect(await assign((await shop.link({ customerId: one.customer_id })).id)).to.include('assigned once');
    expect(await assign(null)).to.include('assigned once');
    expect(await assign(randomUUID())).to.be.a('string');
    const fail = "update deposits set status = 'failed', failure_code = 'REORGED', sequence = sequence + 1";
    expect(await refusal(`${fail}, payment_link_id = null where id = ?`, [deposit])).to.include(
      'assigned once',
    );
    await shop.move(deposit, 'failed', 'REORGED');
    for (const link of [two.id, null]) expect(await assign(link)).to.include('assigned once');
    const plain = await shop.pay(await shop.customer(), { coins: '1', state: 'detected' });
    expect(await refusal('update deposits set payment_link_id = ? where id = ?', [two.id, plain])).to.include(
      'own customer',
    );
  });
});
