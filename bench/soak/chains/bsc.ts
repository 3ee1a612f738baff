// A real EVM node with the contracts and senders of a run, behind two endpoints.
import { Wallet } from 'ethers';
import { startTestChain, type TestChain } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import type { ChainBlock, ChainTransaction, Transfer } from '../judge/truth.ts';
import { type ActionOf, SENDER_COUNT } from '../plan/plan.ts';
import { type Call, callOf } from '../plan/shapes.ts';
import { BSC_FAULTS, BSC_LIES } from './bsc-faults.ts';
import {
  type ChainInput,
  CONFIRMATIONS,
  FINAL_DISTANCE,
  FIRST_BLOCKS,
  misbehaving,
  oneAtATime,
  REQUESTS_KEPT,
  type SoakChain,
} from './chain.ts';

const CHAIN_ID = 56;
const GAS_PRICE = 5_000_000_000n;
const TRANSFER_GAS = 200_000n;
const CONTRACT_GAS = 3_000_000n;
/** Enough for the transaction itself, and for no code to come to its end. */
const STARVED_GAS = 30_000n;
/** What every sender and the paying contract hold of the tokens and of the coin. */
const [TOKENS, COINS] = [10n ** 30n, 10n ** 24n];

type Contracts = Awaited<ReturnType<typeof prepare>>;

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** Starts everything, mines the first blocks. */
export async function createBscChain({ folder, random, log }: ChainInput): Promise<SoakChain> {
  const chain = await startTestChain({ slotsInAnEpoch: FINAL_DISTANCE / 2, dataDir: folder, log });
  const { anvil } = chain;
  const senders = Array.from({ length: SENDER_COUNT }, () => new Wallet(`0x${random.hex(32)}`));
  const contracts = await prepare(chain, senders);
  const submit = await submitter(chain, contracts, new Wallet(`0x${random.fork('somebody').hex(32)}`));
  const plenty = (spender: string): Call => ({
    kind: 'call',
    contract: 'usdt',
    method: 'approve',
    args: [spender, TOKENS],
  });
  // Every sender may draw on the one before it.
  for (const [index, sender] of senders.entries())
    for (const spender of [senders[(index + 1) % senders.length]?.address ?? '', contracts.payer.address])
      await submit(sender, plenty(spender), 2);
  await anvil.mine(FIRST_BLOCKS);
  const { exclusive, changes } = oneAtATime(changesOf(chain));
  const proxies = [await startFaultProxy(anvil.url), await startFaultProxy(anvil.url)];
  return {
    network: 'bsc',
    env: {
      BSC_RPC_URLS: proxies.map((proxy) => proxy.url).join(','),
      BSC_USDT_CONTRACT: contracts.usdt.address,
      BSC_CONFIRMATIONS: String(CONFIRMATIONS),
    },
    usdt: contracts.usdt.address,
    pid: () => anvil.pid,
    ...changes,
    mine: async (blocks) => {
      await changes.mine(blocks);
      for (const proxy of proxies)
        if (proxy.calls.length > REQUESTS_KEPT) proxy.requests.length = proxy.calls.length = 0;
    },
    head: () => headOf(chain),
    pending: async () => Number(((await anvil.rpc('txpool_status')) as { pending: string }).pending),
    pay: (action, to, ownKey) =>
      exclusive(async () => {
        const index = action.sender % senders.length;
        const sender = ownKey === undefined ? senders[index] : new Wallet(`0x${ownKey}`);
        const owner = senders.at(index - 1)?.address ?? '';
        if (!sender) throw new Error('there are no senders');
        const parties = { owner, usdt: contracts.usdt.address, lender: contracts.lender.address };
        return await submit(sender, callOf(action, to, parties), action.transactionType);
      }),
    held: async (address) => {
      const data = contracts.usdt.data('balanceOf', [address]);
      const tokens = await anvil.rpc('eth_call', [{ to: contracts.usdt.address, data }, 'latest']);
      const coins = await anvil.rpc('eth_getBalance', [address, 'latest']);
      return { usdtUnits: BigInt(tokens as string), coinUnits: BigInt(coins as string) };
    },
    ...misbehaving(proxies, anvil.url, {
      faults: BSC_FAULTS,
      lies: BSC_LIES,
      silent: () => ({ status: 503, body: '' }),
    }),
    blocks: () => readBscBlocks((method, params) => anvil.rpc(method, params)),
    stop: async () => {
      for (const proxy of proxies) await proxy.stop();
      await chain.stop();
    },
  };
}

const headOf = async ({ anvil }: TestChain): Promise<number> =>
  Number((await anvil.rpc('eth_blockNumber')) as string);

/** Deploys the contracts, and gives them and the senders money. */
async function prepare(chain: TestChain, senders: readonly Wallet[]) {
  const { Token, Payer, Lender } = testContracts();
  const contracts = {
    usdt: chain.usdt,
    // The same code at another address is another token: money in it must never be credited.
    fake: await chain.deploy(Token, [18]),
    payer: await chain.deploy(Payer),
    lender: await chain.deploy(Lender),
  };
  const [from = ''] = chain.accounts;
  for (const holder of [...senders.map((sender) => sender.address), contracts.payer.address]) {
    await chain.anvil.rpc('anvil_setBalance', [holder, hex(COINS)]);
    for (const { address: to, data } of [contracts.usdt, contracts.fake])
      await chain.anvil.rpc('eth_sendTransaction', [
        { from, to, data: data('mint', [holder, TOKENS]), gas: hex(TRANSFER_GAS) },
      ]);
  }
  await chain.mine();
  return contracts;
}

