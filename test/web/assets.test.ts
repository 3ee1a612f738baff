import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { scriptOf } from '../../src/web/assets/assets.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';

describe('the scripts of pages', function () {
  this.timeout(30_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());

  const at = (src: string) => new URL(src, `${api.origin}/pay/x`).href;

  it('are found by the page, kept for ever, small, and the bytes that it names', async () => {
    for (const [name, most] of [
      ['page', 6_144],
      ['live', 4_096],
      ['docs', 6_144],
    ] as const) {
      const { src, integrity } = scriptOf(name);
      const { status, headers, text } = await call(at(src));
      expect(status, name).to.equal(200);
      expect(integrity).to.equal(`sha384-${createHash('sha384').update(text).digest('base64')}`);
      expect(Object.fromEntries(headers)).to.include({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(Buffer.byteLength(text), name).to.be.at.most(most);
      expect(text).not.to.match(/\beval\b|new Function|innerHTML = [^`]|document\.write|https?:/);
      const head = await call(at(src), { method: 'HEAD' });
      const told = [head.status, head.text, head.headers.get('content-length')];
      expect(told, name).to.deep.equal([200, '', `${text.length}`]);
    }
  });

  it('are not there under any other name', async () => {
    const { src } = scriptOf('live');
    const known = at(src);
    const wrong = ['/assets/', '/assets/live.js', '/assets/live.0000000000000000.js', '/assets/__proto__'];
    for (const url of [
      ...wrong.map((path) => api.origin + path),
      `${known}/`,
      known.toUpperCase().replace('HTTP', 'http'),
    ])
      expect((await call(url)).body['code'], url).to.equal('NOT_FOUND');
    expect((await call(known, { method: 'POST' })).status).to.equal(404);
  });
});
