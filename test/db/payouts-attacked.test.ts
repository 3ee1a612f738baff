import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { final, planned, settled, signed } from '../support/payout-rows.ts';
import { MoneyRows, type Statement } from './money-rows.ts';

describe('PostgreSQL lets nobody pay twice by writing past the program:', function () {
  this.timeout(60_000);
  let rows: MoneyRows;
  before(async () => {
    rows = await MoneyRows.open();
  });
  after(() => rows?.close());

  const refusal = async (text: string, ...params: unknown[]) => await rows.refusal({ text, params });
  async function plan(): Promise<{ payoutId: string; depositId: string }> {
    const [payoutId, depositId] = [randomUUID(), await rows.depositIn('completed')];
    await rows.commit(planned(payoutId, depositId));
    return { payoutId, depositId };
  }
  /** Asks for the transaction of a payout, with other terms where they are given. */
  const ask = (payoutId: string, change: Readonly<Record<string, string>> = {}): Statement => {
    const columns: Readonly<Record<string, string>> = {
      id: 'gen_random_uuid()',
      network: 'network',
      purpose: "'payout'",
      payout_id: 'id',
      attempt: '1',
      state: "'asked'",
      from_address: 'address',
      from_key: 'address_key',
      to_address: 'destination',
      to_key: "'d'",
      currency: 'currency',
      amount_units: 'gross_units',
      created_at: 'now()',
      updated_at: 'now()',
      ...change,
    };
    return {
      text: `insert into sent_transactions (${Object.keys(columns).join(', ')})
        select ${Object.values(columns).join(', ')} from payouts where id = ?`,
      params: [payoutId],
    };
  };
  const SIGNED = { raw: "'\\x00'", hash: 'gen_random_uuid()::text', signed_at: 'now()' };

  it('nothing is asked for or signed for a payout that was given up or is over', async () => {
    const { payoutId, depositId } = await plan();
    await rows.commit([
      { text: "update payouts set state = 'cancelled', reason = 'test' where id = ?", params: [payoutId] },
      { text: 'update deposits set payout_id = null where id = ?', params: [depositId] },
    ]);
    expect(await rows.refusal(ask(payoutId)), 'asked').to.include('not over');
    expect(await rows.refusal(ask(payoutId, { ...SIGNED, state: "'signed'" })), 'signed').to.include(
      'not over',
    );
  });

  it('a payout is asked for with its own terms alone, and begins asked or signed', async () => {
    const { payoutId } = await plan();
    expect(await rows.refusal(ask(payoutId))).to.equal(null);
    const others: readonly Readonly<Record<string, string>>[] = [
      { from_key: "'x'" },
      { to_address: "'x'" },
      { currency: "'BNB'" },
      { network: "'tron'" },
      { amount_units: 'gross_units + 1' },
    ];
    for (const change of others)
      expect(await rows.refusal(ask(payoutId, change)), JSON.stringify(change)).to.include('its own terms');
    const landed = {
      ...SIGNED,
      block_number: '9',
      block_hash: "'0x9'",
      ok: 'true',
      fee_units: '1',
      moves: "'[]'",
    };
    for (const state of ["'mined'", "'final'", "'dead'"])
      expect(await rows.refusal(ask(payoutId, { ...landed, state })), state).to.include('begins');
  });

  it('what was asked for or signed is never removed', async () => {
    const { payoutId } = await plan();
    await rows.commit([ask(payoutId)]);
    expect(await refusal('delete from sent_transactions where payout_id = ?', payoutId)).to.include(
      'never removed',
    );
    expect(await refusal('truncate sent_transactions')).to.be.a('string');
  });

  it('nothing is signed while a deposit of the payout is in no block, or was read once', async () => {
    const { payoutId, depositId } = await plan();
    await rows.commit([ask(payoutId)]);
    const sign = {
      text: "update sent_transactions set state = 'signed', raw = '\\x00', hash = 'h', signed_at = now() where payout_id = ?",
      params: [payoutId],
    };
    const unbind = {
      text: 'update deposits set block_hash = null, verified_at = null where id = ?',
      params: [depositId],
    };
    const again = { text: 'update deposits set verified_at = null where id = ?', params: [depositId] };
    expect(await rows.refusal(unbind, sign)).to.include('read twice');
    expect(await rows.refusal(again, sign)).to.include('read twice');
    expect(await rows.refusal(sign)).to.equal(null);
  });

  it('the outcome that was final does not change while it is in its block', async () => {
    const { payoutId, depositId } = await plan();
    await rows.commit([...signed(payoutId), ...final(payoutId)]);
    const fail = [
      { text: 'update sent_transactions set ok = false where payout_id = ?', params: [payoutId] },
      { text: "update payouts set state = 'failed', reason = 'test' where id = ?", params: [payoutId] },
      { text: 'update deposits set payout_id = null where id = ?', params: [depositId] },
    ];
    expect(await rows.refusal(...fail)).to.include('what is final');
    expect(await rows.refusal(settled(payoutId))).to.include('sum of its deposits');
  });

  it('a deposit does not leave a payout whose transaction is asked for, not even for another of that amount', async () => {
    const [payoutId, key] = [randomUUID(), randomUUID().slice(-12)];
    const both: string[] = [];
    for (const hash of [randomUUID(), randomUUID()]) {
      const id = await rows.makeDeposit({ addressKey: key, hash });
      for (const to of ['confirming', 'completed'])
        await rows.sql(
          'update deposits set status = ?, sequence = sequence + 1, verified_at = now() where id = ?',
          [to, id],
        );
      both.push(id);
    }
    const [one = '', other = ''] = both;
    await rows.commit(planned(payoutId, one));
    const swap = [
      { text: 'update deposits set payout_id = null where id = ?', params: [one] },
      { text: 'update deposits set payout_id = ? where id = ?', params: [payoutId, other] },
    ];
    expect(await rows.refusal(...swap), 'while nothing is asked for').to.equal(null);
    await rows.commit([ask(payoutId)]);
    expect(await rows.refusal(...swap)).to.include('keeps its deposits');
  });

  it('a nonce that was asked for and never signed may be asked for again by the next payout', async () => {
    const { payoutId, depositId } = await plan();
    await rows.commit([ask(payoutId, { nonce: '4' })]);
    const next = randomUUID();
    const again = [
      { text: "update sent_transactions set state = 'dead' where payout_id = ?", params: [payoutId] },
      { text: "update payouts set state = 'cancelled', reason = 'test' where id = ?", params: [payoutId] },
      { text: 'update deposits set payout_id = null where payout_id = ?', params: [payoutId] },
      ...planned(next, depositId),
    ];
    expect(await rows.refusal(...again, ask(next, { nonce: '4' }))).to.equal(null);
  });
});
