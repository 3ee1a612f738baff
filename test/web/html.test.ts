import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { foreign, html, plainText, raw } from '../../src/web/html.ts';
import { CONTENT_SECURITY_POLICY, renderDocument } from '../../src/web/layout.ts';

const DECODED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#96;': '`',
};
const decode = (markup: string) => markup.replace(/&[a-z0-9#]+;/g, (entity) => DECODED[entity] ?? entity);

describe('markup', () => {
  it('holds any text without letting it out of its place', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'<>&"\'`=/ ascript!-\n'.split('')) }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const { markup } = html`<p title="${value}">${value}</p>`;
        const [, attribute = '', inner = ''] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/.exec(markup) ?? [];
        expect(decode(attribute)).to.equal(value);
        expect(decode(inner)).to.equal(value);
      }),
    );
  });

  it('takes markup of its own as it is, and lists of it; nothing is nothing', () => {
    const items = ['<a>', 'b'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}${10n}${raw('<br>')}`.markup).to.equal(
      '<ul><li>&lt;a&gt;</li><li>b</li></ul>010<br>',
    );
  });

  it('is not faked by an object that came out of JSON', () => {
    const fake = JSON.parse('{"markup":"<script>"}');
    expect(html`${fake}`.markup).to.equal('[object Object]');
  });

  it('takes out of a stranger’s text what only deceives, and keeps the rest', () => {
    expect(plainText('a\u202Egnp.exe\u2066\0\x1b[31m')).to.equal('agnp.exe[31m');
    expect(plainText('Zoë 🙂 שלום\n\tمرحبا\u200f')).to.equal('Zoë 🙂 שלום\n\tمرحبا\u200f');
    expect(plainText('\ud800')).to.equal('\ufffd');
    expect(foreign('<b>\u202E').markup).to.equal('<bdi>&lt;b&gt;</bdi>');
  });
});

describe('a document', () => {
  const page = renderDocument({ title: '</title><script>', body: html`<h1>Hello</h1>` });

  it('has a language, a title, and nothing that runs or that comes from elsewhere', () => {
    expect(page).to.match(/^<!doctype html>\n<html lang="en">/);
    expect(page)
      .to.include('<title>&lt;/title&gt;&lt;script&gt;</title>')
      .and.include('<main>\n<h1>Hello</h1>');
    expect(page).not.to.match(/<script|javascript:|\son[a-z]+=|\sstyle=|(src|href)="(?!data:)/i);
    expect(page).not.to.include('http-equiv');
  });

  it('may use its own stylesheet, by its hash, and no other', () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(CONTENT_SECURITY_POLICY).to.equal(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    );
  });
});
