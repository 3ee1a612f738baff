import { prettyFactory } from 'pino-pretty';
import { harmless } from './terminal.ts';

/**
 * Makes of a JSON line of the log, which is redacted, what pino-pretty shows a person: time, level, what, and
 * the members behind it as JSON. An error stands below it with its causes and where it was thrown. No text of
 * a value can end the line, colour it, or pass for a frame.
 */
export function prettyLines(colorize: boolean): (json: string) => string {
  const pretty = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:standard' });
  return (json) => pretty(cleaned(JSON.parse(json)));
}

function cleaned(value: unknown, name?: string): unknown {
  if (typeof value === 'string') return name === 'stack' ? framesOf(value) : harmless(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [harmless(key), cleaned(member, key)]),
  );
}

/** Only lines that look like a frame: what a stack begins with may be somebody's text. */
function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s*at /.test(line));
  return frames.map(harmless).join('\n');
}
