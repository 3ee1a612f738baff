import { firstRow, sql } from '../../../db/sql.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../refusal.ts';
import type { SessionOwner } from '../sessions.ts';

/** Who is signed in, in the words that every page shows. */
export type SignedInAs = {
  readonly merchantName: string;
  readonly email: string;
  readonly usesTotp: boolean;
};

/** The names of a signed-in user and of the merchant. Throws a NOT_FOUND `Refusal` for one who is gone. */
export async function signedInAs(deps: Deps, owner: SessionOwner): Promise<SignedInAs> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<SignedInAs>`select m.name as merchant_name, u.email, u.totp_sealed is not null as uses_totp
      from users u join merchants m on m.id = u.merchant_id
      where u.id = ${owner.userId} and m.id = ${owner.merchantId}`,
  );
  if (!row) throw notFound('user');
  return row;
}
