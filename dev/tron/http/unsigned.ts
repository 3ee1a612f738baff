// Transactions that nobody has signed yet, as the node builds them.
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { Chain } from '../chain.ts';
import type { Message } from '../messages.ts';
import { buildRaw, readSigned } from '../transactions.ts';
import type { Signed } from '../types.ts';

const EXPIRES_MS = 60_000;

/** What a call would be: from whom, to which contract, with what. */
export type Trigger = {
  readonly from: AddressKey;
  readonly to: AddressKey | undefined;
  readonly sun: bigint;
  readonly data: string;
};

/** A new transaction that refers to the newest irreversible block and expires in a minute. */
export function unsigned(
  chain: Chain,
  input: {
    readonly type: string;
    readonly value: Message;
    readonly feeLimit?: bigint;
    readonly memo?: string;
  },
): Signed {
  const refBlockId = chain.blocks.at(chain.solidHeight)?.id ?? '';
  const expirationMs = chain.headMs + EXPIRES_MS;
  return readSigned(buildRaw({ ...input, refBlockId, expirationMs, timestampMs: Date.now() }), []);
}

/** The same for a call of a contract. */
export function unsignedCall(chain: Chain, { from, to, sun, data }: Trigger, feeLimit: bigint): Signed {
  const value = {
    owner_address: `41${from}`,
    contract_address: to === undefined ? '' : `41${to}`,
    call_value: sun,
    data,
  };
  return unsigned(chain, { type: 'TriggerSmartContract', value: nonZero(value), feeLimit });
}

/** A message without its zeros, which are not on the wire. */
export function nonZero(message: Message): Message {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== 0n && value !== ''));
}
