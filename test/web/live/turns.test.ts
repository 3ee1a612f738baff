import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { GateFull } from '../../../src/base/async/fair-gate.ts';
import type { Refusal } from '../../../src/services/refusal.ts';
import { createDrawing, createPayerTurns, drawnInTurn } from '../../../src/web/live/turns.ts';
import { keptQrCode, qrCode } from '../../../src/web/qr.ts';
import { call } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const siteOf = (ctx: object) => String(Object.getOwnPropertyDescriptor(ctx, 'site')?.value);

/** Pages of things, whose readings wait until the test answers them. */
function things() {
  const readings: { readonly tokens: readonly string[]; answer(error?: Error): void }[] = [];
  const drawn: string[] = [];
  const read = (tokens: readonly string[]) =>
    new Promise<ReadonlyMap<string, { token: string; server_time: string }>>((resolve, reject) => {
      const views = tokens.filter((token) => token !== 'none').map((token) => ({ token, server_time: '' }));
      const answer = (error?: Error) =>
        error ? reject(error) : resolve(new Map(views.map((view) => [view.token, view])));
      readings.push({ tokens, answer });
    });
  const followed = {
    what: 'thing',
    token: /^[a-z]/,
    read,
    changed: async () => new Map(),
    isLive: () => true,
    isOver: () => false,
    codes: ({ token }: { token: string }) => [token, 'of all'],
  };
  const turns = createPayerTurns();
  const drawing = createDrawing(followed, turns, ({ token }, { lang }) => {
    drawn.push(`${token} ${lang}`);
    return drawn.length;
  });
  const draw = drawnInTurn(drawing, { turns, siteOf });
  const ask = (token: string, more: { lang?: 'en' | 'de'; site?: string; gone?: boolean } = {}) => {
    const { lang = 'en', site = '192.0.2.1', gone = false } = more;
    return draw({ site, res: { closed: gone }, query: { lang }, get: () => '' } as never, token);
  };
  const reading = async (number: number) => {
    await eventually(`reading ${number}`, () => readings.length >= number);
    return readings[number - 1] ?? expect.fail();
  };
  return { ask, reading, readings, drawn };
}

describe('pages that are asked for at once', () => {
  it('are read together, and drawn once for all who chose the same, of what is read after they came', async () => {
    const { ask, reading, drawn } = things();
    const first = [ask('a'), ask('b'), ask('a'), ask('a', { lang: 'de' })];
    const one = await reading(1);
    expect(one.tokens).to.deep.equal(['a', 'b']);
    const late = ask('a');
    one.answer();
    (await reading(2)).answer();
    expect(await Promise.all(first)).to.deep.equal([1, 2, 1, 3]);
    expect([await late, drawn]).to.deep.equal([4, ['a en', 'b en', 'a de', 'a en']]);
  });

  it('are refused as unknown where there is none, and not looked up where there can be none', async () => {
    const { ask, reading, readings } = things();
    const refusals = ['1', 'none'].map((token) => ask(token).catch((error: Refusal) => error.code));
    (await reading(1)).answer();
    expect(await Promise.all(refusals)).to.deep.equal(['NOT_FOUND', 'NOT_FOUND']);
    expect(readings.map(({ tokens }) => tokens)).to.deep.equal([['none']]);
  });

  it('wait behind those of their own address, and one by one behind those of others', async () => {
    const { ask, reading, readings } = things();
    const many = Array.from({ length: 60 }, (_, index) => ask(`m${index}`));
    const other = ask('other', { site: '198.51.100.7' });
    (await reading(1)).answer();
    const second = await reading(2);
    expect(second.tokens).to.include('other').and.have.length.below(60);
    second.answer();
    await other;
    let left = many.length;
    for (const one of many) void one.then(() => (left -= 1));
    for (let number = 3; left > 0; ) {
      const next = readings[number - 1];
      if (next) number += 1;
      next?.answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('are told at once of a reading that failed while they waited, and read anew afterwards', async () => {
    const { ask, reading, readings } = things();
    const some = (count: number) =>
      Array.from({ length: count }, (_, index) => ask(`m${index}`).catch((error: Error) => error.message));
    const first = some(10);
    const one = await reading(1);
    // Some of these wait for the next reading, and the others to be part of one.
    const all = [...first, ...some(40)];
    one.answer(new Error('away'));
    expect(await Promise.all(all)).to.deep.equal(all.map(() => 'away'));
    expect(readings).to.have.length(1);
    const gone = ask('x', { gone: true }).catch((error: Error) => error.message);
    expect(await gone).to.equal('no place for a stream: not now');
    const next = ask('x');
    (await reading(2)).answer();
    expect(await next).to.equal(1);
  });
});

describe('the turns of pages over HTTP', function () {
  this.timeout(30_000);
  const full = { behindOwn: true };
  const bySite = { run: () => Promise.reject(new GateFull('no turn', full)) };
  let shop: Shop;
  before(async () => {
    shop = await startShop({ pay: { turns: { ...createPayerTurns(), bySite } } });
  });
  after(() => shop?.stop());

  it('are those of every page, and an address that has none because of its own is told so', async () => {
    const { token } = await shop.link({ customerId: await shop.customer() });
    const paths = [`/pay/${token}`, `/pay/${token}/live?once=1`, `/address/ap_${'A'.repeat(32)}`];
    for (const [behindOwn, status] of [
      [true, 429],
      [false, 503],
    ] as const) {
      full.behindOwn = behindOwn;
      for (const path of paths) {
        const answer = await call(shop.api.origin + path);
        expect([answer.status, answer.headers.get('retry-after')], path).to.deep.equal([status, '2']);
      }
    }
    expect(shop.api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('a code that many ask for', () => {
  it('is the same as one that is made for each', () => {
    for (const text of ['0xabc', 'TXYZ', '0xabc'])
      expect(keptQrCode(text, 'code').markup).to.equal(qrCode(text, 'code').markup);
  });
});
