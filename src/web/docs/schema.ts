import { type Html, html } from '../html.ts';
import { nameOf, type Schema } from './model.ts';

/** How deep inline objects may be nested; deeper ones have a name of their own. */
const MAX_DEPTH = 4;

/** A text of the document: backticks are code, an empty line begins a paragraph. */
export function prose(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${words(paragraph)}</p>\n`)}`;
}

/** The same within a line. */
export function words(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/**
 * A table of an object's members; undefined for anything that has none of its own. `place` is the page on
 * which named schemas stand.
 */
export function fields(schema: Schema, place: string): Html | undefined {
  const rows = rowsOf(schema, '', { place, depth: 0 });
  if (rows.length === 0) return undefined;
  return html`<table>
<thead><tr><th scope="col">Member</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function rowsOf(schema: Schema, prefix: string, at: { place: string; depth: number }): Html[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const full = `${prefix}${name}`;
    const required = schema.required?.includes(name) ?? false;
    const row = html`<tr><td><code>${full}</code>${required ? null : html` <span class="muted">optional</span>`}</td><td>${typeOf(member, at.place)}</td><td>${words(meaningOf(member))}</td></tr>\n`;
    const inner = innerOf(member);
    const below = { ...at, depth: at.depth + 1 };
    return inner && at.depth < MAX_DEPTH
      ? [row, ...rowsOf(inner.schema, `${full}${inner.list ? '[]' : ''}.`, below)]
      : [row];
  });
}

function meaningOf(member: Schema): string {
  return (
    member.description ??
    member.anyOf?.find(({ description }) => description !== undefined)?.description ??
    ''
  );
}

/**
 * The object that a member holds, itself or as the rows of a list, where the object has no name of its own.
 */
function innerOf(member: Schema): { schema: Schema; list: boolean } | undefined {
  if (member.properties) return { schema: member, list: false };
  if (member.items?.properties) return { schema: member.items, list: true };
  const object = member.anyOf?.find((choice) => choice.properties);
  return object && { schema: object, list: false };
}

/** What a value may be, in words: "text, at most 255 characters". Named schemas are links. */
export function typeOf(schema: Schema, place: string): Html {
  const of = (inner: Schema): Html => typeOf(inner, place);
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref), place);
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum)
    return html`${join(
      schema.enum.map((value) => html`<code>${String(value)}</code>`),
      ' ',
    )}`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return html`${join(choices.map(of), ' or ')}`;
  if (schema.allOf) return html`${join(schema.allOf.map(of), ' and ')}`;
  if (schema.items) return html`list of ${of(schema.items)}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['anything']);
  return html`${types.map((type) => WORD[type] ?? type).join(' or ')}${limitsOf(schema)}`;
}

const WORD: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  array: 'list',
};

const FORMAT: Readonly<Record<string, string>> = {
  'date-time': 'time',
  uuid: 'uuid',
  uri: 'URL',
  email: 'email',
};

function limitsOf(schema: Schema): string {
  const { format, minimum, maximum, maxLength } = schema;
  const known = format === undefined ? undefined : FORMAT[format];
  const from = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `from ${minimum}` : undefined;
  const to = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `to ${maximum}` : undefined;
  const length = maxLength === undefined ? undefined : `at most ${maxLength} characters`;
  const range = [from, to].filter((part) => part !== undefined).join(' ');
  return [known, range === '' ? undefined : range, length]
    .map((part) => (part === undefined ? '' : `, ${part}`))
    .join('');
}

/** A named schema, leading to where it stands. */
export function schemaLink(name: string, place: string): Html {
  return html`<a href="${place}#schema-${name}">${name}</a>`;
}

function join(parts: readonly Html[], between: string): Html[] {
  return parts.map((part, index) => (index === 0 ? part : html`${between}${part}`));
}
