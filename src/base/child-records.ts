// The children of a data folder, in a file, so that the next start finds those of an owner that was killed.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSameProcess, type ProcessIdentity } from './process-table.ts';

/** A child as the file records it: how to end it, and whose it is. */
export type RecordedChild = ProcessIdentity & {
  readonly name: string;
  readonly stopSignal: NodeJS.Signals;
  readonly owner: ProcessIdentity;
};

/** What the file of this data folder records; nothing where there is no file, or none that can be read. */
export function readRecords(dataDir: string): RecordedChild[] {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(dataDir, 'children.json'), 'utf8'));
    return Array.isArray(parsed)
      ? parsed.filter(
          (entry): entry is RecordedChild =>
            typeof entry?.pid === 'number' && typeof entry?.owner?.pid === 'number',
        )
      : [];
  } catch {
    return [];
  }
}

/** Writes what `change` makes of the records, without the records of processes that have ended. */
export function writeRecords(dataDir: string, change: (records: RecordedChild[]) => RecordedChild[]): void {
  const file = join(dataDir, 'children.json');
  const next = `${file}.${process.pid}`;
  try {
    writeFileSync(next, JSON.stringify(change(readRecords(dataDir)).filter(isSameProcess)), { mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    // The folder may be gone already when its last child ends.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
