// A double of a Tron node with the contracts and senders of a run, behind two addresses.
import { SigningKey } from 'ethers';
import { TronWeb } from 'tronweb';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { TronFault } from '../../../dev/tron/http/endpoint.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { addressOfPublicKey, type KeyPair } from '../../../dev/tron/signing.ts';
import { Refusal } from '../../../dev/tron/types.ts';
import type { ChainBlock, ChainTransaction, Transfer } from '../judge/truth.ts';
import { SENDER_COUNT } from '../plan/plan.ts';
import { type Call, callOf } from '../plan/shapes.ts';
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
import { TRON_FAULTS, TRON_LIES, TRON_RESTART } from './tron-faults.ts';

/** What every sender and the paying contract hold of the tokens, and each of them of the coin. */
const TOKENS = 10n ** 18n;
const [SENDER_SUN, CONTRACT_SUN] = [10n ** 13n, 10n ** 15n];
/** Too little for any code to come to its end. */
const STARVED_SUN = 100_000n;
/**
 * The least between the times of two blocks. Their times follow the clock, as on the chain itself: what is
 * sent on it is too old after some minutes. Blocks that replaced others are ahead of the clock for a while.
 */
const LEAST_SLOT_MS = 200;
/** What is sent again minutes later is still valid then. */
const EXPIRES_MS = 6 * 60 * 60_000;

type Contracts = Awaited<ReturnType<typeof prepare>>;

/** Base58 of 40 hex digits, or of 42 that begin with 41, by the network's own library. */
export function base58Of(hex: string): string {
  const digits = hex.toLowerCase();
  return TronWeb.address.fromHex(digits.length === 40 ? `41${digits}` : digits);
}

const hexOf = (base58: string): string => TronWeb.address.toHex(base58).slice(2).toLowerCase();
const pairOf = (privateKey: string): KeyPair => ({
  address: addressOfPublicKey(new SigningKey(`0x${privateKey}`).publicKey),
  privateKey,
});

/** Starts everything, mines the first blocks. */
export async function createTronChain({ folder, random, log }: ChainInput): Promise<SoakChain> {
  const node = await startTronNode({ solidDistance: FINAL_DISTANCE, dataDir: folder, log });
  const senders = Array.from({ length: SENDER_COUNT }, () => pairOf(random.hex(32)));
  const contracts = await prepare(node, senders);
  const { exclusive, changes } = oneAtATime(changesOf(node));
  await changes.mine(FIRST_BLOCKS);
  const endpoints = [await node.endpoint(), await node.endpoint()];
  const usdt = base58Of(contracts.usdt.key);
  const faults = misbehaving<TronFault, TronNode>(endpoints, node, {
    faults: TRON_FAULTS,
    lies: TRON_LIES,
    silent: () => ({ status: 503, body: '' }),
  });
  return {
    network: 'tron',
    env: {
      TRON_API_URLS: endpoints.map(({ url }) => url).join(','),
      TRON_USDT_CONTRACT: usdt,
      TRON_CONFIRMATIONS: String(CONFIRMATIONS),
      TRON_REQUESTS_PER_SECOND: '1000',
      TRON_REQUESTS_PER_DAY: '10000000',
    },
    usdt,
    pid: () => node.anvil.pid,
    ...changes,
    mine: async (blocks) => {
      await changes.mine(blocks);
      for (const one of endpoints) if (one.requests.length > REQUESTS_KEPT) one.forgetRequests();
    },
    head: async () => node.head().header.number,
    pending: async () => ((await node.ask('wallet/getpendingsize')) as { pendingSize: number }).pendingSize,
    pay: (action, to, ownKey) =>
      exclusive(async () => {
        const index = action.sender % senders.length;
        const sender = ownKey === undefined ? senders[index] : pairOf(ownKey);
        if (!sender) throw new Error('there are no senders');
        const owner = senders.at(index - 1)?.address ?? '';
        const parties = { owner, usdt: contracts.usdt.key, lender: contracts.lender.key };
        return await submit(node, contracts, callOf(action, to.map(hexOf), parties), sender);
      }),
    held: async (address) => {
      const asked = { address: `41${hexOf(address)}` };
      const { balance = 0 } = (await node.ask('wallet/getaccount', asked)) as { balance?: number | bigint };
      const usdtUnits = await tokensOf(node, contracts.usdt.key, hexOf(address));
      return { usdtUnits, coinUnits: BigInt(balance) };
    },
    ...faults,
    trouble: (name, indexes) => {
      // It befalls the node, whatever is asked of its addresses.
      if (name === TRON_RESTART)
        void exclusive(() => node.restart()).catch((error: unknown) =>
          log(`the node of Tron did not restart: ${error}`),
        );
      return faults.trouble(name, indexes);
    },
    blocks: () => readTronBlocks(node.url),
    stop: () => node.stop(),
  };
}

