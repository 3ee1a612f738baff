// What a second endpoint names as final, so that the word of a single one does not decide alone.
import { within } from './pause.ts';
import type { FinalBlock, NamedBlock } from './port.ts';
import type { RpcPool, RpcSession } from './rpc.ts';

export type SecondFinalOptions = {
  readonly rpc: RpcPool;
  readonly ask: (session: RpcSession, tag: 'latest' | 'finalized') => Promise<NamedBlock | undefined>;
  readonly now: () => number;
  /** Called when nobody confirms what is final, and when somebody does again. Names hosts only. */
  readonly report?: ((message: string) => void) | undefined;
};

/** New blocks come first: nobody is waited for any longer, and one that did not answer in time is left alone for a while. */
const WAIT_MS = 500;
const REST_MS = 10_000;
/** An answer is a witness for this long. */
const FRESH_MS = 10_000;
/** So far apart are healthy endpoints at most. Who has not even the block that the first one calls final is behind, and says nothing about it. */
const NEAR_BLOCKS = 3;
/** A height so far above is a dream, or the first one is far behind: what it names is no less final for that. */
const AHEAD_BLOCKS = 20;

/** What an endpoint named as final, and up to which height it has blocks at least. */
type Witness = { readonly block: NamedBlock; readonly knowsUpTo: number; readonly atMs: number };

export interface SecondFinal {
  /** The block that the endpoint with this place in the list named, with what another one names; alone where no other tells. */
  beside(first: NamedBlock, endpoint: number, signal: AbortSignal): Promise<FinalBlock>;
}

/** Makes the second witness of a pool. With one endpoint it asks nobody. */
export function createSecondFinal({ rpc, ask, now, report }: SecondFinalOptions): SecondFinal {
  let last: Witness | undefined;
  let asking: Promise<void> | undefined;
  let restUntil = Number.NEGATIVE_INFINITY;
  let alone = false;
  let asked: number | undefined;

  const askOn = async (session: RpcSession, first: NamedBlock): Promise<Omit<Witness, 'atMs'> | undefined> => {
    const block = await ask(session, 'finalized');
    if (!block) return undefined;
    const isNear = block.number >= first.number - NEAR_BLOCKS;
    return { block, knowsUpTo: isNear ? block.number : ((await ask(session, 'latest'))?.number ?? block.number) };
  };

  const question = async (first: NamedBlock, endpoint: number, signal: AbortSignal): Promise<void> => {
    const seen = await rpc.elsewhere(endpoint, (session) => askOn(session, first), signal).catch(() => undefined);
    if (seen) last = { ...seen, atMs: now() };
    else restUntil = now() + REST_MS;
  };

  const witnessFor = (first: NamedBlock): NamedBlock | undefined => {
    if (!last || now() - last.atMs >= FRESH_MS || last.block.host === first.host) return undefined;
    const isBehind = last.knowsUpTo < first.number - NEAR_BLOCKS;
    return isBehind || last.block.number > first.number + AHEAD_BLOCKS ? undefined : last.block;
  };

  const say = (first: NamedBlock, isAlone: boolean): void => {
    if (isAlone === alone) return;
    alone = isAlone;
    report?.(
      alone
        ? `${rpc.name}: what is final is believed of ${first.host} alone, because no second endpoint tells it in time`
        : `${rpc.name}: what is final is confirmed by a second endpoint again`,
    );
  };

  return {
    async beside(first, endpoint, signal) {
      if (rpc.status().length < 2) return first;
      // As long as it is near, the answer before this one still is the lower of two. Asked again, too, where the first one has not moved.
      const isOld = !last || first.number - last.block.number > NEAR_BLOCKS || now() - last.atMs > FRESH_MS / 2;
      const isNews = isOld || first.number === asked;
      asked = first.number;
      if (isNews && !asking && now() >= restUntil) {
        asking = question(first, endpoint, signal).finally(() => {
          asking = undefined;
        });
        const inTime = await within(
          WAIT_MS,
          asking.then(() => true),
        );
        if (!inTime) restUntil = now() + REST_MS;
      }
      const second = witnessFor(first);
      say(first, !second);
      if (!second) return first;
      return second.number < first.number ? { ...second, second: first } : { ...first, second };
    },
  };
}
