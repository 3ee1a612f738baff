import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { type Receiver, startReceiver } from '../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, createPaymentLink } from '../../dev/support/use-cases.ts';
import { decideToFail } from '../../src/services/deposits/operator.ts';
import { getPaymentLink } from '../../src/services/payment-links/reads.ts';
import { repairActors } from '../../src/services/repair/repair.ts';
import { ANYTHING, json, webUi } from '../support/web-ui.ts';

type Ui = ReturnType<typeof webUi>;
type Button = (ui: Ui, live: LiveMoney) => Promise<unknown>;

const SMALL = ANYTHING.filter(({ data }) => data.length < 1_000_000);
const WATCHER_WITHIN_MS = 45_000;

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

/**
 * Payment links, webhooks and the watcher of a chain, while
 * people press what Temporal's Web UI and command line offer.
 */
describe('what people press', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  let receiver: Receiver;

  before(async () => {
    live = await startLiveMoney({ env: { LOG_LEVEL: 'fatal' } });
    receiver = await startReceiver();
    const scope = { merchantId: live.merchantId, mode: 'test' as const };
    await createEndpoint(live.gateway.deps, {
      ...scope,
      url: receiver.url,
      events: ['*'],
      description: null,
    });
  });
  after(async () => {
    await live?.stop();
    await receiver?.stop();
  });
  afterEach(() => {
    for (const one of [receiver, live.receiver]) one.setBehaviour(200);
  });

  const uiOf = (workflowId: string): Ui => {
    const link = live.gateway.gateway.link;
    if (!link) throw new Error('no Temporal');
    return webUi(link, workflowId);
  };
  const sql = <T>(text: string, params: unknown[] = []) =>
    live.gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const ends = (ui: Ui) =>
    eventually(
      'the end of the actor',
      async () => (await ui.status().catch(() => undefined)) === 'COMPLETED',
      60_000,
    );

  /** Runs `work` while every look at this table waits for it. */
  async function heldUp(table: string, work: () => Promise<unknown>): Promise<void> {
    const em = live.gateway.deps.orm.em.fork();
    await em.begin();
    try {
      await em.execute(`lock table ${table} in access exclusive mode`);
      await work();
    } finally {
      await em.rollback();
    }
  }

  describe('for a payment link', () => {
    const buttons: Readonly<Record<string, Button>> = {
      ...PLAIN,
      'the end of a look by hand, with every result': async (ui) => {
        for (const result of SMALL) {
          await heldUp('payment_links', async () => {
            await ui.signal('changed', []);
            await eventually('a look', () => ui.completeActivity('advance', result).catch(() => undefined));
          });
        }
      },
    };
    for (const [name, press] of Object.entries(buttons)) {
      it(`does not keep it from being paid: ${name}`, async () => {
        const { deps } = live.gateway;
        const customer = await live.newCustomer();
        const scope = { merchantId: live.merchantId, mode: 'live' as const };
        const terms = {
          ...scope,
          customerId: customer.id,
          amountCents: 2_500n,
          publicUrl: '',
          webhookUrl: receiver.url,
        };
        const { link } = await createPaymentLink(deps, terms);
        const ui = uiOf(`payment:${link.id}`);
        await eventually('the actor', async () => (await ui.status().catch(() => undefined)) === 'RUNNING');
        await press(ui, live);
        await live.chain.usdt.call('transfer', [customer.address, 25n * USDT_UNIT]);
        await live.chain.mine(7);
        const told = () =>
          receiver.requests.filter((request) => JSON.parse(request.body.toString()).data.id === link.id);
        await eventually('its webhook', () => told().length > 0, 40_000);
        expect(await getPaymentLink(deps, { ...scope, id: link.id })).to.include({ status: 'completed' });
        await ends(ui);
      });
    }
  });

  describe('for a webhook', () => {
    let customers = 0;
    const buttons: Readonly<Record<string, (ui: Ui, step: string) => Promise<unknown>>> = {
      ...Object.fromEntries(
        Object.entries(PLAIN).map(([name, press]) => [name, (ui: Ui) => press(ui, live)]),
      ),
      'Reset and Pause of the delivery': async (ui, step) => {
        await ui.pauseActivity(step);
        await ui.unpauseActivity(step);
        await ui.resetActivity(step);
      },
      'the end of the delivery by hand, with every result': async (ui, step) => {
        for (const result of [undefined, ...SMALL.slice(0, 8)]) {
          await eventually('the delivery', async () => (await ui.pending()).includes(step));
          await ui.completeActivity(step, result);
        }
      },
      'its success by hand, and repair': async (ui, step) => {
        await ui.completeActivity(step, json({ status: 'succeeded', message: '' }));
        await ends(ui);
        await eventually('a repair', async () => (await repairActors(live.gateway.deps)).deliveries > 0);
      },
    };
    for (const [name, press] of Object.entries(buttons)) {
      it(`does not keep it from arriving: ${name}`, async () => {
        receiver.setBehaviour(503);
        customers += 1;
        const facts = { externalId: `notified-${customers}`, email: null, name: null, metadata: {} };
        const { id } = await createCustomer(live.gateway.deps, {
          merchantId: live.merchantId,
          mode: 'test',
          ...facts,
        });
        const [row] = await sql<{ id: string; event_id: string }>(
          'select d.id, d.event_id from webhook_deliveries d join events e on e.id = d.event_id where e.subject_id = ?',
          [id],
        );
        const ui = uiOf(`event:${row?.event_id}`);
        const attempted = async () =>
          (await sql('select 1 from webhook_attempts where delivery_id = ?', [row?.id])).length > 0;
        await eventually('an attempt', attempted);
        await press(ui, `deliver:${row?.id}`);
        receiver.setBehaviour(200);
        const status = async () =>
          (await sql<{ status: string }>('select status from webhook_deliveries where id = ?', [row?.id]))[0]
            ?.status;
        await eventually('its arrival', async () => (await status()) === 'succeeded', 90_000);
        await ends(ui);
      });
    }
  });

  describe('for the watcher of a chain', () => {
    const buttons: Readonly<Record<string, (ui: Ui) => Promise<unknown>>> = {
      'Request Cancellation': (ui) => ui.requestCancellation(),
      Terminate: (ui) => ui.terminate(),
      'Reset to its first place': async (ui) => await ui.resetTo((await ui.resetPoints())[0] ?? 0),
      'the end of its activity by hand': (ui) => ui.completeActivity('follow:bsc', json('done')),
      // The server takes a failure only of an activity that is under way.
      'the failure of its activity by hand': (ui) =>
        eventually(
          'a failure that is taken',
          () => ui.failActivity('follow:bsc', 'pressed').catch(() => undefined),
          WATCHER_WITHIN_MS,
        ),
    };
    for (const [name, press] of Object.entries(buttons)) {
      it(`does not keep it from following: ${name}`, async () => {
        const ui = uiOf('chain:bsc');
        await eventually(
          'the watcher',
          async () => (await ui.pending().catch((): string[] => [])).includes('follow:bsc'),
          WATCHER_WITHIN_MS,
        );
        await press(ui);
        const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
        await live.chain.mine(7);
        await live.eventOf('deposit.completed', hash, WATCHER_WITHIN_MS);
        await eventually(
          'a running watcher',
          async () => (await ui.status()) === 'RUNNING',
          WATCHER_WITHIN_MS,
        );
      });
    }
  });

  describe('and what happens meanwhile', () => {
    const paid = async () => {
      const hash = await live.chain.usdt.call('transfer', [live.address, 2n * USDT_UNIT]);
      await live.chain.mine(2);
      await live.eventOf('deposit.confirming', hash);
      const row = (await live.deposits(hash))[0] ?? {};
      return { hash, row, ui: uiOf(`deposit:bsc:${hash}:${String(row['address'])}:USDT`) };
    };

    it('is told at once where a deposit is withdrawn while its actor still delivers that it was completed', async () => {
      live.receiver.setBehaviour((_index, request) =>
        request.body.includes('"event":"deposit.completed"') ? 503 : 200,
      );
      const { hash, row, ui } = await paid();
      await live.chain.mine(6);
      await eventually(
        'completed',
        async () => (await live.deposits(hash))[0]?.['status'] === 'completed',
        20_000,
      );
      await live.eventOf('deposit.completed', hash);
      await sql('update deposits set block_hash = null where id = ?', [row['id']]);
      await decideToFail(live.gateway.deps, {
        depositId: String(row['id']),
        by: 'Ann',
        reason: 'gone from the chain',
      });
      await live.eventOf('deposit.failed', hash);
      // The attempts of the other event go on for more than a minute.
      expect(await ui.status()).to.equal('RUNNING');
    });

    it('is a delivery that arrives although somebody wrote its success by hand, once the actor is told to look', async () => {
      live.receiver.setBehaviour((_index, request) =>
        request.body.includes('"event":"deposit.confirming"') ? 503 : 200,
      );
      const { hash, ui } = await paid();
      const [row] = await sql<{ id: string }>(
        `select d.id from webhook_deliveries d join events e on e.id = d.event_id
         join deposits p on p.id = e.subject_id
         where p.transaction_hash = ? and d.event_type = 'deposit.confirming'`,
        [hash],
      );
      await ui.completeActivity(`deliver:${row?.id}`, json({ status: 'succeeded', message: '' }));
      live.receiver.setBehaviour(200);
      await ui.signal('changed', []);
      const status = async () =>
        (await sql<{ status: string }>('select status from webhook_deliveries where id = ?', [row?.id]))[0]
          ?.status;
      await eventually('its arrival', async () => (await status()) === 'succeeded', 30_000);
      await live.chain.mine(6);
      await live.eventOf('deposit.completed', hash);
    });
  });
});
