import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'tsdown';

// Builds what a shop installs: "npm run build:sdk". The tarball is kept in the repository: a running gateway
// needs no builder, and every process serves the same bytes. "npm ci" unpacks `dist` from it, for the example
// shop.

const PACKAGE = import.meta.dirname;
/** What a shop's bundler may have to add at most. */
const MAX_MINIFIED_BYTES = 12 * 1024;
/** What stands in the package beside the built files. */
const KEPT = ['package.json', 'README.md', 'LICENSE', 'python', 'php'];

/** Builds the package into an empty folder, as it is packed. */
export async function buildSdk(folder: string): Promise<void> {
  for (const name of KEPT) cpSync(join(PACKAGE, name), join(folder, name), { recursive: true });
  const outDir = join(folder, 'dist');
  await bundle({ entry: 'src/index.ts', outDir, platform: 'node', dts: true });
  // The types are those of the other build: one name means one thing in every runtime.
  await bundle({ entry: 'src/web.ts', outDir, platform: 'neutral' });
  // For who has a key and not this repository.
  await bundle({
    entry: { listen: '../../src/cli/follow/main.ts' },
    outDir,
    platform: 'node',
    format: 'esm',
  });
}

/** Packs a folder with npm; the path of the tarball, which lies in that folder. */
export function packSdk(folder: string): string {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts'], { cwd: folder, encoding: 'utf8' }),
  ) as { filename: string }[];
  if (!packed) throw new Error('npm packed nothing');
  return join(folder, packed.filename);
}

/** What each entry weighs when a bundler has made it small, in bytes. */
export async function minifiedSizes(): Promise<Readonly<Record<string, { plain: number; gzip: number }>>> {
  const outDir = temporary();
  try {
    await bundle({ entry: ['src/index.ts'], outDir, platform: 'node', minify: true });
    await bundle({ entry: ['src/web.ts'], outDir, platform: 'neutral', minify: true });
    return Object.fromEntries(
      readdirSync(outDir)
        .sort()
        .map((name) => {
          const bytes = readFileSync(join(outDir, name));
          return [name, { plain: bytes.length, gzip: gzipSync(bytes).length }];
        }),
    );
  } finally {
    rmSync(outDir, { recursive: true });
  }
}

async function bundle(config: InlineConfig): Promise<void> {
  await build({
    config: false,
    cwd: PACKAGE,
    format: ['esm', 'cjs'],
    target: 'node18',
    fixedExtension: true,
    clean: false,
    // The types are made by this repository's compiler; the builder warns that a later one is better.
    logLevel: 'error',
    dts: false,
    ...config,
  });
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'sdk-'));
}

async function main(): Promise<void> {
  const folder = temporary();
  try {
    await buildSdk(folder);
    const tarball = packSdk(folder);
    rmSync(join(PACKAGE, 'dist'), { recursive: true, force: true });
    cpSync(join(folder, 'dist'), join(PACKAGE, 'dist'), { recursive: true });
    cpSync(tarball, join(PACKAGE, 'releases', tarball.slice(folder.length + 1)));
    process.stdout.write(
      `packages/sdk/releases${tarball.slice(folder.length)}: ${statSync(tarball).size} bytes\n`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
  const sizes = Object.entries(await minifiedSizes());
  for (const [name, { plain, gzip }] of sizes)
    process.stdout.write(`${name}: ${plain} bytes minified, ${gzip} compressed\n`);
  if (sizes.some(([, { plain }]) => plain > MAX_MINIFIED_BYTES))
    throw new Error(`more than ${MAX_MINIFIED_BYTES} bytes: shops load this with every start`);
}

if (process.argv[1] === import.meta.filename) await main();
