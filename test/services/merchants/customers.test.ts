import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createCustomer, createEndpoint } from '../../../dev/support/use-cases.ts';
import { addressKeyOf, deriveAddresses } from '../../../src/chains/addresses.ts';
import type { ActorMessage } from '../../../src/domain/actor-message.ts';
import { getCustomer } from '../../../src/services/merchants/customer-reads.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';

describe('making a customer', () => {
  let api: TestApi;
  const starts: { workflowId: string; message: ActorMessage }[] = [];
  let temporalIsAway = false;
  before(async () => {
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
  const make = (externalId: string, more: object = {}, deps = api.deps) =>
    createCustomer(deps, { ...scope(), externalId, email: null, name: null, metadata: {}, ...more });
  const rows = async (sql: string, values: unknown[] = []) =>
    await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, values);

  it('gives the addresses that the account keys derive for the stored index, never one twice', async () => {
    const indexes = new Set<unknown>();
    for (const mode of ['live', 'test'] as const)
      for (const externalId of ['a', 'b']) {
        const view = await make(externalId, { mode });
        const [row] = await rows('select wallet_index from customers where id = ?', [view.id]);
        indexes.add(row?.['wallet_index']);
        const { bsc, tron } = deriveAddresses(api.deps.xpubs[mode], Number(row?.['wallet_index']));
        expect(view.addresses.map(({ address }) => address)).to.deep.equal([bsc, tron]);
        const ofCustomer = 'select address_key from deposit_addresses where customer_id = ? order by network';
        const keys = (await rows(ofCustomer, [view.id])).map((key) => key['address_key']);
        expect(keys).to.deep.equal([addressKeyOf('bsc', bsc), addressKeyOf('tron', tron)]);
      }
    expect(indexes.size).to.equal(4);
  });

  it('starts the actor of its event after the commit, and keeps the start when Temporal is away', async () => {
    const url = 'http://127.0.0.1:9/';
    const events = ['customer.created'];
    await createEndpoint(api.deps, { ...scope(), url, events, description: null });
    const view = await make('announced');
    const [event] = await rows('select id from events where subject_id = ?', [view.id]);
    const ofEvent = 'select id, status from webhook_deliveries where event_id = ?';
    const [delivery] = await rows(ofEvent, [event?.['id']]);
    expect(delivery?.['status']).to.equal('pending');
    const outbox = async () => (await rows('select 1 from outbox')).length;
    await eventually('an empty outbox', async () => (await outbox()) === 0);
    const id = String(delivery?.['id']);
    expect(starts.map(({ workflowId }) => workflowId)).to.deep.equal([`event:${event?.['id']}`]);
    expect(starts[0]?.message).to.deep.include({
      workflowType: 'notify',
      args: [{ deliveries: [id], names: { [id]: 'customer.created → 127.0.0.1:9' } }],
      attributes: { MerchantId: api.merchant.id },
      owner: scope(),
    });
    temporalIsAway = true;
    await make('while-away');
    expect(await outbox()).to.equal(1);
  });

  it('leaves nothing behind when a step fails', async () => {
    const wrong = { bsc: 'xpub-that-is-none', tron: 'xpub-that-is-none' };
    const deps = { ...api.deps, xpubs: { live: wrong, test: wrong } };
    expect(await make('broken', {}, deps).catch((error: unknown) => error)).to.be.an('error');
    expect(await rows(`select id from customers where external_id = 'broken'`)).to.deep.equal([]);
    const view = await make('broken');
    expect(await getCustomer(api.deps, { ...scope(), id: view.id })).to.deep.equal(view);
  });
});
