import { Gauge, type Registry } from 'prom-client';

/** Payouts, the signer and what pays for gas, from rows. */
export function payoutMetrics(registers: Registry[]) {
  return {
    payoutsWaiting: new Gauge({
      name: 'gateway_payouts_waiting',
      help: 'Addresses at which completed deposits wait to be paid out, by reason, counted up to 10000',
      labelNames: ['network', 'code'] as const,
      registers,
    }),
    /** Whole coins, as near as a floating-point number comes. Absent until a worker has looked. */
    gasBalance: new Gauge({
      name: 'gateway_gas_wallet_balance',
      help: 'What the wallet that pays for gas held when a worker looked last, in whole coins',
      labelNames: ['network'] as const,
      registers,
    }),
    /** Absent before the first payout of a token, and on chains where no merchant is paid out. */
    gasPayoutsLeft: new Gauge({
      name: 'gateway_gas_wallet_payouts_left',
      help: 'For how many payouts of tokens the gas wallet is enough, at what the last ones took',
      labelNames: ['network'] as const,
      registers,
    }),
    /** Absent where nothing was settled in the last day, or the coin has no price. */
    settledCost: new Gauge({
      name: 'gateway_settled_deposit_cost_usd',
      help: 'What a settled deposit cost on average in US dollars, over the newest payouts of the last day',
      labelNames: ['network'] as const,
      registers,
    }),
    signerSeen: new Gauge({
      name: 'gateway_signer_seen_timestamp_seconds',
      help: 'When a signer last looked for work, as Unix time',
      registers,
    }),
    signerSigned: new Gauge({
      name: 'gateway_signer_signed_timestamp_seconds',
      help: 'When a signer last signed, as Unix time',
      registers,
    }),
    signerSealed: new Gauge({
      name: 'gateway_signer_sealed',
      help: '1 while the signer signs nothing for a reason of its own, which "doctor" tells',
      registers,
    }),
  };
}
