import { spawn } from 'node:child_process';
import type { Print } from '../base/processes.ts';

const LIMIT_MS = 15 * 60_000;
const PROGRESS_MS = 5_000;

/**
 * Runs a long command with a line of progress every few
 * seconds. Throws with the end of its output when it fails.
 */
export function runLong(input: {
  what: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  log: Print;
}): Promise<void> {
  const { what, command, args, env, log } = input;
  const began = Date.now();
  log(`${what} …`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    const stopWithUs = () => child.kill('SIGKILL');
    process.once('exit', stopWithUs);
    const ticker = setInterval(
      () => log(`${what} … ${Math.round((Date.now() - began) / 1000)} s`),
      PROGRESS_MS,
    );
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-600);
    });
    const finish = (problem: string | undefined) => {
      clearInterval(ticker);
      process.removeListener('exit', stopWithUs);
      if (problem === undefined) resolve();
      else reject(new Error(`${command} ${args[0]} ${problem}`));
    };
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) =>
      finish(
        code === 0
          ? undefined
          : `ended with ${signal ?? code}: ${output.trim().split('\n').slice(-3).join(' ')}`,
      ),
    );
  });
}
