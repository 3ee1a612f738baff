// Answers that say nothing about the chain: errors, limits, pages, broken ones, another chain's.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { ANSWERS, always, otherChain } from '../../../../dev/tron/faults.ts';
import type { TronAnswer, TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { ChainMismatch } from '../../../../src/chains/rpc/errors.ts';
import { proveIdentity } from '../../../../src/services/watcher/cursor.ts';
import { heal, paid, secondOf, states, tronStage } from './scenes.ts';

const KEY = 'e0b7-the-Key-of-the-operator';
const TIMEOUT_MS = 150;
const { signal } = new AbortController();

const json = (status: number, said: unknown): TronAnswer => ({
  status,
  body: JSON.stringify(said),
  headers: { 'content-type': 'application/json' },
});

/** How nothing is said, and what is written down of it. */
const NOTHING_SAID: Readonly<Record<string, readonly [fault: TronFault, reason: RegExp]>> = {
  'an exception with status 200': [
    always({ json: { Error: `class java.lang.NullPointerException : null ${KEY}` } }),
    /an error: class java\.lang\.NullPointerException : null \*\*\*/,
  ],
  'a ban that repeats the key': [
    always(json(403, { Error: `The key ${KEY} exceeds the frequency limit(15)` })),
    /http 403: The key \*\*\* exceeds/,
  ],
  silence: [always(ANSWERS.hang), /tron/],
};

describe('an endpoint of Tron that says nothing about the chain', () => {
  const live = tronStage({ others: 1, apiKey: KEY, timeoutMs: TIMEOUT_MS });
  afterEach(async () => {
    heal(live);
    live.restart();
    await live.catchUp();
  });
  const fail = (fault: TronFault): void => {
    live.endpoint.fault = fault;
    secondOf(live).fault = fault;
  };
  /** What operators can read of it. */
  const written = async (): Promise<string> => {
    const [cursor] = await live.rows('select fault, stops from chain_cursors');
    return [inspect(cursor, { depth: 9 }), inspect(live.api.lines, { depth: 9 }), ...live.reports].join('\n');
  };

  for (const [name, [fault, reason]] of Object.entries(NOTHING_SAID)) {
    it(`stops the chain, is told without the key, and is over by itself: ${name}`, async () => {
      const { address } = await paid(live, { currency: 'USDT', units: 70n });
      fail(fault);
      const failures = await live.tryToCatchUp(2);
      expect(failures).to.have.length(2);
      expect(failures[0]).to.match(reason);
      const [cursor] = await live.rows('select fault from chain_cursors');
      expect(cursor?.['fault']).to.match(reason);
      expect(await live.deposits(address)).to.deep.equal([]);
      heal(live);
      live.later(60_000);
      expect(await live.tryToCatchUp(1), 'it goes on with the same endpoints').to.deep.equal([]);
      await live.node.mine(5);
      expect(await live.tryToCatchUp(1)).to.deep.equal([]);
      expect(states(await live.deposits(address))).to.deep.equal(['70 USDT verified']);
      expect(await written()).not.to.include(KEY);
    });
  }

  it('is passed over for the other, so that nothing waits', async () => {
    for (const [name, [fault]] of Object.entries(NOTHING_SAID)) {
      const { address } = await paid(live, { currency: 'TRX', units: 71n });
      live.endpoint.fault = fault;
      live.later(60_000);
      expect(await live.tryToCatchUp(1), name).to.deep.equal([]);
      expect(states(await live.deposits(address)), name).to.deep.equal(['71 TRX']);
    }
  });

  it('is believed nothing where it comes back with another chain, also after a restart, and everything once that is over', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 73n });
    const [before] = await live.rows('select identity, scanned_number from chain_cursors');
    expect(before).to.include({ identity: live.node.genesisId });
    fail(otherChain);
    live.restart();
    expect(await live.catchUp().catch((error: unknown) => error)).to.be.instanceOf(ChainMismatch);
    const [reason] = await live.tryToCatchUp(1);
    expect(reason).to.match(/genesis block 0{16}(cd)+ instead of/);
    const refusal = await proveIdentity(live.deps, live.newReader(), signal).catch((error: unknown) => error);
    expect(refusal, 'no worker starts on it either').to.be.instanceOf(ChainMismatch);
    expect(await live.rows('select identity, scanned_number from chain_cursors')).to.deep.equal([before]);
    expect(await live.deposits(address)).to.deep.equal([]);
    heal(live);
    expect(await live.tryToCatchUp(2)).to.have.length.below(2);
    expect(states(await live.deposits(address))).to.deep.equal(['73 USDT']);
  });
});
