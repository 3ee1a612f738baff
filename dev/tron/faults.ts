// The ways in which an address of a Tron node misbehaves, ready to be switched on.
import type { TronAnswer, TronFault, TronRequest } from './http/endpoint.ts';
import { exactJson } from './http/json.ts';
import type { TronNode } from './node.ts';
import { rawOfJson, readSigned } from './transactions.ts';

type Json = Record<string, unknown>;
type Match = (request: TronRequest) => boolean;

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const nameOf = ({ path }: TronRequest): string => path.slice(path.indexOf('/') + 1);
const isNamed =
  (...names: readonly string[]): Match =>
  (request) =>
    names.includes(nameOf(request));

const isBroadcast = isNamed('broadcasttransaction', 'broadcasthex');

/** The same answer to everything. */
export const always =
  (answer: TronAnswer): TronFault =>
  () =>
    answer;

/** A fault for some requests alone. */
export const when =
  (match: Match, fault: TronFault): TronFault =>
  (request, answer) =>
    match(request) ? fault(request, answer) : undefined;

/** A fault at every nth request, the first of them the nth. */
export function everyNth(nth: number, fault: TronFault): TronFault {
  let count = 0;
  return (request, answer) => (++count % nth === 0 ? fault(request, answer) : undefined);
}

/** The answer of the first of these faults that gives one. */
export const firstOf =
  (...faults: readonly TronFault[]): TronFault =>
  async (request, answer) => {
    for (const fault of faults) {
      const decided = await fault(request, answer);
      if (decided) return decided;
    }
    return undefined;
  };

/** Changes the node's own answers to requests of these names, as `getnowblock`, in both views. */
export const changed =
  (names: readonly string[], change: (answer: never, request: TronRequest) => unknown): TronFault =>
  async (request, answer) =>
    isNamed(...names)(request) ? { json: await change((await answer()) as never, request) } : undefined;

/**
 * Gives no answer of a node, or of one with the fault `of`, that has more bytes than this, as what stands in
 * front of nodes does: `instead` of it.
 */
export function limitedTo(maxBytes: number, instead: TronAnswer, of: TronFault = () => undefined): TronFault {
  return async (request, answer) => {
    const decided = (await of(request, answer)) ?? { json: await answer() };
    if (typeof decided === 'string' || !('json' in decided) || decided.json === undefined) return decided;
    return Buffer.byteLength(exactJson(decided.json)) > maxBytes ? instead : decided;
  };
}

/** Adds so many bytes to each block and to the infos of each that holds a transaction; nothing reads them. */
export function padded(bytes: { readonly block?: number; readonly infos?: number }): TronFault {
  const more = (count = 0): string => 'ab'.repeat(count / 2);
  const block = (one: Json): Json => ('blockID' in one ? { ...one, padding: more(bytes.block) } : one);
  return firstOf(
    changed(['getblock', 'getblockbynum', 'getnowblock'], block),
    changed(['getblockbylimitnext'], (piece: { block?: readonly Json[] }) =>
      piece.block ? { block: piece.block.map(block) } : piece,
    ),
    infosChanged(([first, ...others]) => [{ ...first, contractResult: [more(bytes.infos)] }, ...others]),
  );
}

type Page = { readonly status: number; readonly body: string };
const page = (status: number, words: string): Page => ({
  status,
  body: `<html>\r\n<head><title>${words}</title></head>\r\n<body>\r\n<center><h1>${words}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`,
});
const said = (
  status: number,
  words: string,
  headers: Readonly<Record<string, string>> = {},
): Page & {
  readonly headers: Readonly<Record<string, string>>;
} => ({
  status,
  body: JSON.stringify({ Error: words }),
  headers: { 'content-type': 'application/json', ...headers },
});

/** What says nothing about the chain: the same answer to every request. */
export const ANSWERS = {
  /** The node's own limit, with status 200. */
  throttled: { json: { Error: 'class java.lang.IllegalAccessException : lack of computing resources' } },
  banned: said(403, 'The key exceeds the frequency limit(15), and the query server is suspended for 30 s'),
  tooMany: said(429, 'request rate exceeded', { 'retry-after': '1' }),
  unavailable: page(503, '503 Service Temporarily Unavailable'),
  tooLarge: page(413, '413 Request Entity Too Large'),
  htmlPage: { status: 200, body: '<!doctype html><p>Checking your browser</p>' },
  redirect: { status: 307, body: '', headers: { location: 'http://127.0.0.1:1/' } },
  cut: 'cut',
  drip: 'drip',
  hang: 'hang',
  reset: 'reset',
} as const satisfies Readonly<Record<string, TronAnswer>>;

const LISTS = isNamed('gettransactioninfobyblocknum');
/** The node does not have it (yet), whatever it is; it still tells of block 0, which proves the chain. */
export const empty: TronFault = (request) =>
  nameOf(request) === 'getblockbynum' && request.body['num'] === 0
    ? undefined
    : { json: LISTS(request) ? [] : {} };

