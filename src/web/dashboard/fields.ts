import type { z } from 'zod';
import { chainOf } from '../../chains/index.ts';
import { CURRENCIES, NETWORKS } from '../../domain/assets.ts';
import type { Html, HtmlValue } from '../html.ts';
import { checkboxes, type Field, secretField, selectField, textArea, textField } from '../parts/field.ts';
import type { Reading, Typed, Values, Visit } from './visit.ts';

/** A field of a form or of a filter, before anybody typed into it. */
export type FieldOf = Omit<Field, 'value' | 'error'> & {
  readonly draw: (field: Field, values: Values) => Html;
};
/** What a field has besides; a text alone is its hint. */
type More =
  | string
  | {
      readonly hint?: HtmlValue;
      readonly required?: true;
      /** What stands there before something else was typed. */
      readonly usual?: string | undefined;
    };
type Choice = { readonly value: string; readonly label: string };

/** The attributes of fields of one kind. */
export const EMAIL = ' type="email" maxlength="320"';
export const WEB = ' type="url" maxlength="2048" spellcheck="false"';
export const SEARCH = ' type="search" maxlength="320"';
export const PRESENT_PASSWORD = ' type="password" autocomplete="current-password" maxlength="1024"';
export const NEW_PASSWORD = ' type="password" autocomplete="new-password" maxlength="1024"';
export const CODE = ' type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="20"';

/** A text that is compared as it is: an id, a hash, an address. */
export const exact = (most: number): string =>
  ` maxlength="${most}" spellcheck="false" autocapitalize="none"`;

/** A line of text. `attributes` are our own constants. */
export function text(name: string, label: HtmlValue, attributes: string, more: More = {}): FieldOf {
  return around(name, label, more, (field) => textField(field, attributes));
}

/** Several lines of text. */
export function area(name: string, label: string, attributes: string, more: More = {}): FieldOf {
  return around(name, label, more, (field) => textArea(field, attributes));
}

/** A password or a code, which has to be given: what was typed is never put back. */
export function secret(name: string, label: string, attributes: string, hint?: string): FieldOf {
  const more = hint === undefined ? {} : { hint };
  return around(name, label, { ...more, required: true }, (field) => secretField(field, attributes));
}

/** One of several values. */
export function select(name: string, label: string, choices: readonly Choice[], more: More = {}): FieldOf {
  return around(name, label, more, (field) => selectField(field, choices));
}

/** Any number of several values, each posted as a member of its own: `name` with the value behind a dot. */
export function boxes(
  name: string,
  label: string,
  choices: readonly { readonly value: string; readonly label: HtmlValue }[],
  more: More = {},
): FieldOf {
  return around(name, label, more, (field, values) =>
    checkboxes(
      field,
      choices.map((choice) => ({ ...choice, checked: values[`${name}.${choice.value}`] === 'on' })),
    ),
  );
}

function around(name: string, label: HtmlValue, given: More, draw: FieldOf['draw']): FieldOf {
  const { usual, ...more } = typeof given === 'string' ? { hint: given } : given;
  const filled = (field: Field) => (usual === undefined ? field : { ...field, value: field.value ?? usual });
  return { name, label, ...more, draw: (field, values) => draw(filled(field), values) };
}

/** Fields with what was typed into them and what was wrong with it; other pieces as they are. */
export function drawn(
  fields: readonly (FieldOf | Html | null | undefined)[],
  { values, errors }: Pick<Typed, 'values' | 'errors'>,
): HtmlValue {
  return fields.map((field) => {
    if (!field || !('draw' in field)) return field;
    const { draw, ...rest } = field;
    return draw({ ...rest, value: values[field.name], error: errors[field.name] }, values);
  });
}

const ANY = { value: '', label: 'Any' };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The choices of a filter, the first of which is every one. */
export const anyOf = (choices: readonly Choice[]): readonly Choice[] => [ANY, ...choices];

/** The same for names that are their own words. */
export const anyName = (names: readonly string[]): readonly Choice[] =>
  anyOf(names.map((name) => ({ value: name, label: name })));

/** One network, or every one. */
export const BY_NETWORK = select(
  'network',
  'Network',
  anyOf(NETWORKS.map((network) => ({ value: network, label: chainOf(network).label }))),
);

/** One coin, or every one. */
export const BY_CURRENCY = select('currency', 'Coin', anyName(CURRENCIES));

/** Two days between which rows were made: from the first second of one to the last of the other, in UTC. */
export const BY_DAY = [day('created_from', 'From day (UTC)'), day('created_to', 'To day (UTC)')];

/** An address may name a time instead of a day, which a field for days would not show. */
function day(name: string, label: string): FieldOf {
  return around(name, label, {}, (field) =>
    textField(field, field.value === undefined || DAY.test(field.value) ? ' type="date"' : ' maxlength="40"'),
  );
}

/** What a text of a form is in the API, where it is no text there. */
type Readings = Readonly<Record<string, (text: string) => unknown>>;

/**
 * The members of a form as a schema of the API takes them: what was left empty was not given. What is wrong
 * is said in the words of the API, at the field. `readings`: members that are no texts in the API.
 */
export function readBy<Schema extends z.ZodType>(
  visit: Visit,
  schema: Schema,
  names: readonly string[],
  values: Values,
  readings: Readings = {},
): Reading<z.output<Schema>> {
  const given = names.flatMap((name) => {
    const value = values[name]?.trim() ?? '';
    return value === '' ? [] : [[name, readings[name]?.(value) ?? value]];
  });
  return checked(visit, schema, Object.fromEntries(given));
}

/** The same for members that were put together already. */
export function checked<Schema extends z.ZodType>(
  { door }: Visit,
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): Reading<z.output<Schema>> {
  const { value, details } = door.check(schema, given);
  return details.length > 0 ? { details } : { input: value as z.output<Schema> };
}

/** What is said at a field: its label says already which one it is, and programs call it by another name. */
export function atField(text: string, name: string): string {
  const rest = text.startsWith(`${name} `) ? text.slice(name.length + 1) : '';
  return sentence(/^(must|is|may|can|cannot|has) /.test(rest) ? rest : text);
}

/** A text with a capital in front and a full stop behind. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
