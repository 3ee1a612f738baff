import { randomBytes } from 'node:crypto';
import type { ScannedBlock } from '../../src/chains/reader.ts';
import type { Deps } from '../../src/services/deps.ts';
import { atMost, inParallel, percentile, type Row, told } from '../bench.ts';
import { newCustomer, newEndpoint, newLink, newShop, withDatabase } from '../deps.ts';
import { openChain, paying, randomHash, type Times, writeBlock } from './written-block.ts';

const DEPOSITS = 600;
const STRANGE = 1_000;
const ROUNDS = 3;
const TOGETHER = 4;
const LINKS = 20;

/**
 * What one block costs to write: the first and the second read of many
 * deposits, of twice as many, of one customer's, and of strange tokens.
 */
export function run(): Promise<Row[]> {
  return withDatabase(async (deps) => {
    const { addresses, payer } = await makeStage(deps);
    const half = await median(deps, () => paying(addresses.slice(0, DEPOSITS)));
    const whole = await median(deps, () => paying(addresses));
    const ofOne = await median(deps, () => paying(Array.from({ length: DEPOSITS }, () => payer)));
    const strange = await median(deps, () => ({ unrecognised: strangers(addresses) }));
    const ratio = whole.firstMs / half.firstMs;
    return [
      within(`${DEPOSITS} deposits of one block, first read`, half.firstMs, 0.6),
      told(`${DEPOSITS} deposits of one block, second read`, seconds(half.secondMs)),
      told(`${2 * DEPOSITS} deposits of one block, first read`, seconds(whole.firstMs)),
      atMost('twice as many / as many', ratio.toFixed(2), [ratio, 2.2]),
      within(`${DEPOSITS} payments of one customer with open links, first read`, ofOne.firstMs, 0.6),
      within('1,000 strange tokens of one block, first read', strange.firstMs, 0.2),
    ];
  });
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const within = (figure: string, ms: number, most: number): Row =>
  atMost(figure, seconds(ms), [ms / 1_000, most], ' s');

async function makeStage(deps: Deps) {
  const shop = await newShop(deps);
  await newEndpoint(deps, shop, 'https://1.1.1.1/hook');
  const addresses: string[] = [];
  await inParallel(2 * DEPOSITS, TOGETHER, async (index) => {
    addresses.push((await newCustomer(deps, shop, `user-${index}`)).address);
  });
  const payer = await newCustomer(deps, shop, 'payer');
  for (let count = 0; count < LINKS; count += 1) await newLink(deps, shop, payer.id, 100_000n);
  await openChain(deps, 1);
  return { addresses, payer: payer.address };
}

function strangers(addresses: readonly string[]): ScannedBlock['unrecognised'] {
  const contract = `0x${randomBytes(20).toString('hex')}`;
  return addresses
    .slice(0, STRANGE)
    .map((to) => ({ txHash: randomHash(), to, contract, amountUnits: 1n, reason: 'another token' }));
}

async function median(deps: Deps, make: () => Partial<ScannedBlock>): Promise<Times> {
  const times: Times[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await writeBlock(deps, make()));
  const middle = (of: 'firstMs' | 'secondMs'): number =>
    percentile(
      times.map((one) => one[of]),
      0.5,
    );
  return { firstMs: middle('firstMs'), secondMs: middle('secondMs') };
}
