import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { type Html, html, plainText, raw } from './html.ts';
import { STYLE } from './style.ts';

export type Page = {
  readonly status?: number;
  /** Plain text for the tab. */
  readonly title: string;
  /** What stands inside `<main>`. */
  readonly body: Html;
  /** The browser loads the page again after this long, without script. */
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
  /**
   * A script of this page alone, allowed by its hash. Our
   * own constant, and the page does its work without it.
   */
  readonly script?: string;
};

/**
 * Nothing may be loaded or run except our own stylesheet and our own pictures; no other
 * page may frame one of ours or change its base.
 */
export const CONTENT_SECURITY_POLICY = policyFor({});

function policyFor({ style, script }: Pick<Page, 'style' | 'script'>): string {
  const hashes = (...texts: readonly (string | undefined)[]): string =>
    texts
      .flatMap((text) =>
        text === undefined ? [] : `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      )
      .join(' ');
  return [
    `default-src 'none'`,
    `style-src ${hashes(STYLE, style)}`,
    ...(script === undefined ? [] : [`script-src ${hashes(script)}`]),
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
      ? ''
      : html`<meta http-equiv="refresh" content="${page.refreshSeconds}">\n`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
${refresh}<title>${plainText(page.title)}</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
${page.style === undefined ? null : html`<style>${raw(page.style)}</style>\n`}</head>
<body>
<main>
${page.body}
</main>
${page.script === undefined ? null : html`<script>${raw(page.script)}</script>\n`}</body>
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
  ctx.set(
    'Content-Security-Policy',
    page.style === undefined && page.script === undefined ? CONTENT_SECURITY_POLICY : policyFor(page),
  );
  ctx.set('Referrer-Policy', page.hasForm ? 'same-origin' : 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.type = 'text/html';
  ctx.body = document;
}
