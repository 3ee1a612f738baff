import { type GasLevel, isLow, readGasLevels } from '../../payouts/gas.ts';
import { type ConditionKind, shownTime } from './condition.ts';

/** For each wallet that pays for gas, what a worker saw there last and for how many payouts it is enough. */
export const gas: ConditionKind = {
  name: 'gas',
  read: async (deps) => {
    const levels = await readGasLevels(deps.orm.em.fork());
    return {
      found: levels.filter(isLow).map((level) => ({
        key: `gas:${level.network}`,
        severity: 'critical',
        check: checkOf(level),
        reason: `the gas wallet of ${level.network} runs low: ${stateOf(level)}`,
        action: `send ${level.currency} to ${level.address} before payouts wait for it; "doctor" says for how many it is enough then`,
      })),
      well: Object.fromEntries(
        levels.filter((level) => !isLow(level)).map((level) => [checkOf(level), stateOf(level)]),
      ),
    };
  },
};

const checkOf = ({ network }: GasLevel): string => `gas_${network}`;

function stateOf({ address, amount, at, currency, payoutsLeft }: GasLevel): string {
  if (amount === null || at === null)
    return `no worker has looked yet at what ${address} holds; it does so every few minutes`;
  const left =
    payoutsLeft === null
      ? 'what a payout takes is known after the first one'
      : `enough for ${payoutsLeft} payouts of tokens at what the last ones took`;
  return `${address} held ${amount} ${currency} at ${shownTime(at)}: ${left}`;
}
