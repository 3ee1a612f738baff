import { setTimeout as sleep } from 'node:timers/promises';
import { mineByTheClock } from './payer.ts';
import type { CustomerAction, KillAction, PayAction, Plan, Planned, ReorgAction, RpcAction, SimulateAction } from './plan.ts';
import { rpcFault } from './rpc-faults.ts';
import type { Customer, Stage } from './stage.ts';

/** What happened, for the report. The oracle does not read it, but for `problems` and what the API confirmed. */
export type Done = {
  readonly counts: Map<string, number>;
  /** Things that must not happen whatever is down: the API refusing something sound, say. */
  readonly problems: string[];
  /** Simulations that the API confirmed. */
  readonly simulated: { readonly action: SimulateAction; readonly depositId: string }[];
  readonly log: string[];
};

const BLOCK_EVERY_MS = 1_000;
const PROXY_MEMORY = 1_000;
const CUSTOMER_WITHIN_MS = 130_000;

/** Carries out the plan. Returns when every action is over and every server that was killed runs again; faults are lifted then. */
export async function perform(
  stage: Stage,
  plan: Plan,
  say: (line: string) => void,
): Promise<{ done: Done; stopMining: () => Promise<void> }> {
  const done: Done = { counts: new Map(), problems: [], simulated: [], log: [] };
  const mining = new AbortController();
  const clock = mineByTheClock(stage.payer, BLOCK_EVERY_MS, mining.signal);
  const beganMs = Date.now();
  const performer = createPerformer(stage, done, beganMs);
  const running: Promise<void>[] = [];
  // Customers of the start first: their indexes, so their addresses, are then the same in every run of the seed.
  for (const action of plan.actions.filter((entry) => entry.kind === 'customer' && entry.atMs === 0)) await performer.perform(action);
  for (const action of plan.actions.filter((entry) => entry.kind !== 'customer' || entry.atMs > 0)) {
    const waitMs = beganMs + action.atMs - Date.now();
    if (waitMs > 0) await sleep(waitMs);
    if (action.kind === 'kill') say(`SIGKILL ${action.victim}, back after ${action.downMs} ms`);
    running.push(performer.perform(action));
    for (const proxy of stage.proxies) if (proxy.calls.length > PROXY_MEMORY) proxy.requests.length = proxy.calls.length = 0;
  }
  say('no more actions are begun; waiting for those under way');
  await Promise.all(running);
  for (const proxy of stage.proxies) proxy.fault = undefined;
  for (const hook of stage.hooks.values()) hook.heal();
  return {
    done,
    stopMining: async () => {
      mining.abort();
      await clock;
    },
  };
}

