import { Html, html } from '../html.ts';

/** One example in one language. */
export type Snippet = { readonly language: string; readonly text: string };

/** What people call the languages, in the order in which they stand. */
const NAMES: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'Node',
  ts: 'TypeScript',
  python: 'Python',
  php: 'PHP',
};

/**
 * The same example in several languages, of which one is seen. Choosing needs no script: it is a choice of
 * one among several, as in any form. `name` is unique in the page.
 */
export function tabs(name: string, snippets: readonly Snippet[]): Html {
  const choices = snippets.map(
    ({ language }, index) =>
      html`<label><input type="radio" name="${name}" value="${language}"${index === 0 ? html` checked` : null}>${NAMES[language] ?? language}</label>`,
  );
  const panels = snippets.map(({ language, text }) => html`<pre data-lang="${language}">${code(text)}</pre>`);
  return html`<div class="tabs"><div role="group" aria-label="Language">${choices}</div>
${panels}
</div>
`;
}

/** One example that stands alone. */
export function codeBlock(text: string): Html {
  return html`<div class="code"><pre>${code(text)}</pre></div>
`;
}

/**
 * A text between tags. Quotes need no escape there, and examples are full of them: a page with every one of
 * them escaped is a tenth larger.
 */
export function code(text: string): Html {
  return new Html(text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
}
