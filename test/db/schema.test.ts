import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import {
  DEPOSIT_STATES,
  type DepositState,
  FAILURE_CODES,
  type FailureCode,
  mayTransition,
} from '../../src/domain/deposit.ts';

const RELEASE_WAY: readonly DepositState[] = ['confirming', 'completed', 'settled'];

let database: FreshDatabase;
let orm: Orm;
const ids = { merchant: randomUUID(), customer: randomUUID(), endpoint: randomUUID() };

const sql = async (text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> =>
  await orm.em.getConnection().execute(text, params);

/**
 * Runs the statements as one transaction that is always taken back;
 * returns the database's refusal, or null where it would have committed.
 */
async function refusal(...statements: { text: string; params?: unknown[] }[]): Promise<string | null> {
  const em = orm.em.fork();
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

type NewDeposit = {
  id?: string;
  hash?: string;
  status?: string;
  sequence?: number;
  generation?: number;
  amount?: string;
  mode?: string;
};

function insertDeposit(deposit: NewDeposit = {}): { text: string; params: unknown[] } {
  const {
    id = randomUUID(),
    hash = randomUUID(),
    status = 'detected',
    sequence = 1,
    generation = 1,
    amount = '1000',
    mode = 'live',
  } = deposit;
  return {
    text: `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
      transaction_hash, block_number, block_hash,
      amount_units, amount_usd_cents, status, state_since, generation, sequence, posting_count, simulated,
        required_confirmations, detected_at, created_at, updated_at)
      values (?, ?, ?, ?, 'bsc', 'USDT', '0xA', 'a', ?, 7, '0xB', ?, 100, ?, now(), ?, ?, 1, false, 15, now(),
        now(), now())`,
    params: [id, ids.merchant, ids.customer, mode, hash, amount, status, generation, sequence],
  };
}

async function makeDeposit(deposit: NewDeposit = {}): Promise<string> {
  const id = randomUUID();
  const { text, params } = insertDeposit({ ...deposit, id });
  await sql(text, params);
  return id;
}

/** One step as the program takes it: sequence + 1, and generation + 1 where a failed deposit comes back. */
function step(
  id: string,
  to: DepositState,
  code: FailureCode | null,
  change: { sequence?: string; generation?: string } = {},
) {
  const {
    sequence = 'sequence + 1',
    generation = "generation + (case when status = 'failed' then 1 else 0 end)",
  } = change;
  const text = `update deposits set status = ?, failure_code = ?, sequence = ${sequence},
    generation = ${generation} where id = ?`;
  return { text, params: [to, code, id] };
}

/** A deposit that came into a state by legal steps only. */
async function depositIn(state: DepositState, code: FailureCode | null = null): Promise<string> {
  const id = await makeDeposit();
  const way = state === 'failed' ? ['failed' as const] : RELEASE_WAY.slice(0, RELEASE_WAY.indexOf(state) + 1);
  for (const to of way) {
    const { text, params } = step(id, to, to === 'failed' ? code : null);
    await sql(text, params);
  }
  return id;
}

type Situation = { state: DepositState; code: FailureCode | null };
const withCodes = (state: DepositState): Situation[] =>
  state === 'failed' ? FAILURE_CODES.map((code) => ({ state, code })) : [{ state, code: null }];
const SITUATIONS = DEPOSIT_STATES.flatMap(withCodes);

const BALANCED = ['-5', '5'].map((units, index) => ({ account: index === 0 ? 'chain' : 'pending', units }));

function postLedger(lines: { account: string; units: string; currency?: string }[], depositId: string) {
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

describe('PostgreSQL holds the rules of money by itself:', () => {
  before(async function () {
    this.timeout(60_000);
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 4, applicationName: 'schema-test' });
    await orm.migrator.up();
    await sql(
      'insert into merchants (id, name, subscription_active, created_at, updated_at) values (?, ?, true, now(), now())',
      [ids.merchant, 'Shop'],
    );
    await sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at,
        updated_at)
     values (?, ?, 'live', 'u1', '{}', 1, now(), now())`,
      [ids.customer, ids.merchant],
    );
  });

  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });

  describe('the state of a deposit in the database', () => {
    for (const { state, code } of SITUATIONS)
      for (const next of DEPOSIT_STATES.flatMap((to) =>
        (to === 'failed' ? [null, ...FAILURE_CODES] : [null]).map((toCode) => ({ to, toCode })),
      )) {
        const { to, toCode } = next;
        const allowed = mayTransition({ from: state, to, failureCode: to === 'failed' ? toCode : code });
        const name = (where: string, why: string | null) =>
          where === 'failed' ? `failed(${why ?? 'no code'})` : where;
        it(`${allowed ? 'may' : 'may not'} go from ${name(state, code)} to ${name(to, toCode)}, as the domain's table says`, async () => {
          const id = await depositIn(state, code);
          const answer = await refusal(step(id, to, toCode));
          expect(answer === null, String(answer)).to.equal(allowed);
        });
      }

    it('carries a failure code only where it is failed', async () => {
      const id = await depositIn('confirming');
      expect(await refusal(step(id, 'completed', 'REORGED'))).to.contain('deposits_failure_check');
      expect(
        await refusal({ text: "update deposits set failure_code = 'REORGED' where id = ?", params: [id] }),
      ).to.contain('failure');
    });

    it('begins as detected, with sequence and generation 1, and with an amount', async () => {
      expect(await refusal(insertDeposit())).to.equal(null);
      for (const status of DEPOSIT_STATES.filter(
        (to) => !mayTransition({ from: null, to, failureCode: 'REORGED' }),
      ))
        expect(await refusal(insertDeposit({ status }))).to.contain('begins as detected');
      for (const wrong of [{ sequence: 0 }, { sequence: 2 }, { generation: 0 }, { generation: 2 }])
        expect(await refusal(insertDeposit(wrong)), JSON.stringify(wrong)).to.contain('begins as detected');
      for (const amount of ['0', '-1'])
        expect(await refusal(insertDeposit({ amount }))).to.contain('deposits_amount_check');
    });

    it('raises the sequence by exactly one with each step, and with nothing else', async () => {
      const id = await depositIn('confirming');
      for (const sequence of ['sequence', 'sequence + 2', 'sequence - 1'])
        expect(await refusal(step(id, 'completed', null, { sequence })), sequence).to.contain(
          'raises the sequence by one',
        );
      expect(
        await refusal({ text: 'update deposits set sequence = sequence + 1 where id = ?', params: [id] }),
      ).to.contain('only with the state');
    });

    it('begins a new generation when a failed deposit comes back, and at no other time', async () => {
      const failed = await depositIn('failed', 'REORGED');
      for (const generation of ['generation', 'generation + 2'])
        expect(await refusal(step(failed, 'detected', null, { generation })), generation).to.be.a('string');
      const open = await depositIn('detected');
      expect(await refusal(step(open, 'confirming', null, { generation: 'generation + 1' }))).to.be.a(
        'string',
      );
      expect(
        await refusal({ text: 'update deposits set generation = 2 where id = ?', params: [open] }),
      ).to.contain('only with the state');
    });

    it('is not completed without a value in USD', async () => {
      const id = await depositIn('confirming');
      const unpriced = { text: 'update deposits set amount_usd_cents = null where id = ?', params: [id] };
      expect(await refusal(unpriced)).to.equal(null);
      expect(await refusal(unpriced, step(id, 'completed', null))).to.contain('deposits_priced_check');
    });
  });

  describe('the money of a deposit in the database', () => {
    const changeAmount = (id: string) => ({
      text: 'update deposits set amount_units = amount_units + 1 where id = ?',
      params: [id],
    });

    it('may be corrected before it is credited, and never afterwards', async () => {
      for (const { state, code } of SITUATIONS) {
        const answer = await refusal(changeAmount(await depositIn(state, code)));
        const open = state === 'detected' || state === 'confirming';
        if (open) expect(answer, state).to.equal(null);
        else expect(answer, `${state} ${code}`).to.contain('never changes');
      }
    });

    it('may come back with another amount when a reorged transaction is mined again', async () => {
      const id = await depositIn('failed', 'REORGED');
      const back = {
        text: "update deposits set amount_units = 5, status = 'detected', failure_code = null, sequence = sequence + 1, generation = 2 where id = ?",
        params: [id],
      };
      expect(await refusal(back)).to.equal(null);
    });

    it('keeps the identity under which it was recorded', async () => {
      const id = await depositIn('detected');
      const others =
        "mode = 'test'; network = 'tron'; transaction_hash = 'b'; address_key = 'b'; currency = 'BNB'; simulated = true";
      const changes = [...others.split('; '), `id = '${randomUUID()}'`];
      for (const change of changes)
        expect(
          await refusal({ text: `update deposits set ${change} where id = ?`, params: [id] }),
          change,
        ).to.contain('identity');
    });

    it('is one deposit for one identity; only the mode makes another one of it', async () => {
      const hash = randomUUID();
      await makeDeposit({ hash });
      expect(await refusal(insertDeposit({ hash }))).to.contain('deposits_identity_unique');
      expect(await refusal(insertDeposit({ hash, mode: 'test' }))).to.equal(null);
    });

    it('is never removed', async () => {
      const id = await depositIn('failed', 'REORGED');
      expect(await refusal({ text: 'delete from deposits where id = ?', params: [id] })).to.contain(
        'never removed',
      );
      expect(await refusal({ text: 'truncate deposits cascade' })).to.contain('never changed or removed');
    });
  });

  describe('the ledger in the database', () => {
    it('takes a posting that sums to zero', async () => {
      const id = await makeDeposit();
      expect(await refusal(...postLedger(BALANCED, id))).to.equal(null);
    });

    it('refuses one that does not, for each asset by itself', async () => {
      const id = await makeDeposit();
      const chain = { account: 'chain', units: '-5' };
      expect(await refusal(...postLedger([chain, { account: 'pending', units: '4' }], id))).to.contain(
        'does not sum to zero',
      );
      expect(await refusal(...postLedger([chain], id))).to.contain('does not sum to zero');
      const mixed = [chain, { account: 'pending', units: '5', currency: 'BNB' }];
      expect(await refusal(...postLedger(mixed, id))).to.contain('does not sum to zero');
    });

    it('refuses an unknown account, an empty line and the same fact twice', async () => {
      const id = await makeDeposit();
      const unknown = [
        { account: 'profit', units: '1' },
        { account: 'chain', units: '-1' },
      ];
      expect(await refusal(...postLedger(unknown, id))).to.contain('ledger_entries_account_check');
      expect(await refusal(...postLedger([{ account: 'chain', units: '0' }], id))).to.contain(
        'ledger_entries_amount_check',
      );
      const [header] = postLedger(BALANCED, id);
      if (!header) throw new Error('no posting');
      expect(await refusal(header, header)).to.match(
        /duplicate key value violates unique constraint "ledger_transactions_\w+_pkey"/,
      );
    });
  });

  describe('what is written once', () => {
    const APPEND_ONLY: Readonly<Record<string, string>> = {
      ledger_transactions: "kind = 'other'",
      ledger_entries: 'amount_units = amount_units + 1',
      events: "body = ''",
      deposit_transitions: "by_name = 'nobody'",
      deposit_decisions: "by_name = 'nobody'",
    };

    before(async () => {
      const id = await depositIn('detected');
      const posting = postLedger(BALANCED, id);
      await orm.em.fork().transactional(async (em) => {
        for (const { text, params } of posting) await em.execute(text, params);
      });
      const event = `insert into events select id_of_event(state_since, 'deposit.detected', id, 1),
        merchant_id, 'live', 'deposit.detected', id, 1, '{}', state_since,
        now() from deposits where id = ?`;
      await sql(event, [id]);
      await sql(
        "insert into deposit_transitions select id, 1, null, 'detected', 1, null, null, null, state_since from deposits where id = ?",
        [id],
      );
      await sql(
        "insert into deposit_decisions select id, id, 1, 'Ann', 'because', now() from deposits where id = ?",
        [id],
      );
    });

    for (const [table, change] of Object.entries(APPEND_ONLY))
      it(`is never changed or removed: ${table}`, async () => {
        expect(await sql(`select 1 from ${table}`)).to.not.have.length(0);
        expect(await refusal({ text: `update ${table} set ${change}` }), 'update').to.contain(
          'never changed or removed',
        );
        expect(await refusal({ text: `delete from ${table}` }), 'delete').to.contain(
          'never changed or removed',
        );
        expect(await refusal({ text: `truncate ${table} cascade` }), 'truncate').to.contain(
          'never changed or removed',
        );
      });
  });
});
