import type { Command } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { leavesOf } from './support.ts';

const program = makeProgram();
const leaves = new Map(leavesOf(program).map(({ path, command }) => [path, command]));
const groups = new Set(
  program.commands.filter(({ commands }) => commands.length > 0).map((one) => one.name()),
);
/** What stands between quotes and begins like a command, and is none. */
const OTHER = ['payment link', 'webhook endpoint', 'deposit address'];

/** Whether a command whose first argument says what to do takes this word, or these with a bar between. */
function takes(command: Command | undefined, word: string): boolean {
  const [what] = command?.registeredArguments ?? [];
  if (!what || !/^[a-z-]+(\||$)/.test(word)) return true;
  try {
    for (const one of word.split('|')) what.parseArg?.(one, undefined);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with a text that begins like a command; undefined where it is one, or means none. */
export function wrongIn(text: string): string | undefined {
  const words = text.replace(/^gateway /, '').split(/\s+/);
  const [first = '', second = ''] = words;
  if (OTHER.includes(`${first} ${second}`)) return undefined;
  const isGroup = groups.has(first);
  if (!(isGroup || leaves.has(first)) || (isGroup && !/^[a-z-]+(\||$)/.test(second))) return undefined;
  const paths = isGroup ? second.split('|').map((one) => `${first} ${one}`) : [first];
  return paths.flatMap((path) => {
    const command = leaves.get(path);
    if (!isGroup && !takes(command, second)) return [`${path} ${second}: it does no such thing`];
    const options = words
      .map((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? '')
      .filter((word) => word !== '');
    const known = ['--json', '--help', ...(command?.options ?? []).map(({ long }) => long ?? '')];
    const unknown = options.find((option) => !known.includes(option));
    if (!command) return [`${path}: there is no such command`];
    return unknown === undefined ? [] : [`${path} ${unknown}: it has no such option`];
  })[0];
}

/** The commands that a sentence quotes: what it says between quotes and is one. */
export const namedIn = (sentence: string): string[] =>
  [...sentence.matchAll(/"([^"]+)"/g)]
    .map(([, one = '']) => one.replace(/^gateway /, ''))
    .filter((one) => leaves.has(one.split(' ').slice(0, 2).join(' ')) || leaves.has(one.split(' ')[0] ?? ''));
