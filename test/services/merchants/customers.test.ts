import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createCustomer, createEndpoint } from '../../../dev/support/use-cases.ts';
import { addressKeyOf, deriveAddresses } from '../../../src/chains/addresses.ts';
import type { ActorMessage } from '../../../src/domain/actor-message.ts';
import { getCustomer } from '../../../src/services/merchants/customer-reads.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';

describe('making a customer', () => {
  let api: TestApi;
  let starts: { workflowId: string; message: ActorMessage }[];
  let temporalIsAway: boolean;
  before(async () => {
    starts = [];
    temporalIsAway = false;
    api = await startTestApi({
      actors: {
        start: async (workflowId, message) => {
          if (temporalIsAway) throw new Error('away');
          starts.push({ workflowId, message });
        },
        wake: async () => undefined,
        running: async () => new Set(),
        isUnresponsive: async () => false,
      },
    });
  });
  after(() => api.stop());

  const scope = () => ({ merchantId: api.merchant.id, mode: 'live' as const });
  const make = (externalId: string) =>
    createCustomer(api.deps, { ...scope(), externalId, email: null, name: null, metadata: {} });
  const rows = async (sql: string, values: unknown[] = []) =>
    await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, values);
  const outbox = async () => Number((await rows('select count(*) as n from outbox'))[0]?.['n']);

  it('gives the addresses that the account keys derive for the stored index, never one twice', async () => {
    const indexes = new Set<unknown>();
    for (const mode of ['live', 'test'] as const) {
      for (const externalId of ['a', 'b']) {
        const view = await createCustomer(api.deps, {
          ...scope(),
          mode,
          externalId,
          email: null,
          name: null,
          metadata: {},
        });
        const [row] = await rows('select wallet_index from customers where id = ?', [view.id]);
        indexes.add(row?.['wallet_index']);
        const derived = deriveAddresses(api.deps.xpubs[mode], Number(row?.['wallet_index']));
        expect(view.addresses.map(({ address }) => address)).to.deep.equal([derived.bsc, derived.tron]);
        const keys = await rows(
          'select address_key from deposit_addresses where customer_id = ? order by network',
          [view.id],
        );
        expect(keys.map((key) => key['address_key'])).to.deep.equal([
          addressKeyOf('bsc', derived.bsc),
          addressKeyOf('tron', derived.tron),
        ]);
      }
    }
    expect(indexes.size).to.equal(4);
  });

  it('spends no wallet index on a repeat', async () => {
    const last = async () => (await rows('select last_value from wallet_index_seq'))[0]?.['last_value'];
    await make('once');
    const before = await last();
    for (let n = 0; n < 5; n += 1)
      expect(await make('once').catch((error: { code: string }) => error.code)).to.equal('CUSTOMER_EXISTS');
    expect(await last()).to.equal(before);
  });

  it('starts the actor of its event after the commit, and keeps the start when Temporal is away', async () => {
    await createEndpoint(api.deps, {
      ...scope(),
      url: 'http://127.0.0.1:9/',
      events: ['customer.created'],
      description: null,
    });
    const view = await make('announced');
    const [event] = await rows('select id from events where subject_id = ?', [view.id]);
    const [delivery] = await rows('select id, status from webhook_deliveries where event_id = ?', [
      event?.['id'],
    ]);
    expect(delivery?.['status']).to.equal('pending');
    await eventually('an empty outbox', async () => (await outbox()) === 0);
    expect(starts).to.have.length(1);
    expect(starts[0]?.workflowId).to.equal(`event:${event?.['id']}`);
    expect(starts[0]?.message).to.deep.include({
      workflowType: 'notify',
      args: [
        {
          deliveries: [delivery?.['id']],
          names: { [String(delivery?.['id'])]: 'customer.created → 127.0.0.1:9' },
        },
      ],
      attributes: { MerchantId: api.merchant.id },
      owner: { merchantId: api.merchant.id, mode: scope().mode },
    });
    temporalIsAway = true;
    await make('while-away');
    expect(await outbox()).to.equal(1);
  });

  it('leaves nothing behind when a step fails', async () => {
    const wrong = { bsc: 'xpub-that-is-none', tron: 'xpub-that-is-none' };
    const deps = { ...api.deps, xpubs: { live: wrong, test: wrong } };
    const input = { ...scope(), externalId: 'broken', email: null, name: null, metadata: {} };
    expect(await createCustomer(deps, input).catch((error: unknown) => error)).to.be.an('error');
    expect(await rows(`select id from customers where external_id = 'broken'`)).to.deep.equal([]);
    const view = await make('broken');
    expect(await getCustomer(api.deps, { ...scope(), id: view.id })).to.deep.equal(view);
  });
});
