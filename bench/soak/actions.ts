import { setTimeout as sleep } from 'node:timers/promises';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { chainOf } from '../../src/chains/index.ts';
import { NATIVE_CURRENCY, type Network } from '../../src/domain/assets.ts';
import type { Json } from './api.ts';
import type { Customer } from './judge/records.ts';
import { addressAs } from './judge/truth.ts';
import { unitsOf } from './plan/amounts.ts';
import { type Action, type ActionOf, nameOf, OWN_WALLET } from './plan/plan.ts';
import { count, customerOf, inTurn, note, type Play, placeOf, until } from './play.ts';
import { chainOn } from './stage.ts';
import { freeze, give, kill, redirect, refill, tellLies, troubleEndpoints, unpay } from './troubles.ts';

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
/**
 * Tries to have a payment recorded and then replaced; the watcher may be down just then, and finality passes
 * in seconds. After some of them the chain waits for the watcher, which may be behind for minutes.
 */
const [REBORN_TRIES, CHAIN_WAITS_AFTER_TRIES] = [8, 3];
/** On a busy machine one takes longer than the next one waits to begin; the queue would outlast the run. */
const MAX_QUEUED = 3;
const SEEN_WITHIN_MS = 20_000;
const WITHDRAWN_WITHIN_MS = 90_000;

/** What a node does not take (a number used twice across a reorg) is no affair of the gateway. */
const AFFAIRS_OF_THE_CHAIN: ReadonlySet<Action['kind']> = new Set(['pay', 'reborn', 'refill', 'unpay']);

/**
 * Carries out one action. Never throws: what goes wrong is
 * noted, and counts as a problem where the gateway is to blame.
 */
export async function performAction(play: Play, action: Action): Promise<void> {
  const name = nameOf(action);
  try {
    await carryOut(play, action);
    count(play, name);
  } catch (error) {
    count(play, `${name} (refused)`);
    const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    note(play, text);
    if (!AFFAIRS_OF_THE_CHAIN.has(action.kind)) play.done.problems.push(text);
  }
}

function carryOut(play: Play, action: Action): Promise<void> {
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
    case 'rpc':
      return troubleEndpoints(play, action);
    case 'lie':
      return tellLies(play, action);
    case 'kill':
      return kill(play, action);
    case 'freeze':
      return freeze(play, action);
  }
}

/**
 * Creates a customer through outages. A repetition after a
 * lost answer finds the customer that the first request made.
 */
async function makeCustomer(play: Play, action: ActionOf<'customer'>): Promise<void> {
  const { number, merchant, mode, externalId } = action;
  const { api, keys, customers } = play.stage;
  const key = keys[merchant][mode];
  let { status, body } = await api.call('POST', '/customers', key, { external_id: externalId });
  if (status === 409) {
    const found = await api.call('GET', `/customers?external_id=${externalId}`, key);
    const [row] = found.body['data'] as Json[];
    if (row) ({ status, body } = { status: 201, body: row });
  }
  if (status !== 201) throw new Error(`POST /customers was answered ${status}: ${JSON.stringify(body)}`);
  const addressOf = (network: Network) => {
    const list = body['addresses'] as { network: string; address: string }[];
    return addressAs(network, list.find((entry) => entry.network === network)?.address ?? '');
  };
  const addresses = { bsc: addressOf('bsc'), tron: addressOf('tron') };
  const customer: Customer = { number, merchant, mode, externalId, id: String(body['id']), addresses };
  customers.push(customer);
  placeOf(play, number).resolve(customer);
  note(play, `customer ${number} ${customer.id} ${addresses.bsc} ${addresses.tron}`);
}

async function addressesOf(play: Play, { customers, network }: ActionOf<'pay'>): Promise<string[]> {
  const people = await Promise.all(customers.map((number) => customerOf(play, number)));
  return people.map((person) => person.addresses[network]);
}

async function pay(play: Play, action: ActionOf<'pay'>): Promise<void> {
  const { network, shape, amounts } = action;
  const addresses = await addressesOf(play, action);
  const own = shape.endsWith('from_own_wallet') ? await fundedWallet(play, action) : undefined;
  const hash = await chainOn(play.stage, network).pay(action, addresses, own);
  if (own !== undefined) play.done.spent.push(hash);
  note(play, `${network} ${shape} ${hash} to ${addresses.join(' ')} ${amounts.join(' ')}`);
}

