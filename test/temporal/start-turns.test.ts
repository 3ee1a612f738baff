import { expect } from 'chai';
import type { ActorMessage } from '../../src/domain/actor-message.ts';
import type { Mode } from '../../src/domain/assets.ts';
import { createStartTurns } from '../../src/temporal/start-turns.ts';

const START_MS = 40;

describe('the turns of starts', () => {
  const message = (mode: Mode): ActorMessage => ({
    workflowType: 'notify',
    args: [],
    owner: { merchantId: 'm', mode },
  });
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  it('let two of test mode begin, answer each as soon as it is done, and let the next wait in proportion', async () => {
    const turns = createStartTurns();
    const seen: string[] = [];
    const start = async (): Promise<void> => {
      seen.push('begun');
      await pause(START_MS);
    };
    const first = turns(message('test'), start);
    const rush = Array.from({ length: 3 }, () => turns(message('test'), start));
    expect(seen).to.deep.equal(['begun', 'begun']);
    await first;
    seen.push('answered');
    // Their places rest for eight times as long as the starts took, so this comes before.
    await pause(4 * START_MS);
    seen.push('half of the rest is over');
    await Promise.all(rush);
    expect(seen).to.deep.equal(['begun', 'begun', 'answered', 'half of the rest is over', 'begun', 'begun']);
  });

  it('keep no live start waiting for those of test mode', async () => {
    const turns = createStartTurns();
    let live = 0;
    const rush = Array.from({ length: 4 }, () => turns(message('test'), () => pause(START_MS)));
    const starts = Array.from({ length: 14 }, () =>
      turns(message('live'), async () => {
        live += 1;
        await pause(START_MS);
      }),
    );
    expect(live, 'begun at once').to.equal(14);
    await Promise.all([...rush, ...starts]);
  });
});
