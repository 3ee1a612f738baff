import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { canReach, type OsUser } from '../../../src/embedded/postgres-binaries.ts';
import { imageOfGateway, ROOT } from './file.ts';

const LIMIT_MS = 120_000;

/** The user `node` of the image, where we may become it; else everything runs as ourselves. */
export const NODE_USER: OsUser | undefined =
  process.getuid?.() === 0 ? { name: 'node', uid: 1000, gid: 1000 } : undefined;

/** The user id under which a process runs. */
export function processOwner(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

/** A folder that belongs to the image's user alone. */
export function ownFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (NODE_USER) chownSync(path, NODE_USER.uid, NODE_USER.gid);
  return path;
}

/** What is in a container of the gateway's image: its folder `/app`, and where `node` is. */
export type Image = { readonly app: string; readonly path: string };

/**
 * Builds `/app` below `folder` as the Dockerfile does: what it copies, the modules that are no development
 * dependencies, and the bundle. It belongs to us, so that the image's user can write nothing there.
 */
export function buildImage(folder: string): Image {
  const { copied, bundles } = imageOfGateway();
  const app = join(folder, 'app');
  mkdirSync(join(app, 'node_modules'), { recursive: true, mode: 0o755 });
  for (const path of copied) cpSync(join(ROOT, path), join(app, path), { recursive: true });
  const modules = join(ROOT, 'node_modules');
  const isOpen = canReach(modules, NODE_USER);
  for (const name of productionModules()) {
    mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true });
    if (isOpen) symlinkSync(join(modules, name), join(app, 'node_modules', name));
    else cpSync(join(modules, name), join(app, 'node_modules', name), { recursive: true });
  }
  const node = join(folder, 'bin', 'node');
  mkdirSync(dirname(node), { recursive: true });
  if (canReach(dirname(process.execPath), NODE_USER)) symlinkSync(process.execPath, node);
  else cpSync(process.execPath, node, { dereference: true });
  const path = `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`;
  execFileSync('/bin/sh', ['-c', bundles], {
    cwd: app,
    env: { PATH: path },
    timeout: LIMIT_MS,
    stdio: 'pipe',
  });
  // Whatever our own umask is: an image's files can be read by everybody.
  execFileSync('chmod', ['-R', 'a+rX', join(app, 'node_modules/.cache')], { timeout: LIMIT_MS });
  for (const at of [folder, app]) chmodSync(at, 0o755);
  if (readdirSync(join(app, 'node_modules/.cache/deposit-gateway')).length === 0)
    throw new Error('the image holds no bundle of the workflows');
  return { app, path };
}

/** The names of the packages at the top of node_modules that `npm ci --omit=dev` would install. */
function productionModules(): string[] {
  const npm = { cwd: ROOT, encoding: 'utf8' as const, timeout: LIMIT_MS, maxBuffer: 1 << 24 };
  const text = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], npm);
  const names = text
    .split('\n')
    .flatMap((line) => (line.startsWith(join(ROOT, 'node_modules/')) ? [line.slice(ROOT.length + 14)] : []))
    .filter((name) => !name.includes('/node_modules/') && !name.startsWith('node-linux-'));
  return [...new Set(names)].filter((name) => existsSync(join(ROOT, 'node_modules', name)));
}
