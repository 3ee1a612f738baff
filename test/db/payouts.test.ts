import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  mayMovePayout,
  PAYOUT_STATES,
  type PayoutState,
  SENT_STATES,
  SENT_TRANSITIONS,
  type SentState,
} from '../../src/domain/settlement.ts';
import { final, paidByOthers, planned, settled, signed, unseen } from '../support/payout-rows.ts';
import { MoneyRows, type Statement } from './money-rows.ts';

const REASON = "reason = 'test'";

describe('PostgreSQL holds the rules of payouts by itself:', function () {
  this.timeout(60_000);
  let rows: MoneyRows;
  before(async () => {
    rows = await MoneyRows.open();
  });
  after(() => rows?.close());

  /** What brings a payout of one deposit into a state by legal steps only. */
  function wayTo(state: PayoutState, payoutId: string, depositId: string): Statement[] {
    const plan = planned(payoutId, depositId);
    const free = { text: 'update deposits set payout_id = null where payout_id = ?', params: [payoutId] };
    const end = { text: `update payouts set state = '${state}', ${REASON} where id = ?`, params: [payoutId] };
    switch (state) {
      case 'planned':
        return plan;
      case 'cancelled':
        return [...plan, end, free];
      case 'paying':
        return [...plan, ...signed(payoutId)];
      case 'failed':
        return [...plan, ...signed(payoutId), ...final(payoutId, { ok: false }), end, free];
      case 'settled':
        return [
          ...plan,
          ...signed(payoutId),
          ...final(payoutId),
          settled(payoutId),
          {
            text: `update deposits set status = 'settled', sequence = sequence + 1, settled_units = amount_units,
              settlement_fee_units = 7 where id = ?`,
            params: [depositId],
          },
        ];
    }
  }
  /** A block shows that what failed has paid after all, and its deposits are its own again. */
  const shownAfter = (id: string, way: readonly Statement[]): Statement[] => {
    return [...unseen(id), ...final(id), ...way.slice(1, 2), ...way.slice(-2)];
  };
  async function payoutIn(state: PayoutState): Promise<{ payoutId: string; depositId: string }> {
    const [payoutId, depositId] = [randomUUID(), await rows.depositIn('completed')];
    await rows.commit(wayTo(state, payoutId, depositId));
    return { payoutId, depositId };
  }
  const refusal = async (text: string, ...params: unknown[]) => await rows.refusal({ text, params });

  for (const from of PAYOUT_STATES)
    for (const to of PAYOUT_STATES.filter((state) => state !== from))
      it(`a payout ${mayMovePayout(from, to) ? 'may' : 'may not'} go from ${from} to ${to}, as the domain's table says`, async () => {
        const { payoutId, depositId } = await payoutIn(from);
        const way = wayTo(to, payoutId, depositId);
        // What was done for the state before is not done again.
        const rest =
          from === 'planned' ? way.slice(2) : from === 'paying' ? way.slice(4) : shownAfter(payoutId, way);
        const bare = { text: `update payouts set state = ?, ${REASON} where id = ?`, params: [to, payoutId] };
        const steps = mayMovePayout(from, to) ? rest : [bare];
        const answer = await rows.refusal(...steps);
        if (mayMovePayout(from, to)) expect(answer).to.equal(null);
        else expect(answer).to.match(/cannot go from|fails only|pays only/);
      });

  it('a payout is never removed, keeps what it is, and begins planned', async () => {
    const { payoutId } = await payoutIn('planned');
    expect(await refusal('delete from payouts where id = ?', payoutId)).to.include('never removed');
    for (const change of ["destination = 'x'", "address_key = 'x'", "currency = 'BNB'", 'created_at = now()'])
      expect(await refusal(`update payouts set ${change} where id = ?`, payoutId), change).to.include(
        'never changes',
      );
    const [other, deposit] = [randomUUID(), await rows.depositIn('completed')];
    const [insert, cover] = planned(other, deposit) as [Statement, Statement];
    const begun = { ...insert, text: insert.text.replace("'planned'", "'paying'") };
    expect(await rows.refusal(begun, cover)).to.include('begins planned');
  });

  it('an address has one living payout, and any number that are over', async () => {
    const { payoutId } = await payoutIn('planned');
    const again = `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key,
        destination, gross_units, state, state_since, created_at, updated_at)
      select gen_random_uuid(), merchant_id, mode, simulated, network, 'BNB', address, address_key, destination, 1,
        'planned', now(), now(), now() from payouts where id = ?`;
    expect(await refusal(again, payoutId)).to.include('payouts_living_unique');
    const { payoutId: over } = await payoutIn('settled');
    expect(await refusal(again, over)).to.include('is not the sum of its deposits');
  });

  it('a payout is at every end of a transaction exactly the sum of its deposits', async () => {
    const { payoutId, depositId } = await payoutIn('planned');
    const sum = 'is not the sum of its deposits';
    expect(
      await refusal('update payouts set gross_units = gross_units + 1 where id = ?', payoutId),
    ).to.include(sum);
    expect(await refusal('update deposits set payout_id = null where id = ?', depositId)).to.include(sum);
    const more = await rows.depositIn('completed');
    const join = {
      text: 'update deposits set payout_id = ?, verified_at = now(), address_key = (select address_key from payouts where id = ?) where id = ?',
      params: [payoutId, payoutId, more],
    };
    expect(await rows.refusal(join)).to.match(/sum of its deposits|identity|never changes/);
  });

  it('its amount stands once its transaction is asked for, and its deposits stay once it is signed', async () => {
    const { payoutId, depositId } = await payoutIn('paying');
    expect(
      await refusal('update payouts set gross_units = gross_units + 1 where id = ?', payoutId),
    ).to.include('only before its transaction is asked for');
    expect(await refusal('update deposits set payout_id = null where id = ?', depositId)).to.include(
      'keeps its deposits',
    );
    expect(
      await refusal(
        "update deposits set status = 'failed', failure_code = 'REORGED', sequence = sequence + 1 where id = ?",
        depositId,
      ),
    ).to.be.a('string');
  });

  it('a planned payout takes only completed deposits of its own address and asset that were read twice', async () => {
    const { payoutId } = await payoutIn('planned');
    const add = (id: string, more = '') => ({
      text: `update deposits set payout_id = ?${more} where id = ?`,
      params: [payoutId, id],
    });
    const confirming = await rows.depositIn('confirming');
    expect(await rows.refusal(add(confirming, ', verified_at = now()'))).to.match(
      /completed deposits|payout_check|its own address/,
    );
    const completed = await rows.depositIn('completed');
    expect(await rows.refusal(add(completed))).to.match(/read twice|its own address/);
    const { payoutId: over } = await payoutIn('settled');
    expect(
      await refusal('update deposits set payout_id = ?, verified_at = now() where id = ?', over, completed),
    ).to.match(/planned payout takes|its own address/);
  });

  it('a deposit is settled by a settled payout alone, and what it got of it never changes', async () => {
    const settle = `update deposits set status = 'settled', sequence = sequence + 1, settled_units = amount_units,
      settlement_fee_units = 7 where id = ?`;
    expect(await refusal(settle, await rows.depositIn('completed'))).to.be.a('string');
    expect(await refusal(settle, (await payoutIn('planned')).depositId)).to.include(
      'settled with its payout',
    );
    expect(await refusal(settle, (await payoutIn('paying')).depositId)).to.include('settled with its payout');
    const { depositId, payoutId } = await payoutIn('settled');
    for (const change of [
      'settled_units = settled_units - 1',
      'settlement_fee_units = 8',
      'settled_units = null, settlement_fee_units = null',
    ])
      expect(await refusal(`update deposits set ${change} where id = ?`, depositId), change).to.be.a(
        'string',
      );
    for (const change of ['net_units = net_units - 1', 'fee_units = 1', "transaction_hash = 'x'"])
      expect(await refusal(`update payouts set ${change} where id = ?`, payoutId), change).to.be.a('string');
  });

  it('a payout is settled by nothing but a final transaction of its own that succeeded and paid that amount', async () => {
    const { payoutId } = await payoutIn('paying');
    const { text, params } = settled(payoutId);
    expect(await refusal(text, ...params), 'not mined').to.include('settled by a final transaction');
    for (const [name, outcome] of [['failed', { ok: false }]] as const)
      expect(await rows.refusal(...final(payoutId, outcome), settled(payoutId)), name).to.include(
        'settled by a final transaction',
      );
    const less = {
      ...settled(payoutId),
      text: text.replace('net_units = gross_units', 'net_units = gross_units - 1'),
    };
    expect(await rows.refusal(...final(payoutId), less)).to.be.a('string');
  });

  it('one that is planned is settled by somebody else’s transaction that paid just that', async () => {
    const { payoutId, depositId } = await payoutIn('planned');
    const settle = wayTo('settled', payoutId, depositId).slice(-2);
    expect(await rows.refusal(...settle)).to.include('settled by a final transaction');
    expect(await rows.refusal(paidByOthers(payoutId), ...settle)).to.equal(null);
  });

  it('a payout fails only when none of its transactions can succeed any more', async () => {
    const { payoutId, depositId } = await payoutIn('paying');
    const fail = [
      { text: `update payouts set state = 'failed', ${REASON} where id = ?`, params: [payoutId] },
      { text: 'update deposits set payout_id = null where id = ?', params: [depositId] },
    ];
    expect(await rows.refusal(...fail)).to.include('none of its transactions can succeed');
    expect(
      await rows.refusal(...final(payoutId, { ok: false }), ...signed(payoutId, { attempt: 2 }), ...fail),
    ).to.include('none of its transactions can succeed');
    expect(await rows.refusal(...final(payoutId, { ok: true }), ...fail)).to.include(
      'none of its transactions can succeed',
    );
    expect(await rows.refusal(...final(payoutId, { ok: false }), ...fail)).to.equal(null);
  });

  describe('a sent transaction', () => {
    const FIELDS: Readonly<Record<SentState, string>> = {
      asked: '',
      signed: '',
      sent: ', block_number = null, block_hash = null, ok = null, fee_units = null, moves = null, verified_at = null',
      mined: ", block_number = 9, block_hash = '0x9', ok = true, fee_units = 1, moves = '[]'",
      final: ', verified_at = now()',
      dead: '',
      foreign: '',
    };
    const SIGN = `, raw = '\\x00', signed_at = now(), hash = gen_random_uuid()::text`;
    const WAYS: Readonly<Record<SentState, readonly SentState[]>> = {
      asked: [],
      signed: ['signed'],
      sent: ['signed', 'sent'],
      mined: ['signed', 'mined'],
      final: ['signed', 'mined', 'final'],
      dead: ['signed', 'dead'],
      foreign: [],
    };
    const step = (id: string, to: SentState, signs = to === 'signed'): Statement => ({
      text: `update sent_transactions set state = '${to}'${FIELDS[to]}${signs ? SIGN : ''} where id = ?`,
      params: [id],
    });
    async function sentIn(state: SentState): Promise<string> {
      const [id, payoutId] = [randomUUID(), (await payoutIn('planned')).payoutId];
      const ours =
        state === 'foreign' ? "'0xf', 'foreign', null, null, null" : "null, 'asked', 'payout', id, 1";
      await rows.sql(
        `insert into sent_transactions (id, network, hash, state, purpose, payout_id, attempt, from_address,
           from_key, to_address, to_key, currency, amount_units, created_at, updated_at)
         select ?, network, ${ours.replace("'0xf'", 'id::text')}, address, address_key, destination, 'd', currency,
           gross_units, now(), now() from payouts where id = ?`,
        [id, payoutId],
      );
      for (const to of WAYS[state]) await rows.commit([step(id, to)]);
      return id;
    }

    for (const from of SENT_STATES)
      for (const to of SENT_STATES.filter((state) => state !== from)) {
        const allowed = SENT_TRANSITIONS[from].includes(to);
        it(`${allowed ? 'may' : 'may not'} go from ${from} to ${to}, as the domain's table says`, async () => {
          const answer = await rows.refusal(
            step(await sentIn(from), to, from === 'asked' && to === 'signed'),
          );
          expect(answer === null, String(answer)).to.equal(allowed);
        });
      }

    it('keeps its terms, and its bytes once they are signed', async () => {
      const asked = await sentIn('asked');
      for (const change of [
        "to_key = 'x'",
        'amount_units = 9',
        'attempt = 2',
        "currency = 'BNB'",
        'payout_id = null',
      ])
        expect(await refusal(`update sent_transactions set ${change} where id = ?`, asked), change).to.be.a(
          'string',
        );
      const ready = await sentIn('signed');
      for (const change of [
        "raw = '\\x01'",
        "hash = 'x'",
        'nonce = 9',
        'signed_at = null',
        'expires_at = now()',
        'raw = null',
      ])
        expect(await refusal(`update sent_transactions set ${change} where id = ?`, ready), change).to.be.a(
          'string',
        );
    });

    it('shares its nonce with nothing else that its wallet signed', async () => {
      const { payoutId } = await payoutIn('planned');
      const insert = (attempt: number, nonce: number, currency = 'currency') => ({
        text: `insert into sent_transactions (id, network, state, purpose, payout_id, attempt, from_address, from_key,
             to_address, to_key, currency, amount_units, nonce, created_at, updated_at)
           select gen_random_uuid(), network, 'asked', 'payout', id, ?, address, address_key, destination, 'd',
             ${currency}, gross_units, ?, now(), now() from payouts where id = ?`,
        params: [attempt, nonce, payoutId],
      });
      expect(await rows.refusal(insert(1, 4), insert(2, 4))).to.equal(null);
      expect(await rows.refusal(insert(1, 4), insert(1, 4))).to.include('unique');
    });
  });
});
