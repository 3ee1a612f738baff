import { expect } from 'chai';
import { componentLogger, createLogger } from '../../src/base/log.ts';

/**
 * Everything that a terminal acts on, one of each kind: ANSI,
 * 8-bit CSI, OSC, bell, carriage return, bidi, separators, tags.
 */
const ESCAPES = '\u001b[31mred\u009b2J\u001b]0;title\u0007\r\n\u202eesrever\u2028\u2066\u{e0041}\u007f';
const ACTIVE = /\p{Cc}/u;

function capture(format: 'json' | 'pretty') {
  const written: string[] = [];
  const log = createLogger({
    level: 'trace',
    format,
    destination: { write: (line: string) => written.push(line) },
  });
  return { log, written };
}

describe('log for a person', () => {
  it('is one line with time, level, component, what, and the ids', () => {
    const { log, written } = capture('pretty');
    componentLogger(log, 'api').warn(
      { requestId: 'r-1', status: 429, amount: 12n, note: 'two words', list: [1], none: null },
      'request',
    );
    expect(written).to.have.length(1);
    expect(written[0]).to.match(
      /^\[.{10,40}\] WARN: request \{"component":"api","requestId":"r-1","status":429,"amount":"12","note":"two words","list":\[1\],"none":null\}\n$/,
    );
  });

  it('shows an error with its causes and frames below, and no line of a message as one of its own', () => {
    const { log, written } = capture('pretty');
    const forged = new Error('outer\n2026-01-01T00:00:00Z INFO paid', { cause: new RangeError('inner') });
    forged.stack = `Error: outer\n[x] INFO: forged\n${forged.stack}`;
    log.error({ err: forged, stack: '\n[x] INFO: forged\n    at a' }, 'failed');
    const [line, ...below] = (written[0] ?? '').trimEnd().split('\n');
    expect(line).to.match(/ERROR: failed/);
    expect(below.join('\n'))
      .to.contain('"message": "outer·2026')
      .and.to.contain('inner')
      .and.to.match(/^ +at /m);
    for (const one of below)
      expect(one)
        .to.match(/^ {4}/)
        .and.not.match(/INFO: forged/);
  });

  it('lets no text of a value end a line, colour it, or pass for another member, in either form', () => {
    for (const format of ['json', 'pretty'] as const) {
      const { log, written } = capture(format);
      log
        .child({ component: ESCAPES, [ESCAPES]: ESCAPES })
        .info({ name: ESCAPES, list: [ESCAPES], fake: 'x status=200' }, ESCAPES);
      log.error(new Error(ESCAPES));
      log.info({ password: 'hunter2', deep: { api_key: 'hunter2' } }, 'sent with sk_live_hunter2');
      expect(written.at(-1), format).to.contain('[hidden]').and.not.contain('hunter2');
      for (const text of written)
        for (const line of text.slice(0, -1).split('\n')) expect(line).to.not.match(ACTIVE);
      expect(written[0]?.split('\n'), format).to.have.length(2);
    }
  });
});
