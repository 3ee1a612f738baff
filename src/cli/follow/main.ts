#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { exitCodeOf, OperatorError, UsageError } from '../../base/errors.ts';
import { harmless } from '../../base/terminal.ts';
import { followAs } from './given.ts';
import { eventNames, webAddress } from './options.ts';
import { past } from './times.ts';

// "webhook listen --forward-to" for who has a key and not this repository: a file of the SDK's package,
// which Node 18 runs, too.

const HELP = `Usage: node listen.mjs --api URL --forward-to URL [options]

Follows the events of an API key and forwards each to your own server, signed, as the gateway would send it.
The key comes from GATEWAY_KEY. It is for development; it ends with Ctrl-C.

Options:
  --forward-to <url>  where to, such as http://localhost:3000/hook (required)
  --api <url>         the gateway, if GATEWAY_URL does not say it
  --events <names>    only these, with commas between them
  --since <time>      also what happened since, such as 15m or 2026-11-20T09:30:00Z
  --key-stdin         read the API key on stdin instead of from GATEWAY_KEY
  --secret-stdin      read the signing secret (whsec_…) on stdin instead of from WEBHOOK_SECRET
  --json              one line of JSON for each thing that is said
  --help              this text
`;
const OPTIONS = {
  'forward-to': { type: 'string' },
  api: { type: 'string' },
  events: { type: 'string' },
  since: { type: 'string' },
  'key-stdin': { type: 'boolean' },
  'secret-stdin': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = wordsOf(process.argv.slice(2));
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const alien = positionals.find((word, index) => index > 0 || word !== 'listen');
  if (alien !== undefined) throw new UsageError(`There is no command "${alien}", only "listen"`);
  const to = values['forward-to'];
  if (to === undefined) throw new UsageError('Say with --forward-to where the events go');
  await followAs({
    to: readOption('--forward-to', to, webAddress),
    api: values.api,
    keyStdin: values['key-stdin'],
    secretStdin: values['secret-stdin'],
    events: values.events === undefined ? undefined : readOption('--events', values.events, eventNames),
    since: values.since === undefined ? undefined : readOption('--since', values.since, past),
    json: values.json,
  });
}

function wordsOf(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

function readOption<T>(flag: string, given: string, read: (given: string) => T): T {
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