/**
 * The key of the run's own deposit address, which has something to
 * spend: a reorg may have taken what it was given first.
 */
async function fundedWallet(play: Play, { network }: ActionOf<'pay'>): Promise<string> {
  const { address, key } = await ownWallet(play, network);
  const chain = chainOn(play.stage, network);
  const needs = WALLET_NEEDS[network];
  const coins = unitsOf(network, NATIVE_CURRENCY[network], needs.coins);
  const tokens = unitsOf(network, 'USDT', needs.usdt);
  for (let tries = 0; tries < FUND_TRIES; tries++) {
    const { usdtUnits, coinUnits } = await chain.held(address);
    if (coinUnits >= coins && usdtUnits >= tokens) return key;
    if (coinUnits < coins) await give(chain, address, 'coin', GIVEN_TIMES * coins);
    if (usdtUnits < tokens) await give(chain, address, 'usdt', GIVEN_TIMES * tokens);
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

async function simulate(play: Play, action: ActionOf<'simulate'>): Promise<void> {
  const { stage, done } = play;
  const { network, currency, amount, hash, outcome, events } = action;
  const { id, merchant } = await customerOf(play, action.customer);
  const asked = { customer_id: id, network, currency, amount, transaction_hash: hash, outcome, events };
  const answer = await stage.api.call('POST', '/test/simulate-deposit', stage.keys[merchant].test, asked);
  if (answer.status !== 201 && answer.status !== 200)
    throw new Error(`a simulation was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  done.simulated.push({ action, depositId: String(answer.body['id']) });
  note(play, `simulated ${network} ${outcome} ${hash}`);
}

async function reorg(play: Play, action: ActionOf<'reorg'>): Promise<void> {
  const { network, depth, fate } = action;
  const chain = chainOn(play.stage, network);
  const held = await chain.reorg(depth, fate === 'move');
  note(play, `${network} reorg ${depth} ${fate}, ${held.length} transactions`);
  if (fate !== 'resend') return;
  await sleep(action.resendAfterMs);
  for (const hash of held) {
    // Its sender may have used the number for another transaction meanwhile.
    const taken = await chain.sendAgain(hash).then(
      () => true,
      () => false,
    );
    note(play, taken ? `sent again ${hash}` : 'a replaced transaction cannot be sent again');
    if (taken) count(play, `${network} transaction sent again`);
  }
}

/**
 * Pays, waits until the gateway has recorded it, replaces its block by one without
 * it, waits until the gateway has withdrawn the deposit, and sends the same
 * transaction again: its deposit has to begin a second generation. What the gateway
 * has recorded is looked up only to find the moment; the judge does not rely on it.
 */
async function beReborn(play: Play, payment: ActionOf<'pay'>): Promise<void> {
  const { network, shape } = payment;
  if ((play.turns.get(`reborn ${network}`)?.queued ?? 0) >= MAX_QUEUED) {
    count(play, `${network} not withdrawn: those before it took too long`);
    return;
  }
  await inTurn(play, `reborn ${network}`, async () => {
    const addresses = await addressesOf(play, payment);
    const chain = chainOn(play.stage, network);
    for (let tries = 1; tries <= REBORN_TRIES; tries++) {
      const hash = await chain.pay(payment, addresses);
      note(play, `to be mined twice: ${network} ${shape} ${hash}`);
      const recorded = () =>
        until(SEEN_WITHIN_MS, async () => (await statesOf(play, network, hash)).length > 0);
      const now = tries > CHAIN_WAITS_AFTER_TRIES || (await recorded());
      if (!now || !(await chain.drop(hash, recorded))) continue;
      const failed = await until(WITHDRAWN_WITHIN_MS, async () => {
        const states = await statesOf(play, network, hash);
        return states.length > 0 && states.every((state) => state === 'failed');
      });
      note(play, `${hash} ${failed ? 'was withdrawn' : 'was NOT withdrawn in time'}; sent again`);
      await chain.sendAgain(hash);
      if (failed) count(play, `${network} withdrawn and mined again`);
      return;
    }
    throw new Error('no payment was recorded in time to be replaced');
  });
}

async function statesOf({ stage }: Play, network: Network, hash: string): Promise<string[]> {
  const text = 'select status from deposits where network = ? and transaction_hash = ?';
  const rows = await stage.sql<{ status: string }>(text, [network, hash]).catch(() => []);
  return rows.map((row) => row.status);
}
