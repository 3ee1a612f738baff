import type { Context } from 'koa';
import { scriptOf } from '../assets/assets.ts';
import { type Html, html } from '../html.ts';
import { type Page, renderDocument, sendRendered } from '../layout.ts';
import { GUIDES, type Guide, readGuides } from './guides.ts';
import { frameOf } from './menu.ts';
import { type ApiDocument, routesOf } from './model.ts';
import { reference, schemaPage } from './reference.ts';
import { placesOf, searchPage } from './search.ts';
import { DOCS_STYLE } from './style.ts';

/** A path below the server's root, with what answers it. */
export type DocsRoutes = ReadonlyMap<string, (ctx: Context) => void>;

/** Every page for one address of ours; those that depend on no query are made once. */
type Site = {
  readonly pages: ReadonlyMap<string, { readonly page: Page; readonly text: string }>;
  readonly search: (query: string) => Page;
  readonly missing: Page;
};

const REFERENCE = '/docs';
const SEARCH = '/docs/search';

/**
 * The documentation for a merchant's developer: the reference of an OpenAPI document at `/docs`, and below
 * it the guides, the schemas and a search. It is rendered once: at the start where the document says under
 * which name clients reach us, else with the first request, for the port to which it came.
 */
export function docsPages(description: object): DocsRoutes {
  const document = description as ApiDocument;
  const made = new Map<string, Site>();
  const siteFor = (origin: string): Site => {
    const known = made.get(origin);
    if (known) return known;
    const site = makeSite(document, origin);
    // There is only one address, except in tests.
    made.clear();
    made.set(origin, site);
    return site;
  };
  const named = URL.parse(document.servers[0]?.url ?? '')?.origin;
  if (named !== undefined) siteFor(named);
  const siteOf = (ctx: Context): Site => siteFor(named ?? `http://localhost:${ctx.req.socket.localPort}`);
  const paths = [REFERENCE, ...[...GUIDES, 'schemas'].map((name) => `${REFERENCE}/${name}`)];
  const fixed = paths.map((path) => {
    const show = (ctx: Context) => {
      const made = siteOf(ctx).pages.get(path);
      if (made) sendRendered(ctx, made.page, made.text);
    };
    return [path, show] as const;
  });
  const search = (ctx: Context) => {
    const { q = '' } = ctx.query;
    const page = siteOf(ctx).search(typeof q === 'string' ? q : (q[0] ?? ''));
    sendRendered(ctx, page, renderDocument(page));
  };
  const missing = (ctx: Context) => {
    const page = siteOf(ctx).missing;
    sendRendered(ctx, page, renderDocument(page));
  };
  return new Map([...fixed, [SEARCH, search], [`${REFERENCE}/:elsewhere`, missing]]);
}

function makeSite(document: ApiDocument, origin: string): Site {
  const routes = routesOf(document, origin);
  const baseUrl = new URL(document.servers[0]?.url ?? '/', origin).href;
  // A proxy may have taken a path off that the reader's browser sees.
  const docs = `${new URL(baseUrl).pathname.replace(/\/api\/v1$/, '')}${REFERENCE}`;
  const schemas = `${docs}/schemas`;
  const anchors = new Map(
    routes.map(({ method, path, operation }) => [`${method.toUpperCase()} ${path}`, operation.operationId]),
  );
  const placeOf = (call: string): string | undefined => {
    const id = anchors.get((call.split('?', 1)[0] ?? '').replace(/:(\w+)/g, '{$1}'));
    return id === undefined ? undefined : `${docs}#${id}`;
  };
  const guides = readGuides(baseUrl, placeOf);
  const parts = { document, routes, guides };
  const pageOf = (current: string, title: string, body: Html, query?: string): Page => ({
    title: `${title} – ${document.info.title}`,
    style: DOCS_STYLE,
    connects: true,
    scripts: [scriptOf('page', rootFrom(current)), scriptOf('docs', rootFrom(current))],
    frame: frameOf({ ...parts, docs, current, ...(query === undefined ? {} : { query }) }),
    body,
  });
  const fixed: (readonly [string, Page])[] = [
    [REFERENCE, pageOf('', 'Reference', reference(document, { origin, docs, schemas }))],
    [`${REFERENCE}/schemas`, pageOf('schemas', 'Schemas', schemaPage(document, schemas))],
    ...guides.map((guide) => [`${REFERENCE}/${guide.name}`, guidePage(guide, pageOf)] as const),
  ];
  const places = placesOf(docs, parts);
  return {
    pages: new Map(fixed.map(([path, page]) => [path, { page, text: renderDocument(page) }])),
    search: (query) => pageOf('search', 'Search', searchPage(places, query), query),
    missing: { ...pageOf('elsewhere', 'No such page', missingPage(docs)), status: 404 },
  };
}

function guidePage(guide: Guide, pageOf: (current: string, title: string, body: Html) => Page): Page {
  return pageOf(guide.name, guide.title, guide.body);
}

/** For an address below `/docs` that no page has; its frame has the menu and the search. */
function missingPage(docs: string): Html {
  return html`<h1>There is no such page</h1>
<p>It may have had another name: look for it above, or begin with <a href="${docs}/start">the first page</a>.</p>`;
}

/** The way from the folder of a page to that of all pages. */
function rootFrom(current: string): string {
  return current === '' ? '' : '../';
}
