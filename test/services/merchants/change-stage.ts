// A merchant whose users change where it is paid out, and a clock that the test sets.
import { randomBytes } from 'node:crypto';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { Network } from '../../../src/domain/assets.ts';
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
import { startShop } from '../../support/payment-shop.ts';
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
  const operator: Deps = { ...deps, actor: { kind: 'operator', name: 'Olga', from: 'bastion' } };
  const { userId } = await createUser(operator, { merchantId: shop.merchantId, email: 'ann@shop.example' });
  const acting = (user: string): Deps => ({
    ...deps,
    actor: { kind: 'user', userId: user, from: '203.0.113.7' },
  });
  const checked = (address: string | null, more: Partial<CheckedChange> = {}): CheckedChange => ({
    network: 'bsc',
    address,
    contractAllowed: false,
    ...more,
  });
  return {
    ...shop,
    operator,
    userId,
    acting,
    user: acting(userId),
    newMerchant: async () =>
      (await createMerchant(operator, { name: 'Shop', subscriptionActive: true })).merchantId,
    newUser: async (merchantId: string) =>
      (
        await createUser(operator, {
          merchantId,
          email: `${randomBytes(6).toString('hex')}@shop.example`,
        })
      ).userId,
    ask: async (address: string | null, more: Partial<CheckedChange> = {}, merchantId = shop.merchantId) =>
      await askWithdrawChange(acting(userId), merchantId, checked(address, more)),
    cancel: async (id: string, merchantId = shop.merchantId) =>
      await cancelWithdrawChange(acting(userId), merchantId, { id }),
    set: async (address: string | null, network: Network = 'bsc', merchantId = shop.merchantId) =>
      await updateMerchant(operator, { merchantId, withdraw: { [network]: address } }),
    count: async (chains: AskedChains = NO_CHAINS, as: Deps = deps) => await countWithdrawChanges(as, chains),
    present: async (network: Network = 'bsc', merchantId = shop.merchantId) =>
      (await withdrawAddresses(deps, merchantId))[network],
    outcomes: async (merchantId = shop.merchantId) =>
      await shop.sql<{ id: string; address: string | null; outcome: string | null }>(
        `select id, address, outcome from withdraw_changes where merchant_id = ?
          order by id`,
        [merchantId],
      ),
    trail: async (merchantId = shop.merchantId) =>
      await shop.sql<{ action: string; subject: string; before: unknown; after: unknown; by: string }>(
        `select action, subject, before, after, coalesce(by_name, user_id::text) as by
          from operator_actions where merchant_id = ? order by id`,
        [merchantId],
      ),
  };
}

export type ChangeStage = Awaited<ReturnType<typeof startChangeStage>>;
