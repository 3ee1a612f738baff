import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { html } from '../../../src/web/html.ts';
import { createHub } from '../../../src/web/live/hub.ts';
import type { Reader } from '../../../src/web/live/readings.ts';

const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A hub over a thing whose version, and what reads it, the test sets. */
function follow(readMs: number) {
  const thing = { version: 'v1', away: false, reads: 0, said: [] as string[], shown: [] as string[] };
  const say = (_: unknown, text: string) => thing.said.push(text);
  const log = { ...console, fatal: say, error: say, warn: say, info: say, silent: say, level: 'info' };
  const answer = async <T>(ms: number, value: () => T): Promise<T> => {
    await passed(ms);
    if (thing.away) throw new Error('away');
    return value();
  };
  const read = async (tokens: readonly string[]) => {
    // As every kind does, which asks nobody about nothing.
    if (tokens.length === 0) return new Map();
    thing.reads += 1;
    const { version } = thing;
    return await answer(
      readMs,
      () => new Map(tokens.map((token) => [token, { token, version, server_time: '' }])),
    );
  };
  const changed = (versions: ReadonlyMap<string, string>) =>
    answer(0, () => {
      const moved = [...versions].filter(([, known]) => known !== thing.version);
      return new Map(moved.map(([token]) => [token, thing.version] as const));
    });
  const followed = { what: 'thing', token: /./, read, changed, isLive: () => true, isOver: () => false };
  const hub = createHub(
    { now: () => new Date(), log: log as never },
    { followed, render: ({ version }) => ({ title: version, body: html`${version}` }) },
  );
  const reader = (): Reader => ({
    visitor: { lang: 'en', network: undefined } as never,
    show: ({ json }) => thing.shown.push((JSON.parse(json) as { title: string }).title),
    end: () => thing.shown.push('the end'),
  });
  return { hub, thing, reader };
}

describe('what many watch', function () {
  this.timeout(20_000);

  it('is not read over and over because readers keep coming while it is read', async () => {
    const { hub, thing, reader } = follow(300);
    hub.watch('a', 'v1', reader());
    await eventually('a first view', () => thing.shown.length === 1);
    await passed(300);
    [thing.reads, thing.version] = [0, 'v2'];
    const until = performance.now() + 4_000;
    let came = 0;
    for (; performance.now() < until; came += 1) {
      hub.watch('a', thing.version, reader());
      await passed(150);
    }
    await eventually('a view for each', () => thing.shown.filter((one) => one === 'v2').length >= came);
    expect(thing.reads).to.be.within(1, 5);
    hub.close();
  });

  it('is not said to be read again because a reader left while it cannot be read', async () => {
    const { hub, thing, reader } = follow(50);
    hub.watch('a', 'v1', reader());
    await eventually('a first view', () => thing.shown.length === 1);
    thing.away = true;
    await eventually('the outage', () => thing.said.length === 1);
    hub.watch('b', 'v1', reader());
    await passed(10);
    hub.watch('c', 'v1', reader())();
    await passed(300);
    expect(thing.said).to.deep.equal(['watched things cannot be read: their streams wait']);
    thing.away = false;
    await eventually('the end of the outage', () => thing.said.at(-1) === 'watched things are read again');
    hub.close();
  });
});