/** Deploys the contracts, gives everybody money, and lets every sender draw on the one before it. */
async function prepare(node: TronNode, senders: readonly KeyPair[]) {
  const { Token, Payer, Lender } = testContracts();
  const contracts = {
    usdt: node.usdt,
    // The same code at another address is another token: money in it must never be credited.
    fake: await node.deploy(Token, [6]),
    payer: await node.deploy(Payer),
    lender: await node.deploy(Lender),
  };
  for (const { address } of senders) await node.pay({ to: address, currency: 'TRX', units: SENDER_SUN });
  await node.trigger({ contract: contracts.payer.key, data: '', valueSun: CONTRACT_SUN });
  await node.mine();
  for (const token of [contracts.usdt, contracts.fake])
    for (const holder of [...senders.map(({ address }) => address), contracts.payer.key])
      await token.call('mint', [holder, TOKENS]);
  for (const [index, from] of senders.entries())
    for (const spender of [senders[(index + 1) % senders.length]?.address, contracts.payer.key])
      await contracts.usdt.call('approve', [spender, TOKENS], { from });
  await node.mine();
  return contracts;
}

function submit(node: TronNode, contracts: Contracts, call: Call, from: KeyPair): Promise<string> {
  const sending = { from, expiresInMs: EXPIRES_MS };
  if (call.kind === 'coin') {
    const value = { to_address: `41${call.to}`, amount: call.units };
    return node.send({ ...sending, type: 'TransferContract', value, memo: call.memo });
  }
  if (call.kind === 'creation')
    return node.create({ ...sending, bytecode: call.bytecode.slice(2), sun: call.units });
  return contracts[call.contract].call(call.method, call.args, {
    ...sending,
    valueSun: call.units ?? 0n,
    feeLimit: call.starved ? STARVED_SUN : undefined,
  });
}

async function tokensOf(node: TronNode, token: string, key: string): Promise<bigint> {
  const answer = (await node.ask('wallet/triggerconstantcontract', {
    owner_address: `41${key}`,
    contract_address: `41${token}`,
    function_selector: 'balanceOf(address)',
    parameter: key.padStart(64, '0'),
  })) as { constant_result?: string[] };
  return BigInt(`0x${answer.constant_result?.[0] ?? '0'}`);
}

function changesOf(node: TronNode): Parameters<typeof oneAtATime>[0] {
  const head = (): number => node.head().header.number;
  return {
    head: async () => head(),
    mine: async (blocks) => {
      for (let mined = 0; mined < blocks; mined += 1)
        await node.mine(1, Math.max(LEAST_SLOT_MS, Date.now() - node.head().header.timestampMs));
    },
    hashesIn: async (num) => {
      const block = (await node.ask('wallet/getblockbynum', { num })) as Block;
      return (block.transactions ?? []).map(({ txID }) => txID);
    },
    heightOf: async (value) =>
      ((await node.ask('wallet/gettransactioninfobyid', { value })) as { blockNumber?: number }).blockNumber,
    replaceable: async () => Math.min(FINAL_DISTANCE - 1, head() - node.solidHeight()),
    replace: async (depth, held, kept) => {
      const all = kept.length === held.length;
      await node.replace(depth, { keep: all ? 'moved' : 'none' });
      for (const hash of all ? [] : kept)
        await node.again(hash).catch((error: unknown) => {
          // One that a rule of the new chain forbids is gone, as on every node.
          if (!(error instanceof Refusal)) throw error;
        });
    },
    again: (hash) => node.again(hash),
  };
}

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_IN_TOPIC = 24;
/** The notes, as text, of internal transactions that move TRX. */
const MOVING = new Set(['call', 'create', 'suicide']);

