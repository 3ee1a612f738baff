// Rows of money, written past every use case, to see what the database itself refuses.

import { randomInt, randomUUID } from 'node:crypto';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import type { DepositState, FailureCode } from '../../src/domain/deposit.ts';
import { paidOut } from '../support/payout-rows.ts';

export type Statement = { readonly text: string; readonly params?: unknown[] };

const RELEASE_WAY: readonly DepositState[] = ['confirming', 'completed', 'settled'];
const ids = { merchant: randomUUID(), customer: randomUUID() };

/** A migrated database of its own with one merchant, who has one customer. */
export class MoneyRows {
  readonly #database: FreshDatabase;
  readonly #orm: Orm;

  private constructor(database: FreshDatabase, orm: Orm) {
    this.#database = database;
    this.#orm = orm;
  }

  static async open(): Promise<MoneyRows> {
    const database = await freshDatabase();
    const orm = await openOrm({ url: database.url, poolSize: 4, applicationName: 'schema-test' });
    const rows = new MoneyRows(database, orm);
    await orm.migrator.up();
    await rows.sql(
      'insert into merchants (id, name, subscription_active, created_at, updated_at) values (?, ?, true, now(), now())',
      [ids.merchant, 'Shop'],
    );
    await rows.sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at,
        updated_at)
     values (?, ?, 'live', 'u1', '{}', 1, now(), now())`,
      [ids.customer, ids.merchant],
    );
    return rows;
  }

  async close(): Promise<void> {
    await this.#orm.close(true);
    await this.#database.drop();
  }

  /** Runs one statement outside of any transaction. */
  async sql(text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
    return await this.#orm.em.getConnection().execute(text, params);
  }

  /** Commits all of the statements as one transaction. */
  async commit(statements: readonly Statement[]): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      for (const { text, params } of statements) await em.execute(text, params ?? []);
    });
  }

  /**
   * Runs the statements as one transaction that is always taken back;
   * returns the database's refusal, or null where it would have committed.
   */
  async refusal(...statements: readonly Statement[]): Promise<string | null> {
    const em = this.#orm.em.fork();
    await em.begin();
    try {
      for (const { text, params } of statements) await em.execute(text, params ?? []);
      await em.execute('set constraints all immediate');
      return null;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await em.rollback();
    }
  }

  async makeDeposit(deposit: NewDeposit = {}): Promise<string> {
    const id = randomUUID();
    const { text, params } = insertDeposit({ ...deposit, id });
    await this.sql(text, params);
    return id;
  }

  /** A deposit that came into a state by legal steps only. */
  async depositIn(state: DepositState, code: FailureCode | null = null): Promise<string> {
    const id = await this.makeDeposit({ addressKey: randomUUID().slice(-12) });
    const way =
      state === 'failed' ? ['failed' as const] : RELEASE_WAY.slice(0, RELEASE_WAY.indexOf(state) + 1);
    for (const to of way) {
      await this.commit(steps(id, to, to === 'failed' ? code : null));
    }
    return id;
  }
}

type NewDeposit = {
  id?: string;
  hash?: string;
  status?: string;
  sequence?: number;
  generation?: number;
  amount?: string;
  mode?: string;
  addressKey?: string;
};

/** Inserts a deposit of the one customer, as the program would but for what is given. */
export function insertDeposit(deposit: NewDeposit = {}): Statement {
  const {
    id = randomUUID(),
    hash = randomUUID(),
    status = 'detected',
    sequence = 1,
    generation = 1,
    amount = '1000',
    mode = 'live',
    addressKey = 'a',
  } = deposit;
  return {
    text: `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
      transaction_hash, block_number, block_hash,
      amount_units, amount_usd_cents, status, state_since, generation, sequence, posting_count, simulated,
        required_confirmations, detected_at, created_at, updated_at)
      values (?, ?, ?, ?, 'bsc', 'USDT', '0xA', ?, ?, 7, '0xB', ?, 100, ?, now(), ?, ?, 1, false, 15, now(),
        now(), now())`,
    params: [id, ids.merchant, ids.customer, mode, addressKey, hash, amount, status, generation, sequence],
  };
}

/** One step as the program takes it: sequence + 1, and generation + 1 where a failed deposit comes back. */
export function step(
  id: string,
  to: DepositState,
  code: FailureCode | null,
  change: { sequence?: string; generation?: string } = {},
): Statement {
  const {
    sequence = 'sequence + 1',
    generation = "generation + (case when status = 'failed' then 1 else 0 end)",
  } = change;
  const text = `update deposits set status = ?, failure_code = ?, sequence = ${sequence},
    generation = ${generation} where id = ?`;
  return { text, params: [to, code, id] };
}

/** {@link step}, and before it what the state needs: nothing is settled but by a payout. */
export const steps = (id: string, to: DepositState, code: FailureCode | null): readonly Statement[] =>
  to === 'settled'
    ? [
        ...paidOut(id),
        {
          text: `update deposits set status = 'settled', sequence = sequence + 1, settled_units = amount_units,
            settlement_fee_units = 7 where id = ?`,
          params: [id],
        },
      ]
    : [step(id, to, code)];

type Line = { readonly account: string; readonly units: string; readonly currency?: string };
export const BALANCED: readonly Line[] = ['-5', '5'].map((units, index) => ({
  account: index === 0 ? 'chain' : 'pending',
  units,
}));

/** Writes a posting with these lines for a deposit: its header, then all of its lines in one statement. */
export function postLedger(lines: readonly Line[], depositId: string): Statement[] {
  const number = randomInt(2 ** 30);
  const id = '(select id_of_posting(created_at, id, ?) from deposits where id = ?)';
  const header = {
    text: `insert into ledger_transactions (id, deposit_id, number, kind, sequence, created_at)
      values (${id}, ?, ?, 'test', 1, now())`,
    params: [number, depositId, depositId, number],
  };
  // In one statement, as the program writes them: each statement has to sum to zero.
  const entries = {
    text: `insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account,
      amount_units)
      values ${lines.map(() => `(${id}, ?, ?, 'live', 'bsc', ?, ?, ?)`).join(', ')}`,
    params: lines.flatMap(({ account, units, currency = 'USDT' }, index) => [
      number,
      depositId,
      index + 1,
      ids.merchant,
      currency,
      account,
      units,
    ]),
  };
  return [header, entries];
}
