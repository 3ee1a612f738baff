// The part that a shop replaces: a table with the deposit's id as its primary key,
// written in the transaction that credits the customer: insert into credited_deposits
// (id) values ($1) on conflict do nothing returning id Here each id is a file, which
// the operating system makes once, however many requests come at the same time.
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const FOLDER = process.env.CREDITED_DIR ?? 'credited';

/** Credits a deposit once: true for the first time, false for every repetition. */
export async function creditOnce(deposit) {
  await mkdir(FOLDER, { recursive: true });
  try {
    await writeFile(
      join(FOLDER, basename(deposit.id)),
      `${deposit.amount} ${deposit.currency} for customer ${deposit.customer_id}\n`,
      {
        flag: 'wx',
      },
    );
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error; // answered with 500: the gateway sends the event again
  }
}
