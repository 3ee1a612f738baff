import { Marked, type Token, type Tokens } from 'marked';
import { Html, html, raw } from '../html.ts';
import { codeBlock, type Snippet, tabs } from './snippets.ts';

/** A heading of a guide: what it says, and the anchor that leads to it. */
export type Heading = { readonly depth: number; readonly text: string; readonly id: string };

/** A guide as it is shown, and what a search reads of it: the text under each heading. */
export type Rendered = {
  readonly title: string;
  readonly body: Html;
  readonly headings: readonly Heading[];
  readonly sections: readonly { readonly heading: Heading; readonly text: string }[];
};

export type RenderOptions = {
  /** Before the ids of tabs, so that they are unique in a page. */
  readonly name: string;
  /** What stands where the document has a block of this language; undefined shows the block. */
  readonly instead: (language: string, text: string) => Html | undefined;
  /** The reference's place for a call that the text names, as `GET /deposits/:id`; undefined for none. */
  readonly placeOf: (call: string) => string | undefined;
};

type Fence = Tokens.Code & { snippets?: Snippet[] };

/**
 * One of our documents in Markdown as a page. Blocks of code that follow each other are one example in
 * several languages. Markup in the document is text; a link to `NAME.md` leads to the guide of that name.
 */
export function renderMarkdown(text: string, options: RenderOptions): Rendered {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const headings = numbered(tokens);
  let examples = 0;
  let seen = 0;
  marked.use({
    renderer: {
      html: ({ text: markup }) => html`${markup}`.markup,
      heading({ depth, tokens: inner }) {
        const id = headings[seen++]?.id ?? '';
        const label = raw(this.parser.parseInline(inner));
        const shown = depth === 1 ? label : html`<a href="#${id}">${label}</a>`;
        return html`${raw(`<h${depth}`)} id="${id}">${shown}${raw(`</h${depth}>`)}\n`.markup;
      },
      link({ href, tokens: inner }) {
        return html`<a href="${addressOf(href)}">${raw(this.parser.parseInline(inner))}</a>`.markup;
      },
      image: ({ text: alternative }) => html`${alternative}`.markup,
      codespan: ({ text: words }) => named(words, options.placeOf).markup,
      code(token) {
        const { snippets, lang = '', text: words } = token as Fence;
        const drawn = options.instead(lang, words);
        if (drawn) return drawn.markup;
        examples += 1;
        return (
          snippets && snippets.length > 1 ? tabs(`${options.name}-${examples}`, snippets) : codeBlock(words)
        ).markup;
      },
      table(token) {
        return tableOf(token, (cell) => raw(this.parser.parseInline(cell.tokens))).markup;
      },
    },
  });
  const body = new Html(marked.parser(sideBySide(tokens)));
  return { title: headings[0]?.text ?? '', body, headings, sections: sectionsOf(tokens, headings) };
}

/** The anchors are those that code hosts make of the same headings, so that links hold in both places. */
function numbered(tokens: readonly Token[]): Heading[] {
  const taken = new Map<string, number>();
  return tokens.flatMap((token) => {
    if (token.type !== 'heading') return [];
    const text = plain(String(token['text']));
    const base = anchorOf(text);
    const before = taken.get(base) ?? 0;
    taken.set(base, before + 1);
    return [{ depth: Number(token['depth']), text, id: before === 0 ? base : `${base}-${before}` }];
  });
}

/** The anchor of a heading. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** Blocks of code with nothing between them become one token that holds them all. */
function sideBySide(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  let open: Fence | undefined;
  for (const token of tokens) {
    if (token.type === 'code' && open?.snippets && !LONE.has(token['lang'] ?? '')) {
      open.snippets.push({ language: String(token['lang']), text: String(token['text']) });
      continue;
    }
    if (token.type === 'code' && !LONE.has(token['lang'] ?? '')) {
      open = {
        ...(token as Fence),
        snippets: [{ language: String(token['lang']), text: String(token['text']) }],
      };
      joined.push(open);
      continue;
    }
    if (token.type !== 'space') open = undefined;
    joined.push(token);
  }
  return joined;
}

/** Languages that never stand beside another one: they show data or a drawing. */
const LONE = new Set(['', 'text', 'json', 'mermaid']);

function addressOf(href: string): string {
  const [path = '', anchor] = href.split('#');
  const to = /^[\w-]+\.md$/.test(path) ? path.slice(0, -'.md'.length) : path;
  const place = /^(https:\/\/|\.\.\/)/.test(path) || path === '' || to !== path ? to : '';
  return `${place}${anchor === undefined ? '' : `#${anchor}`}`;
}

function named(words: string, placeOf: RenderOptions['placeOf']): Html {
  const place = /^(GET|POST|PUT|DELETE) \//.test(words) ? placeOf(words) : undefined;
  const code = html`<code>${words}</code>`;
  return place === undefined ? code : html`<a href="${place}">${code}</a>`;
}

/** On a narrow screen a row is a block: each cell says then which column it is of. */
function tableOf({ header, rows }: Tokens.Table, show: (cell: Tokens.TableCell) => Html): Html {
  const isHeaded = header.some(({ text }) => text !== '');
  return html`<table>
${isHeaded ? html`<thead><tr>${header.map((cell) => (cell.text === '' ? html`<td></td>` : html`<th scope="col">${show(cell)}</th>`))}</tr></thead>` : null}
<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${show(cell)}</td>`)}</tr>\n`)}</tbody>
</table>
`;
}

/** Without the marks of Markdown. */
function plain(text: string): string {
  return text
    .replace(/`([^`]*)`/g, '$1')
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll('**', '');
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): Rendered['sections'] {
  const sections: { heading: Heading; text: string }[] = [];
  let seen = 0;
  for (const token of tokens) {
    const heading = token.type === 'heading' ? headings[seen++] : undefined;
    if (heading) sections.push({ heading, text: '' });
    const last = sections.at(-1);
    if (!last || heading || token.type === 'code') continue;
    last.text += ` ${plain(token.raw.replace(/[|\s]+/g, ' ').replace(/-{3,}/g, ''))}`;
  }
  return sections.map(({ heading, text }) => ({ heading, text: text.replace(/\s+/g, ' ').trim() }));
}
