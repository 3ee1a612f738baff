import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { publishedPlatform } from '../../src/embedded/platform.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { ARCHIVE_SHA256 } from '../../src/embedded/temporal-install.ts';
import { failureOf } from '../support/repository/scripts.ts';

const CLI = '#!/bin/sh\necho "temporal version 1.5.1 (a script of this test)"\n';
const SYSTEM_PATH = '/usr/bin:/bin';

function program(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

/** A vendor's archive that answers as told. */
async function vendor(answer: RequestListener, archive?: Buffer) {
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const { system, processor } = publishedPlatform();
  const sha256 = archive
    ? { [`${system} ${processor}`]: createHash('sha256').update(archive).digest('hex') }
    : ARCHIVE_SHA256;
  return { vendor: { baseUrl: `http://127.0.0.1:${port}`, sha256 }, close, asked: () => asked };
}

/** An archive with a CLI in it, as the vendor packs one. */
function packed(root: string): Buffer {
  program(join(root, 'pack/temporal'), CLI);
  execFileSync('tar', ['-czf', join(root, 'pack.tgz'), '-C', join(root, 'pack'), 'temporal']);
  return readFileSync(join(root, 'pack.tgz'));
}

const notThere: RequestListener = (_, response) => void response.writeHead(404).end();

async function machine(go?: string) {
  const root = await tempDir('machine');
  const bin = join(root, 'bin');
  mkdirSync(bin);
  if (go !== undefined) program(join(bin, 'go'), go);
  const lines: string[] = [];
  const env = { PATH: `${bin}:${SYSTEM_PATH}`, XDG_CACHE_HOME: join(root, 'cache'), HOME: root };
  return {
    root,
    bin,
    lines,
    env,
    log: (line: string) => void lines.push(line),
    cached: join(root, 'cache/deposit-gateway/bin/temporal-1.5.1'),
  };
}

/** Stands in for the Go tool: counts its runs and puts a CLI where `go install` would. */
const goThatBuilds = (count: string, version = 'go1.26.4') => `#!/bin/sh
[ "$1" = version ] && exec echo "go version ${version} linux/amd64"
echo "$*" >> ${count}
sleep 0.2
printf '%s' '${CLI}' > "$GOBIN/temporal" && chmod 755 "$GOBIN/temporal"
`;

describe('finding a Temporal CLI', () => {
  it('takes TEMPORAL_CLI before all else, and says when it is none', async () => {
    const { root, env, log } = await machine();
    const file = program(join(root, 'mine'), CLI);
    expect(await findTemporalCli({ log, env: { ...env, TEMPORAL_CLI: file } })).to.equal(file);
    for (const wrong of [
      join(root, 'nothing'),
      root,
      '/bin/true',
      program(join(root, 'broken'), '#!/bin/sh\nexit 1\n'),
    ]) {
      const message = await failureOf(findTemporalCli({ log, env: { ...env, TEMPORAL_CLI: wrong } }));
      expect(message).to.equal(
        `TEMPORAL_CLI is ${wrong}, which is not a Temporal CLI that runs here: correct the path or unset it`,
      );
    }
  });

  it('never runs an archive that is not the published one', async () => {
    const { root, env, lines, log, cached } = await machine();
    program(join(root, 'bin/go'), goThatBuilds('/dev/null'));
    const archive = packed(root);
    for (const known of [undefined, Buffer.concat([archive, Buffer.of(0)])]) {
      const server = await vendor((_, response) => void response.end(archive), known);
      const sums = known ? server.vendor.sha256 : {};
      expect(await findTemporalCli({ log, env, vendor: { ...server.vendor, sha256: sums } })).to.equal(
        cached,
      );
      expect(lines.splice(0).join('\n'))
        .to.contain(known ? 'the archive is not the one that was published' : 'no SHA-256 is known')
        .and.to.contain('building the Temporal CLI 1.5.1 with Go');
      rmSync(cached);
      server.close();
    }
  });

  it('builds once for starts at the same time, in the place of one that does not run, and leaves nothing half-made', async () => {
    const { root, env, log, cached } = await machine();
    program(cached, 'half a file');
    const count = join(root, 'count');
    program(join(root, 'bin/go'), goThatBuilds(count));
    const server = await vendor(notThere);
    const found = await Promise.all(
      [1, 2, 3].map(() => findTemporalCli({ log, env, vendor: server.vendor })),
    );
    expect(found).to.deep.equal([cached, cached, cached]);
    expect(readFileSync(count, 'utf8').trim().split('\n')).to.have.length(1);
    expect(readdirSync(dirname(cached)).sort()).to.deep.equal(['temporal-1.5.1', 'temporal-1.5.1.lock']);
    server.close();
  });
});
