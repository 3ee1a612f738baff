// What the chain itself says, read with plain JSON-RPC and none of the
// gateway's code: every canonical block, transaction by transaction.
import { DUST_FLOOR_UNITS, MINIMUM_UNITS } from '../plan/plan.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_IN_TOPIC = 26;
/** Calls that lend code print a value too, and nothing moves. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

export type Credit = {
  readonly hash: string;
  readonly address: string;
  readonly currency: 'USDT' | 'BNB';
  readonly amountUnits: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Below the smallest deposit that is credited. */
  readonly belowMinimum: boolean;
};

export type ChainTruth = {
  readonly head: number;
  /** Hashes of every transaction of every canonical block. */
  readonly transactions: ReadonlySet<string>;
  readonly credits: ReadonlyMap<string, Credit>;
  /** Everything that ever reached one of our addresses, credited or not: base units by `address currency`. */
  readonly arrived: ReadonlyMap<string, bigint>;
  /**
   * What is never credited but has to be kept for the operator, unknown
   * tokens, dust and real money on test addresses: units by `hash address`.
   */
  readonly strange: ReadonlyMap<string, bigint>;
};

type Transaction = { hash: string; from: string; to: string | null; value: string };
type Block = { number: string; hash: string; parentHash: string; transactions: Transaction[] };
type Receipt = { status: string; logs: { address: string; topics: string[]; data: string }[] };
type Frame = { type: string; from: string; to?: string; value?: string; error?: string; calls?: Frame[] };
type Rules = { readonly usdt: string; readonly live: ReadonlySet<string>; readonly own: ReadonlySet<string> };
type Movement = {
  readonly from: string;
  readonly to: string;
  readonly currency: Credit['currency'];
  readonly amountUnits: bigint;
};

/** What a deposit is known by: transaction, address (lower case) and asset. */
export function creditKey(hash: string, address: string, currency: string): string {
  return `${hash} ${address.toLowerCase()} ${currency}`;
}

/**
 * Walks all blocks up to the head. `live` are the customers' addresses that are credited, `own` every
 * deposit address; all lower case. Throws when the blocks do not link, which would be a fault of the node.
 */
export async function readChain(
  rpc: (method: string, params: readonly unknown[]) => Promise<unknown>,
  rules: Rules,
): Promise<ChainTruth> {
  const head = Number.parseInt((await rpc('eth_blockNumber', [])) as string, 16);
  const transactions = new Set<string>();
  const credits = new Map<string, Credit>();
  const arrived = new Map<string, bigint>();
  const strange = new Map<string, bigint>();
  let parent: string | undefined;
  for (let number = 0; number <= head; number++) {
    const block = (await rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as Block;
    if (parent !== undefined && block.parentHash !== parent)
      throw new Error(`block ${number} does not follow its parent`);
    parent = block.hash;
    for (const transaction of block.transactions) {
      transactions.add(transaction.hash);
      const receipt = (await rpc('eth_getTransactionReceipt', [transaction.hash])) as Receipt;
      if (receipt.status !== '0x1') continue;
      const trace = (await rpc('debug_traceTransaction', [
        transaction.hash,
        { tracer: 'callTracer' },
      ])) as Frame;
      const movements = [...movementsOf(transaction, receipt, rules), ...internalOf(trace, rules)];
      for (const movement of movements) {
        const { from, to, currency, amountUnits } = movement;
        increase(arrived, `${to} ${currency}`, amountUnits);
        if (rules.own.has(from)) continue;
        if (rules.live.has(to)) add(credits, transaction.hash, movement, { number, hash: block.hash });
        else increase(strange, `${transaction.hash} ${to}`, amountUnits);
      }
      for (const { to, units } of transfersIn(receipt))
        if (to.contract !== rules.usdt && rules.own.has(to.address))
          increase(strange, `${transaction.hash} ${to.address}`, units);
    }
  }
  for (const [key, { hash, address, currency, amountUnits }] of credits) {
    if (amountUnits >= DUST_FLOOR_UNITS[currency]) continue;
    credits.delete(key);
    increase(strange, `${hash} ${address}`, amountUnits);
  }
  const judged = [...credits].map(
    ([key, credit]) => [key, { ...credit, belowMinimum: isBelowMinimum(credit) }] as const,
  );
  return { head, transactions, arrived, strange, credits: new Map(judged) };
}

function isBelowMinimum(credit: Credit): boolean {
  return credit.amountUnits < MINIMUM_UNITS[credit.currency];
}

function movementsOf(transaction: Transaction, receipt: Receipt, { usdt, own }: Rules): Movement[] {
  const found: Movement[] = [];
  const to = transaction.to?.toLowerCase();
  if (to !== undefined && own.has(to) && BigInt(transaction.value) > 0n)
    found.push({
      from: transaction.from.toLowerCase(),
      to,
      currency: 'BNB',
      amountUnits: BigInt(transaction.value),
    });
  for (const { from, to, units } of transfersIn(receipt))
    if (to.contract === usdt && own.has(to.address))
      found.push({ from, to: to.address, currency: 'USDT', amountUnits: units });
  return found;
}

/** Every event of the name Transfer with an amount, whoever's it is. */
function transfersIn(
  receipt: Receipt,
): { from: string; to: { contract: string; address: string }; units: bigint }[] {
  return receipt.logs.flatMap((log) => {
    if (log.topics[0] !== TRANSFER || log.topics.length !== 3 || BigInt(log.data) === 0n) return [];
    const [from = '', address = ''] = log.topics
      .slice(1)
      .map((topic) => `0x${topic.slice(ADDRESS_IN_TOPIC).toLowerCase()}`);
    return [{ from, to: { contract: log.address.toLowerCase(), address }, units: BigInt(log.data) }];
  });
}

function increase(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units);
}

/** Coins that contracts pass on: every frame below the top one that moves value and is not undone. */
function internalOf(frame: Frame, rules: Rules): Movement[] {
  if (frame.error !== undefined) return [];
  return (frame.calls ?? []).flatMap((call) => {
    const to = call.to?.toLowerCase() ?? '';
    const amountUnits = MOVING.has(call.type) && call.error === undefined ? BigInt(call.value ?? '0x0') : 0n;
    const paid = rules.own.has(to) && amountUnits > 0n;
    return [
      ...(paid ? [{ from: call.from.toLowerCase(), to, currency: 'BNB' as const, amountUnits }] : []),
      ...internalOf(call, rules),
    ];
  });
}

function add(
  credits: Map<string, Credit>,
  hash: string,
  movement: Movement,
  block: { number: number; hash: string },
): void {
  const key = creditKey(hash, movement.to, movement.currency);
  const amountUnits = (credits.get(key)?.amountUnits ?? 0n) + movement.amountUnits;
  credits.set(key, {
    hash,
    address: movement.to,
    currency: movement.currency,
    amountUnits,
    belowMinimum: false,
    blockNumber: block.number,
    blockHash: block.hash,
  });
}
