import { createUser } from '../../src/services/access/users.ts';
import { type Answer, call, type TestApi } from './gateway.ts';

/** A user with the password that signs in. */
export type TestUser = {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string;
  readonly password: string;
};

let users = 0;

/** A new user, of the first merchant unless another is named. */
export async function newUser(
  api: Pick<TestApi, 'deps' | 'merchant'>,
  merchantId = api.merchant.id,
): Promise<TestUser> {
  users += 1;
  const [email, password] = [`person${users}@example.com`, `correct horse ${users}`];
  const { userId } = await createUser(api.deps, { merchantId, email, password });
  return { id: userId, merchantId, email, password };
}

/** What a login is told beside the address and the password of the user. */
export type SignInMore = {
  password?: string;
  email?: string;
  totp?: string;
  from?: string;
  headers?: Record<string, string>;
};

/** `POST /login` as JSON; `from` is the address that a trusted proxy would report. */
export async function postLogin(
  api: { readonly origin: string },
  user: Pick<TestUser, 'email' | 'password'>,
  more: SignInMore = {},
): Promise<Answer> {
  const { totp, from } = more;
  return await call(`${api.origin}/login`, {
    body: {
      email: more.email ?? user.email,
      password: more.password ?? user.password,
      ...(totp === undefined ? {} : { totp }),
    },
    headers: { ...(from === undefined ? {} : { 'X-Forwarded-For': from }), ...more.headers },
  });
}

/** Signs in and returns the `Cookie` header of the new session. */
export async function signIn(
  api: { readonly origin: string },
  user: Pick<TestUser, 'email' | 'password'>,
  more: SignInMore = {},
): Promise<string> {
  const answer = await postLogin(api, user, more);
  if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`);
  return cookieOf(answer);
}

/** The `Cookie` header that a browser would send after this answer. */
export function cookieOf(answer: Answer): string {
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
}
