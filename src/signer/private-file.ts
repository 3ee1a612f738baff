import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../base/errors.ts';
import { sharedWarning } from '../base/shared-file.ts';

const MAX_BYTES = 64 * 1024;

/**
 * Writes a whole file that only its owner can read, or nothing: temporary name, fsync,
 * then one atomic step. Without `replace` an existing file is never touched and the result
 * is false, also when two processes race for it.
 */
export async function writePrivateFile(
  file: string,
  content: string,
  options: { replace: boolean },
): Promise<boolean> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    if (options.replace) await rename(temporary, file);
    // link() fails where rename() would silently replace.
    else await link(temporary, file);
    await syncFolder(dirname(file));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/**
 * Text and permission warning of a secret file. `what` names the file in the sentence, as
 * in "the wallet file". Throws an OperatorError.
 */
export async function readPrivateFile(
  file: string,
  what: string,
): Promise<{ text: string; warning: string | undefined }> {
  try {
    const found = await stat(file);
    if (found.size > MAX_BYTES)
      throw new OperatorError(`${file} is too large to be ${what}`, `Give the path of ${what}`);
    return { text: await readFile(file, 'utf8'), warning: sharedWarning(file, found) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const missing = codeOf(error) === 'ENOENT';
    throw new OperatorError(
      missing
        ? `There is no ${what.replace(/^the /, '')} at ${file}`
        : `${file} cannot be read (${codeOf(error)})`,
      missing ? `Make one with "gateway wallet new", or correct the path` : `Let this process read ${what}`,
    );
  }
}

/** Makes what was created in a folder, or renamed there, last. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code)
    : 'unknown error';
}
