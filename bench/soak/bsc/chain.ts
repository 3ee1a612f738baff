import { startAnvil } from '../../../dev/anvil.ts';
import type { Random } from '../../../dev/random.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import type { Lift, SoakChain } from '../chain.ts';
import { lie } from './lies.ts';
import { BSC_LIES, type Lie } from './names.ts';
import { createPayer } from './payer.ts';
import { rpcFault } from './rpc-faults.ts';
import { readChain } from './truth.ts';

/**
 * Blocks from the head to finality are twice this: deeper
 * than any reorg of a run, so that finality never breaks.
 */
const SLOTS_IN_AN_EPOCH = 3;
const CONFIRMATIONS = 4;
const FIRST_BLOCKS = 12;
const PROXY_MEMORY = 1_000;
const HONEST = 0;
const LIAR = 1;

/** A real EVM node with the contracts and senders of a run, behind two endpoints. */
export async function createBscChain(input: {
  folder: string;
  random: Random;
  log: (line: string) => void;
}): Promise<SoakChain> {
  const anvil = await startAnvil({
    slotsInAnEpoch: SLOTS_IN_AN_EPOCH,
    dataDir: input.folder,
    log: input.log,
  });
  const payer = await createPayer(anvil, input.random);
  await payer.mine(FIRST_BLOCKS);
  const proxies = [await startFaultProxy(anvil.url), await startFaultProxy(anvil.url)];
  return {
    network: 'bsc',
    env: {
      BSC_RPC_URLS: proxies.map((proxy) => proxy.url).join(','),
      BSC_USDT_CONTRACT: payer.usdt,
      BSC_CONFIRMATIONS: String(CONFIRMATIONS),
    },
    pid: () => anvil.pid,
    ...payer,
    mine: async (blocks) => {
      await payer.mine(blocks);
      for (const proxy of proxies)
        if (proxy.calls.length > PROXY_MEMORY) proxy.requests.length = proxy.calls.length = 0;
    },
    trouble: (name, endpoints) => {
      const fault = rpcFault(name, anvil.url);
      return setFaults(proxies, new Map(endpoints.map((index) => [index, fault])));
    },
    lie: (name, alone) => {
      if (!BSC_LIES.includes(name as Lie)) throw new Error(`no lie is called ${name}`);
      const faults = new Map<number, Fault>([[LIAR, lie(name as Lie, anvil.url)]]);
      // Silent meanwhile, unless the lie has to win against its word.
      if (alone) faults.set(HONEST, () => ({ status: 503, body: '' }));
      return setFaults(proxies, faults);
    },
    heal: () => {
      for (const proxy of proxies) proxy.fault = undefined;
    },
    truth: (rules) =>
      readChain((method, params) => anvil.rpc(method, params), { ...rules, usdt: payer.usdt }),
    stop: async () => {
      for (const proxy of proxies) await proxy.stop();
      await anvil.stop();
    },
  };
}

/** Sets faults; what is returned takes back those that nobody has replaced meanwhile. */
function setFaults(proxies: readonly FaultProxy[], faults: ReadonlyMap<number, Fault>): Lift {
  const set = [...faults].flatMap(([index, fault]) => {
    const proxy = proxies[index];
    if (proxy) proxy.fault = fault;
    return proxy ? [{ proxy, fault }] : [];
  });
  return () => {
    for (const { proxy, fault } of set) if (proxy.fault === fault) proxy.fault = undefined;
  };
}
