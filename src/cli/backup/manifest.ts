// What a backup says of itself, in the file beside the dump.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../base/errors.ts';

export const DUMP_FILE = 'database.dump';
export const MANIFEST_FILE = 'manifest.json';

const count = z.number().int().nonnegative();
const schema = z.object({
  format: z.literal(1),
  made_at: z.iso.datetime(),
  by: z.string(),
  gateway_version: z.string(),
  /** The migrations that the database had, in their order. */
  migrations: z.array(z.string()).min(1),
  postgres: z.object({ server: z.string(), major: count }),
  dump: z.object({ file: z.literal(DUMP_FILE), bytes: count, sha256: z.string().length(64) }),
});

export type Manifest = z.infer<typeof schema>;

/** The SHA-256 of a file, as hex. */
export async function hashOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * Reads the manifest of a backup, and proves that the dump beside it is the one that it tells of. Throws an
 * OperatorError for a folder that is no backup, or one that is damaged or was not written to its end.
 */
export async function readBackup(folder: string): Promise<Manifest> {
  const manifest = parsed(folder);
  const file = join(folder, DUMP_FILE);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== manifest.dump.bytes || (await hashOfFile(file)) !== manifest.dump.sha256)
    throw new OperatorError(
      `${file} is not what was backed up: ${size === undefined ? 'it is missing' : 'its checksum differs'}`,
      'Take another copy of this backup, or another backup',
    );
  return manifest;
}

function parsed(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE);
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
    throw isThere
      ? new OperatorError(
          `${file} is not what a backup of this version says of itself`,
          'Take another copy of this backup, or the version of the gateway that made it',
          { cause: error },
        )
      : new OperatorError(
          `${folder} is no backup of this gateway: ${MANIFEST_FILE} cannot be read`,
          'Name a folder that "gateway backup" made',
          { cause: error },
        );
  }
}
