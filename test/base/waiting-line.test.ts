import { expect } from 'chai';
import { createWaitingLine, LineIsFull } from '../../src/base/async/waiting-line.ts';

/** Work that ends when it is told to. */
function openWork() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name);
      ends.set(name, (error) => (error ? reject(error) : resolve(name)));
    });
  return { begun, work, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

/** Everything may be taken by everybody, unless a test says otherwise. */
const LIMITS = { running: 1, places: 4, placesKept: 0, placesOfKey: 4, placesOfKnownKey: 4, waitMs: 10_000 };
const stranger = (key: string) => ({ key, known: false });
const owner = (key: string) => ({ key, known: true });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const kindOf = (error: unknown) => (error instanceof LineIsFull ? (error.ofKey ? 'key' : 'all') : 'other');

describe('the line before expensive work', () => {
  it('runs no more at once than it may, in the order in which they came, also after a failure', async () => {
    const line = createWaitingLine({ ...LIMITS, running: 2, places: 10 });
    const { begun, work, end } = openWork();
    const all = ['a', 'b', 'c', 'd'].map((name) =>
      line(stranger(name), work(name)).catch((error: Error) => error.message),
    );
    await settled();
    expect(begun).to.deep.equal(['a', 'b']);
    end('b', new Error('broken'));
    await settled();
    expect(begun).to.deep.equal(['a', 'b', 'c']);
    end('a');
    await settled();
    expect(begun).to.deep.equal(['a', 'b', 'c', 'd']);
    end('c');
    end('d');
    expect(await Promise.all(all)).to.deep.equal(['a', 'broken', 'c', 'd']);
  });

  it('refuses at once where everybody together, or one caller, holds too many places, and takes again when they are free', async () => {
    const line = createWaitingLine({ ...LIMITS, placesOfKey: 2 });
    const { begun, work, end } = openWork();
    const held = [
      line(stranger('x'), work('x1')),
      line(stranger('x'), work('x2')),
      line(stranger('y'), work('y1')),
    ];
    expect(await line(stranger('x'), work('x3')).catch(kindOf)).to.equal('key');
    held.push(line(stranger('z'), work('z1')));
    expect(await line(stranger('u'), work('u1')).catch(kindOf)).to.equal('all');
    for (const name of ['x1', 'x2', 'y1', 'z1']) {
      await settled();
      end(name);
    }
    await Promise.all(held);
    const again = line(stranger('x'), work('x4'));
    await settled();
    end('x4');
    expect(await again).to.equal('x4');
    expect(begun).to.deep.equal(['x1', 'x2', 'y1', 'z1', 'x4']);
  });

  it('keeps places for those who are known, of whom none takes more than his own', async () => {
    const line = createWaitingLine({ ...LIMITS, places: 6, placesKept: 3, placesOfKnownKey: 2 });
    const { begun, work, end } = openWork();
    const held = ['s1', 's2', 's3'].map((name) => line(stranger(name), work(name)));
    expect(await line(stranger('s4'), work('s4')).catch(kindOf)).to.equal('all');
    held.push(line(owner('a'), work('a1')), line(owner('a'), work('a2')));
    expect(await line(owner('a'), work('a3')).catch(kindOf)).to.equal('key');
    held.push(line(owner('b'), work('b1')));
    expect(await line(owner('c'), work('c1')).catch(kindOf)).to.equal('all');
    for (let done = 0; done < held.length; done += 1) {
      await settled();
      end(begun[done] ?? '');
    }
    await Promise.all(held);
    const again = line(stranger('s4'), work('s4'));
    await settled();
    end('s4');
    expect(await again).to.equal('s4');
  });
});
