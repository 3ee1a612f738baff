import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Marked, type Token } from 'marked';
import { anchorOf } from '../../src/web/docs/markdown.ts';
import { ROOT, trackedFiles } from '../support/repository/files.ts';

const documents = trackedFiles().filter((file) => file.endsWith('.md'));

const tokensOf = (file: string): Token[] => {
  const all: Token[] = [];
  const marked = new Marked();
  marked.walkTokens(marked.lexer(readFileSync(join(ROOT, file), 'utf8')), (token) => {
    all.push(token);
  });
  return all;
};

const anchorsOf = (file: string): Set<string> => {
  const taken = new Map<string, number>();
  return new Set(
    tokensOf(file).flatMap((token) => {
      if (token.type !== 'heading') return [];
      const base = anchorOf(String(token['text']).replace(/[`*]|\]\([^)]*\)|\[/g, ''));
      const before = taken.get(base) ?? 0;
      taken.set(base, before + 1);
      return [before === 0 ? base : `${base}-${before}`];
    }),
  );
};

describe('the links in the documents', () => {
  it('lead to files that are here, and to headings that they have', () => {
    expect(documents.length).to.be.greaterThan(50);
    const lost = documents.flatMap((file) =>
      tokensOf(file).flatMap((token) => {
        const href = token.type === 'link' || token.type === 'image' ? String(token['href']) : '';
        if (href === '' || /^[a-z]+:/.test(href)) return [];
        const [path = '', anchor] = href.split('#');
        const target = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(ROOT, target))) return [`${file}: ${href}`];
        if (anchor === undefined || !target.endsWith('.md')) return [];
        return anchorsOf(target).has(anchor) ? [] : [`${file}: ${href}`];
      }),
    );
    expect(lost).to.deep.equal([]);
  });
});
