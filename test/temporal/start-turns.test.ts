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

  it('let few of test mode begin, fewer where a start takes long, and answer each as soon as it is done', async () => {
    const turns = createStartTurns();
    const began = performance.now();
    const begun: number[] = [];
    const start = async (): Promise<void> => {
      begun.push(performance.now() - began);
      await pause(START_MS);
    };
    const first = turns(message('test'), start).then(() => performance.now() - began);
    const rush = Array.from({ length: 5 }, () => turns(message('test'), start));
    // Two places, each rests for eight times as long as a start takes.
    expect(await first).to.be.below(3 * START_MS);
    expect(begun).to.have.length(2);
    await Promise.all(rush);
    expect(begun[2]).to.be.at.least(9 * START_MS - 5);
    expect(begun[4]).to.be.at.least(18 * START_MS - 10);
  });

  it('keep no live start waiting for those of test mode', async () => {
    const turns = createStartTurns();
    const rush = Array.from({ length: 4 }, () => turns(message('test'), () => pause(START_MS)));
    const began = performance.now();
    await Promise.all(Array.from({ length: 14 }, () => turns(message('live'), () => pause(START_MS))));
    expect(performance.now() - began).to.be.below(4 * START_MS);
    await Promise.all(rush);
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
