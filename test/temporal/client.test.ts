import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ActorRefused } from '../../src/services/deps.ts';
import { linkTemporal } from '../../src/temporal/client.ts';

const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;
const CODES = Array.from({ length: 16 }, (_, index) => index + 1);

/** A server that speaks gRPC and answers every start with the code that the workflow's id names. */
async function startRefusing(): Promise<{ server: Http2Server; address: string }> {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    let sent = '';
    stream.setEncoding('latin1');
    stream.on('data', (chunk: string) => {
      sent += chunk;
    });
    stream.on('end', () => {
      const asked = /with-code-(\d+)-/.exec(sent)?.[1];
      const code = String(headers[':path']).endsWith('/GetSystemInfo') ? UNIMPLEMENTED : asked;
      const answer = {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': String(code),
        'grpc-message': 'as asked for',
      };
      stream.respond(answer, { endStream: true });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('an error of Temporal', function () {
  this.timeout(30_000);

  it('concerns the message only where it is an invalid argument; every other is trouble that passes', async () => {
    const { server, address } = await startRefusing();
    const link = linkTemporal({ address, namespace: 'default' });
    try {
      const refused = await Promise.all(
        CODES.map(async (code) => {
          const start = link.actors.start(`with-code-${code}-`, {
            workflowType: 'deposit',
            args: [],
            summary: '',
          });
          const error = await start.then(
            () => undefined,
            (reason: unknown) => reason,
          );
          expect(error, `code ${code}`).to.be.instanceOf(Error);
          return error instanceof ActorRefused;
        }),
      );
      expect(CODES.filter((_, index) => refused[index])).to.deep.equal([INVALID_ARGUMENT]);
    } finally {
      await link.close();
      server.close();
    }
  });
});

describe('a link to a Temporal that is away', () => {
  it('closes only after the last call that the SDK repeats, which fails and throws nowhere else', async () => {
    const link = linkTemporal({ address: '127.0.0.1:1', namespace: 'default' });
    const asked = link.ping().then(
      () => 'answered',
      () => 'failed',
    );
    await sleep(50);
    await link.close();
    expect(await asked).to.equal('failed');
  });
});
