import type { Context } from 'koa';
import { curlOf } from './docs-call.ts';
import {
  type Answer,
  type ApiDocument,
  exampleOf,
  type Operation,
  type Route,
  resolve,
  routesOf,
} from './docs-model.ts';
import { fields, prose, typeOf, words } from './docs-schema.ts';
import { DOCS_STYLE } from './docs-style.ts';
import { webhooksSection } from './docs-webhooks.ts';
import { type Html, html } from './html.ts';
import { type Page, renderDocument, sendRendered } from './layout.ts';

/** The tag of what we send, which has another section. */
const SENT = 'Webhooks';

/**
 * The reference page of an OpenAPI document. It is rendered once: at the start where the document says under
 * which name clients reach us, else with the first request, for the port to which it came.
 */
export function docsPage(description: object): (ctx: Context) => void {
  const document = description as ApiDocument;
  const made = new Map<string, { page: Page; text: string }>();
  const pageFor = (origin: string): { page: Page; text: string } => {
    const known = made.get(origin);
    if (known) return known;
    const page = referencePage(document, origin);
    const entry = { page, text: renderDocument(page) };
    // There is only one address, except in tests.
    made.clear();
    made.set(origin, entry);
    return entry;
  };
  const named = URL.parse(document.servers[0]?.url ?? '')?.origin;
  if (named !== undefined) pageFor(named);
  return (ctx) => {
    const { page, text } = pageFor(named ?? `http://localhost:${ctx.req.socket.localPort}`);
    sendRendered(ctx, page, text);
  };
}

/** The page; `origin` stands before URLs that the document gives as paths. */
export function referencePage(document: ApiDocument, origin: string): Page {
  const routes = routesOf(document, origin);
  const tags = document.tags.filter(({ name }) => name !== SENT && ofTag(routes, name).length > 0);
  return {
    title: document.info.title,
    style: DOCS_STYLE,
    body: html`<div class="docs">
${contents(document, routes)}
<div>
<h1>${document.info.title}</h1>
${start(document, routes)}
${tags.map(
  ({ name, description }) => html`<section aria-labelledby="${anchor(name)}">
<h2 id="${anchor(name)}"><a href="#${anchor(name)}">${name}</a></h2>
${prose(description ?? '')}
${ofTag(routes, name).map((route) => routeCard(document, route))}
</section>
`,
)}
${webhooksSection(document)}
${schemasSection(document)}
</div>
</div>`,
  };
}

function ofTag(routes: readonly Route[], tag: string): Route[] {
  return routes.filter(({ operation }) => operation.tags?.[0] === tag);
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

function contents(document: ApiDocument, routes: readonly Route[]): Html {
  const groups = document.tags.map(({ name }) => {
    const rows = ofTag(routes, name).map(
      ({ method, path, operation }) =>
        html`<li><a href="#${operation.operationId}">${method.toUpperCase()} ${path}</a></li>\n`,
    );
    const sent = name === SENT ? Object.entries(document.webhooks) : [];
    rows.push(...sent.map(([type, { post }]) => html`<li><a href="#${post.operationId}">${type}</a></li>\n`));
    return rows.length === 0
      ? null
      : html`<li><strong><a href="#${anchor(name)}">${name}</a></strong><ul>${rows}</ul></li>\n`;
  });
  return html`<nav aria-label="Contents">
<ul>
<li><a href="#start">Start here</a></li>
${groups}<li><strong><a href="#schemas">Schemas</a></strong></li>
</ul>
</nav>`;
}

function start(document: ApiDocument, routes: readonly Route[]): Html {
  const [first] = routes;
  return html`<section class="card" id="start">
${prose(document.info.description ?? '')}
<p>Every path below is added to <code>${first?.baseUrl}</code>. The same description for programs: <a href="/openapi.json">/openapi.json</a>.</p>
<p>The calls run as they are once your shell knows the key:</p>
<pre class="call">export KEY=sk_test_…</pre>
</section>`;
}

function routeCard(document: ApiDocument, route: Route): Html {
  const { method, path, operation } = route;
  const { operationId } = operation;
  const body = operation.requestBody?.content['application/json'];
  return html`<article class="card" id="${operationId}" data-route="${method} ${path}">
<h3><a href="#${operationId}"><span class="verb">${method.toUpperCase()}</span> <code>${path}</code></a> – ${operation.summary}</h3>
${prose(operation.description ?? '')}
${parametersTable(operation)}
${body ? html`<h4>Body: ${typeOf(body.schema)}</h4>` : null}
${body ? fields(resolve(document, body.schema)) : null}
<pre class="call" data-part="curl">${curlOf(route)}</pre>
${answers(operation)}
</article>
`;
}

function parametersTable({ parameters = [] }: Operation): Html | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><td><code>${name}</code>${required ? null : html` <span class="muted">optional</span>`}</td><td>${place}</td><td>${typeOf(schema)}</td><td>${words(description ?? '')}</td></tr>\n`,
  );
  return html`<table>
<thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function answers({ responses }: Operation): Html {
  const all = Object.entries(responses);
  const good = all.filter(([status]) => status.startsWith('2'));
  const bad = all.filter(([status]) => !status.startsWith('2'));
  return html`${good.map(([status, answer]) => success(status, answer))}
<details>
<summary>Errors: ${bad.map(([status]) => status).join(', ')}</summary>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code and meaning</th></tr></thead>
<tbody>
${bad.map(([status, { description }]) => html`<tr><td>${status}</td><td>${prose(description)}</td></tr>\n`)}</tbody>
</table>
</details>`;
}

function success(status: string, { description, content }: Answer): Html {
  const schema = content?.['application/json']?.schema;
  const example = exampleOf(content);
  return html`<h4>${status}: ${schema?.$ref ? typeOf(schema) : description}</h4>
${schema ? fields(schema) : null}
${example === undefined ? null : html`<details><summary>Example</summary><pre>${JSON.stringify(example, null, 2)}</pre></details>`}
`;
}

function schemasSection(document: ApiDocument): Html {
  const cards = Object.entries(document.components.schemas).map(
    ([name, schema]) => html`<article class="card" id="schema-${name}">
<h3><a href="#schema-${name}">${name}</a></h3>
${schema.description === undefined ? null : prose(schema.description)}
${fields(schema)}
</article>
`,
  );
  return html`<section aria-labelledby="schemas">
<h2 id="schemas"><a href="#schemas">Schemas</a></h2>
${cards}
</section>`;
}
