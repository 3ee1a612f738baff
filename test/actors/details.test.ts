import { expect } from 'chai';
import { asText } from '../../workflows/details.ts';

describe('details of an actor', () => {
  it('hold no markup, no link and no line of a text from elsewhere', () => {
    for (const text of [
      '[click](https://evil.example)',
      '![x](http://evil.example/pixel.png)',
      '<img src=x onerror=alert(1)>',
      'see https://evil.example or www.evil.example',
      'a\n\n# heading\n\u202egnp\u001b[31m',
      '`code` **bold** | a | b |',
    ]) {
      const shown = asText(text).replaceAll('\u200b', '');
      // Every sign that Markdown reads stands behind a backslash.
      expect(shown.replace(/\\[\\`*_{}[\]()#!|<>~&:.@]/g, ''), text).to.match(
        /^[^\\`*_{}[\]()#!|<>~&:.@\p{Cc}\p{Cf}]*$/u,
      );
    }
    expect(asText('x'.repeat(5_000))).to.have.length(1_000);
    // A renderer may look for addresses in the text that is left, without the backslashes.
    const left = asText('https://evil.example WWW.evil.example a@evil.example //evil.example').replaceAll(
      '\\',
      '',
    );
    expect(left).to.not.match(/:\/\/|www\.|@\w/i);
  });
});
