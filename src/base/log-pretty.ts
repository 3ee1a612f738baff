import { styleText } from 'node:util';
import { harmless, harmlessJson } from './terminal.ts';

type Style = Parameters<typeof styleText>[0];

const LEVEL_STYLES: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};
const LEVEL_WIDTH = 5;
/** A value that needs no quotes to be told from its neighbours. */
const BARE = /^[\w.:/@+-]+$/;
const MAX_CAUSES = 6;

/**
 * A JSON line of the log as one line for a person: time, level, component, what, and the members behind it
 * as `name=value`. The place where an error was thrown stands below it, indented. No text of a value can
 * end the line, colour it, or pass for another member.
 */
export function prettyLine(json: string, { colour }: { readonly colour: boolean }): string {
  const { time, level, component, msg, ...members } = JSON.parse(json) as Record<string, unknown>;
  const styled = (style: Style, text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const shown = Object.entries(members).map(
    ([name, value]) => `${styled('cyan', `${nameOf(name)}=`)}${shownOf(value)}`,
  );
  const word = harmless(String(level));
  const head = [
    styled('gray', harmless(String(time))),
    styled(LEVEL_STYLES[word] ?? 'gray', word.toUpperCase().padEnd(LEVEL_WIDTH)),
    ...(component === undefined ? [] : [styled('magenta', harmless(String(component)))]),
    ...(msg === undefined ? [] : [harmless(String(msg))]),
  ];
  const below = Object.values(members).flatMap(framesOf);
  return [[...head, ...shown].join(' '), ...below.map((frame) => styled('gray', `    ${frame}`)), ''].join(
    '\n',
  );
}

function nameOf(name: string): string {
  return BARE.test(name) ? name : quoted(name);
}

function shownOf(value: unknown): string {
  if (isError(value)) return quoted(causesOf(value).join(' ← '));
  if (typeof value === 'string' && !BARE.test(value)) return quoted(value);
  return typeof value === 'object' && value !== null ? harmlessJson(JSON.stringify(value)) : String(value);
}

function quoted(text: string): string {
  return harmlessJson(JSON.stringify(text));
}

type LoggedError = {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: unknown;
};

function isError(value: unknown): value is LoggedError {
  return (
    typeof value === 'object' && value !== null && ['type', 'message', 'stack'].every((name) => name in value)
  );
}

function causesOf(error: LoggedError): string[] {
  const found: string[] = [];
  for (let one: unknown = error; isError(one) && found.length < MAX_CAUSES; one = one.cause)
    found.push(`${one.type}: ${one.message}`);
  return found;
}

/** Keeps only lines that look like a frame: a message with line feeds must not become lines of its own. */
function framesOf(value: unknown): string[] {
  if (!isError(value)) return [];
  return String(value.stack)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .map(harmless);
}
