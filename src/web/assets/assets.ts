import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context, Middleware, Next } from 'koa';
import type { Script } from '../layout.ts';

const PREFIX = '/assets/';
const NAMES = ['page', 'live', 'code', 'docs'] as const;
export type ScriptName = (typeof NAMES)[number];

type Asset = { readonly file: string; readonly integrity: string; readonly bytes: Buffer };

/** The scripts in this folder, read once. A name with a hash never means other bytes. */
const ASSETS = new Map<ScriptName, Asset>(NAMES.map((name) => [name, load(name)]));
const BY_FILE = new Map([...ASSETS.values()].map((asset) => [asset.file, asset]));

/**
 * A script of our own for a page. `toRoot` is the way from the page's folder to the folder of all pages:
 * `../` at `/pay/:token`, nothing at `/login`. So the page finds it also where PUBLIC_URL has a path,
 * which the server does not see.
 */
export function scriptOf(name: ScriptName, toRoot = '../'): Script {
  const { file, integrity } = ASSETS.get(name) as Asset;
  return { src: `${toRoot}${PREFIX.slice(1)}${file}`, integrity };
}

/** Answers `/assets/NAME.HASH.js`; for every other name it is as if it were not there. */
export function assetFiles(): Middleware {
  return async (ctx: Context, next: Next) => {
    const asset = ctx.path.startsWith(PREFIX) ? BY_FILE.get(ctx.path.slice(PREFIX.length)) : undefined;
    if (!asset || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return await next();
    ctx['_matchedRoute'] = `${PREFIX}:file`;
    ctx.status = 200;
    ctx.set('Content-Type', 'text/javascript; charset=utf-8');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.body = asset.bytes;
  };
}

function load(name: ScriptName): Asset {
  const bytes = Buffer.from(withoutComments(readFileSync(new URL(`./${name}.js`, import.meta.url), 'utf8')));
  const hash = createHash('sha384').update(bytes).digest();
  return {
    file: `${name}.${hash.toString('hex').slice(0, 16)}.js`,
    integrity: `sha384-${hash.toString('base64')}`,
    bytes,
  };
}

/**
 * The script as it is sent: what only we read stays here. Our scripts have no text of several lines, so that
 * lines can be told apart by how they begin.
 */
function withoutComments(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return `${lines.filter((line) => line !== '' && !line.startsWith('//')).join('\n')}\n`;
}
