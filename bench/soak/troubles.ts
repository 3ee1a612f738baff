// What goes wrong in a run, and is set right again: endpoints and processes, and what befalls payouts.
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, signalProcess } from '../../src/base/process-table.ts';
import { NATIVE_CURRENCY, type Network } from '../../src/domain/assets.ts';
import { FINAL_DISTANCE, type SoakChain } from './chains/chain.ts';
import { unitsOf } from './plan/amounts.ts';
import type { ActionOf, MerchantName } from './plan/plan.ts';
import { count, inTurn, note, type Play, until } from './play.ts';
import { chainOn, newDestinations, type Stage } from './stage.ts';

/** In coins: enough for the first payouts of tokens alone, and for all of them. */
const GAS: Readonly<Record<Network, { readonly first: string; readonly plenty: string }>> = {
  bsc: { first: '0.0004', plenty: '1' },
  tron: { first: '7', plenty: '100000' },
};
const FUND_TRIES = 20;
const FUND_WAIT_MS = 3_000;
const REDIRECT_WITHIN_MS = 120_000;
/** A run in which no payout comes to wait for coins goes on without. */
const EMPTY_WITHIN_MS = 120_000;
const RETRY_MS = 1_000;
const UNPAID_WITHIN_MS = 45_000;
/** From then on also a payout that a slow gateway has sent, and has not seen in a block yet. */
const SEEN_WITHIN_MS = 20_000;

/** Some endpoints misbehave for a while. */
export async function troubleEndpoints(play: Play, action: ActionOf<'rpc'>): Promise<void> {
  const { network, endpoints, fault, forMs } = action;
  const lift = chainOn(play.stage, network).trouble(fault, endpoints);
  note(play, `${network} endpoint ${endpoints.join(' and ')}: ${fault} for ${forMs} ms`);
  await sleep(forMs);
  lift();
}

/** The second endpoint lies, while the tip may be replaced. */
export async function tellLies(play: Play, action: ActionOf<'lie'>): Promise<void> {
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

/** SIGKILL, and a start after a while. One action at a time does so to a process. */
export async function kill(play: Play, { victim, downMs }: ActionOf<'kill'>): Promise<void> {
  const server = play.stage.servers.find(({ name }) => name === victim);
  await inTurn(play, victim, async () => {
    note(play, `SIGKILL ${victim}`);
    await server?.kill();
    await sleep(downMs);
    await server?.start();
    note(play, `${victim} runs again`);
  });
}

/** SIGSTOP to a process and all that it started, for a while. */
export async function freeze(play: Play, { victim, forMs }: ActionOf<'freeze'>): Promise<void> {
  await inTurn(play, victim, async () => {
    const pid = play.stage.servers.find(({ name }) => name === victim)?.pid();
    note(play, `SIGSTOP ${victim}`);
    const frozen = pid === undefined ? [] : processTree(pid);
    for (const member of frozen) signalProcess(member, 'SIGSTOP');
    await sleep(forMs);
    for (const member of frozen) signalProcess(member, 'SIGCONT');
    note(play, `${victim} goes on`);
  });
}

/** Pays coins or tokens to an address; they are in no block yet. */
export async function give(
  chain: SoakChain,
  to: string,
  shape: 'coin' | 'usdt',
  units: bigint,
): Promise<void> {
  const common = { kind: 'pay', sender: 0, customers: [], transactionType: 2 } as const;
  await chain.pay({ ...common, network: chain.network, shape, amounts: [String(units)] }, [to]);
}

const gasUnits = (network: Network, much: 'first' | 'plenty'): bigint =>
  unitsOf(network, NATIVE_CURRENCY[network], GAS[network][much]);

/** Gives each wallet that pays for gas coins for a few payouts, before anything is paid. */
export async function fundFirst({ chains, gas }: Pick<Stage, 'chains' | 'gas'>): Promise<void> {
  for (const chain of chains) {
    await give(chain, gas[chain.network], 'coin', gasUnits(chain.network, 'first'));
    await chain.mine();
  }
}

/** At the end of the troubles: every wallet for gas has what it takes. Throws where no block takes it. */
export async function fundInTheEnd({ chains, gas }: Stage): Promise<void> {
  for (const chain of chains) {
    const { network } = chain;
    const plenty = gasUnits(network, 'plenty');
    for (let tries = 1; (await chain.held(gas[network])).coinUnits < plenty / 2n; tries += 1) {
      if (tries > FUND_TRIES) throw new Error(`no block of ${network} takes the coins for gas`);
      if (tries === 1 || (await chain.pending()) === 0) await give(chain, gas[network], 'coin', plenty);
      await sleep(FUND_WAIT_MS);
    }
  }
}

/**
 * Coins for everything that is still to be paid out, once a payout has been seen to wait for some, which on a
 * slow machine may be later than planned; a reorg may take them back.
 */
export async function refill(play: Play, network: Network): Promise<void> {
  const { stage } = play;
  const text = "select from settlement_waits where network = ? and code = 'waiting_for_gas' limit 1";
  await until(EMPTY_WITHIN_MS, async () => (await stage.sql(text, [network]).catch(() => [])).length > 0);
  note(play, `${network} coins for the wallet that pays for gas`);
  await give(chainOn(stage, network), stage.gas[network], 'coin', gasUnits(network, 'plenty'));
}

/** Has a merchant's withdraw addresses replaced on every chain, through outages. Throws where that fails. */
export async function redirect(play: Play, merchant: MerchantName): Promise<void> {
  const { stage } = play;
  const merchantId = stage.merchantIds[merchant];
  const { made, options } = newDestinations(stage.seed, merchant, 'second');
  const askedMs = Date.now();
  for (;;) {
    const { status, said } = await stage.operate(['merchant', 'set', merchantId, ...options]);
    if (status === 0) break;
    if (Date.now() - askedMs > REDIRECT_WITHIN_MS)
      throw new Error(`"merchant set" does not work: ${said.slice(-300)}`);
    await sleep(RETRY_MS);
  }
  const fromMs = Date.now();
  stage.destinations.push(...made.map((one) => ({ ...one, merchantId, askedMs, fromMs })));
  note(play, `merchant ${merchant} is paid out to ${made.map(({ address }) => address).join(' and ')} now`);
}

/**
 * Replaces the block of the newest payout that the gateway has seen in one, and leaves it to the gateway to
 * send it again; after a while without any, of one that it has sent. What it has recorded is looked up only
 * to find the moment.
 */
export async function unpay(play: Play, network: Network): Promise<void> {
  const { stage } = play;
  const from = Date.now();
  const chain = chainOn(stage, network);
  const dropped = await until(UNPAID_WITHIN_MS, async () => {
    const states = Date.now() < from + SEEN_WITHIN_MS ? "'mined'" : "'mined', 'sent', 'signed'";
    // A block that became final meanwhile stays.
    const text = `select hash from sent_transactions where network = ? and purpose = 'payout'
       and state in (${states}) and (block_number is null or block_number > ?)
       order by block_number desc nulls last, created_at desc limit 1`;
    const final = (await chain.head()) - FINAL_DISTANCE + 1;
    const [row] = await stage.sql<{ hash: string }>(text, [network, final]).catch(() => []);
    return row !== undefined && (await chain.drop(row.hash, async () => true).catch(() => false));
  });
  count(play, `${network} ${dropped ? 'payout taken out of its block' : 'no payout to take out of a block'}`);
}
