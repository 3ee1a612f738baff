import { setTimeout as sleep } from 'node:timers/promises';
import { NATIVE_CURRENCY, type Network } from '../../src/domain/assets.ts';
import type { SoakChain } from './chain.ts';
import { unitsOf } from './plan/amounts.ts';
import { PLANNED } from './plan/networks.ts';

/** In coins: enough for the first payouts of tokens alone, and for all of them. */
const GAS: Readonly<Record<Network, { readonly first: string; readonly plenty: string }>> = {
  bsc: { first: '0.0004', plenty: '1' },
  tron: { first: '7', plenty: '100000' },
};
const FUND_TRIES = 20;
const FUND_WAIT_MS = 3_000;
/** The chains of a run, and the wallets that pay for gas on them. */
export type GasPlace = {
  readonly chains: readonly SoakChain[];
  readonly gas: Readonly<Record<Network, string>>;
};

/** Pays coins to the wallet that pays for gas on a chain; they are in no block yet. */
export async function giveGas(
  { gas }: Pick<GasPlace, 'gas'>,
  chain: SoakChain,
  much: 'first' | 'plenty',
): Promise<void> {
  const { network } = chain;
  const coin = NATIVE_CURRENCY[network];
  const amounts = [String(unitsOf(network, coin, GAS[network][much]))];
  const common = { kind: 'pay', network, sender: 0, customers: [], transactionType: 2 } as const;
  await chain.pay({ ...common, shape: coin.toLowerCase(), amounts }, [gas[network]]);
}

const paying = ({ chains }: GasPlace): SoakChain[] =>
  chains.filter(({ network }) => PLANNED.some((one) => one.network === network && one.paysOut));

/** Gives each wallet that pays for gas coins for a few payouts, before anything is paid. */
export async function fundFirst(stage: GasPlace): Promise<void> {
  for (const chain of paying(stage)) {
    await giveGas(stage, chain, 'first');
    await chain.mine();
  }
}

/** At the end of the troubles: every wallet for gas has what it takes. Throws where no block takes it. */
export async function fundInTheEnd(stage: GasPlace): Promise<void> {
  for (const chain of paying(stage)) {
    const { network } = chain;
    const enough = unitsOf(network, NATIVE_CURRENCY[network], GAS[network].plenty) / 2n;
    for (let tries = 1; (await chain.holdings(stage.gas[network])).coinUnits < enough; tries += 1) {
      if (tries > FUND_TRIES) throw new Error(`no block of ${network} takes the coins for gas`);
      if (tries === 1 || (await chain.pending()) === 0) await giveGas(stage, chain, 'plenty');
      await sleep(FUND_WAIT_MS);
    }
  }
}
