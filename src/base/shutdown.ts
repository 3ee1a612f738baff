import { within } from './async/within.ts';
import type { Logger } from './log.ts';

export type Shutdown = {
  /** Aborted as soon as the shutdown begins; this ends long loops. */
  readonly signal: AbortSignal;
  /**
   * Registers one step. Steps run one after the other, the last
   * registered first, so that what was started last is stopped first.
   */
  add(name: string, stop: () => void | Promise<void>): void;
  /**
   * Runs all steps once; later calls get the same promise. Resolves
   * to whether every step ended in time and without an error.
   */
  run(reason: string): Promise<boolean>;
  /**
   * Listens for SIGTERM and SIGINT; the first drains and exits (0 when clean, else 1), the second exits at
   * once with 130. Returns a function that stops listening.
   */
  listen(exit?: (code: number) => void): () => void;
};

/**
 * An ordered shutdown with one time limit over all steps. A step that fails or does not end is
 * logged and never keeps the later ones from running: when the limit is reached the remaining
 * steps are still called, but no longer waited for.
 */
export function createShutdown(deps: { readonly log: Logger; readonly timeoutMs?: number }): Shutdown {
  const timeoutMs = deps.timeoutMs ?? 30_000;
  const steps: { name: string; stop: () => void | Promise<void> }[] = [];
  const controller = new AbortController();
  let running: Promise<boolean> | undefined;

  async function runSteps(reason: string): Promise<boolean> {
    deps.log.info({ reason }, 'shutting down');
    controller.abort(new Error(`shutting down: ${reason}`));
    const deadline = Date.now() + timeoutMs;
    let clean = true;
    for (let step = steps.pop(); step; step = steps.pop()) {
      clean = (await runStep(deps.log, step, deadline - Date.now())) && clean;
    }
    deps.log.info({ clean }, 'shut down');
    return clean;
  }

  const shutdown: Shutdown = {
    signal: controller.signal,
    add(name, stop) {
      steps.push({ name, stop });
    },
    run(reason) {
      running ??= runSteps(reason);
      return running;
    },
    listen(exit = (code) => process.exit(code)) {
      let seen = 0;
      const onSignal = (name: NodeJS.Signals): void => {
        seen += 1;
        if (seen > 1) {
          deps.log.warn({ signal: name }, 'second signal: leaving without draining');
          exit(130);
          return;
        }
        void shutdown.run(name).then((clean) => exit(clean ? 0 : 1));
      };
      process.on('SIGTERM', onSignal);
      process.on('SIGINT', onSignal);
      return () => {
        process.off('SIGTERM', onSignal);
        process.off('SIGINT', onSignal);
      };
    },
  };
  return shutdown;
}

async function runStep(
  log: Logger,
  step: { name: string; stop: () => void | Promise<void> },
  leftMs: number,
): Promise<boolean> {
  try {
    const stopping = (async () => step.stop())();
    if ((await within(Math.max(0, leftMs), stopping, () => 'late' as const)) !== 'late') return true;
    log.error({ step: step.name }, 'a step of the shutdown did not end in time');
  } catch (error) {
    log.error({ step: step.name, err: error }, 'a step of the shutdown failed');
  }
  return false;
}
