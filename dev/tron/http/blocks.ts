// Blocks, and what became of the transactions in them.
import { showBlock, showInfo, showTransaction } from '../shapes.ts';
import type { Block, Executed } from '../types.ts';
import { type Asked, blockAt, type Handler, placed, showsWaiting, topOf } from './handler.ts';
import { hexIn, isVisible, JavaError, numberIn } from './requests.ts';

const MOST_BLOCKS = 100;

const whole = (asked: Asked, block: Block | undefined): object =>
  block ? showBlock(block, isVisible(asked.body)) : {};

/** By height or id, the newest where neither is named; without transactions unless asked for. */
const getBlock: Handler = (asked) => {
  const { body, chain } = asked;
  const named = body['id_or_num'];
  const text = String(named ?? '');
  const byId = /^[0-9a-f]{64}$/i.test(text) ? chain.blocks.byId(text.toLowerCase()) : undefined;
  if (text !== '' && !/^(?:-?\d{1,18}|[0-9a-f]{64})$/i.test(text))
    throw new JavaError('java.lang.IllegalArgumentException', 'id must be legal block hash.');
  const height = text === '' ? topOf(asked) : (byId?.header.number ?? (text.length < 64 ? Number(text) : -1));
  const block = blockAt(asked, height);
  return block ? showBlock(block, isVisible(body), body['detail'] === true) : {};
};

const between = (asked: Asked, from: number, to: number): object => {
  const heights = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  return { block: heights.flatMap((height) => blockAt(asked, height) ?? []).map((one) => whole(asked, one)) };
};

const infos = (asked: Asked, block: Block): object[] => {
  const options = { visible: isVisible(asked.body), savesInternals: asked.savesInternals };
  return block.transactions.map((executed) => showInfo(executed, block, options));
};

/** Answers about blocks, by the last part of their path. */
export const BLOCK_HANDLERS: Readonly<Record<string, Handler>> = {
  getblock: getBlock,
  getnowblock: (asked) => whole(asked, blockAt(asked, topOf(asked))),
  getblockbynum: (asked) => whole(asked, blockAt(asked, numberIn(asked.body, 'num'))),
  getblockbyid: (asked) => {
    const block = asked.chain.blocks.byId(hexIn(asked.body, 'value'));
    return whole(asked, block && blockAt(asked, block.header.number));
  },
  getblockbylimitnext: (asked) => {
    const [from, to] = [numberIn(asked.body, 'startNum'), numberIn(asked.body, 'endNum')];
    return from < 0 || to <= from || to - from > MOST_BLOCKS ? {} : between(asked, from, to);
  },
  getblockbylatestnum: (asked) => {
    const count = numberIn(asked.body, 'num');
    const top = topOf(asked);
    return count < 1 || count >= MOST_BLOCKS ? {} : between(asked, Math.max(0, top - count + 1), top + 1);
  },
  gettransactioninfobyblocknum: (asked) => {
    const height = numberIn(asked.body, 'num');
    if (height <= 0) return {};
    const block = blockAt(asked, height);
    return block ? infos(asked, block) : [];
  },
  gettransactioncountbyblocknum: (asked) => {
    const block = blockAt(asked, numberIn(asked.body, 'num'));
    return { count: block ? block.transactions.length : -1 };
  },
  gettransactioninfobyid: (asked) => {
    const place = placed(asked, hexIn(asked.body, 'value'));
    if (!place || place.block.header.number === 0) return {};
    const options = { visible: isVisible(asked.body), savesInternals: asked.savesInternals };
    return showInfo(place.executed, place.block, options);
  },
  /** The full node also shows what is in no block yet. */
  gettransactionbyid: (asked) => {
    const id = hexIn(asked.body, 'value');
    const found = placed(asked, id)?.executed ?? waiting(asked, id);
    return found ? showTransaction(found, isVisible(asked.body)) : {};
  },
};

/** Answers about what is in no block yet. */
export const PENDING_HANDLERS: Readonly<Record<string, Handler>> = {
  gettransactionlistfrompending: ({ chain }) => ({ txId: chain.pool.map(({ signed }) => signed.id) }),
  gettransactionfrompending: (asked) => {
    const found = waiting(asked, hexIn(asked.body, 'value'));
    return found ? showTransaction(found, isVisible(asked.body)) : {};
  },
  getpendingsize: ({ chain }) => ({ pendingSize: chain.pool.length }),
};

function waiting(asked: Asked, id: string): Executed | undefined {
  return showsWaiting(asked) ? asked.chain.pool.find(({ signed }) => signed.id === id) : undefined;
}
