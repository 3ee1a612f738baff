import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../../support/repository/files.ts';
import { slowForm, slowness } from '../../support/repository/patterns.ts';

describe('regular expressions by the clock', function () {
  this.timeout(240_000);

  it('find those whose form alone does not show that they are worse than linear', async () => {
    for (const { source, flags } of [/(method|call)\b.*\bis unsupported/, /^(\w|\d)+$/, /^(?:0|00)+$/]) {
      expect(slowForm({ source, flags }), source).to.equal(undefined);
      expect(await slowness({ source, flags }), source).to.match(/^takes /);
    }
  });

  it('find none in the product', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['test/patterns.ts'], { cwd: ROOT });
    expect(stdout).to.match(/^\d+ regular expressions, all linear/);
  });
});
