#!/usr/bin/env node
// The one plain-JavaScript file that Node runs: it makes sure that Node can run TypeScript before any TypeScript is loaded.
// Usage: bin.mjs [--entry FILE] [ARGUMENTS…]; without --entry it runs the operator's command line. With --installed it
// says in one sentence, after "npm ci", which Node will run the code, where that is not the machine's own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = [24, 12];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bundled = join(root, 'node_modules/.bin/node');
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (process.argv[2] === '--installed') {
  sayWhichNode();
} else if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  const args = process.argv.slice(2);
  const entry = args[0] === '--entry' ? resolve(root, args.splice(0, 2)[1] ?? '') : join(root, 'src/cli.ts');
  process.argv = [process.argv[0], entry, ...args];
  endWithNpm();
  await import(pathToFileURL(entry).href);
} else {
  if (existsSync(bundled) && process.env.GATEWAY_NODE_RETRY !== '1') {
    const run = spawn(bundled, process.argv.slice(1), {
      stdio: 'inherit',
      env: { ...process.env, GATEWAY_NODE_RETRY: '1' },
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => run.kill(signal));
    process.exit(await new Promise((resolve) => run.on('close', (code) => resolve(code ?? 1))));
  }
  process.stderr.write(
    `This is Node ${process.versions.node}, and the gateway needs Node ${NEEDED.join('.')} or newer: install it, or run "npm ci" on Linux x64 or arm64, which brings it along.\n`,
  );
  process.exit(2);
}

/** npm puts what it has brought along before the machine's own programs, so the machine's Node is the one that runs npm. */
function sayWhichNode() {
  const own = / node\/v(\d+)\.(\d+)(\S*)/.exec(process.env.npm_config_user_agent ?? '');
  if (!own || Number(own[1]) > NEEDED[0] || (Number(own[1]) === NEEDED[0] && Number(own[2]) >= NEEDED[1]))
    return;
  const version = `This machine's Node is ${own[1]}.${own[2]}${own[3]}`;
  process.stdout.write(
    existsSync(bundled)
      ? `${version}; the gateway runs on Node ${NEEDED.join('.')} or newer, which has just come along: there is nothing to do.\n`
      : `${version}, and the gateway needs Node ${NEEDED.join('.')} or newer: install it; none comes along for ${process.platform} ${process.arch}.\n`,
  );
}

/**
 * npm does not tell us when it is killed, and what it ran would go on alone. Its scripts begin
 * with `exec`, so that signals to npm reach this process and npm is the parent; when the parent
 * has ended, this process ends too, in good order.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 1_000).unref();
}
