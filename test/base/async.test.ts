import { expect } from 'chai';
import { pause } from '../../src/base/async/pause.ts';
import { within } from '../../src/base/async/within.ts';

const never = new Promise<never>(() => {});

describe('a pause', () => {
  it('ends at once with the reason of its signal, which it listens to no longer afterwards', async () => {
    const abort = new AbortController();
    const reason = new Error('shutting down');
    const waiting = pause(3_600_000, abort.signal).catch((error: unknown) => error);
    abort.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(await pause(3_600_000, abort.signal).catch((error: unknown) => error)).to.equal(reason);
  });
});

describe('a wait with a limit', () => {
  it('gives what the work gives, and its failure, where it ends in time', async () => {
    expect(await within(3_600_000, Promise.resolve(1), () => 2)).to.equal(1);
    const failure = new Error('refused');
    expect(
      await within(3_600_000, Promise.reject(failure), () => 2).catch((error: unknown) => error),
    ).to.equal(failure);
  });

  it('gives or throws what stands for it where it is late', async () => {
    expect(await within(1, never, () => 2)).to.equal(2);
    const late = new Error('too slow');
    const thrown = within(1, never, () => {
      throw late;
    });
    expect(await thrown.catch((error: unknown) => error)).to.equal(late);
  });

  it('hears of a failure that comes too late, so that it does not end the process', async () => {
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', hear);
    try {
      await within(1, work, () => undefined);
      fail(new Error('too late'));
      await pause(5);
      expect(unheard).to.deep.equal([]);
    } finally {
      process.off('unhandledRejection', hear);
    }
  });
});
