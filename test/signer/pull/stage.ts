// A merchant with money at our addresses, payouts that ask to be signed, and a signer of one's own.
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { byNetwork, CHAINS } from '../../../src/chains/index.ts';
import type { Transfers } from '../../../src/chains/transfer.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { Deposit, DepositAddress } from '../../../src/db/entities/index.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import { happyPath } from '../../../src/domain/deposit.ts';
import type { SentPurpose } from '../../../src/domain/payouts/purpose.ts';
import { recordDeposit } from '../../../src/services/deposits/record.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { createMerchant, updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { lockPayers } from '../../../src/services/payment-links/money.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas-wallets.ts';
import { planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { runSigner, type SignerDeps } from '../../../src/signer/pull/loop.ts';
import { createWallet, readPublicParts } from '../../../src/signer/wallet-file.ts';
import { type LoggedLine, testDeps } from '../../support/gateway.ts';
import { forced, insertForced } from './forced.ts';

export const PASSPHRASE = 'a passphrase that is nowhere else: 7f3a';
/** Two that belong to nobody here, on each chain. */
export const DESTINATIONS: Readonly<Record<Network, readonly [string, string]>> = byNetwork(
  ({ addresses }) => [
    addresses.format(keyOfHex('d1'.repeat(20))),
    addresses.format(keyOfHex('d2'.repeat(20))),
  ],
);
export const GAS_PRICE = 1_000_000_000n;

type Row = Record<string, unknown>;
/** What differs from the row that a worker would write. */
export type Asking = {
  readonly purpose?: SentPurpose;
  readonly attempt?: number;
  readonly units?: bigint;
  readonly terms?: unknown;
  readonly change?: Row;
};

export type SignerStage = Awaited<ReturnType<typeof startSignerStage>>;

/** Starts nothing but the database; `signer` starts a signer. */
export async function startSignerStage() {
  const database = await migratedDatabase();
  const lines: LoggedLine[] = [];
  const folder = await tempDir('signer');
  const files = {
    seedFile: join(folder, 'wallet.json'),
    passphraseFile: join(folder, 'passphrase'),
    journalFile: join(folder, 'journal'),
  };
  writeFileSync(files.passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  await createWallet({ file: files.seedFile, passphrase: PASSPHRASE, phrase: TEST_PHRASE, now: new Date() });
  const box = createSecretBox(SECRETS_KEY);
  const deps = await testDeps(database.url, lines, { deps: { secretBox: box } });
  const { merchantId } = await createMerchant(deps, {
    name: 'Shop',
    subscriptionActive: true,
    withdraw: byNetwork(({ network }) => DESTINATIONS[network][0]),
  });
  const { gas } = await readPublicParts(files.seedFile);
  await publishGasWallets(deps, gas);
  const sql = <T = Row>(text: string, params: unknown[] = []) =>
    deps.orm.em.fork().execute<T[]>(text, params);
  await sql('update gas_wallets set noted_at = now()');
  const stops: (() => Promise<void>)[] = [];
  return {
    database,
    deps,
    files,
    gas,
    lines,
    merchantId,
    sql,
    folder,
    ...moneyOf(deps, merchantId, sql),
    /** Writes as nobody may: past every guard of the database. */
    force: (text: string, params: unknown[] = []) => forced(deps, text, params),
    /** The row of what was asked for, once it is signed or refused. */
    decided: (id: string) => decided(sql, id),
    /** Sets the withdraw address as an operator does. */
    setDestination: (network: Network, address: string, of = merchantId) =>
      updateMerchant(deps, { merchantId: of, withdraw: { [network]: address } }),
    signerDeps: (change: Partial<SignerDeps> = {}) => signerDepsOf(deps.orm, files, lines, change),
    /** Runs a signer in this process until `stop`. */
    async signer(change: Partial<SignerDeps> = {}) {
      const abort = new AbortController();
      const done = runSigner(await signerDepsOf(deps.orm, files, lines, change), abort.signal);
      const stop = async (): Promise<void> => {
        abort.abort(new Error('the test stops the signer'));
        await done;
      };
      stops.push(stop);
      return { stop };
    },
    async stopSigners() {
      await Promise.all(stops.map((stop) => stop()));
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      await deps.orm.close(true);
      await database.drop();
    },
  };
}

type Sql = <T = Row>(text: string, params?: unknown[]) => Promise<T[]>;
type TestDeps = Awaited<ReturnType<typeof testDeps>>;

async function decided(sql: Sql, id: string): Promise<Row> {
  return await eventually('the row being decided', async () => {
    const [row] = await sql('select * from sent_transactions where id = ?', [id]);
    return row && (row['state'] !== 'asked' || row['refused'] !== null) ? row : undefined;
  });
}

async function signerDepsOf(
  orm: TestDeps['orm'],
  files: Pick<SignerDeps, 'seedFile' | 'passphraseFile' | 'journalFile'>,
  lines: LoggedLine[],
  change: Partial<SignerDeps>,
): Promise<SignerDeps> {
  const write = (level: string) => (fields: object, text: string) =>
    void lines.push({ level, text, fields: fields as Record<string, unknown> });
  const log = { info: write('info'), warn: write('warn'), error: write('error'), debug: write('debug') };
  return {
    orm,
    ...files,
    log: log as unknown as SignerDeps['log'],
    now: () => new Date(),
    keys: [createSecretBox(SECRETS_KEY)],
    transfers: await testTransfers(),
    limits: { perHour: () => undefined, perDay: () => undefined },
    newDestinationAfterMs: 0,
    idle: false,
    pollMs: 50,
    retryMs: 50,
    ...change,
  };
}

/** How transfers are built with nothing but defaults configured. */
export async function testTransfers(env: NodeJS.ProcessEnv = {}): Promise<Record<Network, Transfers>> {
  const config = loadConfig(env, { role: 'none' });
  const all = CHAINS.map(async (chain) => [
    chain.network,
    await chain.transfers(config.chains[chain.network]),
  ]);
  return Object.fromEntries(await Promise.all(all));
}

function moneyOf(deps: TestDeps, merchantId: string, sql: Sql) {
  const deposit = async (place: DepositAddress, currency: Currency, units: bigint): Promise<string> => {
    const id = await recorded(deps, place, currency, units);
    await sql('update deposits set verified_at = now() where id = ?', [id]);
    return id;
  };
  const place = async (network: Network, of = merchantId): Promise<DepositAddress> => {
    const names = { externalId: randomBytes(6).toString('hex'), email: null, name: null, metadata: {} };
    const { id } = await createCustomer(deps, { merchantId: of, mode: 'live', ...names });
    return await deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId: id, network });
  };
  /** Plans a payout of everything at an address. */
  const plan = async (
    { network, addressKey }: DepositAddress,
    currency: Currency,
    of = merchantId,
    destination = '',
  ) => {
    const [set] = await sql<{ address: string }>(
      'select address from withdraw_addresses where merchant_id = ? and network = ?',
      [of, network],
    );
    const payout = await transact(deps, ({ em }) =>
      planPayout(em, deps, { network, addressKey, currency, destination: set?.address ?? destination }),
    );
    if (!payout) throw new Error('there is nothing to pay out');
    return payout;
  };
  type Planned = Awaited<ReturnType<typeof plan>>;
  /** Asks for a signature as a worker will. */
  const ask = async (payout: Planned, asking: Asking = {}): Promise<string> => {
    const id = randomUUID();
    const { purpose = 'payout', attempt = 1 } = asking;
    const { network } = payout;
    const terms =
      asking.terms ?? termsOf(network, purpose === 'payout' ? payout.currency : NATIVE_CURRENCY[network]);
    const gas = (
      await sql<{ address: string }>('select address from gas_wallets where network = ?', [network])
    )[0];
    const [from, to] =
      purpose === 'payout' ? [payout.address, payout.destination] : [gas?.address ?? '', payout.address];
    const row: Row = {
      id,
      network,
      purpose,
      attempt,
      state: 'asked',
      payout_id: payout.id,
      from_address: from,
      from_key: addressKeyOf(network, from),
      to_address: to,
      to_key: addressKeyOf(network, to),
      currency: purpose === 'payout' ? payout.currency : NATIVE_CURRENCY[network],
      amount_units: String(asking.units ?? (purpose === 'payout' ? defaultUnits(payout, terms) : 1_000_000n)),
      terms: JSON.stringify(terms),
      ...asking.change,
    };
    await insertForced(deps, row);
    return id;
  };
  const row = async (id: string): Promise<Row> =>
    (await sql('select * from sent_transactions where id = ?', [id]))[0] ?? {};
  return { deposit, place, plan, ask, row };
}

