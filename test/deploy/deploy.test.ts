import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

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
