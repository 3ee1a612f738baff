import { expect } from 'chai';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from '../resources/link-calls.ts';

/** What a developer plays through with the payment links of the test mode. */
describe('rehearsals with a payment link', () => {
  const api = apiOf({ deps: { now: () => new Date(now ?? Date.now()) } });
  let now: number | undefined;
  const links = linkCallsOf(() => api);
  beforeEach(() => {
    now = undefined;
  });

  const post = (path: string, body: object, by = api.keys.test) =>
    call(`${api.url}${path}`, { key: by, body });
  const expire = (token: unknown, by?: string) => post('/test/expire-payment', { token }, by);
  const simulate = (link: Row, more: object) =>
    post('/test/simulate-deposit', {
      customer_id: link['customer_id'],
      payment_token: link['token'],
      ...more,
    });
  /** The look that the link's actor takes when it is woken. */
  const look = (link: Row) => advancePaymentLink(api.deps, { linkId: link['id'] });

  it('end its time now; its actor ends it, as it ends every link whose time is over', async () => {
    const link = await links.make();
    now = Date.now();
    const first = await expire(link['token']);
    const told = [first.status, first.body['id'], first.body['status']];
    expect(told).to.deep.equal([200, link['id'], 'pending']);
    expect(Date.parse(first.body['expires_at'])).to.be.at.most(now);
    const [woken] = await api.deps.orm.em
      .fork()
      .execute(`select message from outbox where workflow_id = ? and message::text like '%signal%'`, [
        `payment:${link['id']}`,
      ]);
    expect(woken, 'the actor is told').to.be.an('object');
    now += 1;
    expect(await look(link)).to.include({ status: 'expired' });
    expect((await links.read(link['id'])).body).to.include({ status: 'expired', amount_status: 'none' });
    const again = await expire(link['token']);
    expect([again.status, again.body['status']]).to.deep.equal([200, 'expired']);
    expect(again.body['expires_at']).to.equal(first.body['expires_at']);
    expect(await look(link)).to.include({ status: 'expired' });
  });

  it('end it once, whoever asks at the same time, also when it is paid in part', async () => {
    const link = await links.make();
    await simulate(link, { share: 'half' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => expire(link['token'])));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body['expires_at']}`)).size).to.equal(1);
    const actions = await api.deps.orm.em
      .fork()
      .execute(`select after from operator_actions where action = 'link.expire' and subject = ?`, [
        link['id'],
      ]);
    expect(actions.length).to.be.at.most(1);
    now = Date.now() + 5;
    expect(await look(link)).to.include({ status: 'expired' });
    expect((await links.read(link['id'])).body).to.include({ status: 'expired', amount_status: 'underpaid' });
  });

  it('refuse to end one that is paid or cancelled, of real money, of another merchant, or none', async () => {
    const [paid, cancelled, test] = [await links.make(), await links.make(), await links.make()];
    const live = await links.make({}, api.keys.live);
    await simulate(paid, { share: 'full' });
    await links.cancel(cancelled['id']);
    for (const [link, status] of [[paid, 'completed'] as const, [cancelled, 'cancelled'] as const]) {
      const answer = await expire(link['token']);
      const sentence = `This payment link is ${status} already: only one that is open can expire.`;
      const told = [answer.status, answer.body['code'], answer.body['error']];
      expect(told).to.deep.equal([409, 'PAYMENT_LINK_CLOSED', sentence]);
    }
    const other = (await api.newMerchant()).keys.test;
    for (const [token, by] of [
      [live['token'], api.keys.test],
      [test['token'], other],
      ['nothing', other],
    ])
      expect((await expire(token, by)).body['error']).to.equal('There is no such payment link.');
    const kept = { status: 'pending', expires_at: live['expires_at'] };
    expect((await links.read(live['id'], api.keys.live)).body).to.include(kept);
  });

  it('pay what is missing in words: all of it, half of it, too much', async () => {
    const table: [string[], string[], string][] = [
      [['full'], ['25'], 'exact'],
      [['half', 'half', 'full'], ['12.5', '6.25', '6.25'], 'exact'],
      [['half', 'double'], ['12.5', '25'], 'overpaid'],
    ];
    for (const [shares, amounts, amount_status] of table) {
      const link = await links.make();
      const made: unknown[] = [];
      for (const share of shares) made.push((await simulate(link, { share })).body['amount']);
      expect(made).to.deep.equal(amounts);
      expect((await links.read(link['id'])).body).to.include({ status: 'completed', amount_status });
    }
  });
});
