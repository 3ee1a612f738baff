import { randomUUID } from 'node:crypto';
import { chmod, type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Lock, tryLock } from '../base/data-dir.ts';
import { OperatorError } from '../base/errors.ts';
import { reasonOf } from '../base/reason.ts';
import {
  hashOfLine,
  type JournalEntry,
  JournalIndex,
  type JournalLine,
  lineText,
  NO_LINE,
  type Place,
  parseLine,
} from './journal-lines.ts';

/** Another process writes to the journal. */
export class JournalHeld extends OperatorError {
  override readonly name = 'JournalHeld';
}
/** The journal is not as it was written: nothing may be signed over it. */
export class JournalBroken extends OperatorError {
  override readonly name = 'JournalBroken';
}

const READ_BYTES = 1 << 20;
const LINE_END = 0x0a;
/** Far above a line with ten thousand deposits. */
const MAX_LINE_BYTES = 1 << 22;

/**
 * What the signer has signed and seen, in a file that it only ever appends to. Each line holds the hash of
 * the line before, so none can be changed or taken out unseen. One process at a time holds it.
 */
export type Journal = {
  readonly file: string;
  readonly index: JournalIndex;
  /** Whether opening it made it. */
  readonly isNew: boolean;
  /** Bytes of an unfinished last line that opening it took away; 0 where the end was whole. */
  readonly repairedBytes: number;
  /** How many lines it has. */
  length(): number;
  /** The hash of its last line. */
  head(): string;
  /**
   * Writes a line through to the disk before it returns. After an error it writes nothing more, because
   * nobody knows how much of the line is there: it has to be opened again.
   */
  append(entry: JournalEntry, at: Date): Promise<JournalLine>;
  /** The bytes that were signed under a hash. Throws where there are none. */
  raw(hash: string): Promise<Buffer>;
  close(): Promise<void>;
};

/**
 * Opens the journal, or begins one where there is no file. A last line that was not written to its end, which
 * nobody can have acted upon, is taken away. Throws {@link JournalHeld} and {@link JournalBroken}.
 */
export async function openJournal(input: { file: string; now: Date }): Promise<Journal> {
  try {
    return await opened(input);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { file } = input;
    throw new JournalBroken(
      `The signer's journal ${file} cannot be opened for writing (${reasonOf(error)})`,
      'Let the signer write to the file and its folder, and see that their disk has room',
      { cause: error },
    );
  }
}

async function opened({ file, now }: { file: string; now: Date }): Promise<Journal> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lock = tryLock(`${file}.lock`);
  if (!lock)
    throw new JournalHeld(
      `Another process writes to the signer's journal ${file}`,
      'Stop that signer; two never sign at the same time',
    );
  let handle: FileHandle | undefined;
  try {
    await chmod(`${file}.lock`, 0o600);
    handle = await open(file, 'a+', 0o600);
    const read = await readLines(file, handle);
    const { size } = await handle.stat();
    if (size > read.end) await handle.truncate(read.end);
    // A signer that was killed has written its last line, and perhaps not through to the disk.
    await handle.sync();
    await syncFolder(dirname(file));
    const journal = journalOver({ file, handle, lock, ...read, repairedBytes: size - read.end });
    if (journal.isNew) await journal.append({ kind: 'begun', journal: randomUUID() }, now);
    return journal;
  } catch (error) {
    await handle?.close();
    lock.release();
    throw error;
  }
}

/** A journal, or a copy of it, that is only looked at. */
export type JournalCopy = Pick<Journal, 'file' | 'index' | 'raw'>;

/**
 * Looks into the journal, or into a copy of it, while its signer may be writing to it: a last line without
 * its end is left out. Throws {@link JournalBroken}.
 */
export async function readingJournal<T>(file: string, work: (copy: JournalCopy) => Promise<T>): Promise<T> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw new JournalBroken(
      `The signer's journal ${file} cannot be read (${reasonOf(error)})`,
      'Run this where the signer keeps it (SIGN_JOURNAL_FILE), or name a copy of it with --journal',
      { cause: error },
    );
  });
  try {
    const { index } = await readLines(file, handle);
    return await work({ file, index, raw: (hash) => rawOf({ file, handle, index }, hash) });
  } finally {
    await handle.close();
  }
}

