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
import type { TronFaultName, TronLie } from './names.ts';

const SLOW_MS = 1_500;
const STALE_BLOCKS = 4;
const BACK = 3;
/** How many blocks of its own an address that hangs still gives. */
const REMEMBERED = 12;
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** How an address of the node misbehaves. The restart is none of it: it befalls the node. */
export function tronFault(name: Exclude<TronFaultName, 'the node is restarted'>, node: TronNode): TronFault {
  const faults: Readonly<Record<typeof name, () => TronFault>> = {
    slow: () => async () => {
      await sleep(SLOW_MS);
      return undefined;
    },
    lags: () => stale(node),
    'lags at every second answer': () => everyNth(2, stale(node)),
    'its head goes back': () => headBack(node, BACK),
    'its irreversible head goes back': () => solidBack(node, { by: BACK }),
    'its irreversible head stands still': () => solidBack(node, { at: node.solidHeight() }),
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
    'drops what is sent': () => acceptedThenDropped(node),
    'is too busy to be sent anything': () => busy,
  };
  return faults[name]();
}

/** An address some blocks behind the others, in both views. */
function stale(node: TronNode): TronFault {
  return async ({ path, body, view }) => {
    const top = view === 'wallet' ? node.head().header.number : node.solidHeight();
    return { json: await node.ask(path, body, Math.max(0, top - STALE_BLOCKS)) };
  };
}

/** A lie as a decision about each request of an address. */
export function tronLie(name: TronLie, node: TronNode): TronFault {
  switch (name) {
    case 'other amounts':
      return ofLogs(node, (logs) => logs.map((log) => (isPayment(log) ? tripled(log) : log)));
    case 'logs left out':
      return ofLogs(node, (logs) => logs.filter((log) => !isPayment(log)));
    case 'logs doubled':
      return ofLogs(node, (logs) => logs.flatMap((log) => (isPayment(log) ? [log, log] : [log])));
    case 'hangs on a replaced tip':
      return stuck(node, { alsoHead: false });
    case 'hangs on a replaced tip, head and all':
      return stuck(node, { alsoHead: true });
  }
}

type Log = { readonly topics?: readonly string[]; readonly data?: string };
type Info = { readonly blockNumber?: number; readonly log?: readonly Log[] };

const isPayment = ({ topics = [], data = '' }: Log): boolean =>
  topics[0] === TRANSFER && data.length === 64 && BigInt(`0x${data}`) > 0n;

const tripled = (log: Log): Log => ({
  ...log,
  data: (BigInt(`0x${log.data}`) * 3n + 1n).toString(16).padStart(64, '0'),
});

function ofLogs(node: TronNode, change: (logs: readonly Log[]) => readonly Log[]): TronFault {
  return changed(['gettransactioninfobyblocknum'], (infos: readonly Info[], request) =>
    mayBeReplaced(node, request) && Array.isArray(infos)
      ? infos.map((info) => (info.log ? { ...info, log: change(info.log) } : info))
      : infos,
  );
}

function mayBeReplaced(node: TronNode, { body, view }: TronRequest): boolean {
  return view === 'wallet' && Number(body['num']) > node.solidHeight();
}

/**
 * An address that stands still where it is: it gives the blocks of that moment, replaced or not, and nothing
 * above them. With `alsoHead` false only bodies and infos are old while head and finality go on, as behind a
 * balancer whose nodes do not agree. What is irreversible by now it tells as it is.
 */
function stuck(node: TronNode, { alsoHead }: { readonly alsoHead: boolean }): TronFault {
  const kept = remember(node);
  return async (request) => {
    const { blocks, infos, head } = await kept;
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

type Kept = {
  readonly blocks: ReadonlyMap<number, Readonly<Record<string, unknown>>>;
  readonly infos: ReadonlyMap<number, unknown>;
  readonly head: number;
};

async function remember(node: TronNode): Promise<Kept> {
  const head = node.head().header.number;
  const blocks = new Map<number, Readonly<Record<string, unknown>>>();
  const infos = new Map<number, unknown>();
  for (let num = Math.max(1, head - REMEMBERED + 1); num <= head; num += 1) {
    blocks.set(num, (await node.ask('wallet/getblockbynum', { num })) as Record<string, unknown>);
    infos.set(num, await node.ask('wallet/gettransactioninfobyblocknum', { num }));
  }
  return { blocks, infos, head };
}
