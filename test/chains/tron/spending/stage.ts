// The sending side of Tron over nodes that answer what a real one was recorded to answer, changed at will.
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Quote, Spending, SpendOrder } from '../../../../src/chains/spending.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import {
  createTronSpending,
  type TronSpendingOptions,
} from '../../../../src/chains/tron/spending/spending.ts';
import { ALL } from '../../../dev/tron/recorded.ts';
import { type Answer, type Asked, startNode, type TestNode } from '../endpoints/node.ts';
import { PEOPLE, type Sent, TOKEN } from '../vectors.ts';

export const TRX = 1_000_000n;
export const NOW_MS = Date.parse('2026-11-25T12:00:00Z');
/** The time of the last solidified block, which is block 72. */
export const SOLID_MS = 1_795_257_474_000;
export const ALICE = PEOPLE.alice as AddressKey;
export const BOB = PEOPLE.bob as AddressKey;
export const API_KEY = 'sesame-open-9f3a';

export type Terms = Extract<Quote, { kind: 'terms' }>;
/** What a node answers by the last part of a path; unset leaves the recorded answer. */
export type Answers = Readonly<Record<string, Sent | ((asked: Asked, recorded: Sent) => Sent)>>;

const idAt = (height: number): string => height.toString(16).padStart(16, '0').padEnd(64, 'e');
const SOLID = {
  blockID: idAt(72),
  block_header: { raw_data: { number: 72, timestamp: SOLID_MS, parentHash: idAt(71) } },
};

/** One recorded answer. Throws for a name that none has. */
export function answer(name: string): Sent {
  const recorded = ALL.get(name);
  if (!recorded) throw new Error(`nothing is recorded as ${name}`);
  return recorded.response;
}

const RECORDED: Answers = {
  getchainparameters: answer('wallet_getchainparameters'),
  getaccountresource: answer('wallet_getaccountresource__activated'),
  getaccount: { address: `41${BOB}` },
  getblock: SOLID,
  triggerconstantcontract: answer('wallet_triggerconstantcontract__transfer_ok'),
  broadcasthex: answer('wallet_broadcasthex__success'),
  gettransactioninfobyid: {},
};

export type SpendingStage = {
  readonly nodes: readonly TestNode[];
  /** Lets one of the nodes answer otherwise, from now on. */
  answers(at: number, changed: Answers): void;
  spending(change?: Partial<TronSpendingOptions>): Spending;
  stop(): void;
};

/** Starts so many nodes. */
export async function startSpendingStage(count = 1): Promise<SpendingStage> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode()));
  const answers: SpendingStage['answers'] = (at, changed) => {
    const node = nodes[at];
    if (!node) throw new Error(`no node ${at}`);
    node.fault = (asked): Answer | undefined => {
      const name = asked.url.slice(asked.url.lastIndexOf('/') + 1);
      if (!(name in RECORDED) && !(name in changed)) return undefined;
      const other = changed[name];
      const recorded = RECORDED[name];
      return { json: typeof other === 'function' ? other(asked, recorded) : (other ?? recorded) };
    };
  };
  for (const at of nodes.keys()) answers(at, {});
  return {
    nodes,
    answers,
    spending: (change) => {
      const usdtContract = TRON_ADDRESSES.format(TOKEN);
      const pool = createTronPool({
        name: 'tron',
        urls: nodes.map(({ url }) => url),
        apiKey: API_KEY,
        budget: createBudget({ perDay: 1_000_000, perSecond: 10_000 }),
        genesis: createGenesis({ usdtContract }),
        parse: parseTronJson,
        timeoutMs: 1_000,
      });
      return createTronSpending({
        pool,
        limits: { usdtContract, maxFeeLimitSun: 50n * TRX },
        spareRequests: () => 1_000,
        shortLookMs: 30_000,
        date: () => NOW_MS,
        ...change,
      });
    },
    stop: () => {
      for (const node of nodes) node.stop();
    },
  };
}

/** What is paid out of an address: 1 unit of the token as it was recorded, or 50 TRX. */
export const orderOf = (kind: SpendOrder['kind'], units = kind === 'token' ? 1n : 50n * TRX): SpendOrder => ({
  from: ALICE,
  to: BOB,
  kind,
  units,
});

/** The terms of a quote. Throws its refusal. */
export function termsIn(quote: Quote): Terms {
  if (quote.kind === 'terms') return quote;
  throw new Error(`${quote.code}: ${quote.reason}`);
}
