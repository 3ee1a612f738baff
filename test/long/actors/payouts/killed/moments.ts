// The seven moments of a payout at which worker or signer is killed, one after the other, on every chain.
import { expect } from 'chai';
import { eventually } from '../../../../../dev/support/eventually.ts';
import type { Network } from '../../../../../src/domain/assets.ts';
import type { GateName } from '../../../../actors/dramas/killed/gates.ts';
import { everythingSettled, onlyInTheJournal } from '../../../../actors/dramas/killed/paid-once.ts';
import type { KillingStage } from '../../../../actors/dramas/killed/stage.ts';
import type { GatewayChild } from '../../../../support/gateway-child.ts';

export const MOMENTS = [
  'before the ask',
  'after the ask',
  'after the journal',
  'after the row',
  'after the broadcast',
  'after the block',
  'before settling',
] as const;
export type Moment = (typeof MOMENTS)[number];

/** How often something died at a moment of a transaction on a chain; each entry is `moment network`. */
export type Died = Map<string, number>;
/** The processes that live at present. */
export type Living = { worker: GatewayChild; signer: GatewayChild };
export type Round = {
  /** Decides how long after a moment the process is killed. */
  readonly random: () => number;
  readonly died: Died;
};

const DIES_WITHIN_MS = 400;
const REACHED_WITHIN_MS = 60_000;

/**
 * Kills worker or signer at each moment of what waits to be paid out, when on every chain a transaction is
 * there; others may be at any other moment. Payouts are paused before, and everything is settled after it.
 */
export async function killAtEachMoment(the: KillingStage, living: Living, round: Round): Promise<void> {
  const at = await atMoments(the, living, round);
  await killAtTheAsk(the, at);
  await killAtTheSignature(the, at);
  await killOnTheChain(the, at);
  await killBeforeTheEnd(the, at);
  await everythingSettled(the);
}

type At = Awaited<ReturnType<typeof atMoments>>;

async function atMoments(the: KillingStage, living: Living, { random, died }: Round) {
  const networks = the.chains.map(({ network }) => network);
  const known = new Set((await the.rows('select id from sent_transactions')).map(({ id }) => id));
  const statesOn = async (wanted: Network): Promise<string[]> => {
    const all = await the.rows('select id, network, state from sent_transactions');
    return all
      .filter(({ id, network }) => network === wanted && !known.has(id))
      .map(({ state }) => String(state));
  };
  return {
    networks,
    living,
    gates: gatesOf(the),
    /** The states of this round's transactions on a chain. */
    statesOn,
    eachChainHas: (state: string) =>
      eventually(
        `a transaction that is ${state} on every chain`,
        async () => (await Promise.all(networks.map(statesOn))).every((states) => states.includes(state)),
        REACHED_WITHIN_MS,
      ),
    /** It dies a little later than everything is there; where it was is counted on every chain. */
    async dies(who: keyof Living, moment: Moment, where: readonly Network[] = networks): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, random() * DIES_WITHIN_MS));
      await the.kill(living[who]);
      for (const network of where) count(died, `${moment} ${network}`);
    },
    async startWorker(): Promise<void> {
      living.worker = await the.startWorker();
      await the.replaceActors('with the watchers');
    },
    async startSigner(): Promise<void> {
      living.signer = await the.startSigner();
    },
  };
}

async function killAtTheAsk(the: KillingStage, at: At): Promise<void> {
  const { networks, gates, statesOn } = at;
  await gates.close('asked', networks);
  await the.setPaused(false);
  await gates.reached('asked', networks);
  await at.dies('worker', 'before the ask');
  await gates.left('asked', networks);
  for (const network of networks) expect(await statesOn(network), 'before the ask').to.deep.equal([]);
  await gates.open('asked', networks);

  await the.kill(at.living.signer);
  await at.startWorker();
  await at.eachChainHas('asked');
  await at.dies('worker', 'after the ask');
  for (const network of networks)
    expect(new Set(await statesOn(network)), 'after the ask').to.deep.equal(new Set(['asked']));
}

async function killAtTheSignature(the: KillingStage, at: At): Promise<void> {
  const { networks, gates, statesOn } = at;
  // The signer takes one row after the other, so each chain has a kill of its own.
  for (const network of networks) {
    await gates.close('signed', [network]);
    await at.startSigner();
    await gates.reached('signed', [network]);
    await at.dies('signer', 'after the journal', [network]);
    await gates.left('signed', [network]);
    expect(new Set(await statesOn(network)), 'after the journal').to.deep.equal(new Set(['asked']));
    expect(await onlyInTheJournal(the, network), 'in the journal, and in no row').to.have.length(1);
    await gates.open('signed', [network]);
  }
  await at.startSigner();
  await at.eachChainHas('signed');
  await at.dies('signer', 'after the row');
  for (const network of networks) expect(await statesOn(network), 'after the row').to.include('signed');
}

async function killOnTheChain({ chains, clock }: KillingStage, at: At): Promise<void> {
  const { networks, statesOn } = at;
  clock.pause();
  const lost = chains.map((chain) => chain.lost());
  for (const chain of chains) chain.losesAnswers(true);
  await at.startWorker();
  await eventually(
    'a broadcast on every chain',
    () => chains.every((chain, index) => chain.lost() > (lost[index] ?? 0)),
    REACHED_WITHIN_MS,
  );
  await at.dies('worker', 'after the broadcast');
  for (const chain of chains) chain.losesAnswers(false);
  for (const network of networks)
    expect(await statesOn(network), 'after the broadcast')
      .to.include('sent')
      .and.not.include('mined');

  await clock.mine();
  await at.startWorker();
  await at.eachChainHas('mined');
  await at.dies('worker', 'after the block');
  for (const network of networks) expect(await statesOn(network), 'after the block').to.include('mined');
}

async function killBeforeTheEnd(the: KillingStage, at: At): Promise<void> {
  const { networks, gates } = at;
  const settled = (): Promise<unknown[]> => the.rows("select 1 from payouts where state = 'settled'");
  const before = await settled();
  await gates.close('settled', networks);
  the.clock.resume();
  await Promise.all([at.startSigner(), at.startWorker()]);
  await gates.reached('settled', networks);
  await at.dies('worker', 'before settling');
  await gates.left('settled', networks);
  expect(await settled(), 'before settling').to.have.length(before.length);
  await gates.open('settled', networks);
  await at.startWorker();
}

/** The gates of more than one chain at once. */
function gatesOf({ gates }: KillingStage) {
  const each =
    (work: (name: GateName, network: Network) => Promise<void>) =>
    async (name: GateName, networks: readonly Network[]): Promise<void> => {
      await Promise.all(networks.map((network) => work(name, network)));
    };
  return {
    close: each(gates.close),
    open: each(gates.open),
    reached: each(gates.reached),
    left: each(gates.left),
  };
}

const count = (died: Died, what: string): void => void died.set(what, (died.get(what) ?? 0) + 1);
