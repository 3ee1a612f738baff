import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { findTemporalServer } from '../../dev/temporal-server-install.ts';
import { failureOf } from '../support/repository/scripts.ts';

describe('the production Temporal server', () => {
  it('that cannot be built is named with the reason and what to do, and leaves nothing half-made', async () => {
    const root = await tempDir('machine');
    const bin = join(root, 'bin');
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'go'),
      '#!/bin/sh\n[ "$1" = version ] && exec echo "go version go1.26.4 linux/amd64"\necho "no module proxy" >&2\nexit 1\n',
    );
    chmodSync(join(bin, 'go'), 0o755);
    const env = { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: join(root, 'cache'), HOME: root };
    const message = await failureOf(findTemporalServer({ log: () => undefined, env }));
    expect(message).to.match(
      /^the production Temporal server cannot be built here \(.*no module proxy\): install Go 1\.21 or newer, then try again$/,
    );
    expect(readdirSync(join(root, 'cache/deposit-gateway/bin'))).to.deep.equal([
      'temporal-server-1.31.2.lock',
    ]);
  });
});
