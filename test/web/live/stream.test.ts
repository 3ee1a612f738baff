import { Writable } from 'node:stream';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Rendering } from '../../../src/web/live/followed.ts';
import { openStream, type StreamTimes } from '../../../src/web/live/stream.ts';

const of = (text: string, open = true): Rendering => ({ tag: text, json: text, open });

/** A stream to somebody who reads, or takes nothing until `read` is called. */
function streamTo({ reads, times }: { reads: boolean; times?: Partial<StreamTimes> }) {
  const told: string[] = [];
  const taken: (() => void)[] = [];
  const ended = { count: 0 };
  const res = new Writable({
    highWaterMark: 1,
    write: (chunk, _encoding, done) => {
      told.push(String(chunk).trim());
      if (reads) done();
      else taken.push(done);
    },
  });
  const ctx = { res, set: () => undefined };
  const reader = openStream(ctx as never, {
    visitor: {} as never,
    now: () => new Date('2026-11-20T09:00:00.900Z'),
    ordinal: 2,
    ended: () => {
      ended.count += 1;
    },
    times,
  });
  const read = async (): Promise<void> => {
    taken.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { reader, res, told, ended, read };
}

describe('a stream to one reader', () => {
  it('says when to come back, tells each rendering once, and ends after the last one', async () => {
    const { reader, res, told, ended } = streamTo({ reads: true });
    for (const one of [of('a'), of('a'), of('b'), of('c', false), of('d')]) {
      reader.show(one);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually('the end', () => res.writableFinished);
    expect(told).to.deep.equal(['retry: 1500', ...['a', 'b', 'c'].map((one) => `event: view\ndata: ${one}`)]);
    expect(ended.count).to.equal(1);
  });

  it('comes to its end after its time, and signs of life come until then', async () => {
    const { res, told, ended } = streamTo({ reads: true, times: { lifeEveryMs: 20, endsAfterMs: 110 } });
    await eventually('the end', () => res.writableFinished);
    expect([...new Set(told.slice(1))]).to.deep.equal(['event: still\ndata: 2026-11-20T09:00:00Z']);
    expect(ended.count).to.equal(1);
  });

  it('keeps no more than the newest for a reader who is slow', async () => {
    const { reader, told, read } = streamTo({ reads: false });
    for (const text of ['a', 'b', 'c']) reader.show(of(text));
    expect(told).to.deep.equal(['retry: 1500']);
    await read();
    await read();
    await read();
    expect(told).to.deep.equal(['retry: 1500', 'event: view\ndata: c']);
    reader.end();
  });

  it('is cut for a reader who takes nothing for two signs of life, and at a shutdown waits for none', async () => {
    const deaf = streamTo({ reads: false, times: { lifeEveryMs: 10 } });
    deaf.reader.show(of('a'));
    await eventually('the cut', () => deaf.res.destroyed);
    expect([deaf.ended.count, deaf.told]).to.deep.equal([1, ['retry: 1500']]);
    const slow = streamTo({ reads: false });
    slow.reader.end();
    expect([slow.res.destroyed, slow.ended.count]).to.deep.equal([true, 1]);
  });
});
