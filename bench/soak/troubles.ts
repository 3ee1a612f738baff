import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, signalProcess } from '../../src/base/process-table.ts';
import type { FreezeAction, KillAction, LieAction, RpcAction, Trouble } from './plan/plan-troubles.ts';
import { inTurn, note, type Play } from './play.ts';
import { chainOn } from './stage.ts';

/**
 * Carries out what goes wrong, and sets it right again.
 * Throws what the parts throw when they do not come back.
 */
export function befall(play: Play, trouble: Trouble): Promise<void> {
  switch (trouble.kind) {
    case 'rpc':
      return troubleEndpoints(play, trouble);
    case 'lie':
      return tellLies(play, trouble);
    case 'kill':
      return killAndStart(play, trouble);
    case 'freeze':
      return freeze(play, trouble);
  }
}

async function troubleEndpoints(play: Play, action: RpcAction): Promise<void> {
  const { network, endpoints, fault, forMs } = action;
  const lift = chainOn(play.stage, network).trouble(fault, endpoints);
  note(play, `${network} endpoint ${endpoints.join(' and ')}: ${fault} for ${forMs} ms`);
  await sleep(forMs);
  lift();
}

async function tellLies(play: Play, action: LieAction): Promise<void> {
  const { network, alone, forMs, reorgDepth } = action;
  const chain = chainOn(play.stage, network);
  const lift = chain.lie(action.lie, alone);
  note(play, `${network} endpoint 1 lies (${action.lie})${alone ? ', alone' : ''} for ${forMs} ms`);
  const told = sleep(forMs).then(lift);
  if (reorgDepth > 0) {
    await sleep(forMs / 3);
    const moved = await chain.reorg(reorgDepth, true);
    note(play, `reorg ${reorgDepth} under the endpoint that stands still, ${moved.length} transactions`);
  }
  await told;
}

function killAndStart(play: Play, action: KillAction): Promise<void> {
  const server = play.stage.servers.get(action.victim);
  return inTurn(play, action.victim, async () => {
    note(play, `SIGKILL ${action.victim}`);
    await server?.kill();
    await sleep(action.downMs);
    await server?.start();
    note(play, `${action.victim} runs again`);
  });
}

function freeze(play: Play, action: FreezeAction): Promise<void> {
  return inTurn(play, action.victim, async () => {
    const pid = play.stage.servers.get(action.victim)?.pid();
    note(play, `SIGSTOP ${action.victim}`);
    const frozen = pid === undefined ? [] : processTree(pid);
    for (const member of frozen) signalProcess(member, 'SIGSTOP');
    await sleep(action.forMs);
    for (const member of frozen) signalProcess(member, 'SIGCONT');
    note(play, `${action.victim} goes on`);
  });
}
