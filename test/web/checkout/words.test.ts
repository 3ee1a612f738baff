import { expect } from 'chai';
import { countdown, usualMinutes } from '../../../src/web/checkout/durations.ts';
import { pickLanguage, wordsOf } from '../../../src/web/words/index.ts';

const languageOf = (accepted: string, query: Record<string, string | string[]> = {}) =>
  pickLanguage({ query, get: () => accepted } as never);

/** Every text of a table by its path; functions with small figures and texts put in. */
function textsOf(table: object, path = ''): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    const here = `${path}${key}`;
    if (typeof value === 'string') return [[here, value]];
    if (typeof value !== 'function') return textsOf(value, `${here}.`);
    if (here === 'dateTime' || here === 'clock') return [[here, value('2026-11-20T11:00:00Z')]];
    return [1, 2].map((n) => [`${here}(${n})`, value(...Array.from({ length: 3 }, () => n))]);
  });
}

describe('the words for payers', () => {
  const [en, de] = [wordsOf('en'), wordsOf('de')];

  it('are there in both languages, and each its own', () => {
    const [english, german] = [textsOf(en), textsOf(de)];
    expect(german.map(([path]) => path)).to.deep.equal(english.map(([path]) => path));
    const same = english.filter(([, text], index) => german[index]?.[1] === text).map(([path]) => path);
    expect(same).to.deep.equal(['clock', 'test.mark']);
    for (const [path, text] of [...english, ...german]) {
      expect(text, path)
        .to.match(/\S/)
        .and.not.match(/undefined|NaN|^\s|\s$| {2}/);
    }
  });

  it('write figures and times as their language does, in UTC, and coins as wallets take them', () => {
    expect([en.usd(1234567.5), en.dateTime('2026-11-20T23:05:00Z')]).to.deep.equal([
      '1,234,567.50 USD',
      '20 Nov 2026, 23:05 UTC',
    ]);
    expect([de.usd(1234567.5), de.dateTime('2026-11-20T23:05:00Z')]).to.deep.equal([
      '1.234.567,50 USD',
      '20.11.2026, 23:05 UTC',
    ]);
    expect(de.states.missing('1234.5 USDT')).to.equal('Es fehlen noch 1234.5 USDT.');
  });
});

describe('the language of a page', () => {
  it('is the one that the address names, whatever the browser prefers', () => {
    expect(languageOf('en', { lang: 'de' })).to.equal('de');
    expect(languageOf('de', { lang: 'en' })).to.equal('en');
    for (const lang of ['fr', '', 'DE', '__proto__', 'constructor', ['de', 'en']])
      expect(languageOf('de', { lang }), String(lang)).to.equal('de');
  });

  it('is else what the browser prefers of those that there are, else English', () => {
    for (const [header, lang] of [
      ['', 'en'],
      ['de', 'de'],
      ['DE-de;q=0.8, en;q=0.7', 'de'],
      ['en;q=0.5,de;q=0.501', 'de'],
      ['en, de', 'en'],
      ['de, en', 'de'],
      ['de;q=0, en;q=0.1', 'en'],
      ['de;q=0', 'en'],
      ['de; q=0.4 , en;q=0.3', 'de'],
      ['de;q=2, en;q=0.1', 'en'],
      ['de;level=1;q=0.2, en;q=0.1', 'de'],
      ['deu, en-GB;q=0.1', 'en'],
      [',;,;;=,-,de', 'de'],
    ] as const)
      expect(languageOf(header), header).to.equal(lang);
  });
});

describe('the times that a payer is told', () => {
  it('count down by the server’s clock, and end at nothing', () => {
    const until = '2026-11-20T11:00:00Z';
    for (const [now, text] of [
      ['2026-11-20T10:18:01Z', '41:59'],
      ['2026-11-20T10:59:55Z', '0:05'],
      ['2026-11-20T07:53:00Z', '3:07:00'],
      ['2026-11-13T11:00:00Z', '168:00:00'],
      ['2026-11-20T11:00:01Z', '0:00'],
    ] as const)
      expect(countdown(until, now)).to.equal(text);
  });

  it('are rather too long than too short for what the chain takes', () => {
    const minutes = [usualMinutes(15, 450), usualMinutes(19, 3_000), usualMinutes(1, 12_000)];
    expect(minutes).to.deep.equal([0, 2, 0]);
    for (const confirmations of [1, 15, 19, 100, 1_000])
      for (const blockMs of [450, 3_000, 12_000]) {
        const told = Math.max(1, usualMinutes(confirmations, blockMs)) * 60_000;
        expect(told).to.be.at.least(confirmations * blockMs);
      }
  });
});
