import { TOTP } from 'otpauth';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import type { Em } from '../../../src/db/orm.ts';
import { createLogin } from '../../../src/services/access/login.ts';
import { createSessionFinder, type SessionOwner } from '../../../src/services/access/sessions.ts';
import { createStepUp, type StepUp } from '../../../src/services/access/signed-in/step-up.ts';
import { createUser, enableTotp } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { testDeps } from '../../support/gateway.ts';

export const PASSWORD = 'correct horse battery';
export const HOME = '203.0.113.9';
export const MINUTE = 60_000;
const STEP_MS = 30_000;

/** Somebody who signs in; `secret` is that of an authenticator app. */
export type Person = {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string;
  readonly secret: string | undefined;
};
export type SignedIn = { readonly owner: SessionOwner; readonly token: string };

/** People of a gateway without a server, at a time that stands still where no test moves it. */
export type People = Awaited<ReturnType<typeof startPeople>>;

/** Shows password and code again; whose the session is then, as the next request finds it. */
function confirming(stepUp: StepUp, ownerOf: (token: string) => Promise<SessionOwner | undefined>) {
  return async (owner: SessionOwner, totp?: string, site = HOME): Promise<SignedIn> => {
    const done = await stepUp(owner, { password: PASSWORD, totp, site });
    const found = done.kind === 'stepped-up' ? await ownerOf(done.token) : undefined;
    if (done.kind !== 'stepped-up' || !found) throw new Error(`a step-up is ${done.kind}`);
    return { owner: found, token: done.token };
  };
}

/** Starts them over a database of their own. */
export async function startPeople() {
  const database = await migratedDatabase();
  const clock = { ms: Date.now() };
  const deps = await testDeps(database.url, [], { deps: { now: () => new Date(clock.ms) } });
  const login = createLogin(deps);
  const stepUp = createStepUp(deps);
  let count = 0;

  const newMerchant = async () =>
    (await createMerchant(deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  const newPerson = async (merchantId: string, { totp = false } = {}): Promise<Person> => {
    count += 1;
    const email = `person${count}@example.com`;
    const { userId: id } = await createUser(deps, { merchantId, email, password: PASSWORD });
    const secret = totp ? (await enableTotp(deps, { email })).secret : undefined;
    return { id, merchantId, email, secret };
  };
  const { codeOf, nextStep, forget } = timesOf(clock);
  const ownerOf = async (token: string) => await createSessionFinder(deps)(token);
  const signIn = async (person: Person, { site = HOME, password = PASSWORD } = {}): Promise<SignedIn> => {
    if (person.secret !== undefined) nextStep();
    const { email, secret } = person;
    const result = await login({ email, password, totp: codeOf(secret), site });
    if (result.kind !== 'signed-in') throw new Error(`${email} is ${result.kind}`);
    const owner = await ownerOf(result.token);
    if (!owner) throw new Error('no session');
    return { owner, token: result.token };
  };
  const confirmed = confirming(stepUp, ownerOf);
  /** Signs in and shows password and code again. */
  const steppedUp = async (person: Person, site = HOME): Promise<SignedIn> => {
    const { owner } = await signIn(person, { site });
    if (person.secret !== undefined) nextStep();
    return await confirmed(owner, codeOf(person.secret), site);
  };

  return {
    deps,
    clock,
    login,
    stepUp,
    newMerchant,
    newPerson,
    codeOf,
    nextStep,
    forget,
    ownerOf,
    signIn,
    steppedUp,
    /** The next step-up of a sign-in. */
    steppedUpAgain: async (owner: SessionOwner, totp?: string) => (await confirmed(owner, totp)).owner,
    /** The deps of a request of this person. */
    as: ({ userId }: Pick<SessionOwner, 'userId'>, from = HOME): Deps => ({
      ...deps,
      actor: { kind: 'user', userId, from },
    }),
    /** A use case in a transaction of its own. */
    inTx: async <T>(work: (em: Em) => Promise<T>): Promise<T> => await deps.orm.em.fork().transactional(work),
    sql: async <Row>(text: string, params: unknown[] = []): Promise<Row[]> =>
      (await deps.orm.em.fork().execute(text, params)) as Row[],
    stop: async () => {
      await deps.orm.close(true);
      await database.drop();
    },
  };
}

/** What depends on what time it is. */
function timesOf(clock: { ms: number }) {
  return {
    /** The present code of an app; a later one by so many steps. */
    codeOf: (secret: string | undefined, steps = 0): string =>
      secret === undefined ? '' : new TOTP({ secret }).generate({ timestamp: clock.ms + steps * STEP_MS }),
    nextStep: (): void => {
      clock.ms += STEP_MS;
    },
    /** Lets so much time pass that no wrong try counts any more. */
    forget: (): void => {
      clock.ms += 60 * MINUTE;
    },
  };
}

/** The code of the refusal that a use case ends with, or `done`. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof Refusal) return error.code;
      throw error;
    },
  );
}
