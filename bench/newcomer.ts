import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type NodeChoice, nodesOfNewcomers } from '../dev/newcomer/terminal.ts';
import { walkReadme } from '../dev/newcomer/walk.ts';
import { tempDir } from '../dev/support/parts.ts';
import { closedPort } from '../dev/support/receiver.ts';
import { atMost, type Row, told } from './bench.ts';

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
      told(`Node ${node.version}: cloned and installed`, `${installed.toFixed(1)} s`),
      atMost(
        `Node ${node.version}: first verified webhook`,
        `${verified.toFixed(1)} s`,
        [verified, GOAL_S],
        ' s',
      ),
    );
  }
  return rows;
}

async function newcomer(node: NodeChoice): Promise<{ installed: number; verified: number }> {
  const folder = await tempDir('newcomer');
  const clone = join(folder, 'clone');
  const ports = { api: await closedPort(), hooks: await closedPort() };
  const begun = performance.now();
  const since = (): number => (performance.now() - begun) / 1_000;
  must('git', ['clone', '--quiet', ROOT, clone], folder, node);
  must('npm', ['ci'], clone, node);
  const installed = since();
  await walkReadme({ clone, node, folder, ports, untilWebhook: true });
  return { installed, verified: since() };
}

function must(command: string, args: readonly string[], cwd: string, { path }: NodeChoice): void {
  const env = { PATH: path, HOME: process.env['HOME'] };
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
