import { setTimeout as sleep } from 'node:timers/promises';
import {
  ANSWERS,
  acceptedAndLost,
  acceptedThenDropped,
  always,
  busy,
  changed,
  empty,
  everyNth,
  headBack,
  INFOS,
  otherChain,
  solidBack,
} from '../../../dev/tron/faults.ts';
import type { TronFault, TronRequest } from '../../../dev/tron/http/endpoint.ts';
import type { TronNode } from '../../../dev/tron/node.ts';
import { type Faults, REMEMBERED } from './chain.ts';

const SLOW_MS = 1_500;
const STALE_BLOCKS = 4;
const BACK = 3;
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const TRON_RESTART = 'the node is restarted';

/**
 * What an address of a node does wrong. Of what is irreversible it shows too little here, never what is not
 * so: infos have no proof of their own, and the read after finality believes them.
 */
export const TRON_FAULTS: Faults<TronFault, TronNode> = {
  slow: () => async () => {
    await sleep(SLOW_MS);
    return undefined;
  },
  lags: stale,
  'lags at every second answer': (node) => everyNth(2, stale(node)),
  'its head goes back': (node) => headBack(node, BACK),
  'its irreversible head goes back': (node) => solidBack(node, { by: BACK }),
  'its irreversible head stands still': (node) => solidBack(node, { at: node.solidHeight() }),
  'has nothing': () => empty,
  'is another chain': () => otherChain,
  throttles: () => always(ANSWERS.throttled),
  bans: () => always(ANSWERS.banned),
  'answers 429': () => always(ANSWERS.tooMany),
  'answers 503': () => always(ANSWERS.unavailable),
  'answers 413': () => always(ANSWERS.tooLarge),
  'answers HTML': () => always(ANSWERS.htmlPage),
  redirects: () => always(ANSWERS.redirect),
  'cuts its answers': () => always(ANSWERS.cut),
  drips: () => always(ANSWERS.drip),
  hangs: () => always(ANSWERS.hang),
  resets: () => always(ANSWERS.reset),
  'infos of another fork': () => INFOS.ofAnotherFork,
  'infos of another time': () => INFOS.ofAnotherTime,
  'infos of another height': () => INFOS.ofAnotherHeight,
  'one info too few': () => INFOS.oneTooFew,
  'infos in another order': () => INFOS.inAnotherOrder,
  'no infos': () => INFOS.none,
  'no internal transactions': () => INFOS.withoutInternals,
  'does not say that it took what is sent': () => acceptedAndLost,
  'drops what is sent': (node) => acceptedThenDropped(node),
  'is too busy to be sent anything': () => busy,
  // The node itself loses what is not irreversible; its addresses then answer as they did.
  [TRON_RESTART]: () => () => undefined,
};

/** An address some blocks behind the others, in both views. */
function stale(node: TronNode): TronFault {
  return async ({ path, body, view }) => {
    const top = view === 'wallet' ? node.head().header.number : node.solidHeight();
    return { json: await node.ask(path, body, Math.max(0, top - STALE_BLOCKS)) };
  };
}

type Log = { readonly topics?: readonly string[]; readonly data?: string };
type Info = { readonly blockNumber?: number; readonly log?: readonly Log[] };

const isPayment = ({ topics = [], data = '' }: Log): boolean =>
  topics[0] === TRANSFER && data.length === 64 && BigInt(`0x${data}`) > 0n;
const tripled = (log: Log): Log => ({
  ...log,
  data: (BigInt(`0x${log.data}`) * 3n + 1n).toString(16).padStart(64, '0'),
});

/**
 * What the second address says that is not so, mostly while the first one does not answer: only of what can
 * still be replaced. What is irreversible it tells as it is.
 */
export const TRON_LIES: Faults<TronFault, TronNode> = {
  'other amounts': ofLogs((log) => [isPayment(log) ? tripled(log) : log]),
  'logs left out': ofLogs((log) => (isPayment(log) ? [] : [log])),
  'logs doubled': ofLogs((log) => (isPayment(log) ? [log, log] : [log])),
  'hangs on a replaced tip': (node) => stuck(node, { alsoHead: false }),
  'hangs on a replaced tip, head and all': (node) => stuck(node, { alsoHead: true }),
};

function ofLogs(change: (log: Log) => readonly Log[]): (node: TronNode) => TronFault {
  return (node) =>
    changed(['gettransactioninfobyblocknum'], (infos: readonly Info[], { body, view }) => {
      const mayBeReplaced = view === 'wallet' && Number(body['num']) > node.solidHeight();
      if (!mayBeReplaced || !Array.isArray(infos)) return infos;
      return infos.map((info: Info) => (info.log ? { ...info, log: info.log.flatMap(change) } : info));
    });
}

/**
 * An address that stands still where it is: it gives the blocks of that moment, replaced or not, and nothing
 * above them. With `alsoHead` false only bodies and infos are old while head and finality go on, as behind a
 * balancer whose nodes do not agree. What is irreversible by now it tells as it is.
 */
function stuck(node: TronNode, { alsoHead }: { readonly alsoHead: boolean }): TronFault {
  const remembered = remember(node);
  // Whoever is asked nothing meanwhile may have ended before it was known.
  remembered.catch(() => undefined);
  return async (request) => {
    const { blocks, infos, head } = await remembered;
    const { path, body, view } = request;
    if (view !== 'wallet') return undefined;
    const number = heightNamed(request, alsoHead ? head : undefined);
    if (number === undefined || number <= node.solidHeight()) return undefined;
    if (path.endsWith('/gettransactioninfobyblocknum')) return { json: infos.get(number) ?? [] };
    const block = blocks.get(number);
    if (!block) return { json: {} };
    const isWhole = !path.endsWith('/getblock') || body['detail'] === true;
    if (!isWhole && !alsoHead) return undefined;
    const { transactions: _left, ...header } = block;
    return { json: isWhole ? block : header };
  };
}

/** The height that a request for a block is about; `newest` where it asks for that. */
function heightNamed({ path, body }: TronRequest, newest: number | undefined): number | undefined {
  const name = path.slice(path.indexOf('/') + 1);
  if (name === 'getblockbynum' || name === 'gettransactioninfobyblocknum') return Number(body['num']);
  if (name === 'getnowblock') return newest;
  if (name !== 'getblock') return undefined;
  return body['id_or_num'] === undefined ? newest : Number(body['id_or_num']);
}

async function remember(node: TronNode) {
  const head = node.head().header.number;
  const blocks = new Map<number, Record<string, unknown>>();
  const infos = new Map<number, unknown>();
  for (let num = Math.max(1, head - REMEMBERED + 1); num <= head; num += 1) {
    blocks.set(num, (await node.ask('wallet/getblockbynum', { num })) as Record<string, unknown>);
    infos.set(num, await node.ask('wallet/gettransactioninfobyblocknum', { num }));
  }
  return { blocks, infos, head };
}
