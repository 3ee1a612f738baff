import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { readPatterns, slowForm } from '../support/repository/patterns.ts';

describe('the check of regular expressions', function () {
  this.timeout(60_000);

  it('names those that are worse than linear, by their form', () => {
    const slow = [
      /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
      /([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi,
      /^(?:\[([^\]]*:[^\]]*)\]|([0-9.]+))(?::\d{1,5})?$/,
      /\/+$/,
      /(a+)+$/,
    ];
    for (const { source, flags } of slow) expect(slowForm({ source, flags }), source).to.match(/^takes /);
  });

  it('reads literals and constructed ones from every file of a project', async () => {
    const root = await tempDir('patterns');
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'tsconfig.json'), '{ "include": ["src"] }');
    const lines = [
      'export const a = /a\\/b[/]+/giu;',
      'export const b = new RegExp("x+$", "m");',
      'export const c = (y: string) => RegExp(y).test("/no pattern/");',
    ];
    writeFileSync(join(root, 'src/one.ts'), lines.join('\n'));
    writeFileSync(join(root, 'src/other.ts'), 'export const d = /d/;');
    const found = readPatterns(root, (path) => path === 'src/one.ts').map(({ place, source, flags }) => ({
      place,
      source,
      flags,
    }));
    expect(found).to.deep.equal([
      { place: 'src/one.ts:1', source: 'a\\/b[/]+', flags: 'giu' },
      { place: 'src/one.ts:2', source: 'x+$', flags: 'm' },
      { place: 'src/one.ts:3', source: undefined, flags: '' },
    ]);
  });
});
