import { createServer } from 'node:net';
import { expect } from 'chai';
import { type Canary, startCanary, startReceiver } from '../../../../dev/support/receiver.ts';
import { createEndpoint, sendTestEvent, updateEndpoint } from '../../../../dev/support/use-cases.ts';
import { Refusal } from '../../../../src/services/refusal.ts';
import { deliverWebhook } from '../../../../src/services/webhooks/deliver.ts';
import { createLookup } from '../../../../src/services/webhooks/http/lookup.ts';
import type { TargetPolicy } from '../../../../src/services/webhooks/http/target.ts';
import { createWebhookTransport } from '../../../../src/services/webhooks/http/transport.ts';
import type { EndpointDeps } from '../../../../src/services/webhooks/permit.ts';
import {
  type Answers,
  type NameServer,
  startNameServer,
  type Zone,
} from '../../../support/http/name-server.ts';
import { type Bench, startDeliveries, type Target } from '../support.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:4700:4700::1111';
const MANY_PUBLIC = Array.from({ length: 20 }, (_, index) => `8.8.4.${index + 1}`);

/** What a name of the merchant's says from the second question on. */
const FORBIDDEN: Readonly<Record<string, Answers>> = {
  'the loopback address': { a: ['127.0.0.1'] },
  'a public address and the loopback one': { a: [PUBLIC, '127.0.0.1'] },
  'twenty public addresses and the loopback one, so that the answer needs TCP': {
    a: [...MANY_PUBLIC, '127.0.0.1'],
  },
  'a public IPv4 address and the IPv6 loopback': { a: [PUBLIC], aaaa: ['::1'] },
  'the loopback address mapped into IPv6': { aaaa: ['::ffff:127.0.0.1'] },
  'a public IPv6 address and a mapped private one': { aaaa: [PUBLIC_6, '::ffff:10.0.0.1'] },
  'the loopback address behind NAT64': { aaaa: ['64:ff9b::127.0.0.1'] },
  'the loopback address in 6to4': { aaaa: ['2002:7f00:1::'] },
  'the metadata address': { a: ['169.254.169.254'] },
  'the unspecified address': { a: ['0.0.0.0'] },
  'a private block': { a: ['192.168.1.1'] },
  'a link-local address': { aaaa: ['fe80::1'] },
};

describe('a name that a merchant points elsewhere', function () {
  this.timeout(20_000);
  let bench: Bench;
  let target: Target;
  let canary: Canary;
  let names: NameServer;
  before(async () => {
    bench = await startDeliveries();
    target = await bench.target(200);
  });
  after(() => bench?.stop());
  beforeEach(async () => {
    canary = await startCanary();
  });
  afterEach(async () => {
    await canary.stop();
    await names?.stop();
  });

  /** The gateway's own resolver, asking this test's name server and nobody else. */
  const asking = async (zone: Zone, allowedCidrs: readonly string[] = []) => {
    names = await startNameServer(zone);
    const policy: TargetPolicy = { allowHttp: true, allowedCidrs };
    const lookup = createLookup({ useSystem: false, servers: [names.address] });
    const transport = createWebhookTransport({ lookup, policy, now: () => performance.now() });
    const settings = {
      ...bench.deps.settings,
      webhookTarget: { allowHttp: true, allowedCidrs: [...allowedCidrs] },
    };
    return { ...bench.deps, settings, lookup, transport };
  };
  const register = (deps: EndpointDeps, url: string) =>
    createEndpoint(deps, { ...target.scope, url, events: ['customer.created'], description: null });
  const refused = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Refusal);
    return (error as Refusal).message;
  };

  for (const [name, answers] of Object.entries(FORBIDDEN)) {
    it(`is refused at delivery, and nothing is connected to: ${name}`, async () => {
      const deps = await asking((_, family, nth) =>
        nth === 0 ? { a: [PUBLIC], ...(family === 'aaaa' ? { aaaa: [] } : {}) } : answers,
      );
      const { id } = await register(deps, `http://shop.example:${canary.port}/hook`);
      const askedAtSave = names.asked.length;
      expect(askedAtSave).to.be.at.least(2);
      const event = await sendTestEvent(deps, { ...target.scope, id });
      const result = await deliverWebhook(deps, { deliveryId: event.deliveries[0]?.id ?? '' });
      expect(result).to.include({ kind: 'retry' });
      expect(result.message).to.contain(
        'target refused: The host name resolves to an address that is not public.',
      );
      expect(names.asked.length, 'questions at delivery').to.be.above(askedAtSave);
      expect(canary.connections()).to.equal(0);
    });

    it(`is refused when it is saved: ${name}`, async () => {
      const deps = await asking((host) => (host === 'good.example' ? { a: [PUBLIC], aaaa: [] } : answers));
      expect(await refused(register(deps, `http://shop.example:${canary.port}/hook`))).to.contain(
        'not public',
      );
      const { id, url } = await register(deps, `http://good.example:${canary.port}/hook`);
      expect(
        await refused(
          updateEndpoint(deps, { ...target.scope, id, url: `http://shop.example:${canary.port}/` }),
        ),
      ).to.contain('not public');
      const [row] = await bench.sql<{ url: string }>('select url from webhook_endpoints where id = ?', [id]);
      expect(row?.url).to.equal(url);
      expect(canary.connections()).to.equal(0);
    });
  }

  it('gets the connection at the address that was vetted, although every later answer is another one', async () => {
    const receiver = await startReceiver({ host: 'shop.example' });
    // Allowed to be asked, forbidden to be reached: the same port on another address.
    let strayed = 0;
    const elsewhere = createServer((socket) => {
      strayed += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => elsewhere.listen(receiver.port, '127.0.0.2', resolve));
    const deps = await asking(
      (_, family, nth) => {
        if (family === 'aaaa') return { aaaa: [] };
        // Saving asks first, then the first attempt.
        return { a: [nth < 2 ? '127.0.0.1' : '127.0.0.2'] };
      },
      ['127.0.0.1/32'],
    );
    const { id } = await register(deps, receiver.url);
    const send = async () => {
      const event = await sendTestEvent(deps, { ...target.scope, id });
      return await deliverWebhook(deps, { deliveryId: event.deliveries[0]?.id ?? '' });
    };
    expect(await send()).to.include({ kind: 'done', status: 'succeeded' });
    expect(names.asked.filter(({ family }) => family === 'a')).to.have.length(2);
    expect(await send()).to.include({ kind: 'retry' });
    expect([receiver.requests.length, receiver.connections(), strayed]).to.deep.equal([1, 1, 0]);
    await new Promise((resolve) => elsewhere.close(resolve));
    await receiver.stop();
  });

  it('is asked for over TCP when the answer is cut, with every address vetted', async () => {
    const deps = await asking((_, family) => (family === 'a' ? { a: MANY_PUBLIC } : { aaaa: [] }));
    await register(deps, 'https://shop.example/hook');
    expect(names.asked.some(({ over }) => over === 'tcp')).to.equal(true);
  });
});
