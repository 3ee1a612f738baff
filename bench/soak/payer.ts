import { setTimeout as sleep } from 'node:timers/promises';
import { Interface, Wallet } from 'ethers';
import type { Anvil } from '../../src/devnet/anvil.ts';
import { type ContractName, contractArtifact } from '../../src/devnet/contracts.ts';
import { type PayAction, SENDER_COUNT } from './plan.ts';
import type { Random } from './random.ts';

const CHAIN_ID = 56;
const GAS_PRICE = 5_000_000_000n;
const TRANSFER_GAS = 200_000n;
const CONTRACT_GAS = 3_000_000n;
const PLENTY = 10n ** 30n;

/** The chain of a run with everybody who pays on it. All that changes the chain goes through `exclusive`, one at a time. */
export type Payer = {
  readonly usdt: string;
  mine(blocks?: number): Promise<void>;
  /** Puts one planned payment into the pool; `to` are the customers' addresses, `ownWallet` pays instead of a sender. Returns the hash of what was sent. */
  pay(action: PayAction, to: readonly string[], ownWallet: Wallet | undefined): Promise<string>;
  /** Replaces the newest blocks; returns the raw transactions they held. With `move` those go into the last new block. */
  reorg(depth: number, move: boolean): Promise<string[]>;
  sendRaw(raw: string): Promise<string>;
  /** Transactions that could be mined now. */
  pending(): Promise<number>;
  head(): Promise<number>;
};

type Contracts = { readonly usdt: string; readonly fake: string; readonly contract: string; readonly spoofer: string };
type Call = { readonly to: string; readonly data?: string; readonly valueUnits?: bigint; readonly gas?: bigint };

function encode(name: ContractName, method: string, args: readonly unknown[]): string {
  return new Interface(contractArtifact(name).abi as string[]).encodeFunctionData(method, args);
}

