import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../dev/support/fault-proxy.ts';
import { processTree, signalProcess } from '../../src/base/process-table.ts';
import { lie } from './plan/lies.ts';
import type { FreezeAction, KillAction, LieAction, RpcAction, Trouble } from './plan/plan-troubles.ts';
import { inTurn, note, type Play } from './play.ts';
import { rpcFault } from './rpc-faults.ts';

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
  const fault = rpcFault(action.fault, play.stage.anvil.url);
  note(play, `endpoint ${action.endpoints.join(' and ')}: ${action.fault} for ${action.forMs} ms`);
  await during(play, new Map(action.endpoints.map((index) => [index, fault])), action.forMs);
}

/** The first endpoint is silent meanwhile, unless the lie has to win against its word. */
async function tellLies(play: Play, action: LieAction): Promise<void> {
  const { payer, anvil } = play.stage;
  const faults = new Map<number, Fault>([[LIAR, lie(action.lie, anvil.url)]]);
  if (action.alone) faults.set(HONEST, () => ({ status: 503, body: '' }));
  note(play, `endpoint ${LIAR} lies (${action.lie})${action.alone ? ', alone' : ''} for ${action.forMs} ms`);
  const told = during(play, faults, action.forMs);
  if (action.reorgDepth > 0) {
    await sleep(action.forMs / 3);
    const raws = await payer.reorg(action.reorgDepth, true);
    note(
      play,
      `reorg ${action.reorgDepth} under the endpoint that stands still, ${raws.length} transactions`,
    );
  }
  await told;
}

const HONEST = 0;
const LIAR = 1;

/** Sets faults and takes back those that nobody has replaced meanwhile. */
async function during({ stage }: Play, faults: ReadonlyMap<number, Fault>, forMs: number): Promise<void> {
  const set = [...faults].flatMap(([index, fault]) => {
    const proxy = stage.proxies[index];
    if (proxy) proxy.fault = fault;
    return proxy ? [{ proxy, fault }] : [];
  });
  await sleep(forMs);
  for (const { proxy, fault } of set) if (proxy.fault === fault) proxy.fault = undefined;
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
