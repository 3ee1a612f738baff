import { type Deposit, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { TxDeps } from '../deps.ts';

/**
 * Whether a deposit is completed and will be paid out, as far as is known: it is live money, payouts are made
 * on its network, and its merchant has said where to. Whatever becomes of it, its payout's end is told.
 */
export async function isPayoutForeseen(
  { settings }: Pick<TxDeps, 'settings'>,
  em: Em,
  { status, mode, simulated, merchantId, network }: Deposit,
): Promise<boolean> {
  if (status !== 'completed' || mode !== 'live' || simulated) return false;
  if (!settings.payouts.networks.includes(network)) return false;
  return (await em.count(WithdrawAddress, { merchantId, network, address: { $ne: null } })) > 0;
}
