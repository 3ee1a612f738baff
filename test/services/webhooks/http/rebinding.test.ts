import { createServer } from 'node:net';
import { expect } from 'chai';
import { startCanary, startReceiver } from '../../../../dev/support/receiver.ts';
import { createEndpoint, sendTestEvent } from '../../../../dev/support/use-cases.ts';
import { deliverWebhook } from '../../../../src/services/webhooks/deliver.ts';
import { createLookup } from '../../../../src/services/webhooks/http/lookup.ts';
import { createWebhookTransport } from '../../../../src/services/webhooks/http/transport.ts';
import type { EndpointDeps } from '../../../../src/services/webhooks/permit.ts';
import {
  type Answers,
  type NameServer,
  startNameServer,
  type Zone,
} from '../../../support/http/name-server.ts';
import { refusalOf } from '../../../support/refusals.ts';
import { type Bench, idOf, startDeliveries, type Target } from '../support.ts';

const PUBLIC = '93.184.215.14';
const MANY_PUBLIC = Array.from({ length: 20 }, (_, index) => `8.8.4.${index + 1}`);

/** What a name of the merchant's says from the second question on. */
const FORBIDDEN: Readonly<Record<string, Answers>> = {
  'twenty public addresses and the loopback one, so that the answer needs TCP': {
    a: [...MANY_PUBLIC, '127.0.0.1'],
  },
  'a public IPv4 address and the IPv6 loopback': { a: [PUBLIC], aaaa: ['::1'] },
  'a mapped private address': { aaaa: ['2606:4700:4700::1111', '::ffff:10.0.0.1'] },
  'the metadata address': { a: ['169.254.169.254'] },
};

describe('a name that a merchant points elsewhere', function () {
  this.timeout(20_000);
  let bench: Bench;
  let target: Target;
  let names: NameServer;
  before(async () => {
    bench = await startDeliveries();
    target = await bench.target(200);
  });
  after(() => bench?.stop());
  afterEach(() => names?.stop());

  /** The gateway's own resolver, asking this test's name server and nobody else. */
  const asking = async (zone: Zone, allowedCidrs: string[] = []) => {
    names = await startNameServer(zone);
    const policy = { allowHttp: true, allowedCidrs };
    const lookup = createLookup({ useSystem: false, servers: [names.address] });
    const transport = createWebhookTransport({ lookup, policy, now: Date.now });
    return { ...bench.deps, settings: { ...bench.deps.settings, webhookTarget: policy }, lookup, transport };
  };
  const register = async (deps: EndpointDeps, url: string) =>
    (await createEndpoint(deps, { ...target.scope, url, events: ['customer.created'], description: null }))
      .id;
  const send = async (deps: Awaited<ReturnType<typeof asking>>, id: string) =>
    await deliverWebhook(deps, { deliveryId: idOf(await sendTestEvent(deps, { ...target.scope, id })) });

  for (const [name, answers] of Object.entries(FORBIDDEN))
    it(`is refused at save and at delivery, and nothing is connected to: ${name}`, async () => {
      const canary = await startCanary();
      const deps = await asking((host, family, nth) =>
        nth === 0 && host === 'shop.example'
          ? { a: [PUBLIC], ...(family === 'aaaa' ? { aaaa: [] } : {}) }
          : answers,
      );
      const id = await register(deps, `http://shop.example:${canary.port}/hook`);
      const askedAtSave = names.asked.length;
      const result = await send(deps, id);
      expect(result).to.include({ kind: 'retry' });
      expect(result.message).to.contain(
        'target refused: The host name resolves to an address that is not public.',
      );
      expect(names.asked.length, 'questions at delivery').to.be.above(askedAtSave);
      const refused = await refusalOf(register(deps, `http://bad.example:${canary.port}/hook`));
      expect(refused.message).to.contain('not public');
      expect(canary.connections()).to.equal(0);
      await canary.stop();
    });

  it('gets the connection at the address that was vetted, although every later answer is another one', async () => {
    const receiver = await startReceiver({ host: 'shop.example' });
    // Allowed to be asked, forbidden to be reached: the same port on another address.
    let strayed = 0;
    const elsewhere = createServer((socket) => {
      strayed += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => elsewhere.listen(receiver.port, '127.0.0.2', resolve));
    // Saving asks first, then the first attempt.
    const zone: Zone = (_, family, nth) =>
      family === 'aaaa' ? { aaaa: [] } : { a: [nth < 2 ? '127.0.0.1' : '127.0.0.2'] };
    const deps = await asking(zone, ['127.0.0.1/32']);
    const id = await register(deps, receiver.url);
    expect(await send(deps, id)).to.include({ kind: 'done', status: 'succeeded' });
    expect(names.asked.filter(({ family }) => family === 'a')).to.have.length(2);
    expect(receiver.requests[0]?.headers.host).to.equal(`shop.example:${receiver.port}`);
    expect(await send(deps, id)).to.include({ kind: 'retry' });
    expect([receiver.requests.length, receiver.connections(), strayed]).to.deep.equal([1, 1, 0]);
    await new Promise((resolve) => elsewhere.close(resolve));
    await receiver.stop();
  });
});
