// What tests send: built, signed and broadcast by the same rules as everybody's transactions.
import type { AddressKey } from '../../src/chains/address-key.ts';
import type { Chain } from './chain.ts';
import { nonZero } from './http/unsigned.ts';
import { sha256 } from './ids.ts';
import type { Message } from './messages.ts';
import { type KeyPair, sign } from './signing.ts';
import { buildRaw, readSigned } from './transactions.ts';
import type { Signed } from './types.ts';

const EXPIRES_MS = 600_000;
const FEE_LIMIT = 1_000_000_000n;

export type Send = {
  readonly type: string;
  /** What the contract says, without its owner. */
  readonly value: Message;
  /** Unset: the first account. */
  readonly from?: KeyPair | undefined;
  readonly feeLimit?: bigint | undefined;
  /** Hex. */
  readonly memo?: string | undefined;
  readonly expiresInMs?: number | undefined;
  readonly permissionId?: bigint | undefined;
  /** Unset: the sender alone. */
  readonly signers?: readonly KeyPair[] | undefined;
};
type Call = Omit<Send, 'type' | 'value'> & { readonly sun?: bigint | undefined };

export type Wallet = {
  send(transaction: Send): Promise<string>;
  call(call: Call & { readonly to: AddressKey; readonly data: string }): Promise<string>;
  create(call: Call & { readonly bytecode: string }): Promise<string>;
  /** Broadcasts one again that was sent here before. Throws a sentence for any other. */
  again(txId: string): Promise<void>;
};

/** A wallet that signs for these accounts. */
export function createWallet(chain: Chain, accounts: readonly KeyPair[]): Wallet {
  const sent = new Map<string, Signed>();
  // No two transactions are the same, however quickly they follow.
  let lastMs = 0;

  const send: Wallet['send'] = async (transaction) => {
    const { type, value, from = accounts[0] as KeyPair, feeLimit, memo, permissionId } = transaction;
    const { expiresInMs = EXPIRES_MS, signers = [from] } = transaction;
    lastMs = Math.max(lastMs + 1, Date.now());
    const raw = buildRaw({
      type,
      value: nonZero({ owner_address: `41${from.address}`, ...value }),
      refBlockId: chain.blocks.at(chain.solidHeight)?.id ?? '',
      expirationMs: chain.headMs + expiresInMs,
      timestampMs: lastMs,
      ...(feeLimit === undefined ? {} : { feeLimit }),
      ...(memo === undefined ? {} : { memo }),
      ...(permissionId === undefined ? {} : { permissionId }),
    });
    const id = sha256(raw).toString('hex');
    const signed = readSigned(
      raw,
      signers.map(({ privateKey }) => sign(id, privateKey)),
    );
    await chain.broadcast(signed);
    sent.set(id, signed);
    return id;
  };

  return {
    send,
    call: ({ to, data, sun = 0n, feeLimit = FEE_LIMIT, ...rest }) =>
      send({
        ...rest,
        feeLimit,
        type: 'TriggerSmartContract',
        value: { contract_address: `41${to}`, call_value: sun, data },
      }),
    create: ({ bytecode, sun = 0n, feeLimit = FEE_LIMIT, from = accounts[0] as KeyPair, ...rest }) =>
      send({
        ...rest,
        from,
        feeLimit,
        type: 'CreateSmartContract',
        value: {
          new_contract: nonZero({
            origin_address: `41${from.address}`,
            bytecode,
            call_value: sun,
            consume_user_resource_percent: 100n,
            origin_energy_limit: 10_000_000n,
          }),
        },
      }),
    again: async (txId) => {
      const signed = sent.get(txId);
      if (!signed) throw new Error(`transaction ${txId} was not sent here`);
      await chain.broadcast(signed);
    },
  };
}
