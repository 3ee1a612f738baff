import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Lock, tryLock } from '../base/data-dir.ts';
import { OperatorError } from '../base/errors.ts';
import { reasonOf } from '../base/reason.ts';
import { JournalIndex } from './journal-index.ts';
import { type JournalEntry, type JournalLine, lineText, parseLine } from './journal-lines.ts';
import { syncFolder } from './private-file.ts';

/** Another process writes to the journal. */
export class JournalHeld extends OperatorError {
  override readonly name = 'JournalHeld';
}
/** The journal is not as it was written: nothing may be signed over it. */
export class JournalBroken extends OperatorError {
  override readonly name = 'JournalBroken';
}

const LINE_END = 0x0a;
/** Far above a line with ten thousand deposits. */
const MAX_LINE_BYTES = 1 << 22;
const CHUNK_BYTES = 1 << 20;

/**
 * What the signer has signed and seen, in a file that it only ever appends to. Each line holds the hash of
 * the line before, so none can be changed or taken out unseen. One process at a time holds it.
 */
export type Journal = ReturnType<typeof journalOver>;

/** What is done to the open file. */
export type JournalFile = Pick<FileHandle, 'write' | 'datasync' | 'sync' | 'stat' | 'truncate' | 'close'>;
type Opening = {
  readonly file: string;
  readonly now: Date;
  /** Unset: the file system's. */
  readonly openFile?: ((file: string, flags: string, mode: number) => Promise<JournalFile>) | undefined;
};

/**
 * Opens the journal, or begins one where there is no file. A last line that was not written to its end, which
 * nobody can have acted upon, is taken away. Throws {@link JournalHeld} and {@link JournalBroken}.
 */
export async function openJournal(input: Opening): Promise<Journal> {
  return await orBroken(
    `${input.file} cannot be opened for writing`,
    'Let the signer write to the file and its folder, and see that their disk has room',
    opened(input),
  );
}

async function opened({ file, now, openFile = open }: Opening): Promise<Journal> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lock = tryLock(`${file}.lock`);
  if (!lock)
    throw new JournalHeld(
      `Another process writes to the signer's journal ${file}`,
      'Stop that signer; two never sign at the same time',
    );
  let handle: JournalFile | undefined;
  try {
    await chmod(`${file}.lock`, 0o600);
    handle = await openFile(file, 'a+', 0o600);
    const index = await readLines(file);
    const { size } = await handle.stat();
    if (size > index.end) await handle.truncate(index.end);
    // A signer that was killed has written its last line, and perhaps not through to the disk.
    await handle.sync();
    await syncFolder(dirname(file));
    const journal = journalOver(file, handle, lock, index, size);
    if (index.length === 0) await journal.append({ kind: 'begun', journal: randomUUID() }, now);
    return journal;
  } catch (error) {
    await handle?.close();
    lock.release();
    throw error;
  }
}

/**
 * Looks into the journal, or into a copy of it, while its signer may be writing to it: a last line without
 * its end is left out. Throws {@link JournalBroken}.
 */
export async function readJournal(file: string): Promise<JournalIndex> {
  return await orBroken(
    `${file} cannot be read`,
    'Run this where the signer keeps it (SIGN_JOURNAL_FILE), or name a copy of it with --journal',
    readLines(file),
  );
}

function journalOver(file: string, handle: JournalFile, lock: Lock, index: JournalIndex, size: number) {
  let failed: unknown;
  let last: Promise<unknown> = Promise.resolve();
  const writeThrough = async (bytes: Buffer): Promise<void> => {
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten !== bytes.length) throw new Error('the line was written in part');
    await handle.datasync();
  };
  const write = async (entry: JournalEntry, at: Date): Promise<JournalLine> => {
    if (failed !== undefined) throw failed;
    const text = lineText(entry, { n: index.length + 1, at, previous: index.head });
    const bytes = Buffer.from(`${text}\n`, 'utf8');
    const line = parseLine(text);
    if (!line) throw new Error('a line that could not be read again is not written');
    if (bytes.length > MAX_LINE_BYTES) throw new Error('a line that long is not written');
    try {
      const action = 'See that its disk has room and can be written';
      await orBroken(`${file} could not be written`, action, writeThrough(bytes));
    } catch (error) {
      failed = error;
      throw error;
    }
    if (!index.add(bytes.subarray(0, -1))) throw broken(file, index.length + 1);
    return line;
  };
  return {
    file,
    index,
    /** Bytes of an unfinished last line that opening it took away; 0 where the end was whole. */
    repairedBytes: size - index.end,
    /**
     * Writes a line through to the disk before it returns. After an error it writes nothing more, because
     * nobody knows how much of the line is there: it has to be opened again.
     */
    append(entry: JournalEntry, at: Date): Promise<JournalLine> {
      const written = last.then(() => write(entry, at));
      last = written.catch(() => undefined);
      return written;
    },
    async close(): Promise<void> {
      await last;
      await handle.close();
      lock.release();
    },
  };
}

/** Reads all whole lines, and proves that each follows the one before and the last one is a line. */
async function readLines(file: string): Promise<JournalIndex> {
  const index = new JournalIndex(file, (n) => broken(file, n));
  let rest: Buffer = Buffer.alloc(0);
  let last: Buffer = rest;
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let to = bytes.indexOf(LINE_END); to >= 0; to = bytes.indexOf(LINE_END, from)) {
      last = bytes.subarray(from, to);
      if (!index.add(last)) throw broken(file, index.length + 1);
      from = to + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > MAX_LINE_BYTES) throw broken(file, index.length + 1);
  }
  if (index.length > 0 && !parseLine(last.toString('utf8'))) throw broken(file, index.length);
  return index;
}

/** Throws {@link JournalBroken} where that is not what it throws already. */
async function orBroken<T>(problem: string, action: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new JournalBroken(`The signer's journal ${problem} (${reasonOf(cause)})`, action, { cause });
  }
}

function broken(file: string, n: number): JournalBroken {
  return new JournalBroken(
    `Line ${n} of the signer's journal ${file} is not what was written there`,
    'Restore the journal from its backup, the newest one; without it nothing is signed, because nobody knows what was',
  );
}
