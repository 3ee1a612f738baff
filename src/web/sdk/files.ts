import type { Context, Middleware, Next } from 'koa';
import { sendPage } from '../layout.ts';
import { listingOf, sdkPage } from './page.ts';
import { type Release, readReleases, type SdkFile } from './releases.ts';

const PREFIX = '/sdk/';
/** What lies below a version, or has it in its name, never becomes something else. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const FOR_A_WHILE = 'public, max-age=300';
const TYPES: readonly (readonly [ending: string, type: string])[] = [
  ['.d.mts', 'application/typescript; charset=utf-8'],
  ['.d.cts', 'application/typescript; charset=utf-8'],
  ['.mjs', 'text/javascript; charset=utf-8'],
  ['.cjs', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.tgz', 'application/gzip'],
];
/** A program in another language is shown, and run by nobody who looks at it. */
const PLAIN = 'text/plain; charset=utf-8';

type Found = { readonly file: SdkFile; readonly isForEver: boolean };

/**
 * Answers `/sdk/` with what there is to install, `/sdk/NAME` with a file of the newest version,
 * `/sdk/vVERSION/NAME` and `/sdk/deposit-gateway-sdk-VERSION.tgz` with that of any. For every other name
 * it is as if it were not there. Everything is read once, and is the same for everybody.
 */
export function sdkFiles(publicUrl: string | undefined, releases = readReleases()): Middleware {
  const [newest] = releases;
  const found = new Map<string, Found>();
  for (const { version, tarball, files } of releases) {
    found.set(tarball.name, { file: tarball, isForEver: true });
    for (const file of files.values()) found.set(`v${version}/${file.name}`, { file, isForEver: true });
  }
  for (const file of newest?.files.values() ?? []) found.set(file.name, { file, isForEver: false });
  return async (ctx: Context, next: Next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || !newest || (ctx.path !== '/sdk' && !ctx.path.startsWith(PREFIX))) return await next();
    const name = ctx.path.slice(PREFIX.length);
    const one = found.get(name);
    const isList = name === '' || name === 'index.json';
    if (!one && !isList) return await next();
    ctx['_matchedRoute'] = `${PREFIX}:file`;
    if (one) return sendFile(ctx, one);
    // The links of the page are told from the folder; relative, for a PUBLIC_URL that has a path.
    if (ctx.path === '/sdk') return redirectTo(ctx, 'sdk/');
    sendList(ctx, name, releases, publicUrl ?? `http://localhost:${ctx.req.socket.localPort}`);
  };
}

function sendFile(ctx: Context, { file, isForEver }: Found): void {
  ctx.status = 200;
  ctx.set('Content-Type', TYPES.find(([ending]) => file.name.endsWith(ending))?.[1] ?? PLAIN);
  ctx.set('Cache-Control', isForEver ? FOR_EVER : FOR_A_WHILE);
  ctx.set('ETag', file.etag);
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.set('X-Content-Type-Options', 'nosniff');
  // Deno and editors find the types of a module by its URL.
  if (file.name.endsWith('.mjs')) ctx.set('X-TypeScript-Types', './index.d.mts');
  ctx.body = file.bytes;
  if (ctx.fresh) ctx.status = 304;
}

function sendList(ctx: Context, name: string, releases: readonly Release[], origin: string): void {
  if (name === '') {
    sendPage(ctx, sdkPage(releases, origin));
    return;
  }
  ctx.status = 200;
  ctx.set('Cache-Control', FOR_A_WHILE);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = listingOf(releases);
}

function redirectTo(ctx: Context, place: string): void {
  ctx.status = 308;
  ctx.set('Location', place);
  ctx.set('Cache-Control', FOR_A_WHILE);
  ctx.body = '';
}
