import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { onPath } from '../../src/embedded/packages.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';

const SHIPPED = resolve(import.meta.dirname, '../../deploy/Caddyfile');

function caddy(): string {
  const found = onPath('caddy', process.env);
  if (found === undefined)
    throw new Error('the proxy is not installed: install the Debian package "caddy" and run the tests again');
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

describe('the proxy that is shipped, running', function () {
  this.timeout(30_000);
  let api: TestApi;
  let proxy: ChildProcess;
  let origin: string;
  let logFile: string;
  let said = '';

  before(async () => {
    api = await startTestApi({ trustedProxies: ['127.0.0.1'] });
    const folder = await tempDir('proxy');
    logFile = join(folder, 'gateway.log');
    const [port, admin] = [await freePort(), await freePort()];
    origin = `http://127.0.0.1:${port}`;
    // Its certificate alone is left out: nobody gives one for this machine.
    const file = readFileSync(SHIPPED, 'utf8')
      .replace('pay.example.com {', `${origin} {`)
      .replace('/var/log/caddy/gateway.log', logFile)
      .replace('reverse_proxy 127.0.0.1:8080', `reverse_proxy ${api.origin.replace('http://', '')}`);
    const config = join(folder, 'Caddyfile');
    writeFileSync(config, file);
    const env = {
      ...process.env,
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      CADDY_ADMIN: `127.0.0.1:${admin}`,
    };
    proxy = spawn(caddy(), ['run', '--config', config, '--adapter', 'caddyfile'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
    };
    proxy.stdout?.on('data', hear);
    proxy.stderr?.on('data', hear);
    await eventually('the proxy answers', async () => {
      if (proxy.exitCode !== null) throw new Error(`the proxy ended: ${said}`);
      return (await fetch(`${origin}/login`).catch(() => undefined))?.status === 200;
    });
  });
  after(async () => {
    proxy?.kill();
    await api?.stop();
  });

  it("closes what is the operators', in every spelling", async () => {
    const byProxy = [
      '/metrics',
      '/metrics/',
      '/METRICS',
      '/%6detrics',
      '/x/../metrics',
      '/health/ready',
      '/health/ready/',
    ];
    for (const path of byProxy) {
      const answer = await fetch(`${origin}${path}`);
      // What the gateway answers carries its own headers.
      expect([answer.status, answer.headers.get('x-content-type-options')], path).to.deep.equal([404, null]);
    }
    expect((await fetch(`${origin}//metrics`)).status).to.equal(404);
    expect((await fetch(`${origin}/login`)).headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('believes nobody about where he is, so that nobody has more tries than one', async () => {
    api.lines.length = 0;
    const claims = {
      'X-Forwarded-For': '198.51.100.7',
      Forwarded: 'for=198.51.100.7',
      'X-Real-IP': '198.51.100.7',
    };
    await call(`${origin}/api/v1/customers`, { key: api.keys.live, headers: claims });
    const line = await eventually('the line of the request', async () =>
      api.lines.find(({ fields }) => String(fields['route']).includes('customers')),
    );
    expect(JSON.stringify(line.fields)).to.contain('127.0.0.').and.not.to.contain('198.51.100');
  });

  it('writes down that there was a request, and of nobody what it was', async () => {
    const secrets = [
      'pl_thetokenofalink',
      'ann%40shop.example',
      'thequeryofsearch',
      api.keys.live,
      'thecookieofasession',
    ];
    await fetch(`${origin}/pay/${secrets[0]}?search=${secrets[2]}&email=${secrets[1]}`, {
      headers: {
        Authorization: `Bearer ${api.keys.live}`,
        Cookie: `session=${secrets[4]}`,
        'X-Forwarded-For': '203.0.113.9',
      },
    });
    await call(`${origin}/api/v1/exists/${secrets[1]}`, { key: api.keys.live });
    await eventually('two lines', async () => readFileSync(logFile, 'utf8').split('\n').length > 2);
    const written = readFileSync(logFile, 'utf8') + said;
    expect(written).to.contain('"status":');
    for (const secret of secrets) expect(written).not.to.contain(secret);
    expect(written).not.to.contain('203.0.113.9');
  });
});
