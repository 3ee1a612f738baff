import { resetPassword } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';
import type { TestUser } from '../../support/sign-in.ts';

/** A password that somebody chooses, and a code that no link has. */
export const CHOSEN = 'a chosen horse battery';
export const NO_CODE = 'A'.repeat(43);

/** Two processes of one gateway behind a proxy, and an operator who makes links. */
export type PasswordLinks = {
  readonly api: TestApi;
  readonly second: TestApi;
  readonly asOperator: Deps;
  /** What it is for both; it stands still where no test moves it. */
  readonly clock: { ms: number };
  stop(): Promise<void>;
};

/** Starts both over a database of their own. */
export async function startPasswordLinks(): Promise<PasswordLinks> {
  const clock = { ms: Date.now() };
  const now = () => new Date(clock.ms);
  const served = { trustedProxies: ['127.0.0.1'], publicUrl: 'https://pay.example.org' };
  const api = await startTestApi({ ...served, deps: { now } });
  const databaseUrl = api.deps.orm.config.get('clientUrl') as string;
  const second = await startTestApi({
    ...served,
    databaseUrl,
    deps: { now, secretBox: api.deps.secretBox },
  });
  return {
    api,
    second,
    clock,
    asOperator: { ...api.deps, actor: { kind: 'operator', name: 'ann', from: 'desk' } },
    stop: async () => {
      await second.stop();
      await api.stop();
    },
  };
}

/** How a use of a link differs from that of its owner, at home. */
type Use = {
  readonly password?: string;
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly at?: TestApi;
};

/** What is done with links. The gateway may start later than this is called. */
export function linkUsesOf(links: () => PasswordLinks) {
  let addresses = 0;
  /** Of a network that nobody came from yet. */
  const newAddress = (): string => {
    addresses += 1;
    return `198.51.${addresses % 250}.1`;
  };
  return {
    newAddress,
    /** The code of a new link for this user. */
    linkFor: async ({ email }: Pick<TestUser, 'email'>): Promise<string> =>
      (await resetPassword(links().asOperator, { email })).link?.token ?? 'no link',
    set: (code: string, more: Use = {}): Promise<Answer> =>
      call(`${(more.at ?? links().api).origin}/set-password`, {
        body: { code, password: more.password ?? CHOSEN },
        headers: { 'X-Forwarded-For': more.from ?? newAddress(), ...more.headers },
      }),
    /** Rows of a query on the database of both. */
    rows: async <T = Record<string, unknown>>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
      await links()
        .api.deps.orm.em.fork()
        .execute<T[]>(sql, [...values]),
  };
}
