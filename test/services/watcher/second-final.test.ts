// The second word on what is final, of endpoints and by a clock that the test moves: without a chain.
import { expect } from 'chai';
import type { FinalBlock, NamedBlock } from '../../../src/chains/reader.ts';
import { createSecondFinal } from '../../../src/chains/rpc/second-final.ts';
import type { Pool, Session } from '../../../src/chains/rpc/types.ts';

const { signal } = new AbortController();
/** So long nothing is verified while another endpoint has not told; then the first one's word is enough. */
const PATIENCE_MS = 5_000;
/** An answer before this is no witness any more. */
const FRESH_MS = 10_000;
const ABSURD = 1_000_000_000;

/** What an endpoint calls final and what it has; undefined where it names none. */
type Other = { final: () => Promise<number | undefined> | number | undefined; newest?: number };

const blockOf = (host: string, number: number): NamedBlock => {
  return { host, number, hash: `0x${number}`, parentHash: `0x${number - 1}`, timestampMs: 0 };
};

function beside(...others: readonly Other[]) {
  const said: string[] = [];
  const clock = { nowMs: 0 };
  const sessions = others.map((_, at) => ({ host: `other-${at}`, endpoint: at + 1 }));
  const pool = {
    name: 'bsc',
    status: () => [{}, ...others],
    elsewhere: async (_: number, work: (session: unknown) => Promise<unknown>) => {
      for (const session of sessions) {
        const found = await work(session).catch(() => undefined);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  } as unknown as Pool<Session>;
  const witness = createSecondFinal({
    pool,
    ask: async ({ host, endpoint }, which) => {
      const other = others[endpoint - 1];
      if (which === 'newest') return blockOf(host, other?.newest ?? 0);
      const number = await other?.final();
      return number === undefined ? undefined : blockOf(host, number);
    },
    now: () => clock.nowMs,
    report: (text) => said.push(text),
  });
  const names = (number: number): Promise<FinalBlock> => witness.beside(blockOf('first', number), 0, signal);
  return { names, clock, said };
}
/** The height that counts, and which other one stands beside it. */
const heights = ({ number, second, isAwaited }: FinalBlock) =>
  isAwaited ? 'awaited' : [number, second?.number];

describe('the second word on what is final', () => {
  it('lets the lower of two count', async () => {
    expect(heights(await beside({ final: () => 98 }).names(100))).to.deep.equal([98, 100]);
    expect(heights(await beside({ final: () => 102 }).names(100))).to.deep.equal([100, 102]);
  });

  for (const [name, other] of Object.entries<Other>({
    'does not answer': { final: () => Promise.reject(new Error('away')) },
    'does not tell what is final': { final: () => undefined },
    'hangs far behind': { final: () => 60, newest: 62 },
    'names a height far above the chain': { final: () => ABSURD },
  }))
    it(`is not waited for where the other one ${name}`, async () => {
      const { names, said } = beside(other);
      expect(heights(await names(100))).to.deep.equal([100, undefined]);
      expect(said).to.deep.equal([
        'bsc: what is final is believed of first alone, because no second endpoint tells it in time',
      ]);
    });

  it('is awaited where the other one is slow, for some seconds, and counts once it was told', async () => {
    const told = Promise.withResolvers<number>();
    const { names, clock } = beside({ final: () => told.promise });
    expect(heights(await names(100))).to.equal('awaited');
    clock.nowMs = PATIENCE_MS - 1;
    expect(heights(await names(104))).to.equal('awaited');
    clock.nowMs = PATIENCE_MS;
    expect(heights(await names(104)), 'nobody waits for one that hangs').to.deep.equal([104, undefined]);
    told.resolve(103);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heights(await names(105))).to.deep.equal([103, 105]);
  });

  it('holds up nobody while it is asked for again: the answer before counts meanwhile, as long as it is fresh', async () => {
    const never = new Promise<number>(() => undefined);
    let asked = 0;
    const { names, clock } = beside({ final: () => (asked++ === 0 ? 100 : never) });
    await names(100);
    expect(heights(await names(105))).to.deep.equal([100, 105]);
    clock.nowMs = FRESH_MS;
    expect(heights(await names(105))).to.equal('awaited');
  });

  it('stops what one names far above it, is told with both hosts and heights, and when that is over', async () => {
    const other = { final: () => 2, newest: 200 };
    const { names, clock, said } = beside(other);
    expect(heights(await names(100))).to.deep.equal([2, 100]);
    expect(said.splice(0).join()).to.match(
      /^bsc: first names block 100 as final and other-0 block 2: nothing is completed above the lower one/,
    );
    Object.assign(other, { final: () => 101 });
    clock.nowMs = FRESH_MS;
    await names(101);
    expect(said).to.deep.equal(['bsc: what is final is confirmed by a second endpoint again']);
  });
});
