import { type Html, html } from '../html.ts';
import type { Guide } from './guides.ts';
import type { ApiDocument, Route, Schema } from './model.ts';

/** A place of the documentation that can be found. */
export type Place = {
  readonly title: string;
  /** Of which page. */
  readonly page: string;
  readonly address: string;
  readonly text: string;
};

export type Found = { readonly place: Place; readonly excerpt: Html };

const MAX_RESULTS = 20;
const MAX_QUERY = 200;
const MAX_TERMS = 10;
/** A word that stands in a text more often counts no more. */
const MOST_COUNTED = 3;
const EXCERPT = 160;

/** Every place that can be found: the parts of the guides, the routes, the events and the schemas. */
export function placesOf(
  docs: string,
  parts: { document: ApiDocument; routes: readonly Route[]; guides: readonly Guide[] },
): Place[] {
  const { document, routes, guides } = parts;
  return [
    ...guides.flatMap(({ name, title, sections }) =>
      sections.map(({ heading, text }) => ({
        title: heading.text,
        page: title,
        address: `${docs}/${name}${heading.depth === 1 ? '' : `#${heading.id}`}`,
        text,
      })),
    ),
    ...routes.map(({ method, path, operation }) => ({
      title: `${method.toUpperCase()} ${path}`,
      page: 'Reference',
      address: `${docs}#${operation.operationId}`,
      text: [
        operation.summary,
        operation.description,
        ...(operation.parameters ?? []).flatMap(({ name, description }) => [name, description]),
        ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => namesIn(schema)),
        ...Object.values(operation.responses).map(({ description }) => description),
      ]
        .join(' ')
        .replaceAll('`', ''),
    })),
    ...Object.entries(document.webhooks).map(([type, { post }]) => ({
      title: type,
      page: 'Reference',
      address: `${docs}#${post.operationId}`,
      text: `webhook event ${post.description ?? ''}`.replaceAll('`', ''),
    })),
    ...Object.entries(document.components.schemas).map(([name, schema]) => ({
      title: name,
      page: 'Schemas',
      address: `${docs}/schemas#schema-${name}`,
      text: [schema.description, ...namesIn(schema)].join(' ').replaceAll('`', ''),
    })),
  ];
}

function namesIn(schema: Schema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, { description }]) => [
    name,
    description ?? '',
  ]);
}

/**
 * The words of a query, each once; its first 200 characters and ten words count, because each word is looked
 * for in every place while other requests wait.
 */
export function termsOf(query: string): string[] {
  return [...new Set(wordsOf(query.slice(0, MAX_QUERY)))].slice(0, MAX_TERMS);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/**
 * The places in which every word of the query stands, also as a part of a word; titles count more than
 * text, and what begins like the word more than what contains it.
 */
export function find(places: readonly Place[], query: string): Found[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  return places
    .map((place) => ({ place, score: scoreOf(place, terms) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS)
    .map(({ place }) => ({ place, excerpt: excerptOf(place.text, terms) }));
}

function scoreOf({ title, page, text }: Place, terms: readonly string[]): number {
  const heading = title.toLowerCase();
  const words = wordsOf(title);
  const body = `${page} ${text}`.toLowerCase();
  const scores = terms.map((term) => {
    const inTitle = words.includes(term) ? 12 : words.some((word) => word.startsWith(term)) ? 8 : 0;
    const inside = inTitle === 0 && heading.includes(term) ? 4 : inTitle;
    return inside + timesIn(body, term);
  });
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0);
}

function timesIn(text: string, term: string): number {
  let count = 0;
  for (
    let at = text.indexOf(term);
    at >= 0 && count < MOST_COUNTED;
    at = text.indexOf(term, at + term.length)
  )
    count += 1;
  return count;
}

function excerptOf(text: string, terms: readonly string[]): Html {
  const lower = text.toLowerCase();
  const hits = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...hits, text.length) - EXCERPT / 4);
  const begin = hits.length === 0 || from === 0 ? 0 : text.indexOf(' ', from) + 1;
  const part = text.slice(begin, begin + EXCERPT);
  const pieces = part.split(new RegExp(`(${terms.join('|')})`, 'giu'));
  return html`${begin > 0 ? '… ' : ''}${pieces.map((piece, index) => (index % 2 === 1 ? html`<mark>${piece}</mark>` : piece))}${begin + EXCERPT < text.length ? ' …' : ''}`;
}

/** The page of a search: what was found, or every heading where nothing was searched for. */
export function searchPage(places: readonly Place[], query: string): Html {
  if (termsOf(query).length === 0) return everything(places);
  const found = find(places, query);
  return html`<h1>Search</h1>
<p class="muted">${found.length === 0 ? 'Nothing has all of these words.' : `${found.length === MAX_RESULTS ? 'The first ' : ''}${found.length} ${found.length === 1 ? 'place' : 'places'}`} <a href="search">All headings</a></p>
<ol id="results">
${found.map(({ place, excerpt }) => html`<li><a href="${place.address}"><span class="where">${place.page}</span> <strong>${place.title}</strong> <span class="excerpt">${excerpt}</span></a></li>\n`)}</ol>`;
}

function everything(places: readonly Place[]): Html {
  const pages = Map.groupBy(places, ({ page }) => page);
  return html`<h1>All headings</h1>
${[...pages].map(
  ([page, own]) => html`<h2>${page}</h2>
<ul>
${own.map(({ title, address }) => html`<li><a href="${address}">${title}</a></li>\n`)}</ul>
`,
)}`;
}
