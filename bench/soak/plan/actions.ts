import { setTimeout as sleep } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { count, customerOf, note, type Play, placeOf } from '../play.ts';
import { beReborn } from '../reborn.ts';
import type { Customer } from '../stage.ts';
import { befall } from '../troubles.ts';
import {
  type CustomerAction,
  OWN_WALLET,
  type PayAction,
  type Planned,
  type ReorgAction,
  type SimulateAction,
} from './plan.ts';

/** Enough for one payment of the smallest deposit in either asset, and its fee. */
const WALLET_NEEDS_UNITS = 2n * 10n ** 18n;
const FUND_TRIES = 5;
const FUND_WAIT_MS = 5_000;
/**
 * Indexes among which the first customer's is: a sequence
 * does not go back, so creations that failed used some up.
 */
const MORE_INDEXES = 50;

/**
 * Carries out one action. Never throws: what goes wrong is
 * noted, and counts as a problem where the gateway is to blame.
 */
export async function performAction(play: Play, action: Planned): Promise<void> {
  const name = nameOf(action);
  try {
    await carryOut(play, action);
    count(play, name);
  } catch (error) {
    count(play, `${name} (refused)`);
    const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    note(play, text);
    // A transaction that the node does not take (a number
    // used twice across a reorg) is no affair of the gateway.
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

/**
 * Creates a customer through outages. A repetition after a
 * lost answer finds the customer that the first request made.
 */
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
    (body['addresses'] as { network: string; address: string }[]).find((entry) => entry.network === network)
      ?.address ?? '';
  const { number, merchant, mode, externalId } = action;
  const addresses = { bsc: addressOf('bsc').toLowerCase(), tron: addressOf('tron') };
  const customer: Customer = { number, merchant, mode, externalId, id: String(body['id']), addresses };
  stage.customers.push(customer);
  placeOf(play, number).resolve(customer);
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
    if (!usdt)
      await payer.pay({ ...give, shape: 'usdt', amounts }, [wallet.address.toLowerCase()], undefined);
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
  const { status, body } = await stage.api.call(
    'POST',
    '/test/simulate-deposit',
    stage.keys[person.merchant].test,
    {
      customer_id: person.id,
      currency: action.currency,
      amount: action.amount,
      transaction_hash: action.hash,
      outcome: action.outcome,
      events: action.events,
    },
  );
  if (status !== 201 && status !== 200)
    throw new Error(`a simulation was answered ${status}: ${JSON.stringify(body)}`);
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
