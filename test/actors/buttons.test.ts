import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { createCustomer, createEndpoint, createPaymentLink } from '../../dev/support/use-cases.ts';
import { getPaymentLink } from '../../src/services/payment-links/reads.ts';
import { repairActors } from '../../src/services/repair/repair.ts';
import { ANYTHING, json, UNREADABLE, webUi } from '../support/web-ui.ts';
import { BUTTONS, type Button, pressEach, step, type Ui } from './support/buttons.ts';

const EVENTS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];

const PLAIN: Readonly<Record<string, Button>> = {
  'Request Cancellation': (ui) => ui.requestCancellation(),
  'Terminate, and repair': async (ui, live) => {
    await ui.terminate();
    await eventually('a repair', async () => {
      const { payments, deliveries } = await repairActors(live.gateway.deps);
      return payments + deliveries > 0;
    });
  },
  'Reset, to each place that is offered': async (ui) => {
    for (const [index] of (await ui.resetPoints()).entries()) {
      const point = (await ui.resetPoints())[index];
      if (point !== undefined) await ui.resetTo(point);
    }
  },
  'Signal, with every name and input': async (ui) => {
    for (const name of ['changed', 'x'])
      for (const input of [[], ...ANYTHING.map((one) => [one])]) await ui.signal(name, input);
  },
};

/** Actors whose buttons are all pressed, each as Temporal's Web UI or command line does it. */
describe('what people press', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  before(async () => {
    live = await startLiveMoney({
      // However long the pressing lasts, no delivery has used up its attempts.
      settings: { ...QUICK, webhookMaxAttempts: 1_000 },
      env: { LOG_LEVEL: 'fatal' },
    });
    const scope = { merchantId: live.merchantId, mode: 'test' as const };
    const { url } = live.receiver;
    await createEndpoint(live.gateway.deps, { ...scope, url, events: ['*'], description: null });
  });
  after(() => live?.stop());
  afterEach(() => live.receiver.setBehaviour(200));

  const uiOf = (workflowId: string): Ui => {
    const link = live.gateway.gateway.link ?? expect.fail('no Temporal');
    return webUi(link, workflowId);
  };
  const sql = <T>(text: string, params: unknown[] = []) =>
    live.gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const statusOf = (ui: Ui) => ui.status().catch(() => undefined);
  const ends = (ui: Ui) =>
    eventually(
      'the end of the actor',
      async () => (await statusOf(ui)) === 'COMPLETED',
      60_000,
      () => statusOf(ui),
    );
  /** A deposit that waits for its confirmations. */
  async function waiting() {
    const hash = await live.chain.usdt.call('transfer', [live.address, 2n * USDT_UNIT]);
    await live.chain.mine(2);
    await live.eventOf('deposit.confirming', hash);
    const [row] = await live.deposits(hash);
    const ui = uiOf(`deposit:bsc:${hash}:${String(row?.['address'])}:USDT`);
    await step(ui);
    return { hash, id: String(row?.['id']), ui };
  }

  it('keeps no deposit from its end, and tells of each of its states once', async () => {
    const { hash, ui } = await waiting();
    await pressEach(BUTTONS, ui, live, step);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
    await ends(ui);
    const about = live.events().filter(({ data }) => data['transaction_hash'] === hash);
    expect([...new Set(about.map(({ event }) => event))]).to.have.members(EVENTS);
    expect(new Set(about.map(({ id }) => id)).size).to.equal(EVENTS.length);
  });

  it('keeps no payment link from being paid', async () => {
    const { deps } = live.gateway;
    const customer = await live.newCustomer();
    const scope = { merchantId: live.merchantId, mode: 'live' as const };
    const { link } = await createPaymentLink(deps, {
      ...scope,
      customerId: customer.id,
      amountCents: 2_500n,
      publicUrl: '',
      webhookUrl: live.receiver.url,
    });
    const ui = uiOf(`payment:${link.id}`);
    await eventually('the actor', async () => (await statusOf(ui)) === 'RUNNING');
    await pressEach(PLAIN, ui, live);
    for (const result of [json({ deliveries: 'x' }), ...UNREADABLE]) {
      // A look is under way while it waits for this lock.
      const em = deps.orm.em.fork();
      await em.begin();
      try {
        await em.execute('lock table payment_links in access exclusive mode');
        await ui.signal('changed', []);
        await eventually('a look', () => ui.completeActivity('advance', result).catch(() => undefined));
      } finally {
        await em.rollback();
      }
    }
    await live.chain.usdt.call('transfer', [customer.address, 25n * USDT_UNIT]);
    await live.chain.mine(7);
    await eventually('its webhook', () => live.events().some(({ data }) => data['id'] === link.id));
    expect(await getPaymentLink(deps, { ...scope, id: link.id })).to.include({ status: 'completed' });
    await ends(ui);
  });

  it('keeps no webhook from arriving', async () => {
    live.receiver.setBehaviour(503);
    const facts = { externalId: 'notified', email: null, name: null, metadata: {} };
    const { merchantId } = live;
    const { id } = await createCustomer(live.gateway.deps, { merchantId, mode: 'test', ...facts });
    const [row] = await sql<{ id: string; event_id: string }>(
      'select d.id, d.event_id from webhook_deliveries d join events e on e.id = d.event_id where e.subject_id = ?',
      [id],
    );
    const [ui, delivery] = [uiOf(`event:${row?.event_id}`), `deliver:${row?.id}`];
    const delivering = () =>
      eventually('the delivery', async () => (await ui.pending().catch(() => [''])).includes(delivery));
    const buttons: Readonly<Record<string, Button>> = {
      ...PLAIN,
      'Reset and Pause of the delivery': async () => {
        await ui.pauseActivity(delivery);
        await ui.unpauseActivity(delivery);
        await ui.resetActivity(delivery);
      },
      'the end of the delivery by hand, with results that are none': async () => {
        for (const result of [undefined, json({ status: 'gone' })]) {
          await delivering();
          await ui.completeActivity(delivery, result);
        }
      },
      'its success by hand, and repair': async () => {
        await ui.completeActivity(delivery, json({ status: 'succeeded', message: '' }));
        await ends(ui);
        await eventually('a repair', async () => (await repairActors(live.gateway.deps)).deliveries > 0);
      },
    };
    await pressEach(buttons, ui, live, delivering);
    live.receiver.setBehaviour(200);
    const status = async () =>
      (await sql<{ status: string }>('select status from webhook_deliveries where id = ?', [row?.id]))[0]
        ?.status;
    await eventually('its arrival', async () => (await status()) === 'succeeded', 60_000, status);
    await ends(ui);
  });

  it('keeps no watcher from following its chain', async () => {
    const ui = uiOf('chain:bsc');
    const follows = () =>
      eventually('the watcher', async () => (await ui.pending().catch(() => [''])).includes('follow:bsc'));
    const buttons: Readonly<Record<string, Button>> = {
      'Request Cancellation': () => ui.requestCancellation(),
      Terminate: () => ui.terminate(),
      'Reset to its first place': async () => await ui.resetTo((await ui.resetPoints())[0] ?? 0),
      'the end of its activity by hand': () => ui.completeActivity('follow:bsc', json('done')),
      // The server takes a failure only of an activity that is under way.
      'the failure of its activity by hand': () =>
        eventually('a failure that is taken', () =>
          ui.failActivity('follow:bsc', 'pressed').catch(() => undefined),
        ),
    };
    await pressEach(buttons, ui, live, follows);
    const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
    await live.chain.mine(7);
    await live.eventOf('deposit.completed', hash);
    await eventually('a running watcher', async () => (await statusOf(ui)) === 'RUNNING');
  });
});
