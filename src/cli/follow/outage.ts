import { pause } from '../../base/async/pause.ts';

/** What is out of reach, and for how long; one line says that it begins and one that it has ended. */
export type Outage = {
  /** Says it, if this is the beginning, and waits: a little longer each time, or as long as was asked for. */
  wait(reason: string, forMs?: number): Promise<void>;
  /** It answers. */
  over(): void;
};

const FIRST_MS = 500;
const MAX_MS = 10_000;

/** `say` prints one line; `waitMs` at most, unless a longer wait is asked for. */
export function outageOf(
  say: (line: { readonly state: 'began' | 'ended'; readonly text: string }) => void,
  { what, signal, maxMs = MAX_MS }: { what: string; signal: AbortSignal; maxMs?: number },
): Outage {
  let began: number | undefined;
  let tries = 0;
  return {
    wait: async (reason, forMs) => {
      if (began === undefined) {
        began = Date.now();
        say({
          state: 'began',
          text: `${what} is out of reach (${reason}). Nothing is lost: it is asked again.`,
        });
      }
      tries += 1;
      await pause(Math.max(forMs ?? 0, Math.min(maxMs, FIRST_MS * 2 ** Math.min(tries - 1, 8))), signal);
    },
    over: () => {
      if (began !== undefined) {
        const seconds = Math.round((Date.now() - began) / 1_000);
        say({ state: 'ended', text: `${what} answers again, after ${seconds} s.` });
      }
      began = undefined;
      tries = 0;
    },
  };
}
