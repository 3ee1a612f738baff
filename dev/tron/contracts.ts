// Contracts on the double: how they come there and how they are called.
import { Interface, type InterfaceAbi } from 'ethers';
import { type AddressKey, hexAddress } from '../../src/chains/address-key.ts';
import type { Chain } from './chain.ts';
import type { Send, Wallet } from './wallet.ts';

type TronArtifact = { readonly abi: unknown; readonly bytecode: string };
export type TronContract = {
  readonly key: AddressKey;
  /** Hex without 0x. */
  data(method: string, args?: readonly unknown[]): string;
  /** Calls it in a transaction and returns its id. */
  call(method: string, args?: readonly unknown[], options?: CallOptions): Promise<string>;
};
type CallOptions = Omit<Send, 'type' | 'value'> & { readonly valueSun?: bigint };

export type Contracts = {
  trigger(call: CallOptions & { readonly contract: AddressKey; readonly data: string }): Promise<string>;
  /** Makes a contract in a block of its own. Throws a sentence where it does not come to be. */
  deploy(artifact: TronArtifact, args?: readonly unknown[], options?: CallOptions): Promise<TronContract>;
};

/** Deploys and calls with the keys of this wallet. */
export function createContracts(chain: Chain, wallet: Wallet): Contracts {
  const trigger: Contracts['trigger'] = ({ contract, data, valueSun, ...sending }) =>
    wallet.call({ ...sending, to: contract, data, sun: valueSun });
  return {
    trigger,
    deploy: async (artifact, args = [], { valueSun, ...sending } = {}) => {
      const abi = new Interface(artifact.abi as InterfaceAbi);
      const bytecode = artifact.bytecode.slice(2) + abi.encodeDeploy(args.map(asHex)).slice(2);
      const id = await wallet.create({ ...sending, bytecode, sun: valueSun });
      await chain.mine();
      const outcome = chain.blocks.place(id)?.executed.outcome;
      const key = outcome?.contract;
      if (!key || outcome.result !== 'SUCCESS') throw new Error(`no contract was made: ${outcome?.result}`);
      const data: TronContract['data'] = (method, values = []) =>
        abi.encodeFunctionData(method, values.map(asHex)).slice(2);
      return {
        key,
        data,
        call: (method, values, more = {}) => trigger({ ...more, contract: key, data: data(method, values) }),
      };
    },
  };
}

/** Keys of addresses as the coder of calls takes them. */
function asHex(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asHex);
  return typeof value === 'string' && /^[0-9a-f]{40}$/.test(value) ? hexAddress(value as AddressKey) : value;
}
