import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { type GasLevel, isLow, readGasLevels } from '../../services/payouts/gas.ts';
import { hasTable } from './tables.ts';

/** For each wallet that pays for gas, what a worker saw there last and for how many payouts it is enough. */
export async function checkGas(em: Em): Promise<Finding[]> {
  if (!(await hasTable(em, 'gas_levels'))) return [];
  return (await readGasLevels(em)).map(checkLevel);
}

function checkLevel(level: GasLevel): Finding {
  const { network, address, currency, amount, at, payoutsLeft } = level;
  const name = `gas_${network}`;
  if (amount === null || at === null)
    return good(name, `no worker has looked yet at what ${address} holds; it does so every few minutes`);
  const seen = `${address} held ${amount} ${currency} at ${at.toISOString().slice(0, 19)}Z`;
  const left =
    payoutsLeft === null
      ? 'what a payout takes is known after the first one'
      : `enough for ${payoutsLeft} payouts of tokens at what the last ones took`;
  if (!isLow(level)) return good(name, `${seen}: ${left}`);
  return bad(name, `${seen}: ${left}`, `Send ${currency} to ${address} before payouts wait for it`);
}
