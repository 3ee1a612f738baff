import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { openDataDir, readRun, removeRun, writeRun } from '../../src/base/data-dir.ts';
import { OperatorError } from '../../src/base/errors.ts';
import { failureOf, gone, runScript } from '../support/repository/scripts.ts';

const silent = () => undefined;
const holder = (dir: string) => `
  import { openDataDir } from ROOT/src/base/data-dir.ts;
  await openDataDir(${JSON.stringify(dir)}, () => {});
  console.log('held');
  setInterval(() => {}, 1000);`;

describe('the data folder', () => {
  it('belongs to one process: the second gets a sentence with its number and what to do', async () => {
    const dir = await tempDir();
    const first = await runScript(holder(dir));
    expect(await first.line()).to.equal('held');
    const message = await failureOf(openDataDir(dir, silent));
    expect(message)
      .to.contain(dir)
      .and.to.contain(`process ${first.pid}`)
      .and.to.match(/set DATA_DIR to another folder\.$/);
    first.kill('SIGKILL');
  });

  it('is free again after its holder was killed', async () => {
    const dir = await tempDir();
    const first = await runScript(holder(dir));
    await first.line();
    first.kill('SIGKILL');
    await gone(first.pid);
    const second = await openDataDir(dir, silent);
    expect(readFileSync(join(dir, 'lock.pid'), 'utf8').trim()).to.equal(String(process.pid));
    second.release();
  });

  it('is refused to a second holder inside the same process, and given after a release', async () => {
    const dir = await tempDir();
    const first = await openDataDir(dir, silent);
    const refused = await openDataDir(dir, silent).catch((error: unknown) => error);
    // One sentence at the start, with what to do, and no advice to look for more.
    expect(refused).to.be.instanceOf(OperatorError);
    expect(String(refused)).to.match(
      / is in use by process \d+\. Stop that gateway first, or set DATA_DIR .*\.$/,
    );
    first.release();
    (await openDataDir(dir, silent)).release();
  });

  it('does not shut out another folder', async () => {
    const [one, two] = [
      await openDataDir(await tempDir(), silent),
      await openDataDir(await tempDir(), silent),
    ];
    one.release();
    two.release();
  });

  it('is made with all folders above it', async () => {
    const dir = join(await tempDir(), 'a/b');
    (await openDataDir(dir, silent)).release();
    expect(statSync(dir).isDirectory()).to.equal(true);
  });
});

describe('run.json', () => {
  const run = {
    api: 'http://127.0.0.1:1/api/v1',
    databaseUrl: 'postgresql://a:b@127.0.0.1:2/c',
    temporalAddress: '127.0.0.1:3',
    temporalUi: null,
  };

  it('tells what runs, to its owner only, until it is removed', async () => {
    const dir = await tempDir();
    writeRun(dir, { ...run, pid: process.pid });
    expect(statSync(join(dir, 'run.json')).mode & 0o777).to.equal(0o600);
    expect(readRun(dir)).to.deep.equal({ ...run, pid: process.pid });
    removeRun(dir);
    expect(readRun(dir)).to.equal(undefined);
  });

  it('is not believed when its process is gone', async () => {
    const dir = await tempDir();
    const other = await runScript(`console.log('up'); setInterval(() => {}, 1000);`);
    await other.line();
    writeRun(dir, { ...run, pid: other.pid });
    expect(readRun(dir)?.pid).to.equal(other.pid);
    other.kill('SIGKILL');
    await gone(other.pid);
    expect(readRun(dir)).to.equal(undefined);
  });

  it('is not believed when its number belongs to a later process, or when it is damaged', async () => {
    const dir = await tempDir();
    writeRun(dir, { ...run, pid: process.pid });
    const file = join(dir, 'run.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"startedAt": "[^"]*"/, '"startedAt": "another time"'));
    expect(readRun(dir)).to.equal(undefined);
    for (const damaged of ['', '{', 'null', '[]', '{"pid":1}', text.slice(0, -9)]) {
      writeFileSync(file, damaged);
      expect(readRun(dir), damaged).to.equal(undefined);
    }
    const empty = join(dir, 'none');
    mkdirSync(empty);
    expect(readRun(empty)).to.equal(undefined);
  });
});
