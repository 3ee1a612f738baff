// Which Tron chain it is: the id of block 0, which every endpoint has to name alike.
import { ChainMismatch } from '../rpc/errors.ts';
import { TRON_ADDRESSES } from './addresses.ts';

const NETS = [
  {
    name: 'main net',
    usdtContract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    genesis: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  },
  {
    name: 'Nile',
    usdtContract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf',
    genesis: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
  },
] as const;

export type GenesisOptions = {
  /** The configured contract: main net's is on main net alone, Nile's on Nile. */
  readonly usdtContract: string;
  /** The id of block 0 of the chain that was read so far, where any was. */
  readonly known?: string | undefined;
};

export interface Genesis {
  /** The id of block 0 of this chain; undefined until it is demanded, known or first named by an endpoint. */
  id(): string | undefined;
  /**
   * What an endpoint serves that names this id, in words; undefined where it serves this chain. Where no
   * id is demanded or known, the first one that is named becomes this chain's.
   */
  differs(named: string): string | undefined;
  /**
   * Says which chain was read before this process: where no other one is demanded or known, it counts for
   * more than what an endpoint named. Throws ChainMismatch where another one is demanded.
   */
  expect(known: string): void;
}

/**
 * Makes the proof of the chain. Throws ChainMismatch where what was read so far is not of the chain that the
 * contract demands, and a sentence for an id that is none.
 */
export function createGenesis({ usdtContract, known }: GenesisOptions): Genesis {
  const net = NETS.find((one) => TRON_ADDRESSES.key(one.usdtContract) === TRON_ADDRESSES.key(usdtContract));
  if (known !== undefined && !isGenesisId(known)) throw new Error('the known genesis block is not an id');
  const refuseOther = (read: string | undefined): void => {
    if (net && read !== undefined && read !== net.genesis)
      throw new ChainMismatch(
        `tron: the chain that was read so far begins with block ${read}, and TRON_USDT_CONTRACT is that of ${net.name}: correct the contract, or use another database`,
      );
  };
  refuseOther(known);
  let id: string | undefined = net?.genesis ?? known;
  let isNamedOnly = id === undefined;
  const whence = (): string => {
    if (net) return ` (${net.name})`;
    return isNamedOnly ? ', which another endpoint named before' : ', which was read so far';
  };
  return {
    id: () => id,
    differs(named) {
      id ??= named;
      return named === id ? undefined : `genesis block ${named} instead of ${id}${whence()}`;
    },
    expect(read) {
      refuseOther(read);
      if (!isNamedOnly) return;
      id = read;
      isNamedOnly = false;
    },
  };
}

/** Whether the text can be the id of block 0, which begins with its height; lower case. */
export function isGenesisId(id: unknown): id is string {
  return typeof id === 'string' && /^0{16}[0-9a-f]{48}$/.test(id);
}