/** Another chain: its first block has another id. */
export const otherChain: TronFault = changed(['getblockbynum', 'getblock', 'getblockbyid'], (block: Json) =>
  String(block['blockID']).startsWith('0'.repeat(16))
    ? { ...block, blockID: '0'.repeat(16) + 'cd'.repeat(24) }
    : block,
);

const infosChanged = (change: (infos: readonly Json[]) => unknown): TronFault =>
  changed(['gettransactioninfobyblocknum'], (infos: readonly Json[]) =>
    Array.isArray(infos) && infos.length > 0 ? change(infos) : infos,
  );
const without =
  (name: string) =>
  (info: Json): Json =>
    Object.fromEntries(Object.entries(info).filter(([member]) => member !== name));

/** What is told of the transactions of a block is not what happened in it. */
export const INFOS = {
  /** The transactions of another block at this height. */
  ofAnotherFork: infosChanged((infos) => infos.map((info) => ({ ...info, id: flipped(info['id']) }))),
  /** The same transactions, in a block of the same height and another time. */
  ofAnotherTime: infosChanged((infos) =>
    infos.map((info) => ({ ...info, blockTimeStamp: Number(info['blockTimeStamp']) + 3_000 })),
  ),
  ofAnotherHeight: infosChanged((infos) =>
    infos.map((info) => ({ ...info, blockNumber: Number(info['blockNumber']) - 1 })),
  ),
  oneTooFew: infosChanged((infos) => infos.slice(1)),
  inAnotherOrder: infosChanged((infos) => infos.toReversed()),
  none: infosChanged(() => []),
  withoutLogs: infosChanged((infos) => infos.map(without('log'))),
  /** Nothing of what code did, from a node that does not save it. */
  withoutInternals: changed(
    ['gettransactioninfobyblocknum', 'gettransactioninfobyid'],
    (infos: Json | Json[]) =>
      Array.isArray(infos)
        ? infos.map(without('internal_transactions'))
        : without('internal_transactions')(infos),
  ),
} as const satisfies Readonly<Record<string, TronFault>>;

function flipped(id: unknown): string {
  return String(id).split('').toReversed().join('');
}

/** Shows nothing above a height, in neither view. */
export function lag(node: TronNode, height: number): TronFault {
  const distance = node.head().header.number - node.solidHeight();
  return shownUpTo(node, (view) => (view === 'wallet' ? height : Math.max(0, height - distance)));
}

/** The head goes back by so many blocks. */
export function headBack(node: TronNode, blocks: number): TronFault {
  return shownUpTo(node, (view) =>
    view === 'wallet' ? node.head().header.number - blocks : node.solidHeight(),
  );
}

/** The irreversible head goes back by so many blocks, or stands still at a height. */
export function solidBack(node: TronNode, to: { readonly by: number } | { readonly at: number }): TronFault {
  return shownUpTo(node, (view) => {
    if (view === 'wallet') return node.head().header.number;
    return 'at' in to ? Math.min(to.at, node.solidHeight()) : Math.max(0, node.solidHeight() - to.by);
  });
}

/** Every block is irreversible at once. */
export function hasty(node: TronNode): TronFault {
  return async ({ path, body, view }) =>
    view === 'walletsolidity'
      ? { json: await node.ask(path.replace(/^walletsolidity/, 'wallet'), body) }
      : undefined;
}

function shownUpTo(node: TronNode, topOf: (view: TronRequest['view']) => number): TronFault {
  return async (request) =>
    isBroadcast(request)
      ? undefined
      : { json: await node.ask(request.path, request.body, topOf(request.view)) };
}

/** Accepts a broadcast, shows it for a moment, and drops it: it never lands. */
export function acceptedThenDropped(node: TronNode, afterMs = 0): TronFault {
  return async (request, answer) => {
    if (!isBroadcast(request)) return undefined;
    const json = (await answer()) as { result?: true; txid: string };
    if (json.result) setTimeout(() => void node.forget(json.txid), afterMs);
    return { json };
  };
}

/** Accepts a broadcast and closes the connection before it says so. */
export const acceptedAndLost: TronFault = async (request, answer) => {
  if (!isBroadcast(request)) return undefined;
  await answer();
  return 'reset';
};

/** Takes no broadcast. */
export const busy: TronFault = (request) => {
  const { raw_data: raw, visible } = request.body;
  if (nameOf(request) !== 'broadcasttransaction' || typeof raw !== 'object' || raw === null) return undefined;
  const { id } = readSigned(rawOfJson(raw as Json, visible === true), []);
  return { json: { code: 'SERVER_BUSY', txid: id, message: hexOf('Server busy.') } };
};
