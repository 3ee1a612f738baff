import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { pause } from '../../../src/base/async/pause.ts';
import { createLogger } from '../../../src/base/log.ts';
import { html } from '../../../src/web/html.ts';
import { createArrivals } from '../../../src/web/live/arrivals.ts';
import { createHub } from '../../../src/web/live/hub.ts';
import { createPlaces, NoPlace } from '../../../src/web/live/places.ts';

describe('what comes to the streams of a process at once', () => {
  it('is asked for together, and never twice at a time', async () => {
    const asked: string[][] = [];
    let running = 0;
    const arrivals = createArrivals(async (tokens) => {
      running += 1;
      expect(running).to.equal(1);
      asked.push([...tokens]);
      await new Promise((resolve) => setTimeout(resolve, 30));
      running -= 1;
      return new Map(tokens.filter((token) => token !== 'none').map((token) => [token, `v-${token}`]));
    });
    const first = ['a', 'b', 'a', 'none'].map((token) => arrivals.ask(token));
    await new Promise((resolve) => setTimeout(resolve, 15));
    const second = ['c', 'd'].map((token) => arrivals.ask(token));
    expect(await Promise.all([...first, ...second])).to.deep.equal([
      'v-a',
      'v-b',
      'v-a',
      undefined,
      'v-c',
      'v-d',
    ]);
    expect(asked).to.deep.equal([
      ['a', 'b', 'none'],
      ['c', 'd'],
    ]);
  });

  it('fails for all who asked together, and for nobody after them', async () => {
    let calls = 0;
    const arrivals = createArrivals(async (tokens) => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      return new Map(tokens.map((token) => [token, 'v']));
    });
    const failed = await Promise.allSettled([arrivals.ask('a'), arrivals.ask('b')]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await arrivals.ask('a')).to.equal('v');
  });

  it('has as many places as there are, and each given back is one again, once', () => {
    const places = createPlaces({ ofLink: 2, ofSite: 3, all: 4 });
    const refused = (site: string, link: string): number => {
      try {
        places.take(site, link)();
        return 200;
      } catch (error) {
        return error instanceof NoPlace ? error.status : 0;
      }
    };
    const give = places.take('x', 'one');
    places.take('x', 'one');
    expect(refused('x', 'one')).to.equal(429);
    places.take('x', 'two');
    expect(refused('x', 'three')).to.equal(429);
    places.take('y', 'one');
    expect(refused('z', 'one')).to.equal(503);
    give();
    give();
    expect(refused('x', 'one')).to.equal(200);
    places.take('y', 'one');
    expect(refused('z', 'one')).to.equal(503);
  });

  it('has places left for others when somebody who is at every address of a network has taken all of theirs', () => {
    const places = createPlaces();
    const takeAt = (site: string): boolean => {
      try {
        places.take(site, 'one');
        return true;
      } catch (error) {
        expect(error).to.be.an.instanceOf(NoPlace).with.property('status', 429);
        return false;
      }
    };
    const sites = Array.from({ length: 4_000 }, (_, index) => `2001:db8:7:${index.toString(16)}::/64`);
    expect(sites.filter(takeAt)).to.have.lengthOf(1_000);
    expect(['2001:db8:8::/64', '192.0.2.1'].map(takeAt)).to.deep.equal([true, true]);
  });

  it('is looked at no more than a third of the time, where a look takes long', async () => {
    const looks: { readonly from: number; readonly to: number }[] = [];
    const view = { token: 't', server_time: '2026-11-26T00:00:00Z' };
    const hub = createHub(
      { now: () => new Date(), log: createLogger({ level: 'error' }) },
      {
        followed: {
          what: 'thing',
          token: /t/,
          read: async () => new Map([['t', view]]),
          changed: async () => {
            const from = performance.now();
            await pause(600);
            looks.push({ from, to: performance.now() });
            return new Map();
          },
          isLive: () => true,
          isOver: () => false,
        },
        render: () => ({ title: 'T', body: html`B` }) as never,
      },
    );
    const stop = hub.watch('t', 'v', { visitor: {} as never, show: () => undefined, end: () => undefined });
    await eventually('two looks', () => looks.length >= 2, 10_000);
    stop();
    hub.close();
    const [first, second] = looks;
    expect((second?.from ?? 0) - (first?.to ?? 0)).to.be.at.least(1_100);
  });
});
