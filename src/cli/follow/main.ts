#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { exitCodeOf, OperatorError, UsageError } from '../../base/errors.ts';
import { harmless } from '../../base/terminal.ts';
import { type Forwarding, followAs } from './forward.ts';
import { FORWARDING, memberOf, SECRET_STDIN } from './options.ts';

// "webhook listen --forward-to" for who has a key and not this repository: a file of the SDK's package,
// which Node 18 runs, too.

type ListenOption = readonly [flags: string, about: string, read?: (given: string) => unknown];

const OPTIONS: readonly ListenOption[] = [
  ...FORWARDING,
  SECRET_STDIN,
  ['--json', 'one line of JSON for each thing that is said'],
  ['--help', 'this text'],
];
const WIDTH = 22;
const HELP = `Usage: node listen.mjs --api URL --forward-to URL [options]

Follows the events of an API key and forwards each to your own server, signed, as the gateway would send it.
The key comes from GATEWAY_KEY. It is for development; it ends with Ctrl-C.

Options:
${OPTIONS.map(([flags, about]) => `  ${flags.padEnd(WIDTH)}${about}`).join('\n')}
`;

async function main(): Promise<void> {
  const { values, positionals } = wordsOf(process.argv.slice(2));
  if (values['help']) {
    process.stdout.write(HELP);
    return;
  }
  const alien = positionals.find((word, index) => index > 0 || word !== 'listen');
  if (alien !== undefined) throw new UsageError(`There is no command "${alien}", only "listen"`);
  const given: Record<string, unknown> = {};
  for (const [flags, , read] of OPTIONS) {
    const [flag = ''] = flags.split(' ');
    const value = values[flag.slice(2)];
    if (value !== undefined)
      given[memberOf(flag)] = read && typeof value === 'string' ? readOption(flag, value, read) : value;
  }
  const { forwardTo: to } = given;
  if (!(to instanceof URL)) throw new UsageError('Say with --forward-to where the events go');
  await followAs({ ...(given as Partial<Forwarding>), to });
}

function wordsOf(args: string[]) {
  const types = OPTIONS.map(
    ([flags]) =>
      [flags.slice(2).split(' ')[0], { type: flags.includes('<') ? 'string' : 'boolean' }] as const,
  );
  try {
    const read = parseArgs({ args, options: Object.fromEntries(types), allowPositionals: true });
    return { ...read, values: read.values as Readonly<Record<string, unknown>> };
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

function readOption(flag: string, given: string, read: (given: string) => unknown): unknown {
  try {
    return read(given);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${flag}: ${error.message}`) : error;
  }
}

main().catch((error: unknown) => {
  const isKnown = error instanceof UsageError || error instanceof OperatorError;
  const said =
    error instanceof Error ? (isKnown ? error.message : (error.stack ?? error.message)) : `${error}`;
  const help = error instanceof UsageError ? ' Add --help to see how it is used.' : '';
  process.stderr.write(`${said.split('\n').map(harmless).join('\n')}${help}\n`);
  process.exitCode = exitCodeOf(error);
});
