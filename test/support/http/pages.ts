import { randomUUID } from 'node:crypto';
import type { TestApi } from '../gateway.ts';
import { newUser, signIn } from '../sign-in.ts';

/** A page as it was sent; `location` is where it leads. */
export type SentPage = { readonly status: number; readonly text: string; readonly location: string };

/** What a signed-in person's browser sends, without a browser. */
export type Pages = {
  readonly cookie: string;
  get(path: string): Promise<SentPage>;
  /** Posts a form; with a key of its own unless `values` have one. */
  post(path: string, values?: Readonly<Record<string, string>>): Promise<SentPage>;
};

/** Signs a new user of the merchant in. */
export async function signedInPages(api: TestApi, merchantId?: string): Promise<Pages> {
  return pagesBy(api, await signIn(api, await newUser(api, merchantId)));
}

/** The pages of whoever has this cookie. */
export function pagesBy(api: Pick<TestApi, 'origin'>, cookie: string): Pages {
  const send = async (path: string, init: RequestInit): Promise<SentPage> => {
    const response = await fetch(api.origin + path, { ...init, redirect: 'manual' });
    const location = response.headers.get('Location') ?? '';
    return { status: response.status, text: await response.text(), location };
  };
  return {
    cookie,
    get: (path) => send(path, { headers: { Cookie: cookie } }),
    post: (path, values = {}) =>
      send(path, {
        method: 'POST',
        headers: { Cookie: cookie, Origin: api.origin, 'Sec-Fetch-Site': 'same-origin' },
        body: new URLSearchParams({ once: randomUUID(), ...values }),
      }),
  };
}

/** What a page says is wrong at a field; undefined where it says nothing. */
export function errorAt({ text }: SentPage, name: string): string | undefined {
  return new RegExp(`<p class="error" id="${name}-error">([^<]*)</p>`).exec(text)?.[1];
}
