import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '../../../dev/support/parts.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RELEASES = join(ROOT, 'packages/sdk/releases');
const CACHE = join(ROOT, 'node_modules/.cache/sdk-runtimes');
const LIMIT_MS = 5 * 60_000;
const run = promisify(execFile);

/** The present version, and its tarball. */
export const SDK_VERSION: string = JSON.parse(
  readFileSync(join(ROOT, 'packages/sdk/package.json'), 'utf8'),
).version;
export const SDK_TARBALL = join(RELEASES, `deposit-gateway-sdk-${SDK_VERSION}.tgz`);

/** Runs a program in a folder; what it printed, or an error with all of it. */
export async function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    const { stdout } = await run(command, [...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      timeout: LIMIT_MS,
    });
    return stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

/** An empty project, as `npm init -y` makes it, with these files and the package from this file or URL. */
export async function shopProject(
  files: Readonly<Record<string, string>>,
  source: string = SDK_TARBALL,
): Promise<string> {
  const folder = await tempDir('shop-project');
  await runIn(folder, 'npm', ['init', '-y']);
  await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund', source]);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** The same project with other files: what is installed is copied, not installed again. */
export async function projectLike(project: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempDir('shop-project');
  await cp(project, folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

const CPU = arch() === 'arm64' ? 'arm64' : 'x64';
/** Programs from npm that run the package, by the names under which they lie in the cache. */
const PROGRAMS = {
  node18: [`npm:node-linux-${CPU}@18.20.8`, 'bin/node'],
  node20: [`npm:node-linux-${CPU}@20.20.2`, 'bin/node'],
  node22: [`npm:node-linux-${CPU}@22.23.3`, 'bin/node'],
  deno: [`npm:@deno/linux-${CPU}-glibc@2.9.6`, 'deno'],
  bun: [`npm:@oven/bun-linux-${CPU === 'x64' ? 'x64-baseline' : 'aarch64'}@1.4.5`, 'bin/bun'],
  workerd: [`npm:@cloudflare/workerd-linux-${CPU === 'x64' ? '64' : 'arm64'}@1.20261117.1`, 'bin/workerd'],
  typescript56: ['npm:typescript@5.6.3', 'lib/tsc.js'],
} as const satisfies Record<string, readonly [spec: string, file: string]>;

/** A program of another version or kind than ours. */
export type SdkProgram = keyof typeof PROGRAMS;

/**
 * Where each of these programs lies. npm fetches them once, all at a time, into the cache of this repository;
 * a run that is ended in between leaves nothing half there.
 */
export async function sdkPrograms(): Promise<Readonly<Record<SdkProgram, string>>> {
  const wanted = Object.entries(PROGRAMS).map(([name, [spec]]) => `${name}@${spec}`);
  const key = wanted.map((spec) => spec.replace(/^.*:/, '').replaceAll('/', '-')).join('_');
  const folder = join(CACHE, key.slice(-100));
  if (!existsSync(folder)) {
    const making = `${folder}.${process.pid}`;
    await mkdir(making, { recursive: true });
    await writeFile(join(making, 'package.json'), '{"private":true}');
    await runIn(making, 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted]);
    await rename(making, folder).catch(() => rm(making, { recursive: true, force: true }));
  }
  return Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, [, file]]) => [name, join(folder, 'node_modules', name, file)]),
  ) as Record<SdkProgram, string>;
}
