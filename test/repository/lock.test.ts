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
/**
 * Builds of tools for other machines, whose hashes were not to be had where the lock file was
 * made. Not one may be added; run npm on a machine with the whole registry to take them away.
 */
const UNKNOWN = [
  /^node_modules\/@biomejs\/cli-(android|darwin|win32)-(arm64|x64)$/,
  /^node_modules\/@biomejs\/cli-linux-(arm64|x64)-musl$/,
  /^node_modules\/@foundry-rs\/anvil-(darwin-(amd64|arm64)|linux-arm64|win32-amd64)$/,
  /^node_modules\/@oxc-parser\/binding-(android|darwin|freebsd|openharmony|win32)-[a-z0-9-]+$/,
  /^node_modules\/@oxc-parser\/binding-linux-(arm|ppc64|riscv64|s390x)-[a-z]+$/,
  /^node_modules\/@swc\/core-(darwin|win32)-[a-z0-9-]+$/,
  /^node_modules\/@swc\/core-linux-(arm-gnueabihf|ppc64-gnu|s390x-gnu)$/,
];

describe('the lock file', () => {
  it('holds the hash of every package, but for builds for other machines that are named here', () => {
    const without = entries
      .filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
      .map(([path]) => path);
    expect(without.filter((path) => !UNKNOWN.some((pattern) => pattern.test(path)))).to.deep.equal([]);
    expect(without.length).to.be.at.most(35);
  });

  it('takes packages from nowhere but the registry', () => {
    for (const [path, { resolved }] of entries)
      if (resolved) expect(resolved, path).to.match(/^https:\/\/registry\.npmjs\.org\//);
  });
});
