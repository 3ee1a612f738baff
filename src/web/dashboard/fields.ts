import type { z } from 'zod';
import type { FieldsResult, Visit } from './visit.ts';

/** What a text of a form is in the API, where it is no text there. */
type Readings = Readonly<Record<string, (text: string) => unknown>>;

/**
 * The members of a form as a schema of the API takes them: what was left empty was not given. What is wrong
 * is said in the words of the API, at the field. `readings`: members that are no texts in the API.
 */
export function fieldsBy<Schema extends z.ZodType>(
  schema: Schema,
  names: readonly string[],
  readings: Readings = {},
) {
  return (visit: Visit, values: Readonly<Record<string, string>>): FieldsResult<z.output<Schema>> => {
    const given = names.flatMap((name) => {
      const value = values[name]?.trim() ?? '';
      return value === '' ? [] : [[name, readings[name]?.(value) ?? value]];
    });
    return checked(visit, schema, Object.fromEntries(given));
  };
}

/** The same for members that were put together already. */
export function checked<Schema extends z.ZodType>(
  { door }: Visit,
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): FieldsResult<z.output<Schema>> {
  const { value, details } = door.check(schema, given);
  return details.length > 0 ? { details } : { input: value as z.output<Schema> };
}
