import { readFileSync } from 'node:fs';
import { expect } from 'chai';

type Entry = {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: true;
};
const { packages } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as {
  packages: Readonly<Record<string, Entry>>;
};
/** What is installed; our own folders are not. */
const entries = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);

describe('the lock file', () => {
  it('holds the hash of every package, for whatever machine it is', () => {
    const without = entries.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(without.map(([path]) => path)).to.deep.equal([]);
  });

  it('takes packages from nowhere but the registry', () => {
    for (const [path, { resolved }] of entries)
      if (resolved) expect(resolved, path).to.match(/^https:\/\/registry\.npmjs\.org\//);
  });
});
