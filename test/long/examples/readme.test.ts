import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { blocksOf } from '../../../dev/newcomer/blocks.ts';
import { type NodeChoice, nodesOfNewcomers } from '../../../dev/newcomer/terminal.ts';
import { FIRST_INTEGRATION, walkReadme } from '../../../dev/newcomer/walk.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { closedPort } from '../../../dev/support/receiver.ts';
import { ROOT, trackedFiles } from '../../support/repository/files.ts';

const INSTALL_MS = 180_000;
const WALK_MS = 240_000;

describe('the README', () => {
  describe('in a fresh clone', () => {
    let clone: string;
    before(async () => {
      clone = await tempDir('clone');
      // As the files are now, also where a change is not committed yet.
      for (const file of trackedFiles()) {
        mkdirSync(dirname(join(clone, file)), { recursive: true });
        cpSync(join(ROOT, file), join(clone, file));
      }
    });

    after(async function () {
      // It is large, and what is left at the end of a run has to be gone at once.
      this.timeout(INSTALL_MS);
      await rm(clone, { recursive: true, force: true });
    });

    for (const node of nodesOfNewcomers()) {
      it(`is installed without a warning, with one sentence where Node is old: ${node.version}`, function () {
        this.timeout(INSTALL_MS);
        const { status, told } = install(clone, node);
        expect(status, told).to.equal(0);
        expect(told).not.to.match(/warn|EBADENGINE|deprecated/i);
        const sentences = told.split('\n').filter((line) => line.startsWith("This machine's Node is"));
        const isOld = Number(node.version.slice(1).split('.')[0]) < 24;
        expect(sentences).to.have.length(isOld ? 1 : 0);
        if (isOld)
          expect(sentences[0])
            .to.include(node.version.slice(1))
            .and.include('which has just come along: there is nothing to do.');
        // What npm itself always says: which script it runs, and how many packages it has added.
        const rest = told.split('\n').filter((line) => line !== '' && !sentences.includes(line));
        expect(rest.length, told).to.be.at.most(5);
      });

      it(`leads to a verified webhook, a sale and a payout address as it is written: ${node.version}`, async function () {
        this.timeout(WALK_MS);
        const ports = { api: await closedPort(), hooks: await closedPort() };
        const steps = await walkReadme({ clone, node, folder: await tempDir('newcomer'), ports });
        const blocks = blocksOf(ROOT, 'README.md').filter(({ heading }) => heading === FIRST_INTEGRATION);
        expect(steps.map(({ line }) => line)).to.deep.equal(blocks.map(({ line }) => line));
        const printed = steps.map(({ outcome }) => outcome.out).join('\n');
        expect(printed).to.match(/^credited \S+ \S+ 12\.5$/m);
        expect(printed).to.match(/set-password/);
      });
    }
  });
});

function install(clone: string, { path }: NodeChoice): { status: number | null; told: string } {
  const env = { PATH: path, HOME: process.env['HOME'] };
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--prefer-offline'], {
    cwd: clone,
    env,
    encoding: 'utf8',
    timeout: INSTALL_MS,
  });
  return { status, told: stdout + stderr };
}
