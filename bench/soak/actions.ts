import { setTimeout as sleep } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { type CustomerAction, OWN_WALLET, type PayAction, type Planned, type ReorgAction, type SimulateAction } from './plan.ts';
import type { Victim } from './plan-troubles.ts';
import { beReborn } from './reborn.ts';
import type { Customer, Stage } from './stage.ts';
import { befall } from './troubles.ts';

/** What happened, for the report. The oracle reads of it only `problems` and what the API confirmed. */
export type Done = {
  readonly counts: Map<string, number>;
  /** Things that must not happen whatever is down: the API refusing something sound, say. */
  readonly problems: string[];
  /** Simulations that the API confirmed. */
  readonly simulated: { readonly action: SimulateAction; readonly depositId: string }[];
  readonly log: string[];
};

/** What the actions of one run share. */
export type Play = {
  readonly stage: Stage;
  readonly done: Done;
  readonly beganMs: number;
  /** Customers by the number of the plan, also those who are only being made. */
  readonly customers: Map<number, PromiseWithResolvers<Customer>>;
  /** One process is killed and started again by one action at a time, and one transaction is mined twice at a time. */
  readonly turns: Map<Victim | 'reborn', Promise<void>>;
};

const CUSTOMER_WITHIN_MS = 130_000;
/** Enough for one payment of the smallest deposit in either asset, and its fee. */
const WALLET_NEEDS_UNITS = 2n * 10n ** 18n;
const FUND_TRIES = 5;
const FUND_WAIT_MS = 5_000;
/** Indexes among which the first customer's is: a sequence does not go back, so creations that failed used some up. */
const MORE_INDEXES = 50;

/** Begins a run over a stage that stands. */
export function beginPlay(stage: Stage): Play {
  const done: Done = { counts: new Map(), problems: [], simulated: [], log: [] };
  return { stage, done, beganMs: Date.now(), customers: new Map(), turns: new Map() };
}

/** Carries out one action. Never throws: what goes wrong is noted, and counts as a problem where the gateway is to blame. */
export async function performAction(play: Play, action: Planned): Promise<void> {
  const name = nameOf(action);
  try {
    await carryOut(play, action);
    count(play, name);
  } catch (error) {
    count(play, `${name} (refused)`);
    const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    note(play, text);
    // A transaction that the node does not take (a number used twice across a reorg) is no affair of the gateway.
    if (action.kind !== 'pay' && action.kind !== 'reborn') play.done.problems.push(text);
  }
}

function carryOut(play: Play, action: Planned): Promise<void> {
  switch (action.kind) {
    case 'customer':
      return makeCustomer(play, action);
    case 'pay':
      return pay(play, action);
    case 'simulate':
      return simulate(play, action);
    case 'reorg':
      return reorg(play, action);
    case 'reborn':
      return beReborn(play, action.payment);
    default:
      return befall(play, action);
  }
}

function nameOf(action: Planned): string {
  if (action.kind === 'pay') return `pay ${action.shape}`;
  if (action.kind === 'kill' || action.kind === 'freeze') return `${action.kind} ${action.victim}`;
  if (action.kind === 'lie') return `lie ${action.lie}`;
  if (action.kind === 'reborn') return `reborn ${action.payment.shape}`;
  if (action.kind === 'rpc') return `rpc ${action.fault}`;
  if (action.kind === 'reorg') return `reorg ${action.fate}`;
  return action.kind;
}

/** One more of these in the report. */
export function count({ done }: Play, what: string): void {
  done.counts.set(what, (done.counts.get(what) ?? 0) + 1);
}

