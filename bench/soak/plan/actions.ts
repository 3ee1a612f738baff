import { setTimeout as sleep } from 'node:timers/promises';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { chainOf } from '../../../src/chains/index.ts';
import { NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import { addressAs } from '../oracle/truth.ts';
import { redirect, refill, unpay } from '../payouts.ts';
import { count, customerOf, note, type Play, placeOf } from '../play.ts';
import { beReborn } from '../reborn.ts';
import { type Customer, chainOn } from '../stage.ts';
import { befall } from '../troubles.ts';
import { unitsOf } from './amounts.ts';
import {
  type CustomerAction,
  OWN_WALLET,
  type PayAction,
  type Planned,
  type ReorgAction,
  type SimulateAction,
} from './plan.ts';

/** Enough for one payment of the smallest deposit in either asset, and its fee, in coins. */
const WALLET_NEEDS: Readonly<Record<Network, { readonly coins: string; readonly usdt: string }>> = {
  bsc: { coins: '2', usdt: '2' },
  // A transfer of the token burns tens of TRX.
  tron: { coins: '200', usdt: '2' },
};
const GIVEN_TIMES = 100n;
const FUND_TRIES = 5;
const FUND_WAIT_MS = 5_000;
/**
 * Indexes among which the first customer's is: a sequence
 * does not go back, so creations that failed used some up.
 */
const MORE_INDEXES = 50;

const AFFAIRS_OF_THE_CHAIN: ReadonlySet<Planned['kind']> = new Set(['pay', 'reborn', 'refill', 'unpay']);

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
    if (!AFFAIRS_OF_THE_CHAIN.has(action.kind)) play.done.problems.push(text);
  }
}

function detailOf(action: Extract<Planned, { network: Network }>): string {
  switch (action.kind) {
    case 'pay':
      return action.shape;
    case 'lie':
      return action.lie;
    case 'reborn':
      return action.payment.shape;
    case 'rpc':
      return action.fault;
    case 'reorg':
      return action.fate;
    case 'simulate':
    case 'refill':
    case 'unpay':
      return '';
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
    case 'refill':
      return refill(play, action.network);
    case 'redirect':
      return redirect(play, action.merchant);
    case 'unpay':
      return unpay(play, action.network);
    default:
      return befall(play, action);
  }
}

function nameOf(action: Planned): string {
  if (action.kind === 'kill' || action.kind === 'freeze') return `${action.kind} ${action.victim}`;
  if (action.kind === 'customer' || action.kind === 'redirect') return action.kind;
  return `${action.network} ${action.kind} ${detailOf(action)}`.trim();
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
  const addressOf = (network: Network) => {
    const list = body['addresses'] as { network: string; address: string }[];
    return addressAs(network, list.find((entry) => entry.network === network)?.address ?? '');
  };
  const { number, merchant, mode, externalId } = action;
  const addresses = { bsc: addressOf('bsc'), tron: addressOf('tron') };
  const customer: Customer = { number, merchant, mode, externalId, id: String(body['id']), addresses };
  stage.customers.push(customer);
  placeOf(play, number).resolve(customer);
  note(play, `customer ${number} ${customer.id} ${addresses.bsc} ${addresses.tron}`);
}

async function pay(play: Play, action: PayAction): Promise<void> {
  const people = await Promise.all(action.customers.map((number) => customerOf(play, number)));
  const own = action.shape.endsWith('from_own_wallet') ? await fundedWallet(play, action) : undefined;
  const addresses = people.map((person) => person.addresses[action.network]);
  const hash = await chainOn(play.stage, action.network).pay(action, addresses, own);
  if (own !== undefined) play.done.spent.push(hash);
  note(
    play,
    `${action.network} ${action.shape} ${hash} to ${addresses.join(' ')} ${action.amounts.join(' ')}`,
  );
}

/**
 * The key of the run's own deposit address, which has something to
 * spend: a reorg may have taken what it was given first.
 */
async function fundedWallet(play: Play, { network, sender }: PayAction): Promise<string> {
  const { address, key } = await ownWallet(play, network);
  const chain = chainOn(play.stage, network);
  const coin = NATIVE_CURRENCY[network];
  const needs = WALLET_NEEDS[network];
  const [coins, tokens] = [unitsOf(network, coin, needs.coins), unitsOf(network, 'USDT', needs.usdt)];
  const give = async (shape: string, units: bigint) => {
    const amounts = [String(GIVEN_TIMES * units)];
    const common = { kind: 'pay', network, sender, customers: [OWN_WALLET], transactionType: 2 } as const;
    await chain.pay({ ...common, shape, amounts }, [address]);
  };
  for (let tries = 0; tries < FUND_TRIES; tries++) {
    const { usdtUnits, coinUnits } = await chain.holdings(address);
    if (coinUnits >= coins && usdtUnits >= tokens) return key;
    if (coinUnits < coins) await give(coin.toLowerCase(), coins);
    if (usdtUnits < tokens) await give('usdt', tokens);
    await sleep(FUND_WAIT_MS);
  }
  throw new Error('what the wallet was given is mined in no block');
}

/**
 * The one deposit address of a chain that the run spends from, with
 * its private key (hex without prefix): what it sends is no deposit.
 */
async function ownWallet(play: Play, network: Network): Promise<{ address: string; key: string }> {
  const address = (await customerOf(play, OWN_WALLET)).addresses[network];
  const { coinType, addresses } = chainOf(network);
  const branch = play.stage.root.derivePath(`44'/${coinType}'/0'/0`);
  for (let index = 0; index <= MORE_INDEXES; index++) {
    const child = branch.deriveChild(index);
    if (addressAs(network, addresses.format(keyOfHex(child.address, 2))) === address)
      return { address, key: child.privateKey.slice(2) };
  }
  throw new Error(`${address} is not derived from the wallet of this run`);
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
      network: action.network,
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
  note(play, `simulated ${action.network} ${action.outcome} ${action.hash}`);
}

async function reorg(play: Play, action: ReorgAction): Promise<void> {
  const { network, depth, fate } = action;
  const chain = chainOn(play.stage, network);
  const held = await chain.reorg(depth, fate === 'move');
  note(play, `${network} reorg ${depth} ${fate}, ${held.length} transactions`);
  if (fate !== 'resend') return;
  await sleep(action.resendAfterMs);
  for (const sent of held) {
    // Its sender may have used the number for another transaction meanwhile.
    const taken = await chain.sendAgain(sent).then(
      () => true,
      () => false,
    );
    note(play, taken ? `sent again ${sent.hash}` : 'a replaced transaction cannot be sent again');
    if (taken) count(play, `${network} transaction sent again`);
  }
}
