import { hideInText } from './log.ts';

/**
 * The first line of an error, without secrets. An AggregateError (every address
 * of a name failed) has no text of its own.
 */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const line = hideInText(text).split('\n', 1)[0]?.trim().slice(0, 300) ?? '';
  return line === '' ? code || 'unknown error' : line;
}
