import { expect } from 'chai';
import { startAnvil } from '../../dev/anvil.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { createHeadHints } from '../../src/chains/rpc/head-hints.ts';

describe('announcements of new blocks', function () {
  this.timeout(30_000);

  it('come from a real node, and stop with the signal', async () => {
    const anvil = await startAnvil({ chainId: 56, log: () => undefined });
    const stop = new AbortController();
    const [numbers, lines]: [number[], string[]] = [[], []];
    let isLost = false;
    const urls = [anvil.url.replace('http', 'ws')];
    const hint = createHeadHints({ name: 'bsc', urls, chainId: 56, report: (line) => lines.push(line) });
    const lost = (): void => {
      isLost = true;
    };
    hint({ announced: (number) => void numbers.push(number), lost }, stop.signal);
    try {
      await eventually('a block is announced', async () => {
        await anvil.mine();
        return numbers.length >= 3;
      });
      const height = Number.parseInt((await anvil.rpc('eth_blockNumber')) as string, 16);
      await eventually('the newest one too', () => numbers.at(-1) === height);
      stop.abort(new Error('enough'));
      await eventually('it is told that nothing comes any more', () => isLost);
      expect(lines).to.deep.equal([]);
    } finally {
      stop.abort(new Error('the test is over'));
      await anvil.stop();
    }
  });
});
