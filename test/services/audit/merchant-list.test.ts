import { expect } from 'chai';
import { listMerchantActions } from '../../../src/services/audit/merchant-list.ts';
import { recordAction } from '../../../src/services/audit/record.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';
import { A, B, type ChangeStage, startChangeStage } from '../merchants/change-stage.ts';

describe('the audit list of a merchant', function () {
  this.timeout(120_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  beforeEach(() => stage.renew());
  after(() => stage?.stop());

  const list = async (
    place: { limit?: number; startingAfter?: string; endingBefore?: string } = {},
    mode?: 'live' | 'test',
    merchantId = stage.merchantId,
  ) => await listMerchantActions(stage.deps, { merchantId, mode }, { limit: 10, ...place });

  it('says who did what from where, newest first, and of operators neither name nor machine nor reason', async () => {
    stage.pass(1);
    await stage.set(A);
    stage.pass(1);
    await setPaused(stage.operator, {
      merchantId: stage.merchantId,
      paused: true,
      reason: 'Ann may be a thief',
    });
    stage.pass(1);
    const { id } = await stage.ask(B);
    const page = await list();
    expect(page.rows.map(({ action }) => action)).to.deep.equal([
      'withdraw_address.asked',
      'payout.pause',
      'merchant.set',
      'user.create',
    ]);
    const [asked, paused, set, made] = page.rows;
    expect(asked).to.deep.include({
      by: { kind: 'user', userId: stage.userId, email: stage.email },
      from: '203.0.113.7',
      mode: 'live',
      subject: id,
    });
    expect(set).to.deep.include({
      by: { kind: 'operator' },
      from: null,
      before: { withdraw_bsc: null },
      after: { withdraw_bsc: A },
      reason: null,
    });
    expect(paused).to.deep.include({ by: { kind: 'operator' }, from: null, reason: null });
    expect(made).to.deep.include({ subject: stage.userId, subjectEmail: stage.email, after: {} });
    expect(JSON.stringify(page)).to.not.match(/Olga|bastion|thief/);
    expect([page.total, page.totalIsAtLeast, page.hasMore, page.page]).to.deep.equal([4, false, false, 1]);
  });

  it('shows of an operator only facts that are about what belongs to the merchant', async () => {
    const em = stage.deps.orm.em.fork();
    await recordAction(em, stage.operator, {
      action: 'merchant.set',
      merchantId: stage.merchantId,
      subject: stage.merchantId,
      before: { name: 'Shop', risk_note: 'watch them' },
      after: { name: 'Store', risk_note: 'watch them closely' },
    });
    const [row] = (await list()).rows;
    expect([row?.before, row?.after]).to.deep.equal([{ name: 'Shop' }, { name: 'Store' }]);
  });

  it('is that of one merchant: no row, no cursor and no email of another one', async () => {
    const other = await stage.newMerchant();
    const stranger = await stage.newUser(other);
    await createKey(stage.user, { merchantId: stage.merchantId, mode: 'live' });
    const foreign = (await list({}, undefined, other)).rows;
    const own = (await list()).rows;
    const foreignIds = foreign.map(({ id }) => id);
    expect(own.filter(({ id }) => foreignIds.includes(id))).to.deep.equal([]);
    for (const cursor of [foreign[0]?.id ?? '', UNKNOWN_ID, 'x', "' or true --"]) {
      expect((await refusalOf(list({ startingAfter: cursor }))).field).to.equal('starting_after');
      expect((await refusalOf(list({ endingBefore: cursor }))).field).to.equal('ending_before');
    }
    await recordAction(stage.deps.orm.em.fork(), stage.acting(stranger), {
      action: 'user.create',
      merchantId: stage.merchantId,
      subject: stranger,
    });
    const [row] = (await list()).rows;
    expect([row?.by, row?.subjectEmail]).to.deep.equal([
      { kind: 'user', userId: stranger, email: null },
      null,
    ]);
    expect((await list({}, undefined, UNKNOWN_ID)).rows).to.deep.equal([]);
  });

  it('shows with a mode what was changed in it and what belongs to neither', async () => {
    for (const mode of ['live', 'test'] as const) {
      stage.pass(1);
      await createKey(stage.user, { merchantId: stage.merchantId, mode });
    }
    const modes = async (mode?: 'live' | 'test') => (await list({}, mode)).rows.map((row) => row.mode);
    expect(await modes()).to.deep.equal(['test', 'live', null]);
    expect(await modes('live')).to.deep.equal(['live', null]);
    expect(await modes('test')).to.deep.equal(['test', null]);
    const live = (await list({}, 'live')).rows[0]?.id ?? '';
    expect((await refusalOf(list({ startingAfter: live }, 'test'))).code).to.equal('INVALID');
  });

  it('cannot be changed', async () => {
    for (const text of ["update operator_actions set by_name = 'x'", 'delete from operator_actions'])
      expect((await stage.sql(text).catch(String)).toString()).to.include('never changed or removed');
  });
});
