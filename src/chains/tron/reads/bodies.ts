// Bodies of blocks that came with another question: with the head, and in a backlog with the blocks before.
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import type { TronSession } from '../protocol.ts';

/** What a node answers where it does not have the block (yet). */
const NOTHING = {};
/** Blocks in one answer: they take half a megabyte each on main net, and an answer may have 64. */
const PIECE_BLOCKS = 20;
/** A piece is never smaller; else none would be asked for ever again. */
const FEWEST_BLOCKS = 2;
/** For so long no larger pieces are asked for than were given, and where none are, blocks one by one. */
const SMALLER_MS = 10 * 60_000;

export interface Bodies {
  /** Keeps the body that came with the head, in place of the one before. */
  keepHead(number: number, block: object): void;
  /**
   * The body of a final block, from what nothing can replace; `{}` where the endpoint does not have it. A
   * caller that reads one block after the other gets most of them with the ones before, up to `lastFinal`.
   */
  final(session: TronSession, number: number, lastFinal: number): Promise<object>;
  /** The body of a block that may still be replaced; `{}` where the endpoint does not have it. */
  newest(session: TronSession, number: number): Promise<object>;
}

/** Given to the endpoint that it came from alone: another one would be blamed for what is wrong in it. */
type Piece = {
  readonly endpoint: number;
  readonly from: number;
  readonly to: number;
  readonly blocks: Promise<Map<number, object>>;
};

/** Makes the memory of one reader. A body is given out once, so that whoever asks again gets a new answer. */
export function createBodies(now: () => number): Bodies {
  let head: { readonly number: number; readonly block: object } | undefined;
  let pieces: Piece[] = [];
  let asked: number | undefined;
  let size = PIECE_BLOCKS;
  let largest = PIECE_BLOCKS;
  let smallerUntil = Number.NEGATIVE_INFINITY;
  let singleUntil = Number.NEGATIVE_INFINITY;

  const begin = (session: TronSession, from: number, to: number): Piece => {
    const blocks = pieceOf(session, from, to);
    blocks.then(
      () => {
        size = Math.min(now() < smallerUntil ? largest : PIECE_BLOCKS, size * 2);
      },
      (error: unknown) => {
        // A caller that went away says nothing about the endpoint.
        if (!(error instanceof EndpointFailure)) return;
        // The blocks of it that nobody has asked for yet come in smaller ones.
        pieces = pieces.filter((one) => one !== piece);
        smallerUntil = now() + SMALLER_MS;
        const half = Math.max(FEWEST_BLOCKS, Math.floor((to - from + 1) / 2));
        if (size > FEWEST_BLOCKS) size = Math.min(size, half);
        else singleUntil = smallerUntil;
        largest = size;
      },
    );
    const { endpoint } = session;
    const piece = { endpoint, from, to, blocks };
    const isKept = (one: Piece): boolean =>
      one.to >= from - 2 * PIECE_BLOCKS && (one.to < from || one.endpoint !== endpoint);
    pieces = [...pieces.filter(isKept), piece];
    return piece;
  };
  const pieceFor = (session: TronSession, number: number, lastFinal: number): Piece | undefined => {
    const known = pieces.find(
      ({ endpoint, from, to }) => endpoint === session.endpoint && from <= number && number <= to,
    );
    if (known) return known;
    const follows = asked === number - 1;
    const to = Math.min(number + size - 1, lastFinal);
    return follows && to > number && now() >= singleUntil ? begin(session, number, to) : undefined;
  };

  return {
    keepHead(number, block) {
      head = { number, block };
    },
    async newest(session, number) {
      const kept = head?.number === number ? head.block : undefined;
      if (kept) head = undefined;
      return kept ?? (await session.call('wallet/getblockbynum', { num: number }));
    },
    async final(session, number, lastFinal) {
      const piece = pieceFor(session, number, lastFinal);
      asked = number;
      // Where the piece failed this block is asked for alone, and that tells how the endpoint does.
      const blocks = await piece?.blocks.catch(() => undefined);
      const block = blocks?.get(number);
      blocks?.delete(number);
      return block ?? (await session.solidity('walletsolidity/getblockbynum', { num: number }));
    },
  };
}

async function pieceOf(session: TronSession, from: number, to: number): Promise<Map<number, object>> {
  const answer = await session.solidity('walletsolidity/getblockbylimitnext', {
    startNum: from,
    endNum: to + 1,
  });
  const sent = isRecord(answer) ? (answer['block'] ?? []) : undefined;
  if (!Array.isArray(sent) || sent.length > to - from + 1)
    throw new EndpointFailure(`no list of blocks from ${from} to ${to}`);
  // In which order they come is nobody's promise; the decoder compares each with the height that was asked
  // for.
  return new Map(sent.map((block: unknown) => [numberOf(block), isRecord(block) ? block : NOTHING]));
}

function numberOf(block: unknown): number {
  const header = isRecord(block) ? block['block_header'] : undefined;
  const raw = isRecord(header) ? header['raw_data'] : undefined;
  return isRecord(raw) ? Number(raw['number']) : Number.NaN;
}
