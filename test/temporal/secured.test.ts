import { NativeConnection } from '@temporalio/worker';
import { expect } from 'chai';
import { temporal } from '../../dev/support/parts.ts';
import { createTestAuthority } from '../../dev/support/tls.ts';
import { linkTemporal } from '../../src/temporal/client.ts';
import { connectionOptions, type TemporalTls } from '../../src/temporal/place.ts';
import { SERVER_NAME, type SecuredTemporal, secureTemporal } from '../support/secured-temporal.ts';

describe('Temporal behind TLS', function () {
  this.timeout(90_000);
  let secured: SecuredTemporal;

  before(async () => {
    secured = await secureTemporal((await temporal()).address);
  });
  after(async () => {
    await secured?.stop();
  });

  const good = (): TemporalTls => ({ caPem: secured.caPem, serverName: SERVER_NAME, client: secured.client });
  const placeOf = (tls: TemporalTls | undefined, apiKey?: string) => ({
    address: secured.address,
    namespace: 'default',
    tls,
    apiKey,
  });
  const ENDS: Record<string, (tls: TemporalTls | undefined, apiKey?: string) => Promise<void>> = {
    client: async (tls, apiKey) => {
      const link = linkTemporal(placeOf(tls, apiKey));
      await link.ping().finally(() => link.close());
    },
    worker: async (tls, apiKey) => {
      const connection = await NativeConnection.connect(connectionOptions(placeOf(tls, apiKey)));
      await connection.workflowService
        .describeNamespace({ namespace: 'default' })
        .finally(() => connection.close());
    },
  };

  for (const [name, reach] of Object.entries(ENDS)) {
    it(`is reached by the ${name} with certificate and key, which the server sees`, async () => {
      secured.seen.clear();
      await reach(good(), `key-of-${name}`);
      expect([...secured.seen.values()]).to.include(`Bearer key-of-${name}`);
    });

    it(`is not reached by the ${name} where anything of it is missing or another's`, async () => {
      const wrong = {
        'in the clear': undefined,
        'by the authorities of the system': { ...good(), caPem: undefined },
        'by strangers': { ...good(), caPem: createTestAuthority('strangers').caPem },
        'for another name': { ...good(), serverName: undefined },
        'without a certificate': { ...good(), client: undefined },
      };
      secured.seen.clear();
      const reached = Object.entries(wrong).map(([how, tls]) =>
        reach(tls).then(
          () => [how],
          () => [],
        ),
      );
      expect((await Promise.all(reached)).flat()).to.deep.equal([]);
      expect([...secured.seen.keys()]).to.deep.equal([]);
    });
  }
});
