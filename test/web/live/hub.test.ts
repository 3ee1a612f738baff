import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createArrivals } from '../../../src/base/async/arrivals.ts';
import { createFairGate } from '../../../src/base/async/fair-gate.ts';
import { createHub, type Reader, restAfter } from '../../../src/web/live/hub.ts';
import { createPlaces, NoPlace } from '../../../src/web/live/places.ts';
import { createDrawing, createPayerTurns } from '../../../src/web/live/turns.ts';

const LOOK_EVERY_MS = 10;
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Something that is answered when the test lets it. */
function gated() {
  const waiting: (() => void)[] = [];
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    waiting: () => waiting.length,
    open: () => waiting.shift()?.(),
  };
}

/** A hub over a thing whose version, and what reads it, the test sets. */
function follow(onRead: () => Promise<void> = async () => undefined) {
  const thing = {
    version: 'v1',
    away: false,
    reads: 0,
    looks: 0,
    said: [] as string[],
    shown: [] as string[],
  };
  const say = (_: unknown, text: string) => thing.said.push(text);
  const log = { ...console, fatal: say, error: say, warn: say, info: say, silent: say, level: 'info' };
  const answer = <T>(value: T): T => {
    if (thing.away) throw new Error('away');
    return value;
  };
  const read = async (tokens: readonly string[]) => {
    // As every kind does, which asks nobody about nothing.
    if (tokens.length === 0) return new Map();
    thing.reads += 1;
    const { version } = thing;
    await onRead();
    return answer(new Map(tokens.map((token) => [token, { token, version, server_time: '' }])));
  };
  const changed = async (versions: ReadonlyMap<string, string>) => {
    thing.looks += 1;
    const moved = [...versions].filter(([, known]) => known !== thing.version);
    return answer(new Map(moved.map(([token]) => [token, thing.version] as const)));
  };
  const [isLive, isOver, codes] = [() => true, () => false, () => []];
  const followed = { what: 'thing', token: /./, read, changed, isLive, isOver, codes };
  const drawing = createDrawing(followed, createPayerTurns(), (view) => ({
    view,
    rendering: { tag: view.version, json: JSON.stringify({ title: view.version }), open: true },
  }));
  const hub = createHub({ now: () => new Date(), log: log as never, lookEveryMs: LOOK_EVERY_MS }, drawing);
  const reader = (): Reader => ({
    visitor: { lang: 'en', network: undefined } as never,
    show: ({ json }) => thing.shown.push((JSON.parse(json) as { title: string }).title),
    end: () => thing.shown.push('the end'),
  });
  return { hub, thing, reader };
}

describe('what many watch', () => {
  it('is read once for all who come while it is read, and once more for them', async () => {
    const gate = gated();
    const { hub, thing, reader } = follow(gate.wait);
    hub.watch('a', 'v1', reader());
    await eventually('the reading', () => gate.waiting() === 1);
    thing.version = 'v2';
    for (let came = 0; came < 30; came += 1) hub.watch('a', 'v2', reader());
    for (let turn = 0; turn < 3; turn += 1) {
      gate.open();
      await passed(LOOK_EVERY_MS);
    }
    await eventually('a view for each', () => {
      gate.open();
      return thing.shown.filter((one) => one === 'v2').length >= 30;
    });
    expect(thing.reads).to.be.within(2, 4);
    hub.close();
  });

  it('is asked about by one look for all, not at all once nobody watches, and rarely where a look takes long', async () => {
    const { hub, thing, reader } = follow();
    const leave = ['a', 'b', 'c'].map((token) => hub.watch(token, 'v1', reader()));
    await eventually('looks', () => thing.looks >= 3);
    expect(thing.reads, 'nothing changed').to.be.within(1, 3);
    for (const one of leave) one();
    await passed(LOOK_EVERY_MS);
    const { looks } = thing;
    // Timers of one process run in the order of their times: a look that was to come would have come.
    await passed(5 * LOOK_EVERY_MS);
    expect(thing.looks).to.equal(looks);
    hub.close();
    expect([0, 100, 600].map((tookMs) => restAfter(tookMs))).to.deep.equal([1_000, 900, 1_200]);
  });
});

describe('what comes to the streams of a process at once', () => {
  it('is asked for together, and never twice at a time', async () => {
    const asked: string[][] = [];
    const gate = gated();
    const turns = createFairGate({ places: 1 });
    const answer = async (tokens: readonly string[]) => {
      asked.push([...tokens]);
      await gate.wait();
      return new Map(tokens.filter((token) => token !== 'none').map((token) => [token, `v-${token}`]));
    };
    const arrivals = createArrivals(answer, (work) => turns.run('', work));
    const first = ['a', 'b', 'a', 'none'].map((token) => arrivals.ask(token));
    await eventually('the first question', () => gate.waiting() === 1);
    const second = ['c', 'd'].map((token) => arrivals.ask(token));
    gate.open();
    await eventually('the second question', () => gate.waiting() === 1);
    gate.open();
    const found = await Promise.all([...first, ...second]);
    expect(found).to.deep.equal(['v-a', 'v-b', 'v-a', undefined, 'v-c', 'v-d']);
    expect(asked).to.deep.equal([
      ['a', 'b', 'none'],
      ['c', 'd'],
    ]);
  });

  const statusOf = (places: ReturnType<typeof createPlaces>, site: string, link: string): number => {
    try {
      places.take(site, link);
      return 200;
    } catch (error) {
      return error instanceof NoPlace ? error.status : 0;
    }
  };

  it('has as many places as there are, and each given back is one again, once', () => {
    const places = createPlaces({ ofLink: 2, ofSite: 3, all: 4 });
    const give = places.take('x', 'one');
    const taken = [
      ['x', 'one'],
      ['x', 'one'],
      ['x', 'two'],
      ['x', 'three'],
      ['y', 'one'],
      ['z', 'one'],
    ];
    const statuses = taken.map(([site = '', link = '']) => statusOf(places, site, link));
    expect(statuses).to.deep.equal([200, 429, 200, 429, 200, 503]);
    give();
    give();
    expect([statusOf(places, 'x', 'one'), statusOf(places, 'z', 'one')]).to.deep.equal([200, 503]);
  });

  it('has places left for others when somebody who is at every address of a network has taken all of theirs', () => {
    const places = createPlaces();
    const sites = Array.from({ length: 4_000 }, (_, index) => `2001:db8:7:${index.toString(16)}::/64`);
    const statuses = sites.map((site) => statusOf(places, site, 'one'));
    expect(statuses.filter((status) => status === 200)).to.have.lengthOf(1_000);
    expect(statuses.filter((status) => status === 429)).to.have.lengthOf(3_000);
    const others = ['2001:db8:8::/64', '192.0.2.1'].map((site) => statusOf(places, site, 'one'));
    expect(others).to.deep.equal([200, 200]);
  });
});
