import { expect } from 'chai';
import { startReceiver } from '../../../../../dev/support/receiver.ts';
import { createWebhookTransport } from '../../../../../src/services/webhooks/http/transport.ts';
import { errorOf, LOCAL_POLICY } from '../../../../support/http/attempts.ts';

describe('an attempt at a silent receiver', () => {
  it('is given up after ten seconds, and not before', async () => {
    const receiver = await startReceiver({ behaviour: { kind: 'hang' } });
    const transport = createWebhookTransport({
      lookup: async () => [],
      policy: LOCAL_POLICY,
      now: () => performance.now(),
    });
    const outcome = await transport.post({ url: receiver.url, headers: {}, body: Buffer.from('{}') });
    expect(errorOf(outcome)).to.equal('TIMEOUT: no answer within 10 s');
    expect(outcome.durationMs).to.be.at.least(9_950);
    await receiver.stop();
  });
});
