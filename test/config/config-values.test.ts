import { rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/index.ts';
import type { Variable } from '../../src/config/variable.ts';
import type { VariableName } from '../../src/config/variables/index.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { problemsOf } from '../support/repository/config-samples.ts';
import { CHAIN_ROWS } from './values/chains.ts';
import { KEY_ROWS } from './values/keys.ts';
import { MONEY_ROWS } from './values/money.ts';
import { folder, notPem, pem, type Row } from './values/samples.ts';
import { SERVICE_ROWS } from './values/service.ts';

/** Every variable has a row: without one, this does not compile. */
const ROWS: Record<VariableName, Row> = { ...SERVICE_ROWS, ...CHAIN_ROWS, ...KEY_ROWS, ...MONEY_ROWS };
const HOSTILE = [' ', ' 5', '5 ', '5\n', '\u0000', 'a\u0000b', '5\r', 'A'.repeat(100_000), '\u007f'];

describe('configuration values', () => {
  before(() => {
    writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
    writeFileSync(notPem, 'hello');
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [name, { good, bad }] of Object.entries(ROWS)) {
    it(`${name}: takes good values`, () => {
      for (const [text, read, expected] of good)
        expect(read(loadConfig({ [name]: text })), text).to.deep.equal(expected);
    });
    it(`${name}: answers each bad or hostile value with one sentence that begins with its name`, () => {
      const secret = VARIABLES[name as VariableName] as Variable<unknown>;
      for (const text of [...bad, ...HOSTILE]) {
        const problems = problemsOf({ [name]: text });
        expect(problems, JSON.stringify(text.slice(0, 80))).to.have.length(1);
        expect(problems[0]).to.match(new RegExp(`^${name} .+\\.$`));
        expect(problems[0]?.length).to.be.lessThan(400);
        if (secret.secret && text.length > 6) expect(problems[0]).not.to.contain(text);
      }
    });
  }
});
