import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { writeRun } from '../../src/base/data-dir.ts';
import { besideRunning } from '../../src/cli/process.ts';
import { chainVariables } from '../../src/config/attached.ts';

describe('a command beside a running gateway', () => {
  it('reads chains and prices as that does, unless it is told of another chain or database', async () => {
    const reads = { PRICE_SOURCE: 'fixed:BNB=1', TRON_API_URLS: 'http://n', TRON_API_KEY_FILE: '/run/key' };
    const DATA_DIR = await tempDir();
    const variables = chainVariables({ ...reads, PORT: '1', SECRETS_KEY: 'hunter2', BSC_RPC_URLS: '' });
    const none = { api: null, temporalUi: null, databaseUrl: '', temporalAddress: '' };
    writeRun(DATA_DIR, { ...none, pid: process.pid, variables });
    expect(besideRunning({ DATA_DIR })).to.deep.equal({ DATA_DIR, ...reads });
    for (const own of [{ DATABASE_URL_FILE: '/d' }, { BSC_RPC_URLS: 'http://b' }])
      expect(besideRunning({ DATA_DIR, ...own })).to.deep.equal({ DATA_DIR, ...own });
    expect(besideRunning({ DATA_DIR: await tempDir() })).to.have.all.keys('DATA_DIR');
  });
});
