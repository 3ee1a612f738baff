import { randomBytes } from 'node:crypto';
import { createCustomer, createPaymentLink } from '../../dev/support/use-cases.ts';
import { Deposit, DepositAddress, PaymentLink } from '../../src/db/entities/index.ts';
import { assetOf, type Currency, type Mode, type Network } from '../../src/domain/assets.ts';
import { type DepositState, type FailureCode, happyPath } from '../../src/domain/deposit.ts';
import { parseUnits } from '../../src/domain/money.ts';
import { getAddressPageLink } from '../../src/services/address-pages/links.ts';
import { recordDeposit } from '../../src/services/deposits/record.ts';
import { applyTransition } from '../../src/services/deposits/transition.ts';
import type { Deps } from '../../src/services/deps.ts';
import type { NewPaymentLink } from '../../src/services/payment-links/create.ts';
import { lockPayers } from '../../src/services/payment-links/money.ts';
import { getPaymentLink } from '../../src/services/payment-links/reads.ts';
import { transact } from '../../src/services/transact.ts';
import { startTestApi, type TestApi, type TestApiOptions } from './gateway.ts';
import { payOut } from './payout-rows.ts';

export type Pay = {
  coins: string;
  network?: Network;
  currency?: Currency;
  at?: Date;
  state?: DepositState;
  hash?: string;
  block?: number;
};

/**
 * A shop over a real database, whose clock the test sets,
 * with short words for links and for money on a chain.
 */
export async function startShop(options: TestApiOptions = {}) {
  const clock = { now: new Date('2026-11-20T09:00:00Z') };
  const api: TestApi = await startTestApi({
    ...options,
    deps: { now: () => new Date(clock.now), ...options.deps },
  });
  const { deps } = api;
  const merchantId = api.merchant.id;
  const shop = {
    api,
    deps,
    merchantId,
    clock,
    /** Lets time pass, in seconds. */
    pass: (seconds: number) => {
      clock.now = new Date(clock.now.getTime() + seconds * 1_000);
    },
    sql: <T = Record<string, unknown>>(text: string, params: unknown[] = []) =>
      deps.orm.em.fork().execute<T[]>(text, params),
    /** A new customer, of the shop's own merchant where no other one is named. */
    customer: async (mode: Mode = 'live', of: string = merchantId) => {
      const names = { externalId: randomBytes(6).toString('hex'), email: null, name: null, metadata: {} };
      return (await createCustomer(deps, { merchantId: of, mode, ...names })).id;
    },
    /** The token of a customer's page. */
    pageToken: async (id: string, mode: Mode = 'live') =>
      (await getAddressPageLink(deps, { merchantId, mode, id, publicUrl: '' })).token,
    link: async (input: Partial<NewPaymentLink> & { usd?: string } = {}) => {
      const { usd = '25', ...more } = input;
      const terms = {
        merchantId,
        mode: 'live' as const,
        amountCents: parseUnits(usd, 2),
        publicUrl: 'https://pay.example',
      };
      return (await createPaymentLink(deps, { ...terms, ...more })).link;
    },
    /** A link as its merchant sees it. */
    view: async (id: string, mode: Mode = 'live') => await getPaymentLink(deps, { merchantId, mode, id }),
    row: async (id: string) => await deps.orm.em.fork().findOneOrFail(PaymentLink, id),
    deposit: async (id: string) => await deps.orm.em.fork().findOneOrFail(Deposit, id),
    /** The link that a deposit pays, or null. */
    linkOf: async (depositId: string) => (await shop.deposit(depositId)).paymentLinkId ?? null,
    /** Every `payment.completed` that was made for a link. */
    completions: async (linkId: string) =>
      await shop.sql("select id from events where type = 'payment.completed' and subject_id = ?", [linkId]),
    /** USDT arrives in a block of its own, as the watcher would record it, and goes on to a state. */
    pay: async (customerId: string, money: Pay) => await pay(deps, customerId, money),
    /** One step of a deposit. */
    move: async (id: string, to: DepositState, failureCode: FailureCode | null = null) =>
      await move(deps, id, to, failureCode),
    /** The chain was read up to a block of this time. */
    scanned: async (network: Network, minedAt: Date) => await scanned(deps, network, minedAt),
    stop: () => api.stop(),
  };
  return shop;
}

export type Shop = Awaited<ReturnType<typeof startShop>>;

let blocks = 1_000;

/**
 * Money, USDT unless told otherwise, arrives at a customer's address in a block of its own,
 * as the watcher would record it, and goes on to a state.
 */
export async function pay(deps: Deps, customerId: string, money: Pay): Promise<string> {
  const {
    coins,
    network = 'bsc',
    currency = 'USDT',
    at = deps.now(),
    state = 'completed',
    hash = `0x${randomBytes(32).toString('hex')}`,
  } = money;
  blocks += 1;
  const address = await deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network });
  const { deposit } = await patiently(() =>
    transact(deps, async (tx) => {
      return await recordDeposit(tx, deps, {
        mode: address.mode,
        simulated: false,
        merchantId: address.merchantId,
        customerId,
        network,
        currency,
        address: address.address,
        addressKey: address.addressKey,
        fromAddress: null,
        transactionHash: hash,
        amountUnits: parseUnits(coins, assetOf(network, currency).decimals),
        blockNumber: money.block ?? blocks,
        minedAt: at,
        blockHash: `0x${randomBytes(32).toString('hex')}`,
        headNumber: blocks,
        price: { usd8: 100_000_000n, source: 'test', at, stale: false },
      });
    }),
  );
  for (const to of happyPath(state).slice(1))
    await move(deps, deposit.id, to, to === 'failed' ? 'REORGED' : null);
  return deposit.id;
}

async function move(
  deps: Deps,
  id: string,
  to: DepositState,
  failureCode: FailureCode | null,
): Promise<void> {
  const { customerId } = await deps.orm.em.fork().findOneOrFail(Deposit, id);
  if (to === 'settled') {
    await deps.orm.em.fork().execute('update deposits set verified_at = now() where id = ?', [id]);
    await patiently(() => payOut(deps, id));
    return;
  }
  await patiently(() =>
    transact(deps, async (tx) => {
      await lockPayers(tx.em, [customerId]);
      const deposit = await tx.em.findOneOrFail(Deposit, id);
      await applyTransition(tx, deps, deposit, { to, failureCode, headNumber: null });
    }),
  );
}

const TRIES = 10;
/** The codes of a statement whose time limit, or whose limit for a lock, is over. */
const TOO_LONG = ['57014', '55P03'];

/**
 * Work that waits for the customer's lock longer than a statement may take is
 * tried again, as the watcher and the actors do.
 */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (
        tries === TRIES ||
        !(error instanceof Error && 'code' in error && TOO_LONG.includes(String(error.code)))
      )
        throw error;
    }
  }
}

async function scanned(deps: Deps, network: Network, minedAt: Date): Promise<void> {
  const em = deps.orm.em.fork();
  blocks += 1;
  await em.execute(
    'insert into chain_blocks (network, number, hash, parent_hash, mined_at) values (?, ?, ?, ?, ?)',
    [network, blocks, `0x${blocks}`, '0x', minedAt],
  );
  await em.execute(
    `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
       anchored_number, head_number, finalized_number, moved_at,
       finalized_moved_at, polled_at, version, created_at) values (?, 1, ?, '0x', 0, 0, ?, 0, now(), now(),
         now(), 1, now())
     on conflict (network) do update set scanned_number = excluded.scanned_number,
       head_number = excluded.head_number`,
    [network, blocks, blocks],
  );
}
