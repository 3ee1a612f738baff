import type { TestApi } from '../gateway.ts';
import { type SignInMore, signIn, type TestUser } from '../sign-in.ts';

/** An answer to somebody who reads and sends pages. */
export type PageAnswer = {
  readonly status: number;
  readonly text: string;
  /** Where a 303 leads to. */
  readonly location: string | null;
  /** The `Cookie` header that the answer asks for, if it does. */
  readonly cookie: string | undefined;
};

/** Somebody who is signed in, fills in forms as a browser without script does, and keeps cookies. */
export type FormPerson = Awaited<ReturnType<typeof formPerson>>;

/** Signs a user in. `cookie` may be set to another one, as a browser that lost an answer has it. */
export async function formPerson(api: TestApi, user: TestUser, more: SignInMore = {}) {
  const state = { cookie: await signIn(api, user, more) };
  const send = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const answer = await fetch(api.origin + path, { redirect: 'manual', ...init });
    const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0];
    return {
      status: answer.status,
      text: await answer.text(),
      location: answer.headers.get('location'),
      cookie,
    };
  };
  const noticed = (answer: PageAnswer): PageAnswer => {
    if (answer.cookie !== undefined) state.cookie = answer.cookie;
    return answer;
  };
  const get = async (path: string): Promise<PageAnswer> =>
    noticed(await send(path, { headers: { Cookie: state.cookie, Accept: 'text/html' } }));
  /** Posts as it is, with any cookie and headers, and notices none. */
  const postRaw = (path: string, members: Record<string, string>, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: {
        Cookie: state.cookie,
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/html',
        ...headers,
      },
      body: new URLSearchParams(members),
    });
  return {
    state,
    get,
    postRaw,
    /** The key of a form that is on the page. */
    onceOf: async (path: string): Promise<string> => onceIn((await get(path)).text),
    post: async (path: string, members: Record<string, string>): Promise<PageAnswer> =>
      noticed(await postRaw(path, members)),
  };
}

/** The key under which the first form of a page takes effect once. */
export function onceIn(text: string): string {
  return /name="once" value="([0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
}
