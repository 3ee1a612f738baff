import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('the proxy that fits the compose file', () => {
  it("closes what is the operators', believes no hop, and writes down no token", () => {
    const file = read('deploy/Caddyfile');
    const [closed] = /@closed path (.+)/.exec(file)?.slice(1) ?? [];
    expect(closed?.split(' ')).to.have.members([
      '/metrics',
      '/metrics/*',
      '/health/ready',
      '/health/ready/*',
    ]);
    expect(file)
      .to.match(/respond @closed 404/)
      .and.match(/header_up X-Forwarded-For \{remote_host\}/);
    expect(file).to.match(/reverse_proxy 127\.0\.0\.1:8080 \{/);
    // Both the log of requests and the one of the proxy's own errors, which names requests too.
    for (const field of ['request>uri', 'request>headers', 'resp_headers'])
      expect(file.match(new RegExp(`${field} delete`, 'g')), field).to.have.length(2);
    expect(file.split('{').length, 'braces').to.equal(file.split('}').length);
  });
});

describe('the image', () => {
  it('holds every folder that the program runs from', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
      (match[1] ?? '').split(' '),
    );
    const allowed = new Set([...read('.dockerignore').matchAll(/^!(.+)$/gm)].map((match) => match[1]));
    expect(copied).to.include.members([
      'src',
      'workflows',
      'activities',
      'migrations',
      'package.json',
      'package-lock.json',
    ]);
    for (const path of copied) expect(allowed.has(path) && existsSync(join(ROOT, path)), path).to.equal(true);
  });

  it('runs as a user without rights, in production', () => {
    expect(read('Dockerfile'))
      .to.match(/^USER node$/m)
      .and.match(/NODE_ENV=production/);
  });
});
