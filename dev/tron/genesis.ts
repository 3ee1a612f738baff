// Block 0: it has neither height nor time, and no transaction of it succeeded.
import type { AddressKey } from '../../src/chains/address-key.ts';
import { blockOf } from './blocks.ts';
import { sha256, transactionBytes, transactionRoot } from './ids.ts';
import { CONTRACTS, encode, type Message, RAW } from './messages.ts';
import type { Block, Executed } from './types.ts';

export type Genesis = readonly { readonly address: AddressKey; readonly sun: bigint }[];

const NOTE = Buffer.from('A new system must allow existing systems to be linked together').toString('hex');
const ZERO = Buffer.from('0x000000000000000000000').toString('hex');
const TYPE = 'TransferContract';

/** The first block, which gives each of these accounts what it begins with. */
export function genesisBlock(genesis: Genesis, mark: number): Block {
  const transactions = genesis.map(given);
  const root = transactionRoot(transactions.map(({ signed }) => transactionBytes(signed.raw, [])));
  const header = {
    number: 0,
    timestampMs: 0,
    root,
    parentHash: '0'.repeat(64),
    witness: `41${NOTE}`,
    version: 0,
  };
  return blockOf(header, transactions, mark);
}

function given({ address, sun }: Genesis[number]): Executed {
  const schema = CONTRACTS[TYPE];
  if (!schema) throw new Error('no transfers');
  const value: Message = { owner_address: ZERO, to_address: `41${address}`, amount: sun };
  const parameter = {
    type_url: `type.googleapis.com/protocol.${TYPE}`,
    value: encode(schema, value).toString('hex'),
  };
  const message: Message = { contract: [{ type: TYPE, parameter }] };
  const raw = encode(RAW, message);
  const id = sha256(raw).toString('hex');
  const signed = { id, raw, signatures: [], message, type: TYPE, value, owner: address };
  return {
    signed,
    outcome: {
      result: 'DEFAULT',
      isCall: false,
      output: '',
      logs: [],
      internals: [],
      netUsage: 0n,
      netFee: 0n,
      energy: 0n,
      energyUsage: 0n,
      energyFee: 0n,
      systemFee: 0n,
    },
    evm: [],
  };
}
