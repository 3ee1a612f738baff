// What accounts are and what they have free: it decides what a transfer costs, and never what is paid out.
import type { AddressKey } from '../../address-key.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { readTronHeader } from '../block/header.ts';
import type { TronSession } from '../protocol.ts';

/** Bytes of bandwidth that an account may use now without paying for them. */
export type Bandwidth = { readonly free: number; readonly staked: number };

/** What a receiver is, in the view that nothing can replace. */
export type Receiver = 'unknown' | 'account' | 'contract';

/** A node's word, which is looked at only for its form. */
export async function receiverOn(session: TronSession, key: AddressKey): Promise<Receiver> {
  const account = await session.solidity('walletsolidity/getaccount', { address: `41${key}` });
  if (!isRecord(account)) throw new EndpointFailure('no account');
  const { address, type } = account;
  if (address === undefined) return 'unknown';
  if (String(address).toLowerCase() !== `41${key}`)
    throw new EndpointFailure('the account of another address');
  return type === 'Contract' ? 'contract' : 'account';
}

/** What an account has free at present; nothing for one that the chain does not know. */
export async function bandwidthOn(session: TronSession, key: AddressKey): Promise<Bandwidth> {
  return (await resourcesOn(session, key)).bandwidth;
}

/** Beside its bandwidth, the energy that an account has, and what a stake gives on this chain at present. */
export type Resources = {
  readonly bandwidth: Bandwidth;
  readonly energy: number;
  /** The energy of all stakes together, and all TRX that are staked for it. */
  readonly totalEnergy: number;
  readonly totalStake: number;
};

/** See {@link bandwidthOn}. */
export async function resourcesOn(session: TronSession, key: AddressKey): Promise<Resources> {
  const answer = await session.call('wallet/getaccountresource', { address: `41${key}` });
  if (!isRecord(answer)) throw new EndpointFailure('no resources of an account');
  const numberOf = (name: string): number => {
    const value = answer[name] ?? 0;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw new EndpointFailure('resources of an account that are no numbers');
    return value;
  };
  const leftOf = (limit: string, used: string): number => Math.max(0, numberOf(limit) - numberOf(used));
  return {
    bandwidth: { free: leftOf('freeNetLimit', 'freeNetUsed'), staked: leftOf('NetLimit', 'NetUsed') },
    energy: leftOf('EnergyLimit', 'EnergyUsed'),
    totalEnergy: numberOf('TotalEnergyLimit'),
    totalStake: numberOf('TotalEnergyWeight'),
  };
}

export type Reference = {
  readonly number: number;
  readonly bytes: string;
  readonly hash: string;
  readonly timestampMs: number;
};

/** The newest block that nothing can replace: a transaction that names it is in no other chain. */
export async function referenceOn(session: TronSession): Promise<Reference> {
  const block = await session.solidity('walletsolidity/getblock', { detail: false });
  const header = readTronHeader(block);
  if (!header) throw new EndpointFailure('no solidified block');
  const { number, hash, timestampMs } = header;
  return { number, bytes: hash.slice(12, 16), hash: hash.slice(16, 32), timestampMs };
}