/** What a worker would ask for at this moment. */
export function termsOf(network: Network, currency: Currency, change: Row = {}): Row {
  const isNative = assetOf(network, currency).kind === 'native';
  const nowMs = Date.now();
  const terms: Record<Network, Row> = {
    bsc: { gas_limit: isNative ? '21000' : '60000', gas_price: GAS_PRICE.toString() },
    tron: {
      fee_limit: isNative ? '0' : '30000000',
      ref_block_bytes: 'a1b2',
      ref_block_hash: '00112233445566aa',
      timestamp: nowMs,
      expiration: nowMs + 600_000,
    },
  };
  return { ...terms[network], ...change };
}

/** Everything of a token; of a coin, what its fee leaves. */
function defaultUnits({ network, currency, grossUnits }: PayoutSums, terms: unknown): bigint {
  if (assetOf(network, currency).kind === 'token') return grossUnits;
  const { gas_limit: limit, gas_price: price } = terms as Record<string, string>;
  return network === 'bsc' ? grossUnits - BigInt(limit ?? 0) * BigInt(price ?? 0) : grossUnits - 300_000n;
}

type PayoutSums = { readonly network: Network; readonly currency: Currency; readonly grossUnits: bigint };

async function recorded(
  deps: TestDeps,
  place: DepositAddress,
  currency: Currency,
  units: bigint,
): Promise<string> {
  const { network, mode, merchantId, customerId, address, addressKey } = place;
  const { deposit } = await transact(deps, (tx) =>
    recordDeposit(tx, deps, {
      mode,
      merchantId,
      customerId,
      network,
      currency,
      address,
      addressKey,
      simulated: false,
      fromAddress: null,
      transactionHash: `0x${randomBytes(32).toString('hex')}`,
      amountUnits: units,
      blockNumber: 1_000,
      minedAt: deps.now(),
      blockHash: `0x${randomBytes(32).toString('hex')}`,
      headNumber: 1_000,
      price: { usd8: 100_000_000n, source: 'test', at: deps.now(), stale: false },
    }),
  );
  for (const to of happyPath('completed').slice(1))
    await transact(deps, async (tx) => {
      await lockPayers(tx.em, [customerId]);
      const row = await tx.em.findOneOrFail(Deposit, deposit.id);
      await applyTransition(tx, deps, row, { to, failureCode: null, headNumber: null });
    });
  return deposit.id;
}
