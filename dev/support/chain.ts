// A real EVM node with a token on it, and short words for
// what customers do. Nothing is mined until a test says so.
import { Interface, type InterfaceAbi } from 'ethers';
import { type Anvil, type AnvilOptions, startAnvil } from '../anvil.ts';
import { type Artifact, testContracts } from './chain-contracts.ts';

export const USDT_UNIT = 10n ** 18n;
export const TEST_CHAIN_ID = 56;

export type Contract = {
  readonly address: string;
  call(method: string, args?: readonly unknown[], options?: SendOptions): Promise<string>;
  data(method: string, args?: readonly unknown[]): string;
};
export type SendOptions = { readonly from?: string; readonly valueUnits?: bigint };

export type TestChain = {
  readonly anvil: Anvil;
  readonly url: string;
  /** Ten unlocked, funded accounts (lower-case). */
  readonly accounts: readonly string[];
  readonly usdt: Contract;
  /** Puts a transaction into the pool and returns its hash. */
  send(transaction: {
    from?: string;
    to?: string | null;
    valueUnits?: bigint;
    data?: string;
  }): Promise<string>;
  /** Mines and returns the number of the newest block. */
  mine(blocks?: number): Promise<number>;
  deploy(artifact: Artifact, args?: readonly unknown[], options?: { valueUnits?: bigint }): Promise<Contract>;
  /** Replaces the newest `depth` blocks by others without their transactions. */
  reorg(depth: number): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts a node of BNB Chain's id, deploys an 18-decimals token and gives the first account a million of it.
 */
export async function startTestChain(options: Partial<AnvilOptions> = {}): Promise<TestChain> {
  const anvil = await startAnvil({ chainId: TEST_CHAIN_ID, log: () => undefined, ...options });
  const accounts = ((await anvil.rpc('eth_accounts')) as string[]).map((account) => account.toLowerCase());
  const [first = ''] = accounts;

  const send: TestChain['send'] = async ({ from = first, to, valueUnits = 0n, data = '0x' }) =>
    (await anvil.rpc('eth_sendTransaction', [
      { from, ...(to ? { to } : {}), value: `0x${valueUnits.toString(16)}`, data, gas: '0x7a1200' },
    ])) as string;

  const mine = async (blocks = 1) => {
    await anvil.mine(blocks);
    return Number.parseInt((await anvil.rpc('eth_blockNumber')) as string, 16);
  };

  const deploy: TestChain['deploy'] = async (artifact, args = [], options = {}) => {
    const abi = new Interface(artifact.abi as InterfaceAbi);
    const txHash = await send({ ...options, data: artifact.bytecode + abi.encodeDeploy(args).slice(2) });
    // A block has room for three transactions of this size, and others may wait before this one.
    let receipt: { contractAddress: string } | null = null;
    for (let blocks = 0; blocks < 20 && !receipt; blocks++) {
      await mine();
      receipt = (await anvil.rpc('eth_getTransactionReceipt', [txHash])) as {
        contractAddress: string;
      } | null;
    }
    if (!receipt) throw new Error('the contract was never mined');
    const address = receipt.contractAddress.toLowerCase();
    const data = (method: string, values: readonly unknown[] = []) => abi.encodeFunctionData(method, values);
    return {
      address,
      data,
      call: (method, values, sending = {}) => send({ ...sending, to: address, data: data(method, values) }),
    };
  };

  const usdt = await deploy(testContracts().Token, [18]);
  await usdt.call('mint', [first, 1_000_000n * USDT_UNIT]);
  await mine();
  return {
    anvil,
    url: anvil.url,
    accounts,
    usdt,
    send,
    mine,
    deploy,
    reorg: async (depth) => void (await anvil.rpc('anvil_reorg', [depth, []])),
    stop: () => anvil.stop(),
  };
}
