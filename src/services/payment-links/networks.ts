import { chainOf } from '../../chains/index.ts';
import { type Mode, NETWORKS, type Network } from '../../domain/assets.ts';
import type { ServiceSettings } from '../deps.ts';
import { Refusal } from '../refusal.ts';

/**
 * The networks on which a payer may be asked to pay now: in live mode those that this installation
 * reads, in test mode, where no chain is asked, all of them. `only`: the one that a link is narrowed to.
 */
export function payableNetworks(settings: ServiceSettings, mode: Mode, only: Network | null): Network[] {
  const watched = mode === 'test' ? NETWORKS : settings.payments.watchedNetworks;
  return NETWORKS.filter((network) => watched.includes(network) && (only === null || only === network));
}

/** Throws an INVALID {@link Refusal} for a network on which nobody would see the money. */
export function refuseUnwatched(settings: ServiceSettings, mode: Mode, network: Network | null): void {
  if (network === null || payableNetworks(settings, mode, network).length > 0) return;
  throw new Refusal(
    'INVALID',
    `network ${network} is not watched by this gateway, so a payment there would not be seen. The operator has to set ${chainOf(network).watchedBy} first.`,
    'network',
  );
}
