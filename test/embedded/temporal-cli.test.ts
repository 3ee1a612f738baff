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

/**
 * Stands in for a Go that can only fetch modules: unpacks a
 * newer Go as one, without the right to run it, as old ones do.
 */
const goThatOnlyFetches = (
  count: string,
  modules: string,
  newer: string,
  { system, processor } = publishedPlatform(),
) => `#!/bin/sh
[ "$1" = version ] && exec echo "go version go1.19.8 linux/amd64"
echo "old $*" >> ${count}
case "$1 $2" in
'env GOMODCACHE') echo ${modules};;
'mod download')
  mkdir -p "${modules}/$3/bin" "${modules}/$3/pkg/tool/${system}_${processor}"
  cp ${newer} "${modules}/$3/bin/go" && chmod 444 "${modules}/$3/bin/go";;
*) echo "unknown GOTOOLCHAIN" >&2; exit 1;;
esac
`;

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

  it('takes the one on PATH, then the cached one, and asks nobody', async () => {
    const { bin, env, log, cached } = await machine();
    const server = await vendor(notThere);
    program(cached, CLI);
    expect(await findTemporalCli({ log, env, vendor: server.vendor })).to.equal(cached);
    program(join(bin, 'temporal'), CLI);
    expect(await findTemporalCli({ log, env, vendor: server.vendor })).to.equal(join(bin, 'temporal'));
    expect(server.asked()).to.equal(0);
    server.close();
  });

  it('downloads the vendor’s build for this machine into the cache, once', async () => {
    const { root, env, log, cached } = await machine();
    const archive = packed(root);
    const server = await vendor((request, response) => {
      expect(request.url).to.match(/^\/v1\.5\.1\?platform=(linux|darwin)&arch=(amd64|arm64)$/);
      response.end(archive);
    }, archive);
    expect(await findTemporalCli({ log, env, vendor: server.vendor })).to.equal(cached);
    expect(await findTemporalCli({ log, env, vendor: server.vendor })).to.equal(cached);
    expect(server.asked()).to.equal(1);
    server.close();
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

  it('lets Go build it when the download is not there, is silent, is no archive, or breaks off', async () => {
    const answers: Readonly<Record<string, RequestListener>> = {
      'the server answered 404': notThere,
      'no answer within 0.2 s': () => undefined,
      'the archive is not the one that was published': (_, response) =>
        void response.end('<html>sign in</html>'),
      terminated: (_, response) =>
        void response.writeHead(200, { 'content-length': 1000 }).write('x', () => response.destroy()),
    };
    const { root, env, lines, log, cached } = await machine();
    const count = join(root, 'count');
    program(join(root, 'bin/go'), goThatBuilds(count));
    for (const [said, answer] of Object.entries(answers)) {
      const server = await vendor(answer);
      const impatient = { ...server.vendor, answersWithinMs: 200 };
      expect(await findTemporalCli({ log, env, vendor: impatient })).to.equal(cached);
      expect(lines.splice(0).join('\n'))
        .to.contain('download did not work')
        .and.to.contain(said)
        .and.to.contain('building the Temporal CLI 1.5.1 with Go');
      rmSync(cached);
      server.close();
    }
    const built = 'install github.com/temporalio/cli/cmd/temporal@v1.5.1\n';
    expect(readFileSync(count, 'utf8')).to.equal(built.repeat(4));
  });

  it('lets an old Go, as Debian has it, fetch a newer one and builds with that', async () => {
    const { root, bin, env, lines, log, cached } = await machine();
    const count = join(root, 'count');
    const newer = program(join(root, 'newer-go'), goThatBuilds(count));
    program(join(bin, 'go'), goThatOnlyFetches(count, join(root, 'modules'), newer));
    const server = await vendor(notThere);
    expect(await findTemporalCli({ log, env, vendor: server.vendor })).to.equal(cached);
    const [fetched, asked, built] = readFileSync(count, 'utf8').trim().split('\n');
    expect(fetched).to.match(
      /^old mod download golang\.org\/toolchain@v0\.0\.1-go1\.26\.4\.(linux|darwin)-(amd64|arm64)$/,
    );
    expect(asked).to.equal('old env GOMODCACHE');
    expect(built).to.equal('install github.com/temporalio/cli/cmd/temporal@v1.5.1');
    expect(lines.join('\n')).to.contain(`fetching Go 1.26.4, because ${join(bin, 'go')} is too old`);
    server.close();
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

  it('says in one sentence what was tried and names TEMPORAL_CLI when nothing works', async () => {
    const { env, log, cached } = await machine(
      '#!/bin/sh\n[ "$1" = version ] && exec echo "go version go1.26.4 linux/amd64"\necho "no module proxy" >&2\nexit 1\n',
    );
    const server = await vendor(notThere);
    const message = await failureOf(findTemporalCli({ log, env, vendor: server.vendor }));
    expect(message)
      .to.contain('the server answered 404')
      .and.to.contain('no module proxy')
      .and.to.match(/set TEMPORAL_CLI to its path, or set TEMPORAL_ADDRESS to a running server$/);
    expect(message).not.to.contain('\n');
    expect(readdirSync(dirname(cached))).to.deep.equal(['temporal-1.5.1.lock']);
    server.close();
  });
});
