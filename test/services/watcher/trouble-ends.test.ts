import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Answer, RpcCall } from '../../../dev/support/fault-proxy.ts';
import { startTestWatcher, type TestWatcher } from './test-watcher.ts';

const BLOCK_MS = 450;
const TROUBLE_MS = 12_000;
/** From the end of the trouble until the head is reached and everything is recorded. */
const OVER_WITHIN_MS = 20_000;

const REFUSALS: readonly [name: string, answer: (call: RpcCall) => Answer][] = [
  ['with 429', () => ({ status: 429, body: '' })],
  [
    'with -32005',
    (call) => ({ json: { jsonrpc: '2.0', id: call.id, error: { code: -32005, message: 'limit exceeded' } } }),
  ],
];

/**
 * What the watcher does, without Temporal: one look after the other, a second of patience after a failure.
 */
async function watch(live: TestWatcher, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const waitMs = await live.catchUp().then(
      () => 75,
      () => 1_000,
    );
    await sleep(waitMs);
  }
}

describe('a watcher whose only endpoint was in trouble', function () {
  this.timeout(90_000);

  for (const [name, answer] of REFUSALS) {
    it(`has caught up within seconds after it refused everything ${name} for twelve seconds`, async () => {
      const live = await startTestWatcher();
      const stopped = new AbortController();
      let mining: NodeJS.Timeout | undefined;
      let watching: Promise<void> | undefined;
      try {
        const addresses = await Promise.all(Array.from({ length: 6 }, () => live.newAddress()));
        await live.catchUp();
        mining = setInterval(() => void live.chain.mine().catch(() => undefined), BLOCK_MS);
        watching = watch(live, stopped.signal);
        await sleep(2_000);
        live.proxy.fault = answer;
        for (const to of addresses) {
          await live.chain.send({ to, valueUnits: 7n });
          await sleep(TROUBLE_MS / addresses.length);
        }
        live.proxy.fault = undefined;
        const healed = performance.now();
        await eventually(
          'the head and every deposit, verified',
          async () => {
            const [counted] = await live.rows(
              'select count(*)::int as found from deposits where verified_at is not null',
            );
            const [cursor] = await live.rows('select scanned_number from chain_cursors');
            const head = Number.parseInt(String(await live.chain.anvil.rpc('eth_blockNumber', [])), 16);
            return counted?.['found'] === addresses.length && Number(cursor?.['scanned_number']) >= head - 2;
          },
          OVER_WITHIN_MS,
        );
        expect(performance.now() - healed).to.be.below(OVER_WITHIN_MS);
      } finally {
        clearInterval(mining);
        stopped.abort();
        await watching;
        await live.stop();
      }
    });
  }
});
