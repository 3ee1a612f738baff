import { expect } from 'chai';
import { createWaitingLine, LineIsFull } from '../../../src/services/access/waiting-line.ts';

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

const settled = () => new Promise((resolve) => setImmediate(resolve));
const kindOf = (error: unknown) => (error instanceof LineIsFull ? (error.ofKey ? 'key' : 'all') : 'other');

describe('the line before expensive work', () => {
  it('runs no more at once than it may, in the order in which they came, also after a failure', async () => {
    const line = createWaitingLine({ running: 2, places: 10, placesOfKey: 10, waitMs: 10_000 });
    const { begun, work, end } = openWork();
    const all = ['a', 'b', 'c', 'd'].map((name) => line(name, work(name)).catch((error: Error) => error.message));
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
    const line = createWaitingLine({ running: 1, places: 4, placesOfKey: 2, waitMs: 10_000 });
    const { begun, work, end } = openWork();
    const held = [line('x', work('x1')), line('x', work('x2')), line('y', work('y1'))];
    expect(await line('x', work('x3')).catch(kindOf)).to.equal('key');
    held.push(line('z', work('z1')));
    expect(await line('u', work('u1')).catch(kindOf)).to.equal('all');
    for (const name of ['x1', 'x2', 'y1', 'z1']) {
      await settled();
      end(name);
    }
    await Promise.all(held);
    const again = line('x', work('x4'));
    await settled();
    end('x4');
    expect(await again).to.equal('x4');
    expect(begun).to.deep.equal(['x1', 'x2', 'y1', 'z1', 'x4']);
  });

  it('gives up on a turn that does not come in time, and goes on with the next', async () => {
    const line = createWaitingLine({ running: 1, places: 4, placesOfKey: 4, waitMs: 20 });
    const { begun, work, end } = openWork();
    const first = line('a', work('a'));
    expect(await line('b', work('b')).catch(kindOf)).to.equal('all');
    const third = line('c', work('c'));
    end('a');
    await first;
    await settled();
    end('c');
    expect(await third).to.equal('c');
    expect(begun).to.deep.equal(['a', 'c']);
  });
});
