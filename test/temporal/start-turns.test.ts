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

  it('let a third merchant begin within a turn of each of two that rush, although the starts of one always fail', async () => {
    const turns = createStartTurns();
    const begun: string[] = [];
    const ask = (merchantId: string) =>
      turns({ ...message('test'), owner: { merchantId, mode: 'test' } }, async () => {
        begun.push(merchantId);
        await pause(1);
        if (merchantId === 'refused') throw new Error('refused');
      }).catch(() => undefined);
    const rush = Array.from({ length: 12 }, () => ['refused', 'busy'].map(ask)).flat();
    await ask('third');
    expect(begun.indexOf('third')).to.be.at.most(5);
    await Promise.all(rush);
    expect(begun).to.have.length(25);
  });

  it('rest after a start that failed as after any other, and tell why it failed', async () => {
    const turns = createStartTurns();
    const broken = async (): Promise<void> => {
      await pause(START_MS);
      throw new Error('away');
    };
    const asked = Array.from({ length: 2 }, () =>
      turns(message('test'), broken).catch((error: Error) => error.message),
    );
    expect(await Promise.all(asked)).to.deep.equal(['away', 'away']);
    const late = await turns(message('test'), () => pause(0), START_MS).catch((error: Error) => error.name);
    expect(late).to.equal('GateFull');
  });
});
