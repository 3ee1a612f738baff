import { inspect } from 'node:util';

const MOST_SHOWN = 1_000;

/**
 * Waits until `check` gives a value. Throws with `what` after the limit, which is there for code that never
 * ends: a caller that means a certain time has to name it. `instead` tells what is there in its place then.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 45_000,
  instead?: () => unknown,
): Promise<T> {
  const until = Date.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > until)
      throw new Error(`${what} did not happen within ${limitMs} ms${await seen(instead)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function seen(instead: (() => unknown) | undefined): Promise<string> {
  if (!instead) return '';
  const found = await (async () => await instead())().catch((error: unknown) => error);
  return `; instead: ${inspect(found, { depth: 4 }).slice(0, MOST_SHOWN)}`;
}
