import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Contract, ContractFactory, type InterfaceAbi, JsonRpcProvider, Network, type Signer } from 'ethers';

export const CONTRACT_NAMES = ['MockAggregator', 'Payer', 'Reverter', 'Spoofer', 'TestUSDT'] as const;
export type ContractName = (typeof CONTRACT_NAMES)[number];

export type ContractArtifact = { readonly abi: InterfaceAbi; readonly bytecode: string };

const RECEIPT_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

let artifacts: Readonly<Record<ContractName, ContractArtifact>> | undefined;

/** Interface and code of one of our development contracts, as compiled and committed. */
export function contractArtifact(name: ContractName): ContractArtifact {
  artifacts ??= JSON.parse(
    readFileSync(join(import.meta.dirname, 'contracts/artifacts.json'), 'utf8'),
  ) as Record<ContractName, ContractArtifact>;
  return artifacts[name];
}

/**
 * A provider for a development node. ethers would ask for the chain before each call, answer
 * from a cache of 250 ms and bundle calls; all three make tests lie, so they are off.
 */
export function devProvider(url: string, chainId = 56): JsonRpcProvider {
  return new JsonRpcProvider(url, Network.from(chainId), {
    staticNetwork: true,
    cacheTimeout: -1,
    batchMaxCount: 1,
  });
}

export type DeployInput = {
  readonly provider: JsonRpcProvider;
  /** Unset means the first account of the node. */
  readonly signer?: Signer;
  readonly name: ContractName;
  readonly args?: readonly unknown[];
  /** Mines one block for it; false on a node that mines by the clock. Unset means true. */
  readonly mine?: boolean;
};

/** Waits for the receipt of a transaction. Throws a sentence when it failed or is in no block after 30 s. */
export async function receiptOf(
  provider: JsonRpcProvider,
  hash: string,
): Promise<{ contractAddress: string | null; blockNumber: number }> {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const receipt = await provider.getTransactionReceipt(hash);
    if (receipt?.status === 0) throw new Error(`transaction ${hash} failed in block ${receipt.blockNumber}`);
    if (receipt) return receipt;
    await sleep(POLL_MS);
  }
  throw new Error(
    `transaction ${hash} is in no block after ${RECEIPT_TIMEOUT_MS / 1000} s: is anything mining?`,
  );
}

/** Deploys one of our development contracts and returns it bound to its address and signer. */
export async function deploy(input: DeployInput): Promise<Contract> {
  const { provider, name, args = [], mine = true } = input;
  const signer = input.signer ?? (await provider.getSigner(0));
  const { abi, bytecode } = contractArtifact(name);
  const request = await new ContractFactory(abi, bytecode, signer).getDeployTransaction(...args);
  const hash = await submit(provider, signer, { ...request, gasLimit: 3_000_000n });
  if (mine) await provider.send('anvil_mine', ['0x1']);
  const { contractAddress } = await receiptOf(provider, hash);
  if (contractAddress === null) throw new Error(`transaction ${hash} made no contract`);
  return new Contract(contractAddress, abi, signer);
}

// A JSON-RPC signer of ethers waits until the node shows the transaction,
// which is slow; an account of the node needs no signer at all.
async function submit(
  provider: JsonRpcProvider,
  signer: Signer,
  request: { data?: string; gasLimit: bigint },
): Promise<string> {
  if ('sendUncheckedTransaction' in signer) {
    const from = await signer.getAddress();
    return provider.send('eth_sendTransaction', [
      { from, data: request.data, gas: `0x${request.gasLimit.toString(16)}` },
    ]);
  }
  return (await signer.sendTransaction(request)).hash;
}

/**
 * Deploys the development USDT and mints `supplyUnits` (18 decimals; unset means a billion) to its deployer.
 */
export async function deployTestUsdt(
  input: Omit<DeployInput, 'name' | 'args'> & { readonly supplyUnits?: bigint },
): Promise<Contract> {
  const { supplyUnits = 10n ** 27n, ...rest } = input;
  const token = await deploy({ ...rest, name: 'TestUSDT' });
  const signer = rest.signer ?? (await rest.provider.getSigner(0));
  const minted = await token.getFunction('mint')(await signer.getAddress(), supplyUnits);
  if (rest.mine ?? true) await rest.provider.send('anvil_mine', ['0x1']);
  await receiptOf(rest.provider, minted.hash);
  return token;
}
