import { expect } from 'chai';
import { webAddress } from '../../src/domain/web-address.ts';

describe('an address on the web', () => {
  it('is what it says, in any script, with a port, a query and a fragment', () => {
    for (const text of [
      'https://shop.example/ok?a=b#c',
      'http://localhost:3000/no',
      'HTTPS://Shop.example',
      'https://bücher.example/ü',
    ])
      expect(webAddress(text)?.href, text).to.equal(new URL(text).href);
  });

  it('is nothing that the parser would repair, that hides its host, or that runs', () => {
    const bad = [
      '',
      '/x',
      '//shop.example',
      'https:shop.example',
      'https:\\\\shop.example',
      'https://shop.example\\@evil.example',
      'https://a b',
      'https://shop.example/\nx',
      'https://',
      'https://user@evil.example',
      'ftp://shop.example',
      'javascript:alert(1)',
    ];
    for (const text of bad) expect(webAddress(text), text).to.equal(undefined);
  });
});
