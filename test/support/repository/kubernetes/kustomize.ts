import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { findGo, goEnv } from '../../../../src/embedded/go.ts';
import { onPath } from '../../../../src/embedded/packages.ts';
import { runLong } from '../../../../src/embedded/run-long.ts';
import { cacheFolder } from '../../../../src/embedded/temporal-cli.ts';

type Input = { readonly log: (line: string) => void; readonly env: NodeJS.ProcessEnv };

const VERSION = '5.8.1';
const LIMIT_MS = 60_000;
const run = promisify(execFile);

/**
 * Kustomize of this version, built by Go from its module into the user's cache folder, once: half a minute.
 * Throws a sentence where there is no Go or the build fails.
 */
export async function findKustomize({ log, env }: Input): Promise<string> {
  const folder = cacheFolder(env);
  const target = join(folder, `kustomize-${VERSION}`);
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(`${target}.new-`);
  try {
    const go = await findGo({ env, log });
    await runLong({
      what: `building kustomize ${VERSION} with Go, once`,
      command: go,
      args: ['install', `sigs.k8s.io/kustomize/kustomize/v5@v${VERSION}`],
      env: goEnv(staging, env),
      log,
    });
    // In one step, so that two runs at a time do no harm.
    renameSync(join(staging, 'kustomize'), target);
    return target;
  } catch (error) {
    const advice = onPath('go', env) ? 'try again' : 'install Go 1.21 or newer and try again';
    throw new Error(`kustomize cannot be built (${(error as Error).message}): ${advice}`, { cause: error });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** One object of Kubernetes; whoever reads deeper says what it expects there. */
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly data?: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: its form is what the schemas of Kubernetes hold, per kind
  readonly spec: any;
};

/** What `kubectl apply -k` would send of a folder: its YAML, and the objects in it. */
export async function buildManifests(
  folder: string,
): Promise<{ readonly yaml: string; readonly objects: readonly KubernetesObject[] }> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const kustomize = await findKustomize({ log, env: process.env });
  const { stdout: yaml } = await run(kustomize, ['build', folder], { timeout: LIMIT_MS });
  const objects = parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject);
  return { yaml, objects };
}
