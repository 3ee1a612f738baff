// The ways in which a reader is broken.
import type { SentByUs } from '../../../src/chains/outgoing.ts';
import type { ChainReader, HeightView, ScannedBlock, Transfer } from '../../../src/chains/reader.ts';

type Method = 'head' | 'finalized' | 'header' | 'scan' | 'views' | 'locate' | 'balances' | 'checkIdentity';
type Parts = Partial<Record<keyof ChainReader, unknown>>;
/** What is broken of a reader; `alone` asks the first endpoint only. */
export type Break = (reader: ChainReader, alone: ChainReader) => Parts;
/** Any answer or question. */
// biome-ignore lint/suspicious/noExplicitAny: the methods are wrapped whatever they take and give.
export type Any = any;

/** The method's answer, changed. */
export const changing =
  (method: Method, change: (answer: Any, asked: readonly Any[], reader: ChainReader) => unknown): Break =>
  (reader) => ({
    [method]: async (...asked: Any[]) => change(await (reader as Any)[method](...asked), asked, reader),
  });

/** What the method throws, taken for this. */
export const swallowing =
  (method: Method, instead: unknown): Break =>
  (reader) => ({
    [method]: async (...asked: Any[]) => {
      try {
        return await (reader as Any)[method](...asked);
      } catch {
        return typeof instead === 'function' ? instead(...asked) : instead;
      }
    },
  });

/** The first answer to each question, for ever. */
export const remembering =
  (method: Method): Break =>
  (reader) => {
    const kept = new Map<unknown, unknown>();
    return {
      [method]: async (asked: unknown, ...rest: Any[]) => {
        if (!kept.has(asked)) kept.set(asked, await (reader as Any)[method](asked, ...rest));
        return kept.get(asked);
      },
    };
  };

/** Stops for nobody once it has begun. */
export const deaf =
  (method: Method, { begun = false } = {}): Break =>
  (reader) => ({
    [method]: async (...asked: Any[]) => {
      for (const one of asked) if (begun && one instanceof AbortSignal) one.throwIfAborted();
      return await (reader as Any)[method](
        ...asked.map((one) => (one instanceof AbortSignal ? new AbortController().signal : one)),
      );
    },
  });

/** Asks no other endpoint. */
export const stubborn =
  (method: Method): Break =>
  (_reader, alone) => ({ [method]: (...asked: Any[]) => (alone as Any)[method](...asked) });

/** A scanned block, changed. */
export const scanned = (change: (block: ScannedBlock) => object | undefined): Break =>
  changing('scan', (block?: ScannedBlock) => block && { ...block, ...change(block) });

/** What a scanned block brought, changed. */
export const credited = (
  change: (transfers: readonly Transfer[], block: ScannedBlock) => readonly unknown[],
): Break => scanned((block) => ({ transfers: change(block.transfers, block) }));

/** What a scanned block says that our wallets sent, changed. */
export const sending = (
  change: (sent: readonly SentByUs[], block: ScannedBlock) => readonly unknown[],
): Break => scanned((block) => ({ sent: change(block.sent ?? [], block) }));

/** What each endpoint shows, changed. */
export const viewed = (change: (views: readonly HeightView[]) => readonly unknown[]): Break =>
  changing('views', change);
