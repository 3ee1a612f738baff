// Bandwidth and energy: what accounts have, what they used, and what they lend each other.
import type { Account } from '../execution/accounts.ts';
import { netUsedAt } from '../execution/charges.ts';
import { energyLimitOf, energyUsedAt, keptOf, lendableAt, lentOf } from '../execution/energy.ts';
import { PRICES } from '../execution/prices.ts';
import { address, present } from '../shapes.ts';
import { type Asked, accountIn, type Handler, showsWaiting, topOf } from './handler.ts';
import { isVisible, keyIn, numberIn } from './requests.ts';

const ENERGY = 1;
const SUN_PER_TRX = 1_000_000n;

/** The time of the view's newest block. */
function nowOf(asked: Asked): number {
  const { chain } = asked;
  const shown = showsWaiting(asked) ? undefined : chain.blocks.at(topOf(asked));
  return shown?.header.timestampMs || chain.headMs;
}

/** What an account shows of its energy. */
export function energyMembers(asked: Asked, account: Account): object {
  return present({
    energy_usage: energyUsedAt(account, nowOf(asked)),
    latest_consume_time_for_energy: account.energyMs,
    delegated_frozenV2_balance_for_energy: lentOf(account),
    acquired_delegated_frozenV2_balance_for_energy: account.borrowed,
  });
}

const getResources: Handler = (asked) => {
  const account = accountIn(asked);
  if (!account) return {};
  const { chain } = asked;
  const { limit, weight } = chain.energy;
  return {
    ...present({ freeNetUsed: netUsedAt(account, nowOf(asked)) }),
    freeNetLimit: PRICES.freeNet,
    TotalNetLimit: 43_200_000_000,
    ...present({
      tronPowerLimit: (keptOf(chain, account) + lentOf(account)) / SUN_PER_TRX,
      EnergyUsed: energyUsedAt(account, nowOf(asked)),
      EnergyLimit: energyLimitOf(chain, account),
      TotalEnergyLimit: limit,
      TotalEnergyWeight: weight,
    }),
  };
};

/** Nobody has a stake for bandwidth. */
const getLendable: Handler = (asked) => {
  const account = accountIn(asked, 'owner_address');
  const isEnergy = numberIn(asked.body, 'type') === ENERGY;
  return account && isEnergy ? present({ max_size: lendableAt(asked.chain, account, nowOf(asked)) }) : {};
};

/** First what may be taken back, then what is locked, though its time be over, until either moves again. */
const getLent: Handler = (asked) => {
  const owner = accountIn(asked, 'fromAddress');
  const to = keyIn(asked.body, 'toAddress');
  const loan = to && owner?.loans?.[to];
  if (!loan) return {};
  const visible = isVisible(asked.body);
  const parties = { from: address(owner.key, visible), to: address(to, visible) };
  const { free, locked, lockedUntilMs } = loan;
  const shown = [
    { frozen_balance_for_energy: free },
    { frozen_balance_for_energy: locked, expire_time_for_energy: lockedUntilMs },
  ].filter(({ frozen_balance_for_energy: sun }) => sun > 0n);
  return { delegatedResource: shown.map((one) => ({ ...parties, ...one })) };
};

/** Answers about resources, by the last part of their path. */
export const RESOURCE_HANDLERS: Readonly<Record<string, Handler>> = {
  getaccountresource: getResources,
  getcandelegatedmaxsize: getLendable,
  getdelegatedresourcev2: getLent,
};
