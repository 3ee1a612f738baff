import { readFileSync } from 'node:fs';
import { lifeOf } from './lives.ts';
import { type Rendered, renderMarkdown } from './markdown.ts';

/** In the order in which somebody reads them; each is a file of `docs/guides`, and a page below `/docs`. */
export const GUIDES = [
  'start',
  'authentication',
  'errors',
  'idempotency',
  'lists',
  'money',
  'deposits',
  'payment-links',
  'webhooks',
  'testing',
  'going-live',
] as const;
export type GuideName = (typeof GUIDES)[number];

export type Guide = Rendered & { readonly name: GuideName };

/**
 * Where a gateway that was started without settings answers; the files name it, the pages name the true
 * one.
 */
const EXAMPLE_BASE = 'http://127.0.0.1:8080/api/v1';

const TEXTS = new Map(
  GUIDES.map((name) => [
    name,
    readFileSync(new URL(`../../../docs/guides/${name}.md`, import.meta.url), 'utf8'),
  ]),
);

/** The guides as pages, for an API that is reached at `baseUrl`. */
export function readGuides(baseUrl: string, placeOf: (call: string) => string | undefined): Guide[] {
  return GUIDES.map((name) => {
    const text = (TEXTS.get(name) ?? '').replaceAll(EXAMPLE_BASE, baseUrl);
    const instead = (language: string, block: string) =>
      language === 'mermaid' ? lifeOf(name, block) : undefined;
    return { name, ...renderMarkdown(text, { name, instead, placeOf }) };
  });
}