type Opened = {
  readonly file: string;
  readonly handle: FileHandle;
  readonly lock: Lock;
  readonly index: JournalIndex;
  readonly end: number;
  readonly repairedBytes: number;
};

function journalOver({ file, handle, lock, index, end, repairedBytes }: Opened): Journal {
  let size = end;
  let failed: unknown;
  let last: Promise<unknown> = Promise.resolve();
  const head = (): string => index.hashes.at(-1) ?? NO_LINE;
  const write = async (entry: JournalEntry, at: Date): Promise<JournalLine> => {
    if (failed !== undefined) throw unwritten(file, failed);
    const text = lineText(entry, { n: index.hashes.length + 1, at, previous: head() });
    const line = parseLine(text);
    if (!line) throw new Error('a line that could not be read again is not written');
    const bytes = Buffer.from(`${text}\n`, 'utf8');
    if (bytes.length > MAX_LINE_BYTES) throw new Error('a line that long is not written');
    try {
      const { bytesWritten } = await handle.write(bytes);
      if (bytesWritten !== bytes.length) throw new Error('the line was written in part');
      await handle.datasync();
    } catch (error) {
      failed = error;
      throw unwritten(file, error);
    }
    index.add(line, hashOfLine(text), { at: size, length: bytes.length - 1 });
    size += bytes.length;
    return line;
  };
  return {
    file,
    index,
    repairedBytes,
    isNew: index.hashes.length === 0,
    length: () => index.hashes.length,
    head,
    append: (entry, at) => {
      const written = last.then(() => write(entry, at));
      last = written.catch(() => undefined);
      return written;
    },
    raw: (hash) => rawOf({ file, handle, index }, hash),
    close: async () => {
      await last;
      await handle.close();
      lock.release();
    },
  };
}

async function rawOf(
  { file, handle, index }: Pick<Opened, 'file' | 'handle' | 'index'>,
  hash: string,
): Promise<Buffer> {
  const place = index.placeOf(hash);
  const line = place && parseLine((await readPlace(handle, place)).toString('utf8'));
  if (line?.kind !== 'signed' || line.hash !== hash)
    throw new JournalBroken(
      `The journal ${file} has no bytes for ${hash}`,
      'Restore it from its backup, and stop whatever else writes to it',
    );
  return Buffer.from(line.raw, 'hex');
}

async function readPlace(handle: FileHandle, { at, length }: Place): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  await handle.read(buffer, 0, length, at);
  return buffer;
}

/** Reads all whole lines and proves that each follows the one before. `end` is where they end. */
async function readLines(file: string, handle: FileHandle): Promise<{ index: JournalIndex; end: number }> {
  const index = new JournalIndex();
  let end = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let at = 0; ; ) {
    const buffer = Buffer.alloc(READ_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, at);
    if (bytesRead === 0) return { index, end };
    at += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let to = rest.indexOf(LINE_END); to >= 0; to = rest.indexOf(LINE_END)) {
      takeLine(file, index, rest.subarray(0, to), { at: end, length: to });
      end += to + 1;
      rest = rest.subarray(to + 1);
    }
    if (rest.length > MAX_LINE_BYTES) throw broken(file, index.hashes.length + 1);
  }
}

function takeLine(file: string, index: JournalIndex, bytes: Buffer, place: Place): void {
  const text = bytes.toString('utf8');
  const line = parseLine(text);
  const n = index.hashes.length + 1;
  const follows = line?.n === n && line.previous === (index.hashes.at(-1) ?? NO_LINE);
  if (!line || !follows || (line.kind === 'begun') !== (n === 1)) throw broken(file, n);
  index.add(line, hashOfLine(text), place);
}

function unwritten(file: string, cause: unknown): JournalBroken {
  return new JournalBroken(
    `The signer's journal ${file} could not be written (${reasonOf(cause)})`,
    'See that its disk has room and can be written',
    { cause },
  );
}

function broken(file: string, n: number): JournalBroken {
  return new JournalBroken(
    `Line ${n} of the signer's journal ${file} is not what was written there`,
    'Restore the journal from its backup, the newest one; without it nothing is signed, because nobody knows what was',
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
