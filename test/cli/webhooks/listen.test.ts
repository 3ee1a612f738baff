import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { signTestEvent } from '../../../packages/sdk/src/index.ts';
import { gateway, running } from '../support.ts';

describe('command line: webhook listen', function () {
  this.timeout(30_000);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  it('verifies each request, answers as told and ends with 0', async () => {
    const listener = await running(
      ['webhook', 'listen', '--port', '0', '--status', '503', '--delay', '1s', '--json'],
      {
        WEBHOOK_SECRET: secret,
      },
    );
    const url = String(listener.ready['url']);
    const event = signTestEvent({ secret, event: 'deposit.completed', data: { id: '1' } });
    const right = await fetch(url, { method: 'POST', headers: event.headers, body: event.rawBody });
    expect(right.status).to.equal(503);
    const wrong = await fetch(url, { method: 'POST', headers: event.headers, body: `${event.rawBody} ` });
    const large = await fetch(url, { method: 'POST', headers: event.headers, body: 'x'.repeat(2 ** 20 + 1) });
    const seen = await eventually('three lines', () => {
      const lines = listener.stderr().trimEnd().split('\n');
      return (
        lines.length >= 3 && lines.map((line) => JSON.parse(line) as { verified: boolean; event: string })
      );
    });
    expect(seen.map(({ verified }) => verified)).to.deep.equal([true, false, false]);
    expect(seen[0]?.event).to.equal('deposit.completed');
    expect([right.status, wrong.status, large.status]).to.deep.equal([503, 400, 400]);
    expect(await listener.stop()).to.equal(0);
  });

  it('reads the secret on stdin, shows it nowhere, and refuses half of one', async () => {
    const listener = await running(
      ['webhook', 'listen', '--port', '0', '--secret-stdin', '--json'],
      {},
      `${secret}\n`,
    );
    const event = signTestEvent({ secret, event: 'deposit.completed', data: { id: '1' } });
    await fetch(String(listener.ready['url']), {
      method: 'POST',
      headers: event.headers,
      body: event.rawBody,
    });
    expect(await eventually('a line', () => listener.stderr().includes('"verified":true'))).to.equal(true);
    const commandLine = await readFile(`/proc/${String(listener.ready['pid'])}/cmdline`, 'utf8');
    expect(commandLine).to.contain('listen').and.not.contain('whsec_');
    expect(await listener.stop()).to.equal(0);
    expect(listener.stderr()).to.not.contain(secret);
    const half = await gateway(['webhook', 'listen', '--port', '0'], { WEBHOOK_SECRET: secret.slice(0, 20) });
    expect([half.code, half.stdout]).to.deep.equal([2, '']);
    expect(half.stderr)
      .to.match(/whole one.*whsec_ included/)
      .and.not.contain(secret.slice(0, 20));
  });
});