/** Runs one at a time, in the order of the calls. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

async function deployed(anvil: Anvil, from: string, name: ContractName): Promise<string> {
  const { bytecode } = contractArtifact(name);
  const hash = await anvil.rpc('eth_sendTransaction', [{ from, data: bytecode, gas: `0x${CONTRACT_GAS.toString(16)}` }]);
  await anvil.mine();
  const receipt = (await anvil.rpc('eth_getTransactionReceipt', [hash])) as { contractAddress: string; status: string };
  if (receipt.status !== '0x1') throw new Error(`${name} could not be deployed`);
  return receipt.contractAddress.toLowerCase();
}

async function prepare(anvil: Anvil, senders: readonly Wallet[]): Promise<Contracts> {
  const [from = ''] = (await anvil.rpc('eth_accounts')) as string[];
  const contracts = {
    usdt: await deployed(anvil, from, 'TestUSDT'),
    fake: await deployed(anvil, from, 'FakeUSDT'),
    contract: await deployed(anvil, from, 'Payer'),
    spoofer: await deployed(anvil, from, 'Spoofer'),
  };
  const call = (to: string, data: string) => anvil.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x30d40' }]);
  for (const holder of [...senders.map((sender) => sender.address), contracts.contract])
    for (const token of [contracts.usdt, contracts.fake]) await call(token, encode('TestUSDT', 'mint', [holder, PLENTY]));
  for (const { address } of senders) await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);
  await anvil.mine();
  return contracts;
}

/** Deploys the contracts, gives the senders money and lets every sender draw on the one before it. */
export async function createPayer(anvil: Anvil, random: Random): Promise<Payer> {
  const exclusive = queue();
  const senders = Array.from({ length: SENDER_COUNT }, () => new Wallet(`0x${random.hex(32)}`));
  const contracts = await prepare(anvil, senders);

  async function submit(wallet: Wallet, call: Call, type: 0 | 1 | 2 = 2): Promise<string> {
    const nonce = Number.parseInt((await anvil.rpc('eth_getTransactionCount', [wallet.address, 'pending'])) as string, 16);
    const fee = type === 2 ? { maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: 1n } : { gasPrice: GAS_PRICE };
    const raw = await wallet.signTransaction({
      ...{ type, chainId: CHAIN_ID, nonce, gasLimit: call.gas ?? TRANSFER_GAS, to: call.to, value: call.valueUnits ?? 0n },
      ...{ data: call.data ?? '0x', ...fee, ...(type === 1 ? { accessList: [] } : {}) },
    });
    return (await anvil.rpc('eth_sendRawTransaction', [raw])) as string;
  }

  for (const [index, sender] of senders.entries())
    for (const spender of [senders[(index + 1) % senders.length]?.address, contracts.contract])
      await submit(sender, { to: contracts.usdt, data: encode('TestUSDT', 'approve', [spender, PLENTY]) });
  await anvil.mine();

  const blocksFrom = async (first: number, last: number): Promise<string[]> => {
    const raws: string[] = [];
    for (let number = first; number <= last; number++) {
      const block = (await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { transactions: string[] };
      for (const hash of block.transactions) raws.push((await anvil.rpc('eth_getRawTransactionByHash', [hash])) as string);
    }
    return raws;
  };
  const head = async () => Number.parseInt((await anvil.rpc('eth_blockNumber')) as string, 16);

  return {
    usdt: contracts.usdt,
    mine: (blocks = 1) => exclusive(() => anvil.mine(blocks)),
    head,
    pay: (action, to, ownWallet) =>
      exclusive(() => {
        const index = action.sender % senders.length;
        const sender = senders[index] as Wallet;
        const owner = senders[(index + senders.length - 1) % senders.length] as Wallet;
        const call = callOf(action, to, { contracts, owner: owner.address });
        return submit(ownWallet ?? sender, call, action.transactionType);
      }),
    reorg: (depth, move) =>
      exclusive(async () => {
        const now = await head();
        const raws = await blocksFrom(now - depth + 1, now);
        await anvil.rpc('anvil_reorg', [depth, move ? raws.map((raw) => [raw, depth - 1]) : []]);
        return raws;
      }),
    sendRaw: (raw) => exclusive(() => anvil.rpc('eth_sendRawTransaction', [raw])) as Promise<string>,
    pending: async () => Number.parseInt(((await anvil.rpc('txpool_status')) as { pending: string }).pending, 16),
  };
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** The transaction that a shape is made of. */
function callOf(action: PayAction, to: readonly string[], from: { contracts: Contracts; owner: string }): Call {
  const { contracts, owner } = from;
  const values = action.amounts.map(BigInt);
  const [first = ''] = to;
  const [value = 0n] = values;
  const receivers = values.map((_, index) => to[index] ?? first);
  switch (action.shape) {
    case 'usdt':
    case 'usdt_dust':
    case 'usdt_zero':
    case 'to_test_address':
      return { to: contracts.usdt, data: encode('TestUSDT', 'transfer', [first, value]) };
    case 'fake_token':
      return { to: contracts.fake, data: encode('FakeUSDT', 'transfer', [first, value]) };
    case 'usdt_transfer_from':
      return { to: contracts.usdt, data: encode('TestUSDT', 'transferFrom', [owner, first, value]) };
    case 'usdt_through_contract':
    case 'usdt_batch':
    case 'usdt_twice_to_one':
      return { to: contracts.contract, data: encode('Payer', 'payToken', [contracts.usdt, receivers, values]), gas: CONTRACT_GAS };
    case 'usdt_pulled_by_contract':
      return { to: contracts.contract, data: encode('Payer', 'payTokenFrom', [contracts.usdt, receivers, values]), gas: CONTRACT_GAS };
    case 'usdt_failed':
      // The first transfer succeeds and the second takes it back.
      return {
        to: contracts.contract,
        data: encode('Payer', 'payToken', [contracts.usdt, [first, first], [value, 2n * PLENTY]]),
        gas: CONTRACT_GAS,
      };
    case 'bnb_through_contract':
    case 'bnb_batch':
      return { to: contracts.contract, data: encode('Payer', 'payBnb', [receivers, values]), valueUnits: sum(values), gas: CONTRACT_GAS };
    case 'bnb_and_usdt': {
      const data = encode('Payer', 'payBoth', [contracts.usdt, first, value, values[1] ?? 0n]);
      return { to: contracts.contract, data, valueUnits: value, gas: CONTRACT_GAS };
    }
    case 'spoofed_event':
      return { to: contracts.spoofer, data: encode('Spoofer', 'spoof', [owner, first, value]) };
    case 'bnb_with_calldata':
      return { to: first, valueUnits: value, data: '0x6f72646572203432' };
    case 'bnb':
    case 'bnb_dust':
    case 'bnb_zero':
    case 'from_own_wallet':
      return { to: first, valueUnits: value };
  }
}

/** Mines a block every `everyMs` until the signal aborts. */
export async function mineByTheClock(payer: Payer, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await payer.mine();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
