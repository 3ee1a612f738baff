import { randomBytes } from 'node:crypto';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { parseUnits } from '../../src/domain/money.ts';
import { eventually } from '../support/eventually.ts';
import { startTronNode } from '../tron/node.ts';
import type { DemoChain } from './chain.ts';
import type { Screen } from './screen.ts';

/** Tron's own is 3,000, and its 19 confirmations take a minute. */
const BLOCK_TIME_MS = 500;
const CONFIRMATIONS = 19;
const SOLID_DISTANCE = 18;
const DECIMALS = 6;
const FRESH_MS = 60_000;

/** A double of a Tron node with a USDT of 6 decimals on it, set up as a node of one's own. */
export async function startDemoTron(dataDir: string, screen: Screen): Promise<DemoChain> {
  const node = await startTronNode({
    blockTimeMs: BLOCK_TIME_MS,
    solidDistance: SOLID_DISTANCE,
    separateSolidity: true,
    dataDir,
    log: (line) => screen.line(`  node: ${line}`),
  });
  // Its chain begins in the past: what was sent before the first block of now would be too old for that.
  await eventually('the first block of now', () => node.head().header.timestampMs > Date.now() - FRESH_MS);
  screen.line(`  node: a double of Tron's on ${node.url}, in front of that EVM node`);
  screen.line(
    `  Tron is shortened: a block every ${BLOCK_TIME_MS / 1_000} s instead of 3 s. ${CONFIRMATIONS} confirmations, final ${SOLID_DISTANCE} blocks below the head: as on the main net`,
  );
  return {
    network: 'tron',
    name: 'Tron',
    env: {
      TRON_API_URLS: node.url,
      TRON_SOLIDITY_URLS: node.solidityUrl,
      TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
      TRON_CONFIRMATIONS: String(CONFIRMATIONS),
      // A node of one's own counts nothing.
      TRON_REQUESTS_PER_SECOND: '1000',
      TRON_REQUESTS_PER_DAY: '10000000',
    },
    withdraw: TRON_ADDRESSES.format(keyOfHex(randomBytes(20).toString('hex'))),
    gasAmount: '200',
    pay: ({ to, currency, amount }) =>
      node.pay({
        to: TRON_ADDRESSES.key(to),
        currency: currency === 'USDT' ? 'USDT' : 'TRX',
        units: parseUnits(amount, DECIMALS),
      }),
    stop: () => node.stop(),
  };
}
