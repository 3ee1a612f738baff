import { expect } from 'chai';
import {
  BACKOFF_MS,
  backoffAfterMs,
  classify,
  DEFAULT_MAX_ATTEMPTS,
  describeOutcome,
  type Outcome,
} from '../../src/domain/webhook.ts';

const answered = (status: number): Outcome => ({ kind: 'response', status, bodyText: '', durationMs: 1 });

describe('the schedule of a delivery', () => {
  it('waits 1, 5, 15 and 60 s between five attempts', () => {
    const gaps = Array.from({ length: DEFAULT_MAX_ATTEMPTS - 1 }, (_, index) => backoffAfterMs(index + 1));
    expect(gaps).to.deep.equal([1_000, 5_000, 15_000, 60_000]);
  });

  it('uses 300 s only for a sixth attempt and everything after it', () => {
    expect([5, 6, 7, 1_000].map(backoffAfterMs)).to.deep.equal([300_000, 300_000, 300_000, 300_000]);
    expect(BACKOFF_MS).to.have.length(5);
  });
});

describe('what an answer means', () => {
  it('takes every 2xx and nothing else as success', () => {
    for (let status = 100; status <= 999; status += 1) {
      expect(classify(answered(status)) === 'succeeded', String(status)).to.equal(
        status >= 200 && status < 300,
      );
    }
  });

  it('retries 5xx and 429 only', () => {
    for (let status = 100; status <= 999; status += 1) {
      const isRetried = status === 429 || (status >= 500 && status < 600);
      expect(classify(answered(status)) === 'retry', String(status)).to.equal(isRetried);
    }
  });

  it('retries every lack of an answer, a refused target too', () => {
    for (const code of ['TARGET_REFUSED', 'DNS', 'CONNECT', 'TLS', 'TIMEOUT', 'RESET', 'PROTOCOL'] as const) {
      expect(classify({ kind: 'error', code, message: 'x', durationMs: 1 }), code).to.equal('retry');
    }
  });
});

describe('the line that describes an outcome', () => {
  it('is plain', () => {
    expect(describeOutcome({ ...answered(503), durationMs: 811.6 }, 'shop.example')).to.equal(
      'HTTP 503 from shop.example, 812 ms',
    );
    const refused: Outcome = { kind: 'error', code: 'CONNECT', message: 'connection refused', durationMs: 3 };
    expect(describeOutcome(refused, 'shop.example')).to.equal('connection refused: shop.example, 3 ms');
  });
});
