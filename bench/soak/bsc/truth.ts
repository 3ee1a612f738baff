// What the chain itself says, read with plain JSON-RPC and none of the
// gateway's code: every canonical block, transaction by transaction.
import {
  type ChainTruth,
  isWallet,
  isWatched,
  type Movement,
  startFindings,
  type TruthRules,
} from '../oracle/truth.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_IN_TOPIC = 26;
/** Calls that lend code print a value too, and nothing moves. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

type Transaction = { hash: string; from: string; to: string | null; value: string; nonce: string };
type Block = { number: string; hash: string; parentHash: string; transactions: Transaction[] };
type Receipt = {
  status: string;
  gasUsed: string;
  effectiveGasPrice: string;
  logs: { address: string; topics: string[]; data: string }[];
};
type Frame = { type: string; from: string; to?: string; value?: string; error?: string; calls?: Frame[] };
type Rules = TruthRules & { readonly usdt: string };

/**
 * Walks all blocks up to the head; addresses are in lower case.
 * Throws when the blocks do not link, which would be a fault of the node.
 */
export async function readChain(
  rpc: (method: string, params: readonly unknown[]) => Promise<unknown>,
  rules: Rules,
): Promise<ChainTruth> {
  const head = Number.parseInt((await rpc('eth_blockNumber', [])) as string, 16);
  const findings = startFindings('bsc', rules);
  let parent: string | undefined;
  for (let number = 0; number <= head; number++) {
    const block = (await rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as Block;
    if (parent !== undefined && block.parentHash !== parent)
      throw new Error(`block ${number} does not follow its parent`);
    parent = block.hash;
    for (const transaction of block.transactions) {
      findings.transaction(transaction.hash);
      const receipt = (await rpc('eth_getTransactionReceipt', [transaction.hash])) as Receipt;
      if (isWallet(rules, transaction.from.toLowerCase()))
        findings.sent(sentOf(transaction, receipt, rules.usdt));
      if (receipt.status !== '0x1') continue;
      const trace = (await rpc('debug_traceTransaction', [
        transaction.hash,
        { tracer: 'callTracer' },
      ])) as Frame;
      for (const movement of [...movementsOf(transaction, receipt, rules), ...internalOf(trace, rules)])
        findings.moved(transaction.hash, { number, hash: block.hash }, movement);
      for (const { to, units } of transfersIn(receipt))
        if (to.contract !== rules.usdt && rules.own.has(to.address))
          findings.foreign(transaction.hash, to.address, units);
    }
  }
  return findings.end(head);
}

/** What a wallet of ours sent: the coins go with the transaction, tokens are told by the token. */
function sentOf({ hash, from, to, value, nonce }: Transaction, receipt: Receipt, usdt: string) {
  const sender = from.toLowerCase();
  const ok = receipt.status === '0x1';
  const amountUnits = BigInt(value);
  const coins =
    ok && to !== null && amountUnits > 0n
      ? [{ to: to.toLowerCase(), currency: 'BNB' as const, amountUnits }]
      : [];
  const tokens = transfersIn(receipt)
    .filter((transfer) => ok && transfer.to.contract === usdt && transfer.from === sender)
    .map(({ to: { address }, units }) => ({ to: address, currency: 'USDT' as const, amountUnits: units }));
  return {
    hash,
    from: sender,
    nonce: Number.parseInt(nonce, 16),
    ok,
    feeUnits: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
    moves: [...coins, ...tokens],
  };
}

function movementsOf(transaction: Transaction, receipt: Receipt, rules: Rules): Movement[] {
  const found: Movement[] = [];
  const to = transaction.to?.toLowerCase();
  if (to !== undefined && isWatched(rules, to) && BigInt(transaction.value) > 0n)
    found.push({
      from: transaction.from.toLowerCase(),
      to,
      currency: 'BNB',
      amountUnits: BigInt(transaction.value),
    });
  for (const { from, to, units } of transfersIn(receipt))
    if (to.contract === rules.usdt && isWatched(rules, to.address))
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

/** Coins that contracts pass on: every frame below the top one that moves value and is not undone. */
function internalOf(frame: Frame, rules: Rules): Movement[] {
  if (frame.error !== undefined) return [];
  return (frame.calls ?? []).flatMap((call) => {
    const to = call.to?.toLowerCase() ?? '';
    const amountUnits = MOVING.has(call.type) && call.error === undefined ? BigInt(call.value ?? '0x0') : 0n;
    const paid = isWatched(rules, to) && amountUnits > 0n;
    return [
      ...(paid ? [{ from: call.from.toLowerCase(), to, currency: 'BNB' as const, amountUnits }] : []),
      ...internalOf(call, rules),
    ];
  });
}
