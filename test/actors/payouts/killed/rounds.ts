// What customers do in each round of kills, while payouts are paused.
import { eventually } from '../../../../dev/support/eventually.ts';
import type { KillingStage, Paid } from './stage.ts';

type Customer = Awaited<ReturnType<KillingStage['newCustomer']>>;

/** So many customers who have not paid yet. */
export async function newCustomers(the: KillingStage, count: number): Promise<Customer[]> {
  const made: Customer[] = [];
  while (made.length < count) made.push(await the.newCustomer());
  return made;
}

/** Each customer pays these on every chain, and every deposit is completed. */
export async function customersPay(
  the: KillingStage,
  customers: readonly Customer[],
  currencies: readonly (readonly Paid['currency'][])[],
): Promise<void> {
  for (const [index, customer] of customers.entries())
    for (const chain of the.chains)
      for (const currency of currencies[index] ?? []) await the.pay(chain, customer[chain.network], currency);
  await the.reach('completed', 'settled');
}

/** New customers pay tokens, and their addresses get the coins for gas; payouts are paused then. */
export async function customersPayAndGetGas(
  the: KillingStage,
  customers: readonly Customer[],
): Promise<void> {
  await customersPay(the, customers, [['USDT', 'USDT'], ['USDT']]);
  const topUps = customers.length * the.chains.length;
  const before = new Set((await the.rows('select id from sent_transactions')).map(({ id }) => id));
  const each = (what: string, states: readonly string[]) =>
    eventually(
      `coins for gas being ${what}`,
      async () => {
        const sent = await the.rows('select id, purpose, state from sent_transactions');
        const of = sent.filter(({ id, state }) => !before.has(id) && states.includes(String(state)));
        return of.length === topUps && of.every(({ purpose }) => purpose === 'gas');
      },
      60_000,
    );
  // Without blocks none of them goes further than that.
  the.clock.pause();
  await the.setPaused(false);
  await each('sent', ['sent']);
  await the.setPaused(true);
  the.clock.resume();
  await each('there', ['final']);
}

/** What was paid until now, in a line. */
export async function figuresOf(the: KillingStage): Promise<string> {
  const counted = await the.rows(
    `select (select count(*) from deposits where status = 'settled') as deposits,
       (select count(*) from payouts where state = 'settled') as payouts,
       (select count(*) from payouts where state <> 'settled') as others,
       (select count(*) from sent_transactions where purpose = 'gas' and state = 'final') as top_ups,
       (select count(*) from sent_transactions) as transactions`,
  );
  return JSON.stringify(counted[0]);
}
