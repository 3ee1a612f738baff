import { Readable } from 'node:stream';
import { withinTime } from '../../services/time-limit.ts';
import type { Download, Visit } from './visit.ts';

/**
 * Each file on its way holds the pieces that its reader has not taken yet, and some readers take their time
 * on purpose.
 */
const FILES_OF_A_MERCHANT = 5;
const RETRY_SECONDS = 5;

/**
 * Sends the files of one process, a few of a merchant at a time; throws the 429 of the door for one more. See
 * {@link sendPieces}.
 */
export function createFiles(): typeof sendPieces {
  const open = new Map<string, number>();
  const change = (merchantId: string, by: 1 | -1): void => {
    const count = (open.get(merchantId) ?? 0) + by;
    if (count === 0) open.delete(merchantId);
    else open.set(merchantId, count);
  };
  return async (visit, file, limitMs) => {
    const { ctx, door, owner } = visit;
    const { merchantId } = owner;
    // An answer that waits behind another one of its connection has no socket
    // yet: nobody would tell that its reader left.
    const isUnseen = ctx.res.closed || ctx.res.socket === null;
    if (isUnseen || (open.get(merchantId) ?? 0) >= FILES_OF_A_MERCHANT) throw door.tooOften(RETRY_SECONDS);
    change(merchantId, 1);
    ctx.res.once('close', () => change(merchantId, -1));
    await sendPieces(visit, file, limitMs);
  };
}

/**
 * Sends a file while it is made. What goes wrong before its first piece is a page; what goes wrong later
 * breaks the connection, because a file that ends early must not look like a whole one.
 */
async function sendPieces(visit: Visit, file: Download, limitMs: number): Promise<void> {
  const { ctx, door, mode } = visit;
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  const pieces = file.pieces(visit, gone.signal)[Symbol.asyncIterator]();
  const first = await withinTime({ limitMs, answer: ctx.res }, () => pieces.next(), door.late);
  ctx.status = 200;
  ctx.type = file.type;
  ctx.set('Content-Disposition', `attachment; filename="${file.name.replace('{mode}', mode)}"`);
  ctx.body = Readable.from(following(first, pieces));
}

async function* following(
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
): AsyncGenerator<string> {
  try {
    for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value;
  } finally {
    await rest.return?.();
  }
}
