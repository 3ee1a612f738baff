import { parse as parseQuerystring } from 'node:querystring';
import type { z } from 'zod';
import { ApiError, type ErrorDetail } from './errors.ts';
import { isCleanText } from './requests/body.ts';

/** The issues that one answer lists. */
const MAX_DETAILS = 20;

export type Checked = { readonly value: unknown; readonly details: readonly ErrorDetail[] };

/** Parses with a schema; the details are empty exactly when the value is good. */
export function check(schema: z.ZodType | undefined, value: unknown): Checked {
  if (!schema) return { value: undefined, details: [] };
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return { value: result.data, details: [] };
  const details = result.error.issues
    .slice(0, MAX_DETAILS)
    .map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  return { value: undefined, details };
}

/** Throws one 400 that lists every wrong field, with the first one as its sentence. */
export function refuseDetails(details: readonly ErrorDetail[]): void {
  const [first] = details;
  if (!first) return;
  const sentence = first.path === '' ? first.message : `${first.path} ${first.message}`;
  throw new ApiError('VALIDATION_ERROR', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, {
    extra: { details },
  });
}

/**
 * The query string's members; a repeated one is a list, which no schema accepts. Throws
 * 400 for text that is not UTF-8 or holds a NUL.
 */
export function readQuery(querystring: string): Record<string, unknown> {
  if (querystring === '') return {};
  try {
    decodeURIComponent(querystring.replaceAll('+', ' '));
  } catch {
    throw new ApiError('VALIDATION_ERROR', 'The query string is not valid percent-encoded UTF-8.');
  }
  // All of them: Node would leave out what comes after the first thousand.
  const query = parseQuerystring(querystring, '&', '=', { maxKeys: 0 });
  for (const [name, value] of Object.entries(query)) {
    const texts = [name, ...(Array.isArray(value) ? value : [value ?? ''])];
    if (!texts.every(isCleanText))
      throw new ApiError('VALIDATION_ERROR', 'The query string contains a NUL character.');
  }
  return query;
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong, as it reads after the field's name. A schema's own message wins where it has one. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return Array.isArray(issue.input) && issue.expected === 'string'
        ? 'must be one string, given once'
        : `must be ${ARTICLES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    default:
      return 'is not valid';
  }
}
