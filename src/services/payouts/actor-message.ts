import type { AddressKey } from '../../chains/address-key.ts';
import type { ActorMessage, SettlementActorInput, WalletActorInput } from '../../domain/actor-message.ts';
import type { Network } from '../../domain/assets.ts';
import { ROW_CHANGED, settlementWorkflowId, walletWorkflowId } from '../../domain/ids.ts';

/** One of our addresses, and whose money lies there. */
export type SettlementPlace = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly address: string;
  readonly merchantId: string;
};

/** An actor, and what makes it look at its rows or starts it. */
export type SettlementWake = readonly [workflowId: string, message: ActorMessage];

/**
 * Tells the actor that pays out an address to look; one that does not run is started. However often it is
 * told, there is one for each address.
 */
export function settlementWake(place: SettlementPlace): SettlementWake {
  const { network, addressKey, address, merchantId } = place;
  const input: SettlementActorInput = { network, addressKey };
  return [
    settlementWorkflowId(network, addressKey),
    {
      workflowType: 'settlement',
      args: [input],
      attributes: { MerchantId: merchantId, Network: network, NeedsOperator: false },
      memo: { address },
      summary: `payouts of ${address} on ${network}`,
      owner: { merchantId, mode: 'live' },
      signal: { name: ROW_CHANGED, args: [] },
    },
  ];
}

/** Tells the actor of a wallet that no block has what it sent; one that does not run is started. */
export function walletWake({
  network,
  addressKey,
  address,
}: Omit<SettlementPlace, 'merchantId'>): SettlementWake {
  const input: WalletActorInput = { network, addressKey };
  return [
    walletWorkflowId(network, addressKey),
    {
      workflowType: 'wallet',
      args: [input],
      attributes: { Network: network, NeedsOperator: false },
      memo: { address },
      summary: `what ${address} signed on ${network} and no block has`,
      signal: { name: ROW_CHANGED, args: [] },
    },
  ];
}
