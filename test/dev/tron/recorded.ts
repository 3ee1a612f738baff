// Every recorded answer by its name, and how the same is asked of the double.
import { readFileSync } from 'node:fs';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';
import { RECORDED } from '../../chains/tron/vectors.ts';
import type { Answer } from './asking.ts';
import type { World } from './world.ts';

const FOLDER = new URL('../../vectors/tron/', import.meta.url);
const COLLECTIONS = ['refusals', 'replies'];
const fileOf = (name: string): Answer =>
  parseExactJson(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));

export type Recorded = {
  readonly request: {
    readonly method: string;
    readonly port: number;
    readonly path: string;
    readonly body?: Answer;
  };
  readonly status: number;
  readonly response: Answer;
};

function read({ request, response, http_status: status = 200 }: Answer): Recorded {
  return { request, response, status };
}

/** All of them. */
export const ALL: ReadonlyMap<string, Recorded> = new Map([
  ...RECORDED.filter((name) => !COLLECTIONS.includes(name)).map((name): [string, Recorded] => [
    name,
    read(fileOf(name)),
  ]),
  ...COLLECTIONS.flatMap((collection) =>
    Object.entries<Answer>(fileOf(collection)).map(([name, answer]): [string, Recorded] => [
      name,
      read(answer),
    ]),
  ),
]);

/** One of them. Throws where there is none of that name. */
export function recordedAs(name: string): Recorded {
  const found = ALL.get(name);
  if (!found) throw new Error(`nothing was recorded as ${name}`);
  return found;
}

/** Sends a request as it was recorded, with this body in place of its own. */
export async function sendLike(
  { node }: Pick<World, 'node'>,
  { method, port, path: whole }: Recorded['request'],
  body: unknown,
): Promise<{ readonly status: number; readonly response: unknown }> {
  const base = port === 8091 ? node.solidityUrl : node.url;
  const [path] = whole.split('?');
  const isGet = method === 'GET';
  const query = isGet ? `?${new URLSearchParams(body as Record<string, string>)}` : '';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`${base}${path}${query}`, { method, ...(isGet ? {} : { body: text }) });
  const said = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, response: isJson ? parseExactJson(said) : said };
}
