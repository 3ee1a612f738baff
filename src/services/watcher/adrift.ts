import type { AddressKey } from '../../chains/address-key.ts';
import { spelledAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, sql } from '../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';

/**
 * An open deposit of the native coin whose block was replaced:
 * what it brought, as the replaced block had shown it.
 */
export type Adrift = Pick<Transfer, 'txHash' | 'to' | 'from' | 'amountUnits'> & {
  readonly currency: Currency;
};

type Row = {
  readonly transactionHash: string;
  readonly addressKey: AddressKey;
  readonly fromAddress: string | null;
  readonly units: string;
};

/** All deposits of this network that are adrift; there is hardly ever one. */
export async function adriftOn(em: Em, network: Network): Promise<readonly Adrift[]> {
  const currency = NATIVE_CURRENCY[network];
  const found = await rows(
    em,
    sql<Row>`select transaction_hash, address_key, from_address, amount_units::text as units from deposits
       where network = ${network}
       and mode = 'live' and currency = ${currency} and block_hash is null
       and status in ${literals(WAITING_STATES)}`,
  );
  return found.map(({ transactionHash, addressKey, fromAddress, units }) => ({
    txHash: transactionHash,
    to: spelledAddress(network, addressKey),
    from: fromAddress,
    currency,
    amountUnits: BigInt(units),
  }));
}

/**
 * What a block without a trace brought, when transactions of deposits that are adrift succeeded
 * in it. It shows the plain part of each only, and by its hash a transaction has the same plain
 * part in every block: what lies above that came from inside it. So the deposit is bound to
 * this block with the amount that is known, like one that a trace alone has shown: it no longer
 * fails as REORGED, and is completed only when a trace or a balance of this block proves it.
 */
export function withAdrift(block: ScannedBlock, adrift: readonly Adrift[]): readonly Transfer[] {
  const here = adrift.filter(({ txHash }) => block.untraced?.succeeded.has(txHash));
  if (here.length === 0) return block.transfers;
  const transfers = [...block.transfers];
  for (const one of here) {
    const index = transfers.findIndex(
      ({ kind, txHash, to }) => kind === 'native' && txHash === one.txHash && to === one.to,
    );
    const shown = transfers[index];
    if (shown && shown.amountUnits >= one.amountUnits) continue;
    const known: Transfer = { ...one, kind: 'native', inside: true };
    transfers.splice(index < 0 ? transfers.length : index, shown ? 1 : 0, known);
  }
  return transfers;
}