/** Signs a call as a transaction of the wanted type and puts it into the pool. */
async function submitter({ anvil }: TestChain, contracts: Contracts, somebody: Wallet) {
  // Somebody's leave to act with a contract's code: it takes effect
  // once, and the transactions that carry it later are as valid.
  const leave = { address: contracts.payer.address, nonce: 0, chainId: CHAIN_ID };
  const authorization = await somebody.authorize(leave);
  return async (wallet: Wallet, call: Call, wanted: ActionOf<'pay'>['transactionType']): Promise<string> => {
    // A contract cannot be made by a transaction that carries authorizations.
    const type = wanted === 4 && call.kind === 'creation' ? 2 : wanted;
    const count = await anvil.rpc('eth_getTransactionCount', [wallet.address, 'pending']);
    const raw = await wallet.signTransaction({
      type,
      chainId: CHAIN_ID,
      nonce: Number(count as string),
      value: call.units ?? 0n,
      ...contentOf(call, contracts),
      ...(type >= 2 ? { maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: 1n } : { gasPrice: GAS_PRICE }),
      ...(type === 1 ? { accessList: [] } : {}),
      ...(type === 4 ? { authorizationList: [authorization] } : {}),
    });
    return (await anvil.rpc('eth_sendRawTransaction', [raw])) as string;
  };
}

function contentOf(call: Call, contracts: Contracts): { to: string | null; data: string; gasLimit: bigint } {
  if (call.kind === 'coin') return { to: call.to, data: `0x${call.memo ?? ''}`, gasLimit: TRANSFER_GAS };
  if (call.kind === 'creation') return { to: null, data: call.bytecode, gasLimit: CONTRACT_GAS };
  const { address, data } = contracts[call.contract];
  const gasLimit = call.starved ? STARVED_GAS : call.contract === 'payer' ? CONTRACT_GAS : TRANSFER_GAS;
  return { to: address, data: data(call.method, call.args), gasLimit };
}

function changesOf(chain: TestChain): Parameters<typeof oneAtATime>[0] {
  const { anvil } = chain;
  /** The bytes of what was in a block that may be replaced. */
  const raws = new Map<string, unknown>();
  return {
    head: () => headOf(chain),
    mine: (blocks) => anvil.mine(blocks),
    hashesIn: async (height) => {
      const block = await anvil.rpc('eth_getBlockByNumber', [hex(height), false]);
      const { transactions } = block as { transactions: string[] };
      for (const hash of transactions) raws.set(hash, await anvil.rpc('eth_getRawTransactionByHash', [hash]));
      return transactions;
    },
    heightOf: async (hash) => {
      const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash]);
      return receipt === null ? undefined : Number((receipt as { blockNumber: string }).blockNumber);
    },
    replaceable: async () => FINAL_DISTANCE - 1,
    replace: async (depth, _held, kept) =>
      void (await anvil.rpc('anvil_reorg', [depth, kept.map((hash) => [raws.get(hash), depth - 1])])),
    again: async (hash) => void (await anvil.rpc('eth_sendRawTransaction', [raws.get(hash)])),
  };
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_IN_TOPIC = 26;
/** Calls that lend code print a value too, and nothing moves. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;
type Sent = { hash: string; from: string; to: string | null; value: string };
type Block = { hash: string; parentHash: string; transactions: Sent[] };
type Receipt = {
  status: string;
  gasUsed: string;
  effectiveGasPrice: string;
  logs: { address: string; topics: string[]; data: string }[];
};
type Frame = { type: string; from: string; to?: string; value?: string; error?: string; calls?: Frame[] };

/** What the chain says, by plain JSON-RPC; addresses are in lower case. */
async function* readBscBlocks(rpc: Rpc): AsyncGenerator<ChainBlock> {
  const head = Number((await rpc('eth_blockNumber', [])) as string);
  for (let number = 0; number <= head; number++) {
    const block = (await rpc('eth_getBlockByNumber', [hex(number), true])) as Block;
    const transactions: ChainTransaction[] = [];
    for (const sent of block.transactions) transactions.push(await readTransaction(rpc, sent));
    yield { number, hash: block.hash, parentHash: block.parentHash, transactions };
  }
}

async function readTransaction(rpc: Rpc, { hash, from, to, value }: Sent): Promise<ChainTransaction> {
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as Receipt;
  const ok = receipt.status === '0x1';
  const transfers: Transfer[] = [];
  if (ok) {
    const trace = await rpc('debug_traceTransaction', [hash, { tracer: 'callTracer' }]);
    if (to) transfers.push({ asset: 'coin', from, to, units: BigInt(value) });
    transfers.push(...tokensIn(receipt), ...passedOn(trace as Frame));
  }
  return {
    hash,
    from: from.toLowerCase(),
    ok,
    feeUnits: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
    transfers: transfers
      .filter(({ units }) => units > 0n)
      .map((one) => ({ ...one, from: one.from.toLowerCase(), to: one.to.toLowerCase() })),
  };
}

/** Every event of the name Transfer, whoever's it is. */
function tokensIn({ logs }: Receipt): Transfer[] {
  return logs.flatMap(({ address, topics, data }) => {
    if (topics[0] !== TRANSFER || topics.length !== 3) return [];
    const [from = '', to = ''] = topics.slice(1).map((topic) => `0x${topic.slice(ADDRESS_IN_TOPIC)}`);
    return { asset: address.toLowerCase(), from, to, units: BigInt(data) };
  });
}

/** Coins that contracts pass on: every frame below the top one that moves value and is not undone. */
function passedOn(frame: Frame): Transfer[] {
  if (frame.error !== undefined) return [];
  return (frame.calls ?? []).flatMap((call) => {
    const moves = MOVING.has(call.type) && call.error === undefined;
    const own = { asset: 'coin', from: call.from, to: call.to ?? '', units: BigInt(call.value ?? '0x0') };
    return [...(moves ? [own] : []), ...passedOn(call)];
  });
}
