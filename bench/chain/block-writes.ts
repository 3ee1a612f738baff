import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer, createEndpoint, createPaymentLink } from '../../dev/support/use-cases.ts';
import type { ScannedBlock } from '../../src/chains/reader.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf } from '../bench-deps.ts';
import type { Row } from '../row.ts';
import { openChain, paying, randomHash, type Times, writeBlock } from './written-block.ts';

const DEPOSITS = 600;
const ROUNDS = 3;
const TOGETHER = 4;

type Stage = { readonly deps: Deps; readonly addresses: readonly string[]; readonly payer: string };

/**
 * What one block costs to write: the first and the second read of many
 * deposits, of twice as many, of one customer's, and of strange tokens.
 */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-blocks-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  const orm = await openOrm({ url: postgres.url, poolSize: 4, applicationName: 'bench' });
  try {
    await orm.migrator.up();
    const plain = depsOf(orm);
    const payments: Deps['settings']['payments'] = { ...plain.settings.payments, watchedNetworks: ['bsc'] };
    const stage = await makeStage({
      ...plain,
      xpubs: testXpubs(),
      settings: { ...plain.settings, payments },
    });
    const half = await median(stage, () => paying(stage.addresses.slice(0, DEPOSITS)));
    const whole = await median(stage, () => paying(stage.addresses));
    const oneCustomer = await median(stage, () =>
      paying(Array.from({ length: DEPOSITS }, () => stage.payer)),
    );
    const strange = await median(stage, () => ({ unrecognised: strangers(stage.addresses) }));
    return rowsOf({ half, whole, oneCustomer, strange });
  } finally {
    await orm.close(true);
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf({
  half,
  whole,
  oneCustomer,
  strange,
}: Record<'half' | 'whole' | 'oneCustomer' | 'strange', Times>): Row[] {
  const row = (figure: string, ms: number, most?: number): Row => ({
    figure,
    value: `${(ms / 1_000).toFixed(2)} s`,
    ...(most === undefined ? { goal: '', met: true } : { goal: `<= ${most} s`, met: ms <= most * 1_000 }),
  });
  const ratio = whole.firstMs / half.firstMs;
  return [
    row(`${DEPOSITS} deposits of one block, first read`, half.firstMs, 0.6),
    row(`${DEPOSITS} deposits of one block, second read`, half.secondMs),
    row(`${2 * DEPOSITS} deposits of one block, first read`, whole.firstMs),
    { figure: 'twice as many / as many', value: ratio.toFixed(2), goal: '<= 2.2', met: ratio <= 2.2 },
    row(`${DEPOSITS} payments of one customer with open links, first read`, oneCustomer.firstMs, 0.6),
    row('1,000 strange tokens of one block, first read', strange.firstMs, 0.2),
  ];
}

async function makeStage(deps: Deps): Promise<Stage> {
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'live' as const };
  await createEndpoint(deps, { ...scope, url: 'https://1.1.1.1/hook', events: ['*'], description: null });
  const make = async (name: string): Promise<{ id: string; address: string }> => {
    const customer = await createCustomer(deps, {
      ...scope,
      externalId: name,
      email: null,
      name: null,
      metadata: {},
    });
    return {
      id: customer.id,
      address: customer.addresses.find((one) => one.network === 'bsc')?.address.toLowerCase() ?? '',
    };
  };
  const addresses: string[] = [];
  for (let count = 0; count < 2 * DEPOSITS; count += TOGETHER) {
    const made = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) => make(`user-${count + index}`)),
    );
    addresses.push(...made.map((one) => one.address));
  }
  const payer = await make('payer');
  for (let count = 0; count < 20; count++)
    await createPaymentLink(deps, {
      ...scope,
      customerId: payer.id,
      amountCents: 100_000n,
      publicUrl: 'https://pay.example',
    });
  await openChain(deps, 1);
  return { deps, addresses, payer: payer.address };
}

function strangers(addresses: readonly string[]): ScannedBlock['unrecognised'] {
  const contract = `0x${randomBytes(20).toString('hex')}`;
  return addresses
    .slice(0, 1_000)
    .map((to) => ({ txHash: randomHash(), to, contract, amountUnits: 1n, reason: 'another token' }));
}

async function median(stage: Stage, make: () => Partial<ScannedBlock>): Promise<Times> {
  const times: Times[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await writeBlock(stage.deps, make()));
  const middle = (of: (one: Times) => number): number =>
    times.map(of).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  return { firstMs: middle((one) => one.firstMs), secondMs: middle((one) => one.secondMs) };
}
