import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NodeChoice, nodesOfNewcomers } from '../dev/newcomer/terminal.ts';
import { walkReadme } from '../dev/newcomer/walk.ts';
import { closedPort } from '../dev/support/receiver.ts';
import type { Row } from './row.ts';

const ROOT = join(import.meta.dirname, '..');
const GOAL_S = 600;

/**
 * From `git clone` to the first verified webhook by the README alone, as fast as somebody could paste it,
 * for the machine's own Node and for the one that comes along. The clone is of what is committed here;
 * packages come from npm's cache where it has them.
 */
export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const node of nodesOfNewcomers()) {
    const { installed, verified } = await newcomer(node);
    rows.push(
      {
        figure: `Node ${node.version}: cloned and installed`,
        value: `${installed.toFixed(1)} s`,
        goal: '',
        met: true,
      },
      {
        figure: `Node ${node.version}: first verified webhook`,
        value: `${verified.toFixed(1)} s`,
        goal: `${GOAL_S} s`,
        met: verified <= GOAL_S,
      },
    );
  }
  return rows;
}

async function newcomer(node: NodeChoice): Promise<{ installed: number; verified: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-newcomer-'));
  // PostgreSQL runs as another user where we are root.
  await chmod(folder, 0o711);
  const clone = join(folder, 'clone');
  try {
    const ports = { api: await closedPort(), hooks: await closedPort() };
    const begun = performance.now();
    const since = (): number => (performance.now() - begun) / 1_000;
    must('git', ['clone', '--quiet', ROOT, clone], folder, node);
    must('npm', ['ci'], clone, node);
    const installed = since();
    const [, verified] = [await walkReadme({ clone, node, folder, ports, untilWebhook: true }), since()];
    return { installed, verified };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function must(command: string, args: readonly string[], cwd: string, { path }: NodeChoice): void {
  const env = { PATH: path, HOME: process.env['HOME'] };
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