/** A figure is a bigint where a number could not hold it. */
type Figure = number | bigint;
type Value = { owner_address: string; to_address?: string; amount?: Figure };
type Transaction = {
  txID: string;
  ret?: { contractRet?: string }[];
  raw_data: { contract: { type: string; parameter: { value: Value } }[] };
};
type Block = {
  blockID: string;
  block_header: { raw_data: { number?: number; parentHash: string } };
  transactions?: Transaction[];
};
type Info = {
  id: string;
  /** Everything that it cost its sender, in sun. */
  fee?: Figure;
  receipt?: { result?: string };
  log?: { address: string; topics?: string[]; data?: string }[];
  internal_transactions?: {
    caller_address: string;
    transferTo_address?: string;
    callValueInfo?: { callValue?: Figure; tokenId?: string }[];
    note: string;
    rejected?: boolean;
  }[];
};

/** What the chain says, over HTTP; addresses are in base58. */
async function* readTronBlocks(url: string): AsyncGenerator<ChainBlock> {
  const newest = (await ask(url, 'getnowblock', {})) as Block;
  const head = newest.block_header.raw_data.number ?? 0;
  for (let number = 1; number <= head; number++) {
    const block = (await ask(url, 'getblockbynum', { num: number })) as Block;
    const { transactions = [] } = block;
    const told =
      transactions.length > 0 ? await ask(url, 'gettransactioninfobyblocknum', { num: number }) : [];
    const infoOf = new Map((told as Info[]).map((info) => [info.id, info]));
    const { parentHash } = block.block_header.raw_data;
    const read = transactions.map((one) => readTransaction(one, infoOf.get(one.txID)));
    yield { number, hash: block.blockID, parentHash, transactions: read };
  }
}

async function ask(url: string, name: string, body: object): Promise<unknown> {
  const reply = await fetch(`${url}/wallet/${name}`, { method: 'POST', body: JSON.stringify(body) });
  return JSON.parse(await reply.text(), exactly);
}

/** Whole numbers that a number would round are read from their text. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

function readTransaction({ txID: hash, ret, raw_data: raw }: Transaction, info?: Info): ChainTransaction {
  const [contract] = raw.contract;
  if (!info || !contract) throw new Error(`nothing is told of ${hash}`);
  const { owner_address: owner, to_address: receiver, amount = 0 } = contract.parameter.value;
  // A transfer of coins has no result of a contract's run.
  const isPlain = contract.type === 'TransferContract';
  const ran = info.receipt?.result === 'SUCCESS';
  const ok = ret?.[0]?.contractRet === 'SUCCESS' && (ran || info.receipt?.result === undefined || isPlain);
  const transfers: Transfer[] = [];
  if (ok && isPlain && receiver !== undefined) transfers.push(coins(owner, receiver, amount));
  if (ok && ran) {
    transfers.push(...(info.log ?? []).flatMap(tokensIn));
    for (const { caller_address: from, transferTo_address: to, ...part } of info.internal_transactions ?? [])
      if (part.rejected !== true && to !== undefined && MOVING.has(Buffer.from(part.note, 'hex').toString()))
        for (const { callValue = 0, tokenId } of part.callValueInfo ?? [])
          if (tokenId === undefined) transfers.push(coins(from, to, callValue));
  }
  const moved = transfers.filter(({ units }) => units > 0n);
  return { hash, from: base58Of(owner), ok, feeUnits: BigInt(info.fee ?? 0), transfers: moved };
}

const coins = (from: string, to: string, units: Figure): Transfer => ({
  asset: 'coin',
  from: base58Of(from),
  to: base58Of(to),
  units: BigInt(units),
});

/** An event of the name Transfer, whoever's it is. */
function tokensIn({ address, topics = [], data = '' }: NonNullable<Info['log']>[number]): Transfer[] {
  const [name, sender = '', receiver = ''] = topics;
  if (name !== TRANSFER || topics.length !== 3 || data === '') return [];
  const [from = '', to = ''] = [sender, receiver].map((topic) => base58Of(topic.slice(ADDRESS_IN_TOPIC)));
  return [{ asset: base58Of(address), from, to, units: BigInt(`0x${data}`) }];
}
