import type { Context } from 'koa';
import { DE } from './de.ts';
import { EN, type Words } from './en.ts';

export type { Words } from './en.ts';

/** Another language is a table beside these, with every entry of {@link EN}, and its line here. */
const TABLES = { en: EN, de: DE } as const satisfies Readonly<Record<string, Words>>;

/** A language that pages for payers are written in. */
export type Lang = keyof typeof TABLES;

/** All of them; the first one is for those who ask for none of them. */
export const LANGS = Object.keys(TABLES) as readonly Lang[];
const OTHERWISE: Lang = 'en';

/** Everything that a payer reads, in that language. */
export function wordsOf(lang: Lang): Words {
  return TABLES[lang];
}

/**
 * The language of a page: what the address names by `?lang=`, else what the browser prefers of those there
 * are, else English. Whatever a stranger sends, it is one of them.
 */
export function pickLanguage(ctx: Pick<Context, 'query' | 'get'>): Lang {
  const { lang } = ctx.query;
  return typeof lang === 'string' && isLang(lang) ? lang : preferred(ctx.get('Accept-Language'));
}

/** A header may be kilobytes long; nobody prefers more languages than this. */
const MAX_RANGES = 20;

/** By RFC 9110: the supported language of the highest weight, of equal ones the first. */
function preferred(header: string): Lang {
  let best: { readonly lang: Lang; readonly weight: number } | undefined;
  for (const range of header.split(',', MAX_RANGES)) {
    const [tag = '', ...parameters] = range.split(';', 3).map((part) => part.trim().toLowerCase());
    const [lang = ''] = tag.split('-', 1);
    const weight = weightOf(parameters);
    if (isLang(lang) && weight > (best?.weight ?? 0)) best = { lang, weight };
  }
  return best?.lang ?? OTHERWISE;
}

/** "q=0.5"; 1 where none is given, and 0 for what is no weight. */
function weightOf(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (text === undefined) return 1;
  return /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

function isLang(text: string): text is Lang {
  return Object.hasOwn(TABLES, text);
}
