// Money at addresses of customers, and rows that ask the signer to sign, as a worker writes them.
import { randomBytes, randomUUID } from 'node:crypto';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { byNetwork } from '../../../src/chains/index.ts';
import { DepositAddress, type Payout } from '../../../src/db/entities/index.ts';
import { assetOf, type Currency, NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import { formatUnits } from '../../../src/domain/money.ts';
import type { SentPurpose } from '../../../src/domain/payouts/purpose.ts';
import { planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import type { testDeps } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';

/** Two that belong to nobody here, on each chain. */
export const DESTINATIONS: Readonly<Record<Network, readonly [string, string]>> = byNetwork(
  ({ addresses }) => [
    addresses.format(keyOfHex('d1'.repeat(20))),
    addresses.format(keyOfHex('d2'.repeat(20))),
  ],
);
export const GAS_PRICE = 1_000_000_000n;

export type Row = Record<string, unknown>;
export type Sql = <T = Row>(text: string, params?: unknown[]) => Promise<T[]>;
type TestDeps = Awaited<ReturnType<typeof testDeps>>;
/** What differs from the row that a worker would write. */
export type Asking = {
  readonly purpose?: SentPurpose;
  readonly attempt?: number;
  readonly units?: bigint;
  readonly terms?: unknown;
  readonly change?: Row;
};

/** A merchant's customers, what they paid, and what is asked for of it. */
export function moneyOf(deps: TestDeps, merchantId: string, sql: Sql) {
  const deposit = async (place: DepositAddress, currency: Currency, units: bigint): Promise<string> => {
    const { network, customerId } = place;
    const coins = formatUnits(units, assetOf(network, currency).decimals);
    const id = await pay(deps, customerId, { network, currency, coins });
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
    { network, addressKey }: Pick<DepositAddress, 'network' | 'addressKey'>,
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
  const ask = (payout: Payout, asking: Asking = {}): Promise<string> => askFor(deps, sql, payout, asking);
  const row = async (id: string): Promise<Row> =>
    (await sql('select * from sent_transactions where id = ?', [id]))[0] ?? {};
  /** A payout of money that came to an address of its own. */
  const planned = async (network: Network = 'bsc', currency: Currency = 'USDT', units = 10n ** 18n) => {
    const at = await place(network);
    await deposit(at, currency, units);
    return await plan(at, currency);
  };
  return { deposit, place, plan, planned, ask, row };
}

/** Asks for a signature as a worker will, and wakes the signer. */
async function askFor(deps: TestDeps, sql: Sql, payout: Payout, asking: Asking): Promise<string> {
  const id = randomUUID();
  const { purpose = 'payout', attempt = 1 } = asking;
  const { network } = payout;
  const terms =
    asking.terms ?? termsOf(network, purpose === 'payout' ? payout.currency : NATIVE_CURRENCY[network]);
  const gas = await sql<{ address: string }>('select address from gas_wallets where network = ?', [network]);
  const [from, to] =
    purpose === 'payout' ? [payout.address, payout.destination] : [gas[0]?.address ?? '', payout.address];
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
  // The guards of the database refuse most of what the signer has to refuse by itself.
  const names = Object.keys(row);
  await forced(
    deps,
    `insert into sent_transactions (${names.join(', ')}, created_at, updated_at)
     values (${names.map(() => '?').join(', ')}, now(), now())`,
    Object.values(row),
  );
  await sql("select pg_notify('signer', '')");
  return id;
}

/** A transfer to this address instead of the one that was planned. */
export const to = (address: string, network: Network = 'bsc'): Asking => ({
  change: { to_address: address, to_key: addressKeyOf(network, address) },
});

/** What a worker would ask for at this moment. */
export function termsOf(network: Network, currency: Currency, change: Row = {}): Row {
  const isNative = assetOf(network, currency).kind === 'native';
  const nowMs = Date.now();
  const terms: Record<Network, Row> = {
    bsc: {
      gas_limit: isNative ? '21000' : '60000',
      gas_price: GAS_PRICE.toString(),
      ...(isNative ? { nonce: 0 } : {}),
    },
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

/** Runs a statement past every guard of the database. */
export async function forced({ orm }: Pick<TestDeps, 'orm'>, text: string, params: unknown[]): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    await em.execute("set local session_replication_role = 'replica'");
    await em.execute(text, params);
  });
}
