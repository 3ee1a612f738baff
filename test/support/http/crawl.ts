// Walks through pages as a person does who follows every link and looks at every form.

/** A field of a form with what a browser would post where nothing was typed. */
export type FoundField = { readonly name: string; readonly type: string; readonly value: string };
/** A form that changes something. */
export type FoundForm = {
  readonly page: string;
  readonly action: string;
  readonly fields: readonly FoundField[];
};
export type Crawled = {
  /** By path with its query: status and text. */
  readonly pages: ReadonlyMap<string, { readonly status: number; readonly text: string }>;
  readonly forms: readonly FoundForm[];
};

/** Pages that differ by an id or by the values of their query are alike; so many of each are looked at. */
const OF_A_KIND = 3;
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]{40,64}|T[1-9A-HJ-NP-Za-km-z]{33}/gi;

/** A path without what tells it from others of its kind. */
export function kindOf(path: string): string {
  return path.replace(ID, ':id').replace(/=[^&]*/g, '=');
}

/** Every page that can be reached from `start` by links below `base`, and every form on them. */
export async function crawl(
  start: string,
  base: RegExp,
  get: (path: string) => Promise<{ readonly status: number; readonly text: string }>,
): Promise<Crawled> {
  const pages = new Map<string, { status: number; text: string }>();
  const forms = new Map<string, FoundForm>();
  const seen = new Map<string, number>();
  const waiting = [start];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    if (pages.has(path) || (seen.get(kind) ?? 0) >= OF_A_KIND) continue;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    const answer = await get(path);
    pages.set(path, answer);
    for (const form of formsOf(path, answer.text)) {
      const key = `${kindOf(form.action)} ${form.fields.map(({ name }) => name).join()}`;
      if (!forms.has(key)) forms.set(key, form);
    }
    waiting.push(...linksOf(answer.text).filter((link) => base.test(link)));
  }
  return { pages, forms: [...forms.values()] };
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/<a [^>]*href="([^"#]+)/g)].map(([, link = '']) => plain(link));
}

/** The forms of a page that post. */
export function formsOf(page: string, text: string): FoundForm[] {
  return [...text.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(([, head = '', body = '']) =>
    /method="post"/.test(head)
      ? [{ page, action: plain(/action="([^"]*)"/.exec(head)?.[1] ?? page), fields: fieldsOf(body) }]
      : [],
  );
}

function fieldsOf(body: string): FoundField[] {
  const attribute = (tag: string, name: string) =>
    plain(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
  const inputs = [...body.matchAll(/<(?:input|button)[^>]*>/g)].map(([tag]) => ({
    name: attribute(tag, 'name'),
    type: attribute(tag, 'type') || 'text',
    value: attribute(tag, 'value'),
  }));
  const selects = [...body.matchAll(/<select([^>]*)>([\s\S]*?)<\/select>/g)].map(
    ([, head = '', options = '']) => ({
      name: attribute(`<select${head}>`, 'name'),
      type: 'select',
      value: plain(/value="([^"]+)"/.exec(options)?.[1] ?? ''),
    }),
  );
  const areas = [...body.matchAll(/<textarea([^>]*)>/g)].map(([, head = '']) => ({
    name: attribute(`<textarea${head}>`, 'name'),
    type: 'textarea',
    value: '',
  }));
  return [...inputs, ...selects, ...areas].filter(({ name }) => name !== '');
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function plain(text: string): string {
  return text.replace(/&(?:#(\d+)|(amp|lt|gt|quot));/g, (_all, code: string | undefined, name = '') =>
    code === undefined ? (NAMED[name] ?? '') : String.fromCodePoint(Number(code)),
  );
}
