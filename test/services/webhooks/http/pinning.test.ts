import { expect } from 'chai';
import { startReceiver } from '../../../../dev/support/receiver.ts';
import { createTestAuthority } from '../../../../dev/support/tls.ts';
import type { Lookup } from '../../../../src/services/webhooks/http/lookup.ts';
import type { TargetPolicy } from '../../../../src/services/webhooks/http/target.ts';
import { errorOf, LOCAL_POLICY, post } from '../../../support/http/attempts.ts';

describe('the name of a target', () => {
  it('has its time inside of the deadline', async () => {
    const stalled: Lookup = () => new Promise(() => {});
    const outcome = await post('https://shop.example/', { lookup: stalled, timeoutMs: 100 });
    expect(errorOf(outcome)).to.equal('TIMEOUT: no answer within 0.1 s');
  });

  it('with several addresses is tried at the next one when a connection fails', async () => {
    const receiver = await startReceiver({ host: 'shop.example' });
    const outcome = await post(receiver.url, { lookup: async () => ['127.0.0.9', '127.0.0.8', '127.0.0.1'] });
    expect(outcome).to.include({ kind: 'response', status: 200 });
    expect(receiver.requests).to.have.length(1);
    const refused = await post(receiver.url, { lookup: async () => ['127.0.0.9', '127.0.0.8'] });
    expect(errorOf(refused)).to.equal('CONNECT: no connection to the receiver');
    await receiver.stop();
  });

  it('is not posted to twice when the first address answers badly', async () => {
    const receiver = await startReceiver({ host: 'shop.example', behaviour: { kind: 'reset' } });
    const outcome = await post(receiver.url, { lookup: async () => ['127.0.0.1', '::1'] });
    expect(errorOf(outcome)).to.match(/^RESET/);
    expect(receiver.connections()).to.equal(1);
    await receiver.stop();
  });
});

describe('the hook before the lookup', () => {
  it('runs before anything else, and its failure sends nothing', async () => {
    const receiver = await startReceiver({ host: 'shop.example' });
    const steps: string[] = [];
    const lookup: Lookup = async () => {
      steps.push('lookup');
      return ['127.0.0.1'];
    };
    const onLookup = async () => {
      steps.push('hook');
    };
    const headers = () => {
      steps.push('headers');
      return { 'X-Webhook-Attempt': '3' };
    };
    await post(receiver.url, { lookup, onLookup, headers });
    expect(steps).to.deep.equal(['hook', 'headers', 'lookup']);
    expect(receiver.requests[0]?.headers['x-webhook-attempt']).to.equal('3');
    const failing = () => Promise.reject(new Error('database away'));
    const error = await post(receiver.url, { lookup, onLookup: failing }).catch((reason) => reason);
    expect(error?.message).to.equal('database away');
    expect(steps).to.have.length(3);
    expect(receiver.connections()).to.equal(1);
    await receiver.stop();
  });

  it('runs for a target that is refused too, so that refusals use up attempts', async () => {
    let rows = 0;
    const onLookup = async () => {
      rows += 1;
    };
    expect(errorOf(await post('http://10.0.0.1/', { onLookup }))).to.match(/^TARGET_REFUSED/);
    expect(rows).to.equal(1);
  });
});

describe('TLS', () => {
  const authority = createTestAuthority();
  const policy: TargetPolicy = { ...LOCAL_POLICY, allowHttp: false, caPem: authority.caPem };
  const withCertificate = async (
    hosts: string[],
    host: string,
    options: { expired?: boolean; foreign?: boolean; policy?: TargetPolicy } = {},
  ) => {
    const issuer = options.foreign ? createTestAuthority() : authority;
    const receiver = await startReceiver({
      host,
      tls: issuer.issue(hosts, { expired: options.expired ?? false }),
    });
    try {
      const outcome = await post(receiver.url, { policy: options.policy ?? policy });
      return { outcome, requests: receiver.requests.length, serverName: receiver.requests[0]?.serverName };
    } finally {
      await receiver.stop();
    }
  };

  it('is verified against the name that was vetted, which alone is named, and against the address of a literal', async () => {
    for (const [name, host] of [
      ['shop.example', 'shop.example'],
      ['127.0.0.1', '127.0.0.1'],
    ] as const) {
      const { outcome, serverName } = await withCertificate([name], host);
      expect(outcome, host).to.include({ kind: 'response', status: 200 });
      expect(serverName).to.equal(host === '127.0.0.1' ? false : host);
    }
  });

  it('that is not right gets no request', async () => {
    for (const [names, host, options, says] of [
      [['other.example', '127.0.0.1'], 'shop.example', {}, /: certificate is for another host name$/],
      [['shop.example'], '127.0.0.1', {}, /: certificate is for another host name$/],
      [['shop.example'], 'shop.example', { expired: true }, /: certificate has expired$/],
      [['shop.example'], 'shop.example', { foreign: true }, /: certificate not trusted/],
      [['shop.example'], 'shop.example', { policy: LOCAL_POLICY }, /: certificate not trusted/],
    ] as const) {
      const { outcome, requests } = await withCertificate([...names], host, options);
      expect(errorOf(outcome), `${names} ${host}`).to.match(says).and.match(/^TLS/);
      expect(requests).to.equal(0);
    }
  });

  it('cannot be switched off by the environment', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const { outcome, requests } = await withCertificate(['shop.example'], 'shop.example', {
        foreign: true,
      });
      expect(errorOf(outcome)).to.match(/^TLS/);
      expect(requests).to.equal(0);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});
