// What transactions change that is not money on the EVM node: accounts, permissions, other tokens.
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import type { Message } from '../messages.ts';
import type { Executed, Outcome, Signed } from '../types.ts';
import type { Account, Accounts, Permission } from './accounts.ts';
import { newAccountOf } from './charges.ts';
import type { Stakes } from './energy.ts';
import type { Evm, EvmCall } from './evm.ts';
import type { Prices } from './prices.ts';
import { keyIn } from './rules.ts';

/** Where burned TRX ends on the EVM node. */
const NOWHERE = keyOfHex('00'.repeat(20));

export type Moment = {
  /** The block that it is going to be in, if nothing comes between. */
  readonly height: number;
  readonly headMs: number;
};
export type Books = Stakes & {
  readonly evm: Evm;
  readonly accounts: Accounts;
  readonly prices: Prices;
  /** Whether the code of a transaction takes longer than a block allows. */
  readonly isTooSlow: (signed: Signed) => boolean;
};

/** What changes accounts and runs no code. A stake that is broadcast gives nothing; one by the node does. */
export function keepBooks(accounts: Accounts, signed: Signed, moment: Moment): void {
  if (signed.type === 'AccountPermissionUpdateContract') {
    permit(accounts, signed);
    return;
  }
  const born = newAccountOf(signed, accounts);
  if (born) activate(accounts, born, moment);
  if (signed.type === 'TransferAssetContract') moveAsset(accounts, signed);
}

function moveAsset(accounts: Accounts, signed: Signed): void {
  const id = Buffer.from(String(signed.value['asset_name']), 'hex').toString('utf8');
  const amount = (signed.value['amount'] ?? 0n) as bigint;
  const change = (key: AddressKey, by: bigint): void => {
    const account = accounts.get(key);
    if (account)
      accounts.set({ ...account, assets: { ...account.assets, [id]: (account.assets?.[id] ?? 0n) + by } });
  };
  change(signed.owner, -amount);
  change(keyIn(signed, 'to_address'), amount);
}

function permit(accounts: Accounts, { owner: key, value }: Signed): void {
  const account = accounts.get(key);
  if (!account) return;
  const [active] = (value['actives'] ?? []) as readonly Message[];
  const owner = value['owner'] as Message | undefined;
  accounts.set({
    ...account,
    ...(owner ? { owner: permissionOf(owner) } : {}),
    ...(active ? { active: permissionOf(active) } : {}),
  });
}

function permissionOf(said: Message): Permission {
  const keys = ((said['keys'] ?? []) as readonly Message[]).map(({ address, weight = 1n }) => ({
    key: keyOfHex(String(address), 2),
    weight: weight as bigint,
  }));
  return { threshold: (said['threshold'] ?? 1n) as bigint, keys };
}

/** Makes an account, where there is none; `maker` made it where it is a contract. */
export function activate(
  accounts: Accounts,
  key: AddressKey,
  { height, headMs }: Moment,
  maker?: AddressKey,
): void {
  if (accounts.get(key)) return;
  const account: Account = { key, createdMs: headMs, createdAt: height, netUsed: 0n, netUsedMs: 0 };
  accounts.set(maker ? { ...account, maker } : account);
}

/** Whether there is code; one that was put there behind the double's back is found in the newest block. */
export async function isContract(books: Books, key: AddressKey, { height }: Moment): Promise<boolean> {
  const account = books.accounts.get(key);
  return account ? account.maker !== undefined : (await books.evm.code(key, height - 1)) !== '';
}

/** Puts what was decided into the next block of the EVM node: the deed, then what it costs. */
export async function settle(
  { evm }: Books,
  signed: Signed,
  outcome: Outcome,
  call: EvmCall | undefined,
): Promise<Executed> {
  const burned = outcome.netFee + outcome.energyFee + outcome.systemFee;
  const calls = [
    ...(call ? [call] : []),
    ...(burned > 0n ? [{ from: signed.owner, to: NOWHERE, sun: burned }] : []),
  ];
  const sent: Executed['evm'][number][] = [];
  for (const one of calls) sent.push({ hash: await evm.send(one), succeeds: true });
  return { signed, outcome, evm: sent };
}
