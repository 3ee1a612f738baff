import { expect } from 'chai';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { neededVariables, renderConfigDocs } from '../../src/config/docs.ts';
import type { Variable } from '../../src/config/variable.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { problemsOf, SECRETS_KEY } from '../support/repository/config-samples.ts';

describe('what has to be set', () => {
  it('needs in production what the top of the documents names, and nothing else', () => {
    const xpubs = testXpubs();
    const filled: Record<string, string> = {
      SECRETS_KEY,
      WALLET_XPUB_BSC: xpubs.live.bsc,
      WALLET_XPUB_TRON: xpubs.live.tron,
      WALLET_XPUB_TEST_BSC: xpubs.test.bsc,
      WALLET_XPUB_TEST_TRON: xpubs.test.tron,
    };
    const valueFor = (name: string) =>
      filled[name] ??
      (VARIABLES as Record<string, Variable<unknown>>)[name]?.example.replaceAll('example.com', 'shop.test');
    const needed = neededVariables();
    for (const [role, names] of [
      ['api', needed.api],
      ['worker', needed.api],
      ['signer', needed.signer],
    ] as const) {
      const env = Object.fromEntries(names.map((name) => [name, valueFor(name)]));
      expect(problemsOf({ ...env, NODE_ENV: 'production' }, role), role).to.deep.equal([]);
      for (const name of names) expect(renderConfigDocs().split('## Service')[0]).to.include(`\`${name}\``);
    }
  });
});
