import { expect } from 'chai';
import { addSession, createSessionFinder, purgeSessions } from '../../src/services/access/sessions.ts';
import { createUser } from '../../src/services/access/users.ts';
import type { Deps } from '../../src/services/deps.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a clock that jumps', function () {
  this.timeout(60_000);
  let api: TestApi;
  const at = (ms: number): Deps => ({ ...api.deps, now: () => new Date(Date.now() + ms) });
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  it('a day ahead and back leaves no session open for that day', async () => {
    const { userId } = await createUser(api.deps, {
      merchantId: api.merchant.id,
      email: 'c@example.com',
      password: 'correct horse battery',
    });
    const begin = (deps: Deps) =>
      api.deps.orm.em.fork().transactional((em) => addSession(em, deps, { userId, site: '203.0.113.9' }));
    const [ahead, now] = [await begin(at(DAY)), await begin(at(0))];
    const found = async (ms: number, token: string) =>
      (await createSessionFinder(at(ms))(token)) !== undefined;
    expect([await found(DAY, ahead), await found(0, ahead), await found(0, now)]).to.deep.equal([
      true,
      false,
      true,
    ]);
    // Clocks of two processes are never quite the same.
    expect(await found(-MINUTE, now)).to.equal(true);
    await purgeSessions(at(0));
    expect([await found(DAY, ahead), await found(0, now)]).to.deep.equal([false, true]);
  });
});
