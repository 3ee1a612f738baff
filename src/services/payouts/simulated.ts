import { chainOf } from '../../chains/index.ts';
import { type Deposit, Payout, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf } from '../../domain/assets.ts';
import { settledParts } from '../../domain/settlement.ts';
import type { TxDeps } from '../deps.ts';

/**
 * Gives a simulated deposit, which is about to be settled, a payout of its own: the same row as live money
 * has, without a chain. It costs a fixed fee; a coin that is worth less than the fee pays none.
 */
export async function simulatePayout(
  em: Em,
  deps: TxDeps,
  deposit: Deposit,
  transactionHash: string,
): Promise<void> {
  const { merchantId, mode, network, currency, contractAddress = null, address, addressKey } = deposit;
  const wanted = await em.findOne(WithdrawAddress, { merchantId, network });
  const paysOwnFee = assetOf(network, currency).kind === 'native';
  const { amountUnits: grossUnits } = deposit;
  const { simulatedPayout } = chainOf(network);
  const feeUnits = paysOwnFee && grossUnits <= simulatedPayout.feeUnits ? 0n : simulatedPayout.feeUnits;
  const netUnits = paysOwnFee ? grossUnits - feeUnits : grossUnits;
  const now = deps.now();
  const payout = em.create(
    Payout,
    {
      id: deps.newId(),
      merchantId,
      mode,
      network,
      currency,
      contractAddress,
      address,
      addressKey,
      simulated: true,
      destination: wanted?.address ?? simulatedPayout.destination,
      grossUnits,
      netUnits,
      feeUnits,
      transactionHash,
      state: 'settled',
      stateSince: now,
      settledAt: now,
      createdAt: now,
      updatedAt: now,
    },
    { partial: true },
  );
  // The payout is written before its deposit: the database asks it whether the deposit may be settled.
  await em.flush();
  const [part] = settledParts({ amounts: [grossUnits], netUnits, feeUnits, paysOwnFee });
  Object.assign(deposit, {
    payoutId: payout.id,
    settledUnits: part?.settledUnits ?? null,
    settlementFeeUnits: part?.feeUnits ?? null,
  });
}
