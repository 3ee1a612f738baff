import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { createCustomer, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { ASSETS, type Asset } from '../../../src/domain/assets.ts';
import type { Posting } from '../../../src/domain/ledger.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { listMerchantBalances } from '../../../src/services/ledger/balances.ts';
import { nextPosting, postLedger } from '../../../src/services/ledger/post.ts';
import { foldBalances } from '../../../src/services/ledger/totals.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { testDeps } from '../../support/gateway.ts';

const POSTINGS = 160;
const PARALLEL = 8;

describe('running totals of the ledger', () => {
  let database: FreshDatabase;
  let deps: Deps;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { poolSize: 20 });
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  type Account = { readonly merchantId: string; readonly mode: 'test'; readonly deposit: Deposit };

  /** A merchant in test mode without a balance, and a deposit that postings can name. */
  async function newAccount(): Promise<Account> {
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    const scope = { merchantId, mode: 'test' as const };
    const profile = { externalId: 'user', email: null, name: null, metadata: {} };
    const customer = await createCustomer(deps, { ...scope, ...profile });
    const made = await simulateDeposit(deps, {
      merchantId,
      customerId: customer.id,
      network: 'bsc',
      currency: 'USDT',
      amountUnits: 1n,
      outcome: 'reorged',
      events: 'final',
    });
    if (!made) throw new Error('no deposit');
    return { ...scope, deposit: await deps.orm.em.fork().findOneOrFail(Deposit, made.deposit.id) };
  }

  const post = ({ deposit }: Account, { network, currency }: Asset, postings: readonly Posting[]) =>
    deps.orm.em.fork().transactional(async (em) => {
      await postLedger(em, deps, {
        deposit: { ...deposit, network, currency },
        kind: 'test',
        number: nextPosting(deposit),
        postings,
      });
    });
  const read = (account: Account) => listMerchantBalances(deps, { ...account, page: { limit: 100 } });
  const sums = async (from: string, account: Account) =>
    Object.fromEntries(
      (
        await deps.orm.em.fork().execute<{ key: string; units: string }[]>(
          `select network || ' ' || currency || ' ' || account as key, sum(amount_units)::text as units
           from ${from}
           where merchant_id = ? and mode = ? group by 1 having sum(amount_units) <> 0`,
          [account.merchantId, account.mode],
        )
      ).map(({ key, units }) => [key, units]),
    );
  const PARTS =
    '(select * from (table balance_totals) t union all select merchant_id, mode, network, currency, account, amount_units, posted_at from balance_changes) parts';

  it(`show a state between two postings at every moment of ${POSTINGS} concurrent ones, and all of them in the end`, async () => {
    const account = await newAccount();
    await foldBalances(deps);
    const [usdt = ASSETS[0] as Asset] = ASSETS.filter(({ currency }) => currency === 'USDT');
    let left = POSTINGS;
    let running = true;
    // Pending is credited and debited with available by the very same amounts:
    // half a posting, or a line counted twice, would make them differ.
    const poster = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const units = BigInt(1 + ((left * 7_919) % 1_000_000));
        const accounts = ['pending', 'available', 'held'] as const;
        await post(account, usdt, [
          { account: 'chain', amountUnits: -3n * units },
          ...accounts.map((name) => ({ account: name, amountUnits: units })),
        ]);
      }
    };
    const reader = async (): Promise<void> => {
      let last = 0n;
      while (running) {
        const row = (await read(account)).rows.find(
          ({ network, currency }) => network === usdt.network && currency === usdt.currency,
        );
        expect(row?.pending).to.equal(row?.available);
        const [zero] = await deps.orm.em
          .fork()
          .execute<{ units: string }[]>(
            `select coalesce(sum(amount_units), 0)::text as units from ${PARTS} where merchant_id = ?`,
            [account.merchantId],
          );
        expect(zero?.units).to.equal('0');
        const now = parseUnits(row?.available ?? '', usdt.decimals);
        expect(now >= last, 'money that was shown is never gone').to.equal(true);
        last = now;
      }
    };
    const folder = async (): Promise<void> => {
      while (running) await foldBalances(deps);
    };
    const others = Promise.all([reader(), reader(), folder(), folder()]);
    await Promise.race([others, Promise.all(Array.from({ length: PARALLEL }, poster))]);
    running = false;
    await others;
    expect(await sums(PARTS, account)).to.deep.equal(await sums('ledger_entries', account));
    await foldBalances(deps);
    expect(await sums('balance_totals', account)).to.deep.equal(await sums('ledger_entries', account));
    expect(await deps.orm.em.fork().execute('select * from balance_changes')).to.deep.equal([]);
  });
});
