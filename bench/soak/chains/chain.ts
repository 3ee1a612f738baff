import type { Random } from '../../../dev/random.ts';
import type { Print } from '../../../src/base/processes.ts';
import type { Network } from '../../../src/domain/assets.ts';
import type { ChainBlock } from '../judge/truth.ts';
import type { ActionOf } from '../plan/plan.ts';

/** What an address holds, as the chain itself keeps it. */
export type Held = { readonly usdtUnits: bigint; readonly coinUnits: bigint };
/** Takes a fault away, unless another one has replaced it meanwhile. */
type Lift = () => void;

/**
 * One chain of a run: who pays on it, how its newest blocks are replaced, what its endpoints do
 * wrong and what it says in the end. Addresses are written as the API shows them, except those
 * of BNB Chain, which are in lower case. All that changes the chain happens one at a time.
 */
export type SoakChain = {
  readonly network: Network;
  /** What the gateway has to be told to watch it, the smallest deposits and the dust floor excepted. */
  readonly env: NodeJS.ProcessEnv;
  /** The contract of the token, as the run writes addresses. */
  readonly usdt: string;
  pid(): number | undefined;

  mine(blocks?: number): Promise<void>;
  head(): Promise<number>;
  /** Transactions that could be mined now. */
  pending(): Promise<number>;
  /**
   * Puts one planned payment into the pool and returns its hash; `to` are the customers' addresses,
   * `ownKey` the private key (hex without prefix) that pays instead of a sender.
   */
  pay(action: ActionOf<'pay'>, to: readonly string[], ownKey?: string): Promise<string>;
  held(address: string): Promise<Held>;
  /**
   * Replaces every block from the one that holds this transaction on; the other transactions move,
   * this one goes. False where it is in no block or too deep for a reorg, or `when` says no.
   * While `when` looks, the chain stands still.
   */
  drop(hash: string, when: () => Promise<boolean>): Promise<boolean>;
  /** Replaces the newest blocks; returns what they held. With `move` that goes into the new blocks. */
  reorg(depth: number, move: boolean): Promise<string[]>;
  /** Sends a transaction of a replaced block again, with the same bytes. */
  sendAgain(hash: string): Promise<void>;

  /** Sets a fault by its name on some endpoints. Throws for a name that is none. */
  trouble(fault: string, endpoints: readonly number[]): Lift;
  /** The second endpoint lies; with `alone` the first one does not answer meanwhile. */
  lie(name: string, alone: boolean): Lift;
  /** Takes away every fault. */
  heal(): void;

  /** Every canonical block, read over HTTP with none of the gateway's code. */
  blocks(): AsyncIterable<ChainBlock>;
  stop(): Promise<void>;
};

export type ChainInput = { readonly folder: string; readonly random: Random; readonly log: Print };

/** Blocks from the head to finality: deeper than any reorg of a run, so that finality never breaks. */
export const FINAL_DISTANCE = 6;
export const CONFIRMATIONS = 4;
export const FIRST_BLOCKS = 12;
/** How many blocks of its own an endpoint that stands still gives. */
export const REMEMBERED = 12;
/** Requests of which an endpoint keeps a record; a run of hours has millions. */
export const REQUESTS_KEPT = 1_000;
const [HONEST, LIAR] = [0, 1];

/** How a chain is read and changed, none of it in turn. */
type Changes = {
  head(): Promise<number>;
  mine(blocks: number): Promise<void>;
  /** The hashes in a block. */
  hashesIn(height: number): Promise<string[]>;
  heightOf(hash: string): Promise<number | undefined>;
  /** How many of the newest blocks may be replaced. */
  replaceable(): Promise<number>;
  /** Replaces so many blocks, which held these; of them those that are kept go into the new ones. */
  replace(depth: number, held: readonly string[], kept: readonly string[]): Promise<void>;
  again(hash: string): Promise<void>;
};

/** All that changes a chain, one at a time; `exclusive` has more of it wait for its turn. */
export function oneAtATime(chain: Changes) {
  let last: Promise<unknown> = Promise.resolve();
  const exclusive = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
  const heldFrom = async (first: number): Promise<string[]> => {
    const held: string[] = [];
    for (let height = first; height <= (await chain.head()); height++)
      held.push(...(await chain.hashesIn(height)));
    return held;
  };
  const changes: Pick<SoakChain, 'mine' | 'reorg' | 'drop' | 'sendAgain'> = {
    mine: (blocks = 1) => exclusive(() => chain.mine(blocks)),
    reorg: (wanted, move) =>
      exclusive(async () => {
        const depth = Math.min(wanted, await chain.replaceable());
        const held = await heldFrom((await chain.head()) - depth + 1);
        await chain.replace(depth, held, move ? held : []);
        return held;
      }),
    drop: (hash, when) =>
      exclusive(async () => {
        if ((await chain.heightOf(hash)) === undefined) await chain.mine(1);
        const height = await chain.heightOf(hash);
        if (height === undefined || !(await when())) return false;
        const depth = (await chain.head()) - height + 1;
        if (depth > (await chain.replaceable())) return false;
        const held = await heldFrom(height);
        const kept = held.filter((other) => other !== hash);
        await chain.replace(depth, held, kept);
        return true;
      }),
    sendAgain: (hash) => exclusive(() => chain.again(hash)),
  };
  return { exclusive, changes };
}

/** What the endpoints of a chain do wrong, by name; made when it begins, from what is behind them. */
export type Faults<Fault, Behind> = Readonly<Record<string, (behind: Behind) => Fault>>;

/** Has these endpoints misbehave. */
export function misbehaving<Fault, Behind>(
  endpoints: readonly { fault: Fault | undefined }[],
  behind: Behind,
  known: { faults: Faults<Fault, Behind>; lies: Faults<Fault, Behind>; silent: Fault },
): Pick<SoakChain, 'trouble' | 'lie' | 'heal'> {
  const made = (from: Faults<Fault, Behind>, what: string, name: string): Fault => {
    const make = from[name];
    if (!make) throw new Error(`no ${what} is called ${name}`);
    return make(behind);
  };
  const set = (faults: readonly (readonly [number, Fault])[]): Lift => {
    const places = faults.flatMap(([index, fault]) => {
      const endpoint = endpoints[index];
      if (endpoint) endpoint.fault = fault;
      return endpoint ? [{ endpoint, fault }] : [];
    });
    return () => {
      for (const { endpoint, fault } of places) if (endpoint.fault === fault) endpoint.fault = undefined;
    };
  };
  return {
    trouble: (name, indexes) => {
      const fault = made(known.faults, 'fault', name);
      return set(indexes.map((index) => [index, fault]));
    },
    lie: (name, alone) => {
      const lie = made(known.lies, 'lie', name);
      // The other one is silent meanwhile, unless the lie has to win against its word.
      return set(alone ? [[LIAR, lie] as const, [HONEST, known.silent] as const] : [[LIAR, lie]]);
    },
    heal: () => {
      for (const endpoint of endpoints) endpoint.fault = undefined;
    },
  };
}
