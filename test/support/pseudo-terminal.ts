import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN_LIMIT_MS = 60_000;

type Run = {
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly before?: string;
  readonly after?: string;
};

/**
 * What our command line shows on a terminal of its own (util-linux's
 * `script`), with both of its streams on it.
 */
export function onTerminal(
  args: readonly string[],
  { env, columns = 100, before = '', after = '' }: Run,
): Promise<string> {
  const command = [process.execPath, 'src/bin.mjs', ...args]
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  const line = `stty cols ${columns} rows 50; ${before}${command}${after}`;
  const whole = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'test',
    TERM: 'xterm-256color',
    ...env,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      'script',
      ['-qec', line, '/dev/null'],
      { cwd: ROOT, env: whole, timeout: RUN_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => {
        if (error && typeof error.code !== 'number') reject(error);
        else resolve(stdout.replaceAll('\r\n', '\n'));
      },
    );
    child.stdin?.end();
  });
}
