// A merchant whose users change where it is paid out, and a clock that the test sets.
import { randomBytes } from 'node:crypto';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { Mode, Network } from '../../../src/domain/assets.ts';
import { createUser } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant, updateMerchant } from '../../../src/services/merchants/merchants.ts';
import type { AskedChains } from '../../../src/services/merchants/withdraw-addresses.ts';
import {
  askWithdrawChange,
  type CheckedChange,
  cancelWithdrawChange,
} from '../../../src/services/merchants/withdraw-changes.ts';
import { countWithdrawChanges } from '../../../src/services/merchants/withdraw-count.ts';
import { withdrawAddresses } from '../../../src/services/merchants/withdraw-notices.ts';
import type { TestApiOptions } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { shown } from '../payouts/stage.ts';

export const HOUR_S = 3_600;
/** Nobody's addresses. */
export const [A, B, C] = ['a1', 'b2', 'c3'].map((byte) => shown('bsc', keyOfHex(byte.repeat(20)))) as [
  string,
  string,
  string,
];
/** Nobody's address on Tron, by its repeated byte. */
export const onTron = (byte: string): string => shown('tron', keyOfHex(byte.repeat(20)));
/** No chain is watched, and nobody is asked about contracts. */
const NO_CHAINS: AskedChains = new Map();

/** A merchant with a user, over a database of its own, at a time that lies in the past. */
export async function startChangeStage(options: TestApiOptions = {}) {
  // In the order in which they were made: a time stamp may be put back, and a place in a table used again.
  let made = 0;
  const newId = () => {
    made += 1;
    return `00000000-0000-7000-8000-${made.toString(16).padStart(12, '0')}`;
  };
  const shop = await startShop({ ...options, deps: { newId, ...options.deps } });
  const { deps } = shop;
  const start = shop.clock.now.getTime();
  const operator: Deps = { ...deps, actor: { kind: 'operator', name: 'Olga', from: 'bastion' } };
  const newPerson = async (merchantId: string, email: string) =>
    (await createUser(operator, { merchantId, email })).userId;
  const EMAIL = 'ann@shop.example';
  const who = { merchantId: shop.merchantId, userId: await newPerson(shop.merchantId, EMAIL), email: EMAIL };
  const acting = (user: string): Deps => ({
    ...deps,
    actor: { kind: 'user', userId: user, from: '203.0.113.7' },
  });
  return {
    ...shop,
    operator,
    acting,
    get merchantId() {
      return who.merchantId;
    },
    get userId() {
      return who.userId;
    },
    get email() {
      return who.email;
    },
    get user() {
      return acting(who.userId);
    },
    /** From here on it is about another merchant and user, at the first time again, and without addresses. */
    renew: async () => {
      await force(
        deps,
        'delete from withdraw_changes; delete from withdraw_addresses; delete from gas_wallets; delete from outbox',
      );
      shop.clock.now = new Date(start);
      who.merchantId = (await createMerchant(deps, { name: 'Shop', subscriptionActive: true })).merchantId;
      who.email = `${randomBytes(6).toString('hex')}@shop.example`;
      who.userId = await newPerson(who.merchantId, who.email);
    },
    customer: async (mode: Mode = 'live') => await shop.customer(mode, who.merchantId),
    force: async (text: string, params: unknown[] = []) => await force(deps, text, params),
    newMerchant: async () =>
      (await createMerchant(operator, { name: 'Shop', subscriptionActive: true })).merchantId,
    newUser: async (merchantId: string) =>
      await newPerson(merchantId, `${randomBytes(6).toString('hex')}@shop.example`),
    ...wordsOf(shop, { operator, acting, who }),
  };
}

type Acting = {
  readonly operator: Deps;
  readonly acting: (user: string) => Deps;
  /** Whom it is about now. */
  readonly who: { readonly merchantId: string; readonly userId: string };
};

/** Short words for what is done to withdraw addresses, and for what became of them. */
function wordsOf({ deps, sql }: Shop, { operator, acting, who }: Acting) {
  return {
    ask: async (address: string | null, more: Partial<CheckedChange> = {}, merchantId = who.merchantId) =>
      await askWithdrawChange(acting(who.userId), merchantId, {
        network: 'bsc',
        address,
        contractAllowed: false,
        ...more,
      }),
    cancel: async (id: string, merchantId = who.merchantId) =>
      await cancelWithdrawChange(acting(who.userId), merchantId, { id }),
    set: async (address: string | null, network: Network = 'bsc', merchantId = who.merchantId) =>
      await updateMerchant(operator, { merchantId, withdraw: { [network]: address } }),
    count: async (chains: AskedChains = NO_CHAINS, as: Deps = deps) => await countWithdrawChanges(as, chains),
    present: async (network: Network = 'bsc', merchantId = who.merchantId) =>
      (await withdrawAddresses(deps, merchantId))[network],
    outcomes: async (merchantId = who.merchantId) =>
      await sql<{ id: string; address: string | null; outcome: string | null }>(
        'select id, address, outcome from withdraw_changes where merchant_id = ? order by id',
        [merchantId],
      ),
    trail: async (merchantId = who.merchantId) =>
      await sql<{ action: string; subject: string; before: unknown; after: unknown; by: string }>(
        `select action, subject, before, after, coalesce(by_name, user_id::text) as by
          from operator_actions where merchant_id = ? order by id`,
        [merchantId],
      ),
  };
}

/** As the owner of the tables writes, past what triggers hold. */
async function force(deps: Deps, text: string, params: unknown[] = []): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('set local session_replication_role = replica');
    await em.execute(text, params);
  });
}

export type ChangeStage = Awaited<ReturnType<typeof startChangeStage>>;
