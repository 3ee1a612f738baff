import { type Html, html } from '../html.ts';
import { callsOf } from './calls.ts';
import { SENT, webhooksSection } from './events.ts';
import {
  type Answer,
  type ApiDocument,
  anchorOfTag,
  exampleOf,
  type Operation,
  type Route,
  resolve,
  routesOf,
} from './model.ts';
import { fields, prose, typeOf, words } from './schema.ts';
import { codeBlock, tabs } from './snippets.ts';

/** What the reference is made of besides the document: where clients reach us, and where other pages are. */
export type ReferenceOptions = { readonly origin: string; readonly docs: string; readonly schemas: string };

/** Every route and every event of an OpenAPI document. `origin` stands before URLs that it gives as paths. */
export function reference(document: ApiDocument, { origin, docs, schemas }: ReferenceOptions): Html {
  const routes = routesOf(document, origin);
  const tags = document.tags.filter(({ name }) => name !== SENT && ofTag(routes, name).length > 0);
  return html`<h1>${document.info.title}</h1>
${start(document, routes, docs)}
${tags.map(
  ({ name, description }) => html`<section aria-labelledby="${anchorOfTag(name)}">
<h2 id="${anchorOfTag(name)}"><a href="#${anchorOfTag(name)}">${name}</a></h2>
${prose(description ?? '')}
${ofTag(routes, name).map((route) => routeCard(document, route, schemas))}
</section>
`,
)}
${webhooksSection(document, schemas)}`;
}

/** The named schemas of an OpenAPI document, on a page of their own: the reference is long enough. */
export function schemaPage(document: ApiDocument, schemas: string): Html {
  const cards = Object.entries(document.components.schemas).map(
    ([name, schema]) => html`<article class="card" id="schema-${name}">
<h2><a href="#schema-${name}">${name}</a></h2>
${schema.description === undefined ? null : prose(schema.description)}
${fields(schema, schemas)}
</article>
`,
  );
  return html`<h1>Schemas</h1>
${cards}`;
}

function ofTag(routes: readonly Route[], tag: string): Route[] {
  return routes.filter(({ operation }) => operation.tags?.[0] === tag);
}

function start(document: ApiDocument, routes: readonly Route[], docs: string): Html {
  const [first] = routes;
  return html`<section class="card" id="start">
<p>New here? <a href="${docs}/start">From a key to the first verified webhook</a>.</p>
${prose(document.info.description ?? '')}
<p>Every path below is added to <code>${first?.baseUrl}</code>. The same description for programs: <a href="openapi.json">/openapi.json</a>.</p>
<p>The calls run as they are once your shell knows the key:</p>
${codeBlock('export KEY=sk_test_…')}
</section>`;
}

function routeCard(document: ApiDocument, route: Route, schemas: string): Html {
  const { method, path, operation } = route;
  const { operationId } = operation;
  const body = operation.requestBody?.content['application/json'];
  return html`<article class="card" id="${operationId}" data-route="${method} ${path}">
<h3><a href="#${operationId}"><span class="verb ${method}">${method.toUpperCase()}</span> <code>${path}</code></a> – ${operation.summary}</h3>
${prose(operation.description ?? '')}
${parametersTable(operation, schemas)}
${body ? html`<h4>Body: ${typeOf(body.schema, schemas)}</h4>` : null}
${body ? fields(resolve(document, body.schema), schemas) : null}
${tabs(`call-${operationId}`, callsOf(route))}
${answers(operation, schemas)}
</article>
`;
}

function parametersTable({ parameters = [] }: Operation, schemas: string): Html | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><td><code>${name}</code>${required ? null : html` <span class="muted">optional</span>`}</td><td>${place}</td><td>${typeOf(schema, schemas)}</td><td>${words(description ?? '')}</td></tr>\n`,
  );
  return html`<table>
<thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function answers({ responses }: Operation, schemas: string): Html {
  const all = Object.entries(responses);
  const good = all.filter(([status]) => status.startsWith('2'));
  const bad = all.filter(([status]) => !status.startsWith('2'));
  return html`${good.map(([status, answer]) => success(status, answer, schemas))}
<details>
<summary>Errors: ${bad.map(([status]) => status).join(', ')}</summary>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code and meaning</th></tr></thead>
<tbody>
${bad.map(([status, { description }]) => html`<tr><td>${status}</td><td>${prose(description)}</td></tr>\n`)}</tbody>
</table>
</details>`;
}

function success(status: string, { description, content }: Answer, schemas: string): Html {
  const schema = content?.['application/json']?.schema;
  const example = exampleOf(content);
  return html`<h4>${status}: ${schema?.$ref ? typeOf(schema, schemas) : description}</h4>
${schema ? fields(schema, schemas) : null}
${example === undefined ? null : html`<details><summary>Example</summary>${codeBlock(JSON.stringify(example, null, 2))}</details>`}
`;
}
