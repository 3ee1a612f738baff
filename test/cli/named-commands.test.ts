import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { WAIT_CODES, WAITS } from '../../src/domain/payouts/waits.ts';
import { trackedFiles } from '../support/repository/files.ts';
import { leavesOf } from './support.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
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
function wrongIn(text: string): string | undefined {
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

describe('commands that a sentence names', () => {
  it('exist, with their options, wherever the sources quote them', () => {
    const wrong: string[] = [];
    for (const path of trackedFiles())
      if (/^src\/(?!web|db).*\.ts$/.test(path))
        for (const [, quoted = ''] of read(path).matchAll(/"((?:gateway )?[a-z]+(?: [^"\n]*)?)"/g))
          wrong.push(...[wrongIn(quoted)].flatMap((one) => (one ? `${path}: ${one}` : [])));
    expect(wrong).to.deep.equal([]);
  });

  it('exist, with their options, in what operators read', () => {
    const text = read('docs/operations.md');
    const named = [...text.matchAll(/`((?:gateway )?[a-z]+(?: [^`\n]*)?)`/g)].map(([, one = '']) => one);
    expect(named.flatMap((one) => wrongIn(one) ?? [])).to.deep.equal([]);
    expect(named.filter((one) => /^(gateway )?payout /.test(one))).to.have.length.above(10);
  });

  it('end every wait that a person ends; the document names each reason', () => {
    const text = read('docs/operations.md');
    for (const code of WAIT_CODES) {
      const { ends, by, rests, alarmMs } = WAITS[code];
      const named = [...ends.matchAll(/"([^"]+)"/g)].map(([, one = '']) => one);
      expect(
        named.flatMap((one) => wrongIn(one) ?? []),
        code,
      ).to.deep.equal([]);
      expect(named.length > 0 || by === 'itself', `${code} names a command`).to.equal(true);
      expect(alarmMs !== undefined || rests === true, `${code} alarms, or rests as it was set`).to.equal(
        true,
      );
      expect(text, 'docs/operations.md').to.include(`| \`${code}\` |`);
    }
  });

  it('are no wish that nobody can fulfil: the signer tells nobody to cancel something', () => {
    const asked = trackedFiles().filter(
      (path) => path.startsWith('src/signer/') && /cancel (it|the payout|what was asked)/.test(read(path)),
    );
    expect(asked).to.deep.equal([]);
  });
});
