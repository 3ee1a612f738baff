import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import type { Mode } from '../../../src/domain/assets.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { PAGES } from '../../../src/web/dashboard/pages/index.ts';
import type { Guard } from '../../../src/web/dashboard/visit.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { type FormPerson, formPerson } from '../../support/http/form-person.ts';
import { heldBack } from '../../support/http/held-back.ts';
import { newUser } from '../../support/sign-in.ts';

/** Good values for every field that a guarded form has. */
const MEMBERS = {
  address: '0x00000000000000000000000000000000000000aa',
  'allow_contract.yes': 'on',
  code: '000000',
  email: 'somebody.new@example.com',
  'events.*': 'on',
  grace: 'day',
  network: '203.0.113.9',
  'scopes.read': 'on',
  url: 'http://127.0.0.1:9/hook',
};

const LOGIN = [303, '/login?next'];
/** What a browser says of a form that another site sent. */
const FORGED: readonly Record<string, string>[] = [
  { Origin: 'https://evil.example' },
  { 'Sec-Fetch-Site': 'cross-site' },
];

/** What needs no password: whoever adds a form of money or access finds it missing from the other list. */
const UNGUARDED = [
  '/account/password',
  '/account/sessions/:id/end',
  '/account/sessions/end-others',
  '/customers/:id/new-page',
  '/customers/new',
  '/deliveries/:id/resend',
  '/endpoints/:id/resend-failed',
  '/endpoints/:id/test',
  '/links/:id/cancel',
  '/links/new',
  '/settings/name',
  '/settings/withdraw/:id/cancel',
  '/simulate',
];
/** What is guarded in live mode alone: in test mode no key opens and no endpoint hears of real money. */
const LIVE_ALONE = /^\/(endpoints|settings\/keys)\//;

/** Every description goes through the one router: nothing is reached or carried out around it. */
describe('every page and form of the dashboard', function () {
  this.timeout(120_000);
  let api: TestApi;
  let merchantId: string;
  let person: FormPerson;
  /** What stands for `:id` in a path that begins so. */
  let ids: Readonly<Record<string, string>>;

  const sql = <Row = Record<string, unknown>>(text: string, params: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Row[]>(text, params);

  before(async () => {
    api = await startTestApi();
    merchantId = (await api.newMerchant()).id;
    const scope = { merchantId, mode: 'live' } as const;
    const endpoint = await createEndpoint(api.deps, {
      ...scope,
      url: MEMBERS.url,
      events: ['*'],
      description: null,
    });
    const [user, colleague] = [await newUser(api, merchantId), await newUser(api, merchantId)];
    const key = await createKey(api.deps, scope);
    ids = { endpoints: endpoint.id, keys: key.id, team: colleague.id };
    person = await formPerson(api, user);
  });
  after(() => api.stop());

  const at = (mode: Mode, path: string) => {
    const kind = /(\w+)\/:id/.exec(path)?.[1] ?? '';
    const named = path.replace(':id', ids[kind] ?? UNKNOWN_ID).replace(':network', 'bsc');
    return `/dashboard${mode === 'test' ? '/test' : ''}${named}`;
  };
  /** Every form, in each mode that has it. */
  const forms = () =>
    PAGES.flatMap(({ path, only, post }) =>
      (['live', 'test'] as const)
        .filter((mode) => post !== undefined && (only ?? mode) === mode)
        .map((mode) => ({ path, mode, url: at(mode, path), guard: post?.guard ?? 'none' })),
    );
  const reads = () =>
    PAGES.flatMap(({ path, only, show, file }) => (show || file ? [at(only ?? 'live', path)] : []));
  const asksForPassword = ({ guard, mode }: { guard: Guard; mode: Mode }) =>
    guard === 'live' ? mode === 'live' : guard !== 'none';
  const members = () => ({ once: randomUUID(), ...MEMBERS });
  const done = () =>
    sql('select action, subject from operator_actions where merchant_id = ? order by at, id', [merchantId]);

  it('says whether it is guarded, as it is meant to be', () => {
    const having = (guard: Guard) =>
      PAGES.filter(({ post }) => post?.guard === guard).map(({ path }) => path);
    expect(having('none').toSorted()).to.deep.equal(UNGUARDED);
    expect(having('live').filter((path) => !LIVE_ALONE.test(path))).to.deep.equal([]);
    const counted = PAGES.filter(({ post }) => post?.isTest).map(({ path }) => path);
    expect(counted.toSorted()).to.deep.equal(['/endpoints/:id/test', '/simulate']);
  });

  it('is kept by no cache, whatever is asked and however it is answered', async () => {
    const told = async (url: string, init: RequestInit) => {
      const headers = { Cookie: person.state.cookie };
      const answer = await fetch(api.origin + url, { redirect: 'manual', headers, ...init });
      await answer.text();
      expect(answer.headers.get('cache-control'), url).to.equal('no-store');
    };
    for (const url of reads()) await told(url, {});
    for (const { url } of forms()) await told(url, { method: 'POST', body: new URLSearchParams() });
  });

  it('leads nobody but who is signed in, and no form of another site', async () => {
    const before = await done();
    for (const url of reads()) {
      const answer = await fetch(api.origin + url, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')?.split('=')[0]], url).to.deep.equal(LOGIN);
    }
    for (const { url } of forms()) {
      const nobody = await person.postRaw(url, members(), { Cookie: '' });
      expect([nobody.status, nobody.location?.split('=')[0]], url).to.deep.equal(LOGIN);
      for (const forged of FORGED)
        expect((await person.postRaw(url, members(), forged)).status, url).to.equal(403);
    }
    expect(await done()).to.deep.equal(before);
  });

  it('stays shut while the subscription has lapsed, but for settings and the own sign-in', async () => {
    const before = await done();
    const set = (active: boolean) =>
      sql('update merchants set subscription_active = ? where id = ?', [active, merchantId]);
    await set(false);
    for (const { url, path } of forms()) {
      // Without its key no form does anything.
      const { status } = await person.postRaw(url, {});
      if (/^\/(settings|account)/.test(path)) expect(status, url).to.be.oneOf([400, 404]);
      else expect(status, url).to.equal(403);
    }
    for (const url of reads().filter((path) => !path.includes(UNKNOWN_ID))) {
      const { status, text } = await person.get(url);
      if (/\/(settings|account)/.test(url)) expect(status, url).to.be.oneOf([200, 404]);
      else expect(status, url).to.equal(403);
      expect(text, url).to.include('Your subscription is not active');
    }
    await set(true);
    expect(await done()).to.deep.equal(before);
  });

  it('asks for the password before a guarded change, and once more in its transaction', async () => {
    const before = await done();
    const stepUp = (when: string) => sql(`update sessions set stepped_up_at = ${when}`);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: person.state.cookie };
    for (const { url, path } of forms().filter(asksForPassword)) {
      await stepUp('null');
      // The page that ends the code is there for who has one; its form is refused all the same.
      const asked = await person.postRaw(url, members());
      expect([asked.status, asked.text.includes('confirm_password-error')], url).to.deep.equal([403, true]);
      await stepUp('now()');
      const send = await heldBack(api.origin + url, `${new URLSearchParams(members())}`, headers);
      await stepUp('null');
      const late = await send();
      expect([late.status, late.text.includes('name="confirm_password"')], `${path}, late`).to.deep.equal([
        403,
        true,
      ]);
    }
    expect(await done()).to.deep.equal(before);
  });
});
