// What the chain itself says, read over HTTP with none of the gateway's code: every canonical block,
// transaction by transaction.
import {
  type ChainTruth,
  type Findings,
  isWallet,
  isWatched,
  startFindings,
  type TruthRules,
} from '../oracle/truth.ts';
import { base58Of } from './spelling.ts';

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_IN_TOPIC = 24;
/** The notes, as text, of internal transactions that move TRX. */
const MOVING = new Set(['call', 'create', 'suicide']);

/** A figure is a bigint where a number could not hold it. */
type Figure = number | bigint;
type Transaction = {
  txID: string;
  ret?: { contractRet?: string }[];
  raw_data: {
    contract: {
      type: string;
      parameter: { value: { owner_address: string; to_address?: string; amount?: Figure } };
    }[];
  };
};
type Block = {
  blockID: string;
  block_header: { raw_data: { number?: number; parentHash: string } };
  transactions?: Transaction[];
};
type Log = { address: string; topics?: string[]; data?: string };
type Internal = {
  caller_address: string;
  transferTo_address?: string;
  callValueInfo?: { callValue?: Figure; tokenId?: string }[];
  note: string;
  rejected?: boolean;
};
type Info = {
  id: string;
  /** Everything that it cost its sender, in sun. */
  fee?: Figure;
  receipt?: { result?: string };
  log?: Log[];
  internal_transactions?: Internal[];
};
type At = { readonly number: number; readonly hash: string };
type Rules = TruthRules & { readonly usdt: string };

/**
 * Walks all blocks up to the head; addresses are in base58. Throws
 * when the blocks do not link, which would be a fault of the node.
 */
export async function readTronChain(url: string, rules: Rules): Promise<ChainTruth> {
  const newest = (await ask(url, 'getnowblock', {})) as Block;
  const head = newest.block_header.raw_data.number ?? 0;
  const findings = startFindings('tron', rules);
  let parent: string | undefined;
  for (let number = 1; number <= head; number++) {
    const block = (await ask(url, 'getblockbynum', { num: number })) as Block;
    if (parent !== undefined && block.block_header.raw_data.parentHash !== parent)
      throw new Error(`block ${number} does not follow its parent`);
    parent = block.blockID;
    const { transactions = [] } = block;
    if (transactions.length === 0) continue;
    const infos = (await ask(url, 'gettransactioninfobyblocknum', { num: number })) as Info[];
    const infoOf = new Map(infos.map((info) => [info.id, info]));
    for (const transaction of transactions) {
      const info = infoOf.get(transaction.txID);
      if (!info) throw new Error(`nothing is told of ${transaction.txID}`);
      readTransaction(findings, transaction, info, { at: { number, hash: block.blockID }, rules });
    }
  }
  return findings.end(head);
}

async function ask(url: string, name: string, body: object): Promise<unknown> {
  const reply = await fetch(`${url}/wallet/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return JSON.parse(await reply.text(), exactly);
}

/** Whole numbers that a number would round are read from their text. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

function readTransaction(
  findings: Findings,
  transaction: Transaction,
  info: Info,
  { at, rules }: { readonly at: At; readonly rules: Rules },
): void {
  const hash = transaction.txID;
  findings.transaction(hash);
  const [contract] = transaction.raw_data.contract;
  if (!contract) return;
  const { owner_address: owner, to_address: receiver, amount = 0 } = contract.parameter.value;
  if (isWallet(rules, base58Of(owner))) findings.sent(sentOf(transaction, info, rules.usdt));
  if (transaction.ret?.[0]?.contractRet !== 'SUCCESS') return;
  const coin = (from: string, to: string, units: Figure): void => {
    const address = base58Of(to);
    const amountUnits = BigInt(units);
    if (amountUnits > 0n && isWatched(rules, address))
      findings.moved(hash, at, { from: base58Of(from), to: address, currency: 'TRX', amountUnits });
  };
  if (contract.type === 'TransferContract' && receiver !== undefined) coin(owner, receiver, amount);
  if (info.receipt?.result !== 'SUCCESS') return;
  for (const log of info.log ?? []) readLog(findings, hash, log, { at, rules });
  for (const part of info.internal_transactions ?? [])
    if (part.rejected !== true && part.transferTo_address !== undefined && isMoving(part))
      for (const { callValue = 0, tokenId } of part.callValueInfo ?? [])
        if (tokenId === undefined) coin(part.caller_address, part.transferTo_address, callValue);
}

/** What a wallet of ours sent. A transfer of coins has no result of a contract's run. */
function sentOf({ txID: hash, ret, raw_data: raw }: Transaction, info: Info, usdt: string) {
  const [contract] = raw.contract;
  const { owner_address: owner = '', to_address: receiver, amount = 0 } = contract?.parameter.value ?? {};
  const from = base58Of(owner);
  const isRun = contract?.type !== 'TransferContract';
  const ok = ret?.[0]?.contractRet === 'SUCCESS' && (!isRun || info.receipt?.result === 'SUCCESS');
  const coins =
    ok && !isRun && receiver !== undefined
      ? [{ to: base58Of(receiver), currency: 'TRX' as const, amountUnits: BigInt(amount) }]
      : [];
  const tokens = (info.log ?? [])
    .flatMap(transferIn)
    .filter((transfer) => ok && transfer.contract === usdt && transfer.from === from)
    .map(({ to, amountUnits }) => ({ to, currency: 'USDT' as const, amountUnits }));
  return { hash, from, nonce: null, ok, feeUnits: BigInt(info.fee ?? 0), moves: [...coins, ...tokens] };
}

const isMoving = ({ note }: Internal): boolean => MOVING.has(Buffer.from(note, 'hex').toString('utf8'));

/** An event of the name Transfer with an amount, whoever's it is. */
function readLog(
  findings: Findings,
  hash: string,
  log: Log,
  { at, rules }: { readonly at: At; readonly rules: Rules },
): void {
  for (const { contract, from, to, amountUnits } of transferIn(log))
    if (contract === rules.usdt && isWatched(rules, to))
      findings.moved(hash, at, { from, to, currency: 'USDT', amountUnits });
    else if (contract !== rules.usdt && rules.own.has(to)) findings.foreign(hash, to, amountUnits);
}

/** Nothing, or the one transfer that a log tells of. */
function transferIn({ address, topics = [], data = '' }: Log) {
  const [name, sender = '', receiver = ''] = topics;
  if (name !== TRANSFER || topics.length !== 3 || data === '' || BigInt(`0x${data}`) === 0n) return [];
  const [from = '', to = ''] = [sender, receiver].map((topic) => base58Of(topic.slice(ADDRESS_IN_TOPIC)));
  return [{ contract: base58Of(address), from, to, amountUnits: BigInt(`0x${data}`) }];
}
