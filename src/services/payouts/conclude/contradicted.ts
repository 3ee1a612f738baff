// What blocks have shown that nobody has concluded yet, and that the next payout must not ignore.
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import { assetOf, type Currency, type Network } from '../../../domain/assets.ts';
import { type Wait, waits } from '../../../domain/payouts/facts.ts';
import { sentFor } from '../settle/living.ts';

const LOOK_MS = 60_000;

type Place = { readonly network: Network; readonly addressKey: AddressKey; readonly currency: Currency };

/**
 * Why nothing more is planned at an address, as far as blocks contradict rows: a payout of it is called
 * failed and was paid, or the token has moved something else than was signed, here or at another address:
 * each further payout of it would.
 */
export async function contradicted(em: Em, place: Place): Promise<Wait | undefined> {
  const { network, addressKey, currency } = place;
  const paid = await firstRow(
    em,
    sql<{ hash: string; payoutId: string }>`select s.hash, s.payout_id from sent_transactions s
      join payouts p on p.id = s.payout_id where s.network = ${network} and s.from_key = ${addressKey}
        and s.purpose = 'payout' and s.state = 'final' and s.ok and p.state = 'failed' limit 1`,
  );
  if (paid)
    return waits(
      'contradiction',
      `payout ${paid.payoutId} is called failed, and a final block shows that ${paid.hash} has paid it: nothing is paid twice; "payout conclude ${paid.payoutId} --tx ${paid.hash} --by NAME --reason TEXT" books it`,
      LOOK_MS,
    );
  if (assetOf(network, currency).kind !== 'token') return undefined;
  const final = await rows(
    em,
    sql<{ id: string; hash: string }>`select p.id, s.hash from payouts p
      join sent_transactions s on s.payout_id = p.id where p.network = ${network} and p.state = 'paying'
        and p.currency = ${currency} and s.purpose = 'payout' and s.state = 'final' and s.ok`,
  );
  for (const { id, hash } of final)
    if ((await sentFor(em, network, id)).some((one) => one.ok === true && one.asAsked === false))
      return waits(
        'contradiction',
        `${hash} of payout ${id} moved something else than was signed, as others of ${currency} would: compare it with an explorer; "payout conclude ${id} --tx ${hash} --by NAME --reason TEXT" books what arrived, and the others go on`,
        LOOK_MS,
      );
  return undefined;
}
