import { expect } from 'chai';
import type { z } from 'zod';
import type { Route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { check } from '../../../src/api/validation.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { hostileTexts, leastMs, membersOf } from '../../support/http/hostile-texts.ts';

/** A pattern that is worse than linear needs several times the limit for the shorter one already. */
const SHORT = 20_000;
const MIB = 1024 * 1024;
const LIMIT_MS = 100;
/** The longest text that Node's limit of headers lets into a query. */
const IN_QUERY = 15_000;

const nameOf = (route: Route) => `${route.method.toUpperCase()} ${route.path}`;
/** Where a text can stand in a member: itself, in a list, and as a name or value in an object. */
const placesOf = (text: string): unknown[] => [text, [text], { [text]: text }];

describe('texts as long as they are let in', function () {
  this.timeout(300_000);

  for (const part of ['params', 'query', 'body'] as const) {
    it(`take every ${part} schema no longer than their length deserves`, async () => {
      let looked = 0;
      for (const route of ROUTES) {
        const schema: z.ZodType | undefined = route[part];
        const members = membersOf(schema);
        expect(members.length > 0, `${nameOf(route)}: the members of its ${part}`).to.equal(
          schema !== undefined,
        );
        for (const member of members)
          for (const text of hostileTexts(SHORT)) {
            const ms = await leastMs(LIMIT_MS, () => check(schema, { [member]: text }));
            expect(ms, `${nameOf(route)} ${member}: ${text.slice(0, 40)}…${text.slice(-3)}`).to.be.below(
              LIMIT_MS,
            );
            looked += 1;
          }
      }
      expect(looked).to.be.greaterThan(1_000);
    });
  }

  describe('in requests', () => {
    let api: TestApi;
    before(async () => {
      api = await startTestApi();
    });
    after(async () => {
      expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
      await api.stop();
    });

    /** The longest wait of another merchant who asks for a balance all the time that `work` takes. */
    const waitBeside = async (work: () => Promise<void>): Promise<number> => {
      const { keys } = await api.newMerchant();
      let worst = 0;
      let isOver = false;
      const asking = (async () => {
        while (!isOver) {
          const startedAt = performance.now();
          expect((await call(`${api.url}/balance`, { key: keys.live })).status).to.equal(200);
          worst = Math.max(worst, performance.now() - startedAt);
        }
      })();
      await work();
      isOver = true;
      await asking;
      return worst;
    };
    const shapes = (length: number) => [
      `a@${'.'.repeat(length)}@`,
      `${' '.repeat(length)}x`,
      `${'a.'.repeat(length / 2)}@`,
      '0'.repeat(length),
    ];

    it('of 1 MiB in any member of any body let another merchant wait no longer than harmless ones do', async () => {
      const routes = ROUTES.filter((route) => route.body);
      expect(routes.length).to.be.greaterThan(3);
      const send = async (values: readonly unknown[]) => {
        for (const route of routes)
          for (const member of membersOf(route.body))
            for (const value of values) {
              const { status } = await call(api.url + route.path.replace(':id', crypto.randomUUID()), {
                method: route.method.toUpperCase(),
                key: api.keys.test,
                body: { [member]: value },
              });
              expect(status, `${nameOf(route)} ${member}`).to.be.within(200, 499);
            }
      };
      const harmless = await waitBeside(() => send(placesOf('a'.repeat(MIB / 2 - 100))));
      const hostile = await waitBeside(() =>
        send(
          shapes(MIB - 100).flatMap((text) =>
            placesOf(text).filter((value) => JSON.stringify(value).length < MIB - 100),
          ),
        ),
      );
      expect(hostile, `harmless: ${harmless} ms`).to.be.below(3 * harmless + 10 * LIMIT_MS);
    });

    it('in any member of any query are answered at once', async () => {
      for (const route of ROUTES)
        for (const member of membersOf(route.query))
          for (const text of shapes(IN_QUERY / 3)) {
            const url = `${api.url}${route.path.replace(':id', crypto.randomUUID())}?${member}=${encodeURIComponent(text)}`;
            const ms = await leastMs(LIMIT_MS * 10, async () =>
              expect((await call(url, { key: api.keys.test })).status).to.be.within(200, 499),
            );
            expect(ms, `${nameOf(route)} ${member}`).to.be.below(LIMIT_MS * 10);
          }
    });
  });
});
