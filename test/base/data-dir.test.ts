import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { openDataDir, readRun, removeRun, writeRun } from '../../src/base/data-dir.ts';
import { OperatorError } from '../../src/base/errors.ts';
import { gone, runScript } from '../support/repository/scripts.ts';

const silent = () => undefined;
const holder = (dir: string) => `
  import { openDataDir } from ROOT/src/base/data-dir.ts;
  await openDataDir(${JSON.stringify(dir)}, () => {});
  console.log('held');
  setInterval(() => {}, 1000);`;

describe('the data folder', () => {
  it('belongs to one process until that ends: another gets a sentence with its number and what to do', async () => {
    const dir = join(await tempDir(), 'a/b');
    const first = await runScript(holder(dir));
    expect(await first.line()).to.equal('held');
    const refused = await openDataDir(dir, silent).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(OperatorError);
    expect(String(refused))
      .to.contain(dir)
      .and.to.contain(`process ${first.pid}`)
      .and.to.match(/Stop that gateway first, or set DATA_DIR to another folder\.$/);
    (await openDataDir(await tempDir(), silent)).release();
    first.kill('SIGKILL');
    await gone(first.pid);
    const second = await openDataDir(dir, silent);
    expect(readFileSync(join(dir, 'lock.pid'), 'utf8').trim()).to.equal(String(process.pid));
    expect(await openDataDir(dir, silent).catch((error: unknown) => error)).to.be.instanceOf(OperatorError);
    second.release();
    (await openDataDir(dir, silent)).release();
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

  it('is not believed when its process is gone, its number belongs to a later one, or it is damaged', async () => {
    const dir = await tempDir();
    const other = await runScript(`console.log('up'); setInterval(() => {}, 1000);`);
    await other.line();
    writeRun(dir, { ...run, pid: other.pid });
    expect(readRun(dir)?.pid).to.equal(other.pid);
    other.kill('SIGKILL');
    await gone(other.pid);
    expect(readRun(dir)).to.equal(undefined);
    writeRun(dir, { ...run, pid: process.pid });
    const text = readFileSync(join(dir, 'run.json'), 'utf8');
    const later = text.replace(/"startedAt": "[^"]*"/, '"startedAt": "another time"');
    for (const damaged of [later, '', '{', 'null', '[]', '{"pid":1}', text.slice(0, -9)]) {
      writeFileSync(join(dir, 'run.json'), damaged);
      expect(readRun(dir), damaged).to.equal(undefined);
    }
    expect(readRun(await tempDir())).to.equal(undefined);
  });
});
