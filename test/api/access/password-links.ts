import { resetPassword } from '../../../src/services/access/users.ts';
import { type Answer, call, type TestApi } from '../../support/gateway.ts';
import type { TestUser } from '../../support/sign-in.ts';

/** A password that somebody chooses, and a code that no link has. */
export const CHOSEN = 'a chosen horse battery';
export const NO_CODE = 'A'.repeat(43);

/** How a use of a link differs from that of its owner, at home. */
type Use = {
  readonly password?: string;
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly at?: TestApi;
};

/** What an operator and the owners do with links. The gateway may start later than this is called. */
export function linkUsesOf(api: () => TestApi) {
  let addresses = 0;
  /** Of a network that nobody came from yet. */
  const newAddress = (): string => {
    addresses += 1;
    return `198.51.${addresses % 250}.1`;
  };
  const asOperator = () => ({
    ...api().deps,
    actor: { kind: 'operator', name: 'ann', from: 'desk' } as const,
  });
  return {
    newAddress,
    /** The code of a new link for this user. */
    linkFor: async ({ email }: Pick<TestUser, 'email'>): Promise<string> =>
      (await resetPassword(asOperator(), { email })).link?.token ?? 'no link',
    set: (code: string, more: Use = {}): Promise<Answer> =>
      call(`${(more.at ?? api()).origin}/set-password`, {
        body: { code, password: more.password ?? CHOSEN },
        headers: { 'X-Forwarded-For': more.from ?? newAddress(), ...more.headers },
      }),
  };
}
