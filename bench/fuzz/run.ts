import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPythonProgram } from '../../dev/support/python.ts';
import { EXCUSES } from './excuses.ts';
import type { Credential } from './stage.ts';

const RUN_LIMIT_MS = 60 * 60_000;
const WORKERS = 2;

/**
 * Pinned with all that it needs: another version has other checks,
 * and a figure is only worth something beside the same checks.
 */
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The pinned Schemathesis, installed at the first call. Throws a sentence that names what is missing. */
export function findSchemathesis(log: (line: string) => void, env: NodeJS.ProcessEnv): string {
  return findPythonProgram({ name: 'schemathesis', requirements: REQUIREMENTS }, log, env);
}

type Counts = Readonly<Record<string, number>>;
export type Failure = {
  readonly message: string;
  readonly request: string;
  readonly answer: string;
  readonly phase: string;
};

/**
 * What one run of Schemathesis did. The counts of failures
 * are of answers, before equal ones are put together.
 */
export type Result = {
  readonly requests: number;
  readonly statuses: Counts;
  readonly phases: Counts;
  readonly excused: Counts;
  readonly failureCounts: Counts;
  readonly failures: Readonly<Record<string, Failure>>;
};

type RunInput = {
  readonly program: string;
  readonly schemaUrl: string;
  readonly credential: Credential;
  readonly folder: string;
  readonly name: string;
  readonly seed: number;
  /** Generated requests of each operation in each phase that generates. */
  readonly examples: number;
};

/**
 * Runs all phases with all checks as one caller. Throws when it ended without a result, with its last words.
 */
export async function runOnce(input: RunInput): Promise<Result> {
  const { credential, folder, name } = input;
  const result = join(folder, `${name}.result.json`);
  const config = join(folder, `${name}.toml`);
  writeFileSync(config, configOf(input), { mode: 0o600 });
  const api = input.schemaUrl.replace(/\/openapi\.json$/, '/api/v1');
  const { known, headers } = credential;
  const given = { known, headers, seed: input.seed, api, result, excuses: EXCUSES };
  // Whoever signs out has no session for the rest of the run.
  const left = headers['Cookie'] === undefined ? [] : ['--exclude-path', '/logout'];
  const seed = ['--seed', `${input.seed}`, '--no-color'];
  const args = ['--config-file', config, 'run', input.schemaUrl, ...seed, ...left];
  const output = await finish(input.program, args, {
    ...process.env,
    FUZZ_INPUT: JSON.stringify(given),
    SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
    PYTHONDONTWRITEBYTECODE: '1',
  });
  writeFileSync(join(folder, `${name}.log`), output);
  if (!existsSync(result))
    throw new Error(`Schemathesis ended without a result (${name}):\n${output.slice(-3_000)}`);
  return JSON.parse(readFileSync(result, 'utf8')) as Result;
}

/** Everything that the program can be told only in a file. */
function configOf({ credential, examples }: RunInput): string {
  const { Authorization: key, Cookie: cookie, ...headers } = credential.headers;
  const scheme =
    key === undefined
      ? `session = { api_key = ${quoted(cookie?.split('=')[1])} }`
      : `bearer = { bearer = ${quoted(key.split(' ')[1])} }`;
  return [
    `workers = ${WORKERS}`,
    'continue-on-failure = true',
    'request-timeout = 30',
    'suppress-health-check = ["all"]',
    '[cache]',
    'enabled = false',
    '[headers]',
    ...Object.entries(headers).map(([name, value]) => `${name} = ${quoted(value)}`),
    '[auth.openapi]',
    scheme,
    '[generation]',
    `max-examples = ${examples}`,
    'database = "none"',
    'no-shrink = true',
    '',
  ].join('\n');
}

const quoted = (text: string | undefined): string => JSON.stringify(text ?? '');

function finish(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_LIMIT_MS });
    const stop = () => void child.kill('SIGKILL');
    process.once('exit', stop);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', () => {
      process.off('exit', stop);
      resolve(output);
    });
  });
}
