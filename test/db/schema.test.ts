import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  DEPOSIT_STATES,
  type DepositState,
  FAILURE_CODES,
  type FailureCode,
  mayTransition,
} from '../../src/domain/deposit.ts';
import { BALANCED, insertDeposit, MoneyRows, postLedger, step, steps } from './money-rows.ts';

type Situation = { state: DepositState; code: FailureCode | null };
const withCodes = (state: DepositState): Situation[] =>
  state === 'failed' ? FAILURE_CODES.map((code) => ({ state, code })) : [{ state, code: null }];
const SITUATIONS = DEPOSIT_STATES.flatMap(withCodes);

describe('PostgreSQL holds the rules of money by itself:', () => {
  let rows: MoneyRows;

  before(async function () {
    this.timeout(60_000);
    rows = await MoneyRows.open();
  });
  after(() => rows?.close());

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
          const id = await rows.depositIn(state, code);
          const answer = await rows.refusal(...steps(id, to, toCode));
          expect(answer === null, String(answer)).to.equal(allowed);
        });
      }

    it('carries a failure code only where it is failed', async () => {
      const id = await rows.depositIn('confirming');
      expect(await rows.refusal(step(id, 'completed', 'REORGED'))).to.contain('deposits_failure_check');
      expect(
        await rows.refusal({
          text: "update deposits set failure_code = 'REORGED' where id = ?",
          params: [id],
        }),
      ).to.contain('failure');
    });

    it('begins as detected, with sequence and generation 1, and with an amount', async () => {
      expect(await rows.refusal(insertDeposit())).to.equal(null);
      for (const status of DEPOSIT_STATES.filter(
        (to) => !mayTransition({ from: null, to, failureCode: 'REORGED' }),
      ))
        expect(await rows.refusal(insertDeposit({ status }))).to.contain('begins as detected');
      for (const wrong of [{ sequence: 0 }, { sequence: 2 }, { generation: 0 }, { generation: 2 }])
        expect(await rows.refusal(insertDeposit(wrong)), JSON.stringify(wrong)).to.contain(
          'begins as detected',
        );
      for (const amount of ['0', '-1'])
        expect(await rows.refusal(insertDeposit({ amount }))).to.contain('deposits_amount_check');
    });

    it('raises the sequence by exactly one with each step, and with nothing else', async () => {
      const id = await rows.depositIn('confirming');
      for (const sequence of ['sequence', 'sequence + 2', 'sequence - 1'])
        expect(await rows.refusal(step(id, 'completed', null, { sequence })), sequence).to.contain(
          'raises the sequence by one',
        );
      expect(
        await rows.refusal({
          text: 'update deposits set sequence = sequence + 1 where id = ?',
          params: [id],
        }),
      ).to.contain('only with the state');
    });

    it('begins a new generation when a failed deposit comes back, and at no other time', async () => {
      const failed = await rows.depositIn('failed', 'REORGED');
      for (const generation of ['generation', 'generation + 2'])
        expect(await rows.refusal(step(failed, 'detected', null, { generation })), generation).to.be.a(
          'string',
        );
      const open = await rows.depositIn('detected');
      expect(await rows.refusal(step(open, 'confirming', null, { generation: 'generation + 1' }))).to.be.a(
        'string',
      );
      expect(
        await rows.refusal({ text: 'update deposits set generation = 2 where id = ?', params: [open] }),
      ).to.contain('only with the state');
    });

    it('is not completed without a value in USD', async () => {
      const id = await rows.depositIn('confirming');
      const unpriced = { text: 'update deposits set amount_usd_cents = null where id = ?', params: [id] };
      expect(await rows.refusal(unpriced)).to.equal(null);
      expect(await rows.refusal(unpriced, step(id, 'completed', null))).to.contain('deposits_priced_check');
    });
  });

  describe('the money of a deposit in the database', () => {
    const changeAmount = (id: string) => ({
      text: 'update deposits set amount_units = amount_units + 1 where id = ?',
      params: [id],
    });

    it('may be corrected before it is credited, and never afterwards', async () => {
      for (const { state, code } of SITUATIONS) {
        const answer = await rows.refusal(changeAmount(await rows.depositIn(state, code)));
        const open = state === 'detected' || state === 'confirming';
        if (open) expect(answer, state).to.equal(null);
        else expect(answer, `${state} ${code}`).to.contain('never changes');
      }
    });

    it('may come back with another amount when a reorged transaction is mined again', async () => {
      const id = await rows.depositIn('failed', 'REORGED');
      const back = {
        text: "update deposits set amount_units = 5, status = 'detected', failure_code = null, sequence = sequence + 1, generation = 2 where id = ?",
        params: [id],
      };
      expect(await rows.refusal(back)).to.equal(null);
    });

    it('keeps the identity under which it was recorded', async () => {
      const id = await rows.depositIn('detected');
      const others =
        "mode = 'test'; network = 'tron'; transaction_hash = 'b'; address_key = 'b'; currency = 'BNB'; simulated = true";
      const changes = [...others.split('; '), `id = '${randomUUID()}'`];
      for (const change of changes)
        expect(
          await rows.refusal({ text: `update deposits set ${change} where id = ?`, params: [id] }),
          change,
        ).to.contain('identity');
    });

    it('is one deposit for one identity; only the mode makes another one of it', async () => {
      const hash = randomUUID();
      await rows.makeDeposit({ hash });
      expect(await rows.refusal(insertDeposit({ hash }))).to.contain('deposits_identity_unique');
      expect(await rows.refusal(insertDeposit({ hash, mode: 'test' }))).to.equal(null);
    });

    it('is never removed', async () => {
      const id = await rows.depositIn('failed', 'REORGED');
      expect(await rows.refusal({ text: 'delete from deposits where id = ?', params: [id] })).to.contain(
        'never removed',
      );
      expect(await rows.refusal({ text: 'truncate deposits cascade' })).to.contain(
        'never changed or removed',
      );
    });
  });

  describe('the ledger in the database', () => {
    it('takes a posting that sums to zero', async () => {
      const id = await rows.makeDeposit();
      expect(await rows.refusal(...postLedger(BALANCED, id))).to.equal(null);
    });

    it('refuses one that does not, for each asset by itself', async () => {
      const id = await rows.makeDeposit();
      const chain = { account: 'chain', units: '-5' };
      expect(await rows.refusal(...postLedger([chain, { account: 'pending', units: '4' }], id))).to.contain(
        'does not sum to zero',
      );
      expect(await rows.refusal(...postLedger([chain], id))).to.contain('does not sum to zero');
      const mixed = [chain, { account: 'pending', units: '5', currency: 'BNB' }];
      expect(await rows.refusal(...postLedger(mixed, id))).to.contain('does not sum to zero');
    });

    it('refuses an unknown account, an empty line and the same fact twice', async () => {
      const id = await rows.makeDeposit();
      const unknown = [
        { account: 'profit', units: '1' },
        { account: 'chain', units: '-1' },
      ];
      expect(await rows.refusal(...postLedger(unknown, id))).to.contain('ledger_entries_account_check');
      expect(await rows.refusal(...postLedger([{ account: 'chain', units: '0' }], id))).to.contain(
        'ledger_entries_amount_check',
      );
      const [header] = postLedger(BALANCED, id);
      if (!header) throw new Error('no posting');
      expect(await rows.refusal(header, header)).to.match(
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
      const id = await rows.depositIn('detected');
      await rows.commit(postLedger(BALANCED, id));
      const event = `insert into events select id_of_event(state_since, 'deposit.detected', id, 1),
        merchant_id, 'live', 'deposit.detected', id, 1, '{}', state_since,
        now() from deposits where id = ?`;
      await rows.sql(event, [id]);
      await rows.sql(
        "insert into deposit_transitions select id, 1, null, 'detected', 1, null, null, null, state_since from deposits where id = ?",
        [id],
      );
      await rows.sql(
        "insert into deposit_decisions select id, id, 1, 'Ann', 'because', now() from deposits where id = ?",
        [id],
      );
    });

    for (const [table, change] of Object.entries(APPEND_ONLY))
      it(`is never changed or removed: ${table}`, async () => {
        expect(await rows.sql(`select 1 from ${table}`)).to.not.have.length(0);
        expect(await rows.refusal({ text: `update ${table} set ${change}` }), 'update').to.contain(
          'never changed or removed',
        );
        expect(await rows.refusal({ text: `delete from ${table}` }), 'delete').to.contain(
          'never changed or removed',
        );
        expect(await rows.refusal({ text: `truncate ${table} cascade` }), 'truncate').to.contain(
          'never changed or removed',
        );
      });
  });
});
