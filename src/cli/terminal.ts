import { AsyncLocalStorage } from 'node:async_hooks';
import type { DestinationStream } from 'pino';

/** Where a command prints. */
export type Screen = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
};

/** All that a command has of the process that it runs in. */
export type Terminal = {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Screen;
  readonly stderr: Screen;
  /** Where its log goes; unset means the stderr of the process. */
  readonly log?: DestinationStream;
};

const given = new AsyncLocalStorage<Terminal>();

/** That of the process, unless the command was called by {@link atTerminal}. */
export function terminal(): Terminal {
  return given.getStore() ?? process;
}

/** Runs `work`, and all that it starts, at another terminal than that of the process. */
export function atTerminal<T>(other: Terminal, work: () => T): T {
  return given.run(other, work);
}
