import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { WAIT_CODES, WAITS } from '../../src/domain/payouts/waits.ts';
import { trackedFiles } from '../support/repository/files.ts';
import { wrongIn } from './named.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
describe('commands that a sentence names', () => {
  it('exist, with their options, wherever the sources quote them', () => {
    const wrong: string[] = [];
    for (const path of trackedFiles())
      if (/^src\/(?!web|db).*\.ts$/.test(path))
        for (const [, quoted = ''] of read(path).matchAll(/"((?:gateway )?[a-z]+(?: [^"\n]*)?)"/g))
          wrong.push(...[wrongIn(quoted)].flatMap((one) => (one ? `${path}: ${one}` : [])));
    expect(wrong).to.deep.equal([]);
  });

  it('exist, with their options, in what operators read', () => {
    const text = read('docs/operations.md');
    const named = [...text.matchAll(/`((?:gateway )?[a-z]+(?: [^`\n]*)?)`/g)].map(([, one = '']) => one);
    expect(named.flatMap((one) => wrongIn(one) ?? [])).to.deep.equal([]);
    expect(named.filter((one) => /^(gateway )?payout /.test(one))).to.have.length.above(10);
  });

  it('end every wait that a person ends; the document names each reason', () => {
    const text = read('docs/operations.md');
    for (const code of WAIT_CODES) {
      const { ends, by, rests, alarmMs } = WAITS[code];
      const named = [...ends.matchAll(/"([^"]+)"/g)].map(([, one = '']) => one);
      expect(
        named.flatMap((one) => wrongIn(one) ?? []),
        code,
      ).to.deep.equal([]);
      expect(named.length > 0 || by === 'itself', `${code} names a command`).to.equal(true);
      expect(alarmMs !== undefined || rests === true, `${code} alarms, or rests as it was set`).to.equal(
        true,
      );
      expect(text, 'docs/operations.md').to.include(`| \`${code}\` |`);
    }
  });

  it('are no wish that nobody can fulfil: the signer tells nobody to cancel something', () => {
    const asked = trackedFiles().filter(
      (path) => path.startsWith('src/signer/') && /cancel (it|the payout|what was asked)/.test(read(path)),
    );
    expect(asked).to.deep.equal([]);
  });
});
