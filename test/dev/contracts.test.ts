import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ARTIFACTS_FILE, artifactsText, compileContracts } from '../../dev/contracts/compile.ts';
import { CONTRACT_NAMES } from '../../dev/contracts.ts';

describe('development contracts', () => {
  it('are compiled from the sources beside them: run "npm run contracts" when this fails', () => {
    const compiled = compileContracts();
    expect(Object.keys(compiled)).to.deep.equal([...CONTRACT_NAMES]);
    expect(readFileSync(ARTIFACTS_FILE, 'utf8')).to.equal(artifactsText(compiled));
  });
});