/** A line of the run's own log. */
export function note({ done, beganMs }: Play, text: string): void {
  done.log.push(`${((Date.now() - beganMs) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
}

function place({ customers }: Play, number: number): PromiseWithResolvers<Customer> {
  const known = customers.get(number) ?? Promise.withResolvers<Customer>();
  customers.set(number, known);
  return known;
}

/** A customer of the plan, waited for where the API is away just now. */
export async function customerOf(play: Play, number: number): Promise<Customer> {
  const late = sleep(CUSTOMER_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`customer ${number} was not made in time`);
  });
  return await Promise.race([place(play, number).promise, late]);
}

/** Creates a customer through outages. A repetition after a lost answer finds the customer that the first request made. */
async function makeCustomer(play: Play, action: CustomerAction): Promise<void> {
  const { stage } = play;
  const key = stage.keys[action.merchant][action.mode];
  let { status, body } = await stage.api.call('POST', '/customers', key, { external_id: action.externalId });
  if (status === 409) {
    const found = await stage.api.call('GET', `/customers?external_id=${action.externalId}`, key);
    const [row] = found.body['data'] as (typeof body)[];
    if (row) ({ status, body } = { status: 201, body: row });
  }
  if (status !== 201) throw new Error(`POST /customers was answered ${status}: ${JSON.stringify(body)}`);
  const addressOf = (network: string) =>
    (body['addresses'] as { network: string; address: string }[]).find((entry) => entry.network === network)?.address ?? '';
  const { number, merchant, mode, externalId } = action;
  const addresses = { bsc: addressOf('bsc').toLowerCase(), tron: addressOf('tron') };
  const customer: Customer = { number, merchant, mode, externalId, id: String(body['id']), addresses };
  stage.customers.push(customer);
  place(play, number).resolve(customer);
  note(play, `customer ${number} ${customer.id} ${addresses.bsc}`);
}

async function pay(play: Play, action: PayAction): Promise<void> {
  const people = await Promise.all(action.customers.map((number) => customerOf(play, number)));
  const own = action.shape.endsWith('from_own_wallet') ? await fundedWallet(play, action) : undefined;
  const addresses = people.map((person) => person.addresses.bsc);
  const hash = await play.stage.payer.pay(action, addresses, own);
  note(play, `${action.shape} ${hash} to ${addresses.join(' ')} ${action.amounts.join(' ')}`);
}

/** The run's own deposit address with something to spend: a reorg may have taken what it was given first. */
async function fundedWallet(play: Play, { sender }: PayAction): Promise<Wallet> {
  const wallet = await ownWallet(play);
  const { payer } = play.stage;
  const give = { kind: 'pay', sender, customers: [OWN_WALLET], transactionType: 2 } as const;
  for (let tries = 0; tries < FUND_TRIES; tries++) {
    const { usdtUnits, bnbUnits } = await payer.holdings(wallet.address);
    const [bnb, usdt] = [bnbUnits >= WALLET_NEEDS_UNITS, usdtUnits >= WALLET_NEEDS_UNITS];
    if (bnb && usdt) return wallet;
    const amounts = [String(100n * WALLET_NEEDS_UNITS)];
    if (!bnb) await payer.pay({ ...give, shape: 'bnb', amounts }, [wallet.address.toLowerCase()], undefined);
    if (!usdt) await payer.pay({ ...give, shape: 'usdt', amounts }, [wallet.address.toLowerCase()], undefined);
    await sleep(FUND_WAIT_MS);
  }
  throw new Error('what the wallet was given is mined in no block');
}

/** The key of the one deposit address that the run spends from: what it sends is no deposit. */
async function ownWallet(play: Play): Promise<Wallet> {
  const { stage } = play;
  const { bsc } = (await customerOf(play, OWN_WALLET)).addresses;
  const branch = stage.root.derivePath(`44'/60'/0'/0`);
  for (let index = 0; index <= MORE_INDEXES; index++) {
    const child = branch.deriveChild(index);
    if (child.address.toLowerCase() === bsc) return new Wallet(child.privateKey);
  }
  throw new Error(`${bsc} is not derived from the wallet of this run`);
}

async function simulate(play: Play, action: SimulateAction): Promise<void> {
  const { stage, done } = play;
  const person = await customerOf(play, action.customer);
  const { status, body } = await stage.api.call('POST', '/test/simulate-deposit', stage.keys[person.merchant].test, {
    ...{ customer_id: person.id, currency: action.currency, amount: action.amount, transaction_hash: action.hash },
    ...{ outcome: action.outcome, events: action.events },
  });
  if (status !== 201 && status !== 200) throw new Error(`a simulation was answered ${status}: ${JSON.stringify(body)}`);
  done.simulated.push({ action, depositId: String(body['id']) });
  note(play, `simulated ${action.outcome} ${action.hash}`);
}

async function reorg(play: Play, action: ReorgAction): Promise<void> {
  const { payer } = play.stage;
  const raws = await payer.reorg(action.depth, action.fate === 'move');
  note(play, `reorg ${action.depth} ${action.fate}, ${raws.length} transactions`);
  if (action.fate !== 'resend') return;
  await sleep(action.resendAfterMs);
  for (const raw of raws) {
    // Its sender may have used the number for another transaction meanwhile.
    const sent = await payer.sendRaw(raw).catch(() => undefined);
    note(play, sent ? `sent again ${sent}` : 'a replaced transaction cannot be sent again');
    if (sent) count(play, 'transaction sent again');
  }
}

/** Does the work when what had this turn before is over, however that ended. */
export async function inTurn(play: Play, whose: Victim | 'reborn', work: () => Promise<void>): Promise<void> {
  const turn = (play.turns.get(whose) ?? Promise.resolve()).then(work);
  play.turns.set(
    whose,
    turn.catch(() => undefined),
  );
  await turn;
}
