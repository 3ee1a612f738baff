import type { Random } from '../../../dev/random.ts';
import type { TronEndpoint, TronFault } from '../../../dev/tron/http/endpoint.ts';
import { startTronNode } from '../../../dev/tron/node.ts';
import type { Lift, SoakChain } from '../chain.ts';
import { tronFault, tronLie } from './faults.ts';
import { TRON_FAULTS, TRON_LIES, type TronFaultName, type TronLie } from './names.ts';
import { createTronPayer } from './payer.ts';
import { readTronChain } from './truth.ts';

/** Deeper than any reorg of a run, so that finality never breaks. */
const SOLID_DISTANCE = 6;
const CONFIRMATIONS = 4;
const FIRST_BLOCKS = 12;
const REQUESTS_KEPT = 1_000;
const HONEST = 0;
const LIAR = 1;
const RESTART = 'the node is restarted';

/** A double of a Tron node with the contracts and senders of a run, behind two addresses. */
export async function createTronChain(input: {
  folder: string;
  random: Random;
  log: (line: string) => void;
}): Promise<SoakChain> {
  const node = await startTronNode({
    solidDistance: SOLID_DISTANCE,
    dataDir: input.folder,
    log: input.log,
  });
  const { restart, usdt, ...payer } = await createTronPayer(node, input.random);
  await payer.mine(FIRST_BLOCKS);
  const endpoints = [await node.endpoint(), await node.endpoint()];
  return {
    network: 'tron',
    env: {
      TRON_API_URLS: endpoints.map(({ url }) => url).join(','),
      TRON_USDT_CONTRACT: usdt,
      TRON_CONFIRMATIONS: String(CONFIRMATIONS),
      TRON_REQUESTS_PER_SECOND: '1000',
      TRON_REQUESTS_PER_DAY: '10000000',
    },
    pid: () => node.anvil.pid,
    ...payer,
    mine: async (blocks) => {
      await payer.mine(blocks);
      for (const endpoint of endpoints)
        if (endpoint.requests.length > REQUESTS_KEPT) endpoint.forgetRequests();
    },
    trouble: (name, indexes) => {
      if (!isFault(name)) throw new Error(`no fault is called ${name}`);
      if (name === RESTART) {
        void restart().catch((error: unknown) => input.log(`the node of Tron did not restart: ${error}`));
        return () => undefined;
      }
      const fault = tronFault(name, node);
      return setFaults(endpoints, new Map(indexes.map((index) => [index, fault])));
    },
    lie: (name, alone) => {
      if (!isLie(name)) throw new Error(`no lie is called ${name}`);
      const faults = new Map<number, TronFault>([[LIAR, tronLie(name, node)]]);
      // Silent meanwhile, unless the lie has to win against its word.
      if (alone) faults.set(HONEST, () => ({ status: 503, body: '' }));
      return setFaults(endpoints, faults);
    },
    heal: () => {
      for (const endpoint of endpoints) endpoint.fault = undefined;
    },
    truth: (rules) => readTronChain(node.url, { ...rules, usdt }),
    stop: () => node.stop(),
  };
}

const isFault = (name: string): name is TronFaultName => (TRON_FAULTS as readonly string[]).includes(name);
const isLie = (name: string): name is TronLie => (TRON_LIES as readonly string[]).includes(name);

/** Sets faults; what is returned takes back those that nobody has replaced meanwhile. */
function setFaults(endpoints: readonly TronEndpoint[], faults: ReadonlyMap<number, TronFault>): Lift {
  const set = [...faults].flatMap(([index, fault]) => {
    const endpoint = endpoints[index];
    if (endpoint) endpoint.fault = fault;
    return endpoint ? [{ endpoint, fault }] : [];
  });
  return () => {
    for (const { endpoint, fault } of set) if (endpoint.fault === fault) endpoint.fault = undefined;
  };
}