function createPerformer(stage: Stage, done: Done, beganMs: number) {
  const customers = new Map<number, { promise: Promise<Customer>; resolve: (customer: Customer) => void }>();
  const customer = (number: number) => {
    const known = customers.get(number) ?? Promise.withResolvers<Customer>();
    customers.set(number, known);
    return known;
  };
  const made = async (number: number): Promise<Customer> => {
    const late = sleep(CUSTOMER_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`customer ${number} was not made in time`);
    });
    return await Promise.race([customer(number).promise, late]);
  };
  const victims = new Map<string, Promise<void>>();
  const count = (what: string) => void done.counts.set(what, (done.counts.get(what) ?? 0) + 1);
  const note = (text: string) => void done.log.push(`${((Date.now() - beganMs) / 1_000).toFixed(1).padStart(7)} s  ${text}`);

  const act = {
    customer: async (action: CustomerAction) => {
      const result = await createCustomer(stage, action);
      stage.customers.push(result);
      customer(action.number).resolve(result);
      note(`customer ${action.number} ${result.id} ${result.addresses.bsc}`);
    },
    pay: async (action: PayAction) => {
      const people = await Promise.all(action.customers.map(made));
      const own = ownWallet(stage, people[0]);
      const addresses = people.map((person) => person.addresses.bsc);
      const hash = await stage.payer.pay(action, addresses, own);
      note(`${action.shape} ${hash} to ${addresses.join(' ')} ${action.amounts.join(' ')}`);
    },
    simulate: async (action: SimulateAction) => {
      const person = await made(action.customer);
      const { status, body } = await stage.api.call('POST', '/test/simulate-deposit', stage.keys[person.merchant].test, {
        ...{ customer_id: person.id, currency: action.currency, amount: action.amount, transaction_hash: action.hash },
        ...{ outcome: action.outcome, events: action.events },
      });
      if (status !== 201 && status !== 200) throw new Error(`a simulation was answered ${status}: ${JSON.stringify(body)}`);
      done.simulated.push({ action, depositId: String(body['id']) });
      note(`simulated ${action.outcome} ${action.hash}`);
    },
    reorg: async (action: ReorgAction) => {
      const raws = await stage.payer.reorg(action.depth, action.fate === 'move');
      note(`reorg ${action.depth} ${action.fate}, ${raws.length} transactions`);
      if (action.fate !== 'resend') return;
      await sleep(action.resendAfterMs);
      for (const raw of raws) {
        // Its sender may have used the number for another transaction meanwhile.
        const sent = await stage.payer.sendRaw(raw).catch(() => undefined);
        note(sent ? `sent again ${sent}` : 'a replaced transaction cannot be sent again');
        if (sent) count('transaction sent again');
      }
    },
    rpc: async (action: RpcAction) => {
      const chosen = action.endpoints.flatMap((index) => stage.proxies[index] ?? []);
      const fault = rpcFault(action.fault, stage.anvil.url);
      for (const proxy of chosen) proxy.fault = fault;
      note(`endpoint ${action.endpoints.join(' and ')}: ${action.fault} for ${action.forMs} ms`);
      await sleep(action.forMs);
      for (const proxy of chosen) if (proxy.fault === fault) proxy.fault = undefined;
    },
    kill: async (action: KillAction) => {
      const server = stage.servers.get(action.victim);
      const turn = (victims.get(action.victim) ?? Promise.resolve()).then(async () => {
        note(`SIGKILL ${action.victim}`);
        await server?.kill();
        await sleep(action.downMs);
        await server?.start();
        note(`${action.victim} runs again`);
      });
      victims.set(
        action.victim,
        turn.catch(() => undefined),
      );
      await turn;
    },
  };

  async function perform(action: Planned): Promise<void> {
    const name = action.kind === 'pay' ? `pay ${action.shape}` : action.kind === 'kill' ? `kill ${action.victim}` : kindOf(action);
    try {
      await (act[action.kind] as (given: Planned) => Promise<void>)(action);
      count(name);
    } catch (error) {
      count(`${name} (refused)`);
      const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      note(text);
      // A transaction that the node does not take (a number used twice across a reorg) is no affair of the gateway.
      if (action.kind !== 'pay') done.problems.push(text);
    }
  }
  return { perform };
}

function kindOf(action: Planned): string {
  if (action.kind === 'rpc') return `rpc ${action.fault}`;
  if (action.kind === 'reorg') return `reorg ${action.fate}`;
  return action.kind;
}

/** A wallet whose address is also somebody else's deposit address. */
function ownWallet(stage: Stage, payee: Customer | undefined) {
  const owned = new Set(stage.customers.filter((person) => person.number !== payee?.number).map((person) => person.addresses.bsc));
  const wallet = stage.ownWallets.find((candidate) => owned.has(candidate.address.toLowerCase()));
  if (!wallet) throw new Error('no development account is a deposit address');
  return wallet;
}

/** Creates a customer through outages. A repetition after a lost answer finds the customer that the first request made. */
async function createCustomer(stage: Stage, action: CustomerAction): Promise<Customer> {
  const key = stage.keys[action.merchant][action.mode];
  let { status, body } = await stage.api.call('POST', '/customers', key, { external_id: action.externalId });
  if (status === 409) {
    const found = await stage.api.call('GET', `/customers?external_id=${action.externalId}`, key);
    status = (found.body['data'] as unknown[]).length === 1 ? 201 : 409;
    body = (found.body['data'] as (typeof body)[])[0] ?? body;
  }
  if (status !== 201) throw new Error(`POST /customers was answered ${status}: ${JSON.stringify(body)}`);
  const addressOf = (network: string) =>
    (body['addresses'] as { network: string; address: string }[]).find((entry) => entry.network === network)?.address ?? '';
  const { number, merchant, mode, externalId } = action;
  const addresses = { bsc: addressOf('bsc').toLowerCase(), tron: addressOf('tron') };
  return { number, merchant, mode, externalId, id: String(body['id']), addresses };
}
