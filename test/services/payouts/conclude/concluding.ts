// An operator who concludes payouts, as `payout conclude` does.
import { expect } from 'chai';
import type { Deps } from '../../../../src/services/deps.ts';
import { type Concluded, concludePayout } from '../../../../src/services/payouts/conclude/conclude.ts';
import { NotConcluded } from '../../../../src/services/payouts/conclude/room.ts';
import { namedPlace } from '../../../../src/services/payouts/decisions.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';

type Stage = { readonly deps: Deps; readonly watchedChain: WatchedChain };

export type Concluding = ReturnType<typeof concluding>;

/** What an operator concludes, by the id of a payout or an address, and why that is refused. */
export function concluding({ deps, watchedChain }: Stage) {
  const actor = { kind: 'operator', name: 'ann', from: null } as const;
  const conclude = async (id: string, hash: string): Promise<Concluded> => {
    const place = await namedPlace(deps.orm.em.fork(), id);
    const { signal } = new AbortController();
    return await concludePayout({ ...deps, actor }, watchedChain, { place, hash, reason: 'seen', signal });
  };
  return Object.assign(conclude, {
    /** Why it is refused. */
    async refused(id: string, hash: string): Promise<string> {
      const error: unknown = await conclude(id, hash).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(NotConcluded);
      return (error as Error).message;
    },
  });
}
