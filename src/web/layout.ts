import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { type Html, html, plainText, raw } from './html.ts';
import { STYLE } from './style/index.ts';

/** A script that we serve ourselves: where the page finds it, and the hash that its bytes must have. */
export type Script = { readonly src: string; readonly integrity: string };

export type Page = {
  readonly status?: number;
  /** Plain text for the tab. */
  readonly title: string;
  /** What stands inside `<main>`. */
  readonly body: Html;
  /** The language of the page's words; English where it is not given. */
  readonly lang?: string | undefined;
  /** Stands before `<main>`: a heading and the way to other pages. A link past it comes first. */
  readonly frame?: Html;
  /** Files of our own that the page runs; it does its work without them. */
  readonly scripts?: readonly Script[];
  /** A script of the page asks us for more: no other page may connect to anything. */
  readonly connects?: boolean;
  /**
   * The browser loads the page again after this long; where a script connects, only if that script did not
   * come or does not run. Such a page has a link that stops it, for those who need longer.
   */
  readonly refreshSeconds?: number | undefined;
  /**
   * The page posts a form to us. With `no-referrer` a browser sends `Origin: null` on a form's POST, which
   * looks like another site's; so such a page sends its address to our own origin, and to no other.
   */
  readonly hasForm?: boolean;
  /**
   * Rules of this page alone, after the common ones. Our own constant: it goes into the document as it is.
   */
  readonly style?: string;
};

/** What a page may do beyond what every page may. */
type Powers = Pick<Page, 'style' | 'scripts' | 'connects' | 'refreshSeconds'>;

/**
 * Nothing may be loaded or run except our own stylesheet and our own pictures; no other
 * page may frame one of ours or change its base.
 */
export const CONTENT_SECURITY_POLICY = policyFor({});

function policyFor(powers: Powers): string {
  const { style, scripts = [], connects = false } = powers;
  const hashes = (...texts: readonly (string | undefined)[]): string =>
    texts
      .flatMap((text) =>
        text === undefined ? [] : `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      )
      .join(' ');
  const run = [hashes(...inlineOf(powers)), scripts.length > 0 ? `'self'` : ''].filter(
    (source) => source !== '',
  );
  return [
    `default-src 'none'`,
    `style-src ${hashes(STYLE, style)}`,
    ...(run.length === 0 ? [] : [`script-src ${run.join(' ')}`]),
    ...(connects ? [`connect-src 'self'`] : []),
    `img-src 'self' data:`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ');
}

// A square of one colour: without an icon of our own, browsers ask for /favicon.ico.
const ICON = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Crect width='8' height='8' rx='2' fill='%230b57d0'/%3E%3C/svg%3E`;

/**
 * The whole document of a page as text. It works without script, in light and
 * dark, and loads nothing from anywhere else.
 */
export function renderDocument(page: Page): string {
  const refresh =
    page.refreshSeconds === undefined
      ? null
      : html`<meta http-equiv="refresh" content="${page.refreshSeconds}">`;
  return html`<!doctype html>
<html lang="${page.lang ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
${refresh && html`<noscript>${refresh}</noscript>`}
<title>${plainText(page.title)}</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
${page.style === undefined ? null : html`<style>${raw(page.style)}</style>\n`}${(page.scripts ?? []).map(
  ({ src, integrity }) => html`<script src="${src}" integrity="${integrity}" defer></script>\n`,
)}</head>
<body>
${page.frame === undefined ? null : html`<a class="skip" href="#main">Skip to content</a>\n${page.frame}\n`}<main${page.frame === undefined ? null : html` id="main"`}${page.frame === undefined && !page.connects ? null : html` tabindex="-1"`}>
${page.body}
</main>
${inlineOf(page).map((script) => html`<script>${raw(script)}</script>\n`)}</body>
</html>
`.markup;
}

/**
 * Answers with the page: never cached, never framed, never
 * guessed to be another type. A HEAD gets the same headers.
 */
export function sendPage(ctx: Context, page: Page): void {
  sendRendered(ctx, page, renderDocument(page));
}

/** The same for a page whose document was made before, by {@link renderDocument}. */
export function sendRendered(ctx: Context, page: Page, document: string): void {
  ctx.status = page.status ?? 200;
  ctx.set('Content-Security-Policy', hasPowers(page) ? policyFor(page) : CONTENT_SECURITY_POLICY);
  ctx.set('Referrer-Policy', page.hasForm ? 'same-origin' : 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.type = 'text/html';
  ctx.body = document;
}

/**
 * What stands in the page itself. The script that connects may be lost on the way, be of another
 * version than the page while one takes the other's place, or be too new for the browser: without it nobody
 * would learn that money has arrived. So the words of this one are older than all of them.
 */
function inlineOf({ refreshSeconds }: Powers): string[] {
  return refreshSeconds !== undefined
    ? [`var again=setTimeout(function(){location.reload()},${refreshSeconds * 1_000})`]
    : [];
}

function hasPowers({ style, scripts, connects, refreshSeconds }: Powers): boolean {
  return style !== undefined || scripts !== undefined || connects === true || refreshSeconds !== undefined;
}
