import { setTimeout as sleep } from 'node:timers/promises';

export type Json = Record<string, unknown>;
export type Answer = { readonly status: number; readonly body: Json };

const CALL_TIMEOUT_MS = 6_000;
const RETRY_PAUSE_MS = 500;

/** The gateway's HTTP API as a merchant's patient program uses it, with a count of everything it answered. */
export type Api = {
  /** Answers of each status, and `away` (no answer at all) and `timeout`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Repeats until the API gives an answer that repeating would not change. Throws after `limitMs`. */
  call(method: string, path: string, key: string, body?: Json): Promise<Answer>;
};

/** Calls that are repeated through outages for at most `limitMs`. */
export function createApi(base: string, limitMs: number): Api {
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  async function once(
    method: string,
    path: string,
    key: string,
    body: Json | undefined,
  ): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const answer = { status: response.status, body: (await response.json()) as Json };
      count(String(response.status));
      return answer;
    } catch (error) {
      count(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'away');
      return undefined;
    }
  }
  return {
    counts,
    call: async (method, path, key, body) => {
      const until = Date.now() + limitMs;
      for (;;) {
        const answer = await once(method, path, key, body);
        if (answer && answer.status < 500 && answer.status !== 429) return answer;
        if (Date.now() > until)
          throw new Error(
            `${method} ${path} had no answer within ${limitMs / 1_000} s (last: ${answer?.status})`,
          );
        await sleep(RETRY_PAUSE_MS);
      }
    },
  };
}

/** Every row of a list, page by page. */
export async function listAll(api: Api, path: string, key: string): Promise<Json[]> {
  const rows: Json[] = [];
  for (let page = 1; ; page++) {
    const { status, body } = await api.call('GET', `${path}?limit=100&page=${page}`, key);
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${String(body['error'])}`);
    rows.push(...(body['data'] as Json[]));
    if (body['has_more'] !== true) return rows;
  }
}
