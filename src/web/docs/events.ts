import { type Html, html } from '../html.ts';
import { type ApiDocument, exampleOf, type Operation } from './model.ts';
import { prose, schemaLink, words } from './schema.ts';
import { code, codeBlock } from './snippets.ts';

/** The tag of what we send, which has another section than what we answer. */
export const SENT = 'Webhooks';

/** How a receiver verifies a webhook, in Node without any package. A test runs it against a signed event. */
export const VERIFY_SNIPPET = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they arrived, before anything parses them. headers: names in lower case.
export function isGenuine(secret, headers, rawBody) {
  if (!secret) throw new Error('the signing secret is empty: anybody could sign');
  const sent = headers['x-webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() - Date.parse(sent)) <= 300_000)) return false;
  const expected = createHmac('sha256', secret).update(sent + '.').update(rawBody).digest();
  const given = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
`;

/** What is sent to endpoints, how it is verified, and what to answer. */
export function webhooksSection(document: ApiDocument, schemas: string): Html {
  const all = Object.entries(document.webhooks);
  const tag = document.tags.find(({ name }) => name === SENT);
  const [first] = all;
  return html`<section aria-labelledby="webhooks">
<h2 id="webhooks"><a href="#webhooks">Webhooks</a></h2>
${prose(tag?.description ?? '')}
<article class="card">
<h3>Verify</h3>
<div class="code" data-part="verify"><pre>${code(VERIFY_SNIPPET)}</pre></div>
${first ? headersTable(first[1].post) : null}
${first ? answersTable(first[1].post) : null}
</article>
${all.map(([type, { post }]) => eventCard(type, post, schemas))}
</section>`;
}

function headersTable({ parameters = [] }: Operation): Html {
  const rows = parameters.map(
    ({ name, description }) =>
      html`<tr><td><code>${name}</code></td><td>${words(description ?? '')}</td></tr>\n`,
  );
  return html`<h4>Headers</h4>
<table>
<thead><tr><th scope="col">Header</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function answersTable({ responses }: Operation): Html {
  const rows = Object.entries(responses).map(
    ([status, { description }]) =>
      html`<tr><td>${status === 'default' ? 'anything else' : status}</td><td>${words(description)}</td></tr>\n`,
  );
  return html`<h4>Your answer</h4>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">What happens</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function eventCard(type: string, operation: Operation, schemas: string): Html {
  const { operationId, description = '' } = operation;
  const data = operation.requestBody?.content['application/json']?.schema.properties?.['data'];
  const named = data?.$ref?.split('/').at(-1);
  return html`<article class="card" id="${operationId}" data-event="${type}">
<h3><a href="#${operationId}"><code>${type}</code></a></h3>
${prose(description)}
${named === undefined ? null : html`<p><code>data</code>: ${schemaLink(named, schemas)}</p>`}
<details><summary>Example</summary>${codeBlock(JSON.stringify(exampleOf(operation.requestBody?.content), null, 2))}</details>
</article>
`;
}
