import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['workflows', 'src/domain'];
const PAYLOADS = 'src/temporal/lenient-payloads.ts';

/**
 * The workflows as one file for the worker, built once for each state of their sources and of the
 * SDK, and kept under node_modules. Building takes some seconds, reading almost no time. A cache
 * folder that cannot be written only costs the build.
 */
export async function workflowBundle(): Promise<{ code: string }> {
  const folder = join(ROOT, 'node_modules/.cache/deposit-gateway');
  const file = join(folder, `workflows-${await fingerprint()}.js`);
  if (existsSync(file)) return { code: await readFile(file, 'utf8') };
  const { code } = await bundleWorkflows(join(ROOT, 'workflows/index.ts'));
  try {
    await mkdir(folder, { recursive: true });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, code);
    await rename(draft, file);
  } catch {
    // A read-only installation builds at every start.
  }
  return { code };
}

/** Builds a bundle from any entry file, without the cache. */
export async function bundleWorkflows(workflowsPath: string): Promise<{ code: string }> {
  const silent = { log() {}, trace() {}, debug() {}, info() {}, warn: console.error, error: console.error };
  return await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath: join(ROOT, PAYLOADS),
    logger: silent,
  });
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  hash.update(version).update(await readFile(join(ROOT, PAYLOADS)));
  for (const source of SOURCES) {
    const names = (await readdir(join(ROOT, source))).filter((name) => name.endsWith('.ts')).sort();
    for (const name of names) hash.update(name).update(await readFile(join(ROOT, source, name)));
  }
  return hash.digest('hex').slice(0, 20);
}
