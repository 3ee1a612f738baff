import { expect } from 'chai';
import {
  askWithdrawChange,
  ContractDoubt,
  cancelWithdrawChange,
  checkWithdrawChange,
} from '../../../src/services/merchants/withdraw-changes.ts';
import { pendingWithdrawChanges } from '../../../src/services/merchants/withdraw-notices.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';
import { A, B, C, type ChangeStage, HOUR_S, onTron, startChangeStage } from './change-stage.ts';

describe('a withdraw address that a signed-in user changes', function () {
  this.timeout(60_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage({
      settings: { payouts: { networks: ['bsc'], minUnits: new Map(), maxFeeBasisPoints: 500n } },
    });
  });
  beforeEach(() => stage.renew());
  after(() => stage?.stop());

  const said = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      (error: Error) => error.message,
    );
  const chain = (hasCode: () => Promise<boolean>) => new Map([['bsc' as const, { hasCode }]]);
  const pending = async () => (await pendingWithdrawChanges(stage.deps, stage.merchantId)).pending;

  it('counts a day after it was asked for and not a second sooner, and the old one is paid until then', async () => {
    await stage.set(A);
    const asked = await stage.ask(B);
    expect(asked).to.deep.include({ network: 'bsc', address: B, present: A, outcome: null, endedAt: null });
    expect(asked.askedBy).to.deep.equal({ userId: stage.userId, email: stage.email });
    expect(asked.countsAt.getTime() - asked.askedAt.getTime()).to.equal(24 * HOUR_S * 1_000);
    stage.pass(24 * HOUR_S - 1);
    expect([await stage.count(), await stage.present()]).to.deep.equal([0, A]);
    expect(await pending()).to.deep.equal([asked]);
    stage.pass(1);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, B]);
    expect([await pending(), await stage.count()]).to.deep.equal([[], 0]);
    // The same where it is taken away.
    await stage.ask(null);
    expect([await stage.count(), await stage.present()]).to.deep.equal([0, B]);
    stage.pass(24 * HOUR_S);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, null]);
  });

  it('tells the actors, and the trail says who asked, what was before and what is after', async () => {
    await stage.set(A);
    await stage.pay(await stage.customer(), { coins: '7' });
    await stage.sql('delete from outbox');
    const { id, countsAt, askedAt } = await stage.ask(B);
    stage.pass(24 * HOUR_S);
    await stage.count();
    const woken = await stage.sql<{ id: string }>('select workflow_id as id from outbox');
    expect(woken.map((row) => row.id)).to.have.length(1);
    expect(woken[0]?.id).to.match(/^settlement:bsc:/);
    const seconds = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
    expect((await stage.trail()).slice(-2)).to.deep.equal([
      {
        action: 'withdraw_address.asked',
        subject: id,
        before: null,
        after: { network: 'bsc', asked_for: B, counts_at: seconds(countsAt), present: A },
        by: stage.userId,
      },
      {
        action: 'withdraw_address.changed',
        subject: id,
        before: { withdraw_bsc: A, asked_at: null },
        after: { withdraw_bsc: B, asked_at: seconds(askedAt) },
        by: stage.userId,
      },
    ]);
  });

  it('can be cancelled by any user of the merchant until it counts, and once', async () => {
    await stage.set(A);
    const { id } = await stage.ask(B);
    const other = stage.acting(await stage.newUser(stage.merchantId));
    stage.pass(48 * HOUR_S);
    const cancel = async () => await cancelWithdrawChange(other, stage.merchantId, { id });
    expect((await cancel()).outcome).to.equal('cancelled');
    expect((await cancel()).outcome).to.equal('cancelled');
    expect([await stage.count(), await stage.present()]).to.deep.equal([0, A]);
    const actions = (await stage.trail()).map(({ action }) => action);
    expect(actions.filter((action) => action === 'withdraw_address.cancelled')).to.have.length(1);
  });

  it('is replaced by another one, which waits anew, and is the same change when it is asked for again', async () => {
    await stage.set(A);
    const first = await stage.ask(B);
    stage.pass(HOUR_S);
    expect((await stage.ask(B)).id).to.equal(first.id);
    expect((await stage.ask(B)).countsAt).to.deep.equal(first.countsAt);
    const second = await stage.ask(C);
    expect(second.countsAt.getTime() - first.countsAt.getTime()).to.equal(HOUR_S * 1_000);
    stage.pass(23 * HOUR_S);
    expect([await stage.count(), await stage.present()]).to.deep.equal([0, A]);
    stage.pass(HOUR_S);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, C]);
    expect((await stage.outcomes()).map(({ outcome }) => outcome)).to.deep.equal(['replaced', 'counted']);
    for (const { id } of [first, second]) {
      const refusal = await refusalOf(stage.cancel(id));
      expect([refusal.code, refusal.message.includes('"')]).to.deep.equal(['INVALID', false]);
    }
  });

  it('ends when an operator sets that network, which counts at once, and on no other network', async () => {
    const bsc = await stage.ask(A);
    const tron = await stage.ask(onTron('a1'), { network: 'tron' });
    await stage.set(C);
    expect(await stage.present()).to.equal(C);
    expect((await pending()).map(({ id }) => id)).to.deep.equal([tron.id]);
    const ended = (await stage.trail()).filter(({ action }) => action === 'withdraw_address.replaced');
    expect(ended.map(({ subject, by }) => [subject, by])).to.deep.equal([[bsc.id, 'Olga']]);
    stage.pass(24 * HOUR_S);
    expect(await stage.count()).to.equal(1);
    expect([await stage.present(), await stage.present('tron')]).to.deep.equal([C, onTron('a1')]);
  });

  it('is refused with what was typed wrong, and nothing waits', async () => {
    await stage.set(A);
    const refusal = await refusalOf(stage.ask(A));
    expect(refusal.message).to.match(/is the withdraw address on BNB Chain already\.$/);
    expect([refusal.code, refusal.field]).to.deep.equal(['INVALID', 'address']);
    const { contracts } = stage.deps.settings;
    expect((await refusalOf(stage.ask(contracts.bsc))).message).to.match(
      /Give an address of a wallet of your own\.$/,
    );
    await stage.set(null, 'tron');
    expect((await refusalOf(stage.ask(null, { network: 'tron' }))).message).to.match(/^No withdraw address/);
    expect(await pending()).to.deep.equal([]);
    await stage.ask(B);
    expect((await refusalOf(stage.ask(A))).message).to.match(
      /To keep it so, cancel the change that waits\.$/,
    );
  });

  it('is spelled as its chain spells it, and a contract is asked about unless the person knows', async () => {
    const none = chain(async () => false);
    const input = { network: 'bsc' as const, address: ` ${B.toLowerCase()} ` };
    const good = { network: 'bsc', address: B, contractAllowed: false };
    expect(await checkWithdrawChange(none, input)).to.deep.equal(good);
    expect(await checkWithdrawChange(new Map(), input)).to.deep.equal(good);
    expect(await checkWithdrawChange(none, { ...input, address: null })).to.deep.include({ address: null });
    for (const code of [async () => true, () => Promise.reject(new Error('away'))]) {
      const doubt = await refusalOf(checkWithdrawChange(chain(code), input));
      expect(doubt).to.be.instanceOf(ContractDoubt);
      expect([doubt.field, doubt.message.includes('--')]).to.deep.equal(['allow_contract', false]);
      const known = await checkWithdrawChange(chain(code), { ...input, allowContract: true });
      expect(known).to.deep.equal({ ...good, contractAllowed: true });
    }
    const mistyped = `${B.slice(0, -1)}${B.endsWith('a') ? 'b' : 'a'}`;
    for (const address of ['', '1'.repeat(1_000_000), mistyped, onTron('a1'), `${B}0`]) {
      const refusal = await refusalOf(checkWithdrawChange(none, { network: 'bsc', address }));
      expect([refusal.field, refusal instanceof ContractDoubt], address).to.deep.equal(['address', false]);
    }
  });

  it('is checked again when it is due, and does not count where it is no address to pay to any more', async () => {
    await stage.set(A);
    await stage.ask(B);
    stage.pass(24 * HOUR_S);
    const away = stage.count(chain(() => Promise.reject(new Error('away'))));
    expect(await said(away)).to.match(/no RPC endpoint of bsc says whether it is a contract/);
    expect(await pending()).to.have.length(1);
    expect([await stage.count(chain(async () => true)), await stage.present()]).to.deep.equal([1, A]);
    const { refused } = await pendingWithdrawChanges(stage.deps, stage.merchantId);
    expect(refused.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([
      [
        'refused',
        `${B} on BNB Chain did not become the withdraw address, because it is a contract by now: ask for another one.`,
      ],
    ]);
    // Who said that they know is not asked again; and what was asked for anew is what people look at.
    await stage.ask(B, { contractAllowed: true });
    expect((await pendingWithdrawChanges(stage.deps, stage.merchantId)).refused).to.deep.equal([]);
    stage.pass(24 * HOUR_S);
    expect([await stage.count(chain(async () => true)), await stage.present()]).to.deep.equal([1, B]);
    await stage.ask(C);
    await publishGasWallets(stage.deps, { bsc: C, tron: onTron('9a') });
    stage.pass(24 * HOUR_S);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, B]);
  });

  it('counts whatever became of the subscription, and payouts of others do not wait for one that is held', async () => {
    const other = await stage.newMerchant();
    const third = await stage.newMerchant();
    await stage.ask(A);
    await stage.ask(B, {}, other);
    await stage.ask(onTron('b2'), { network: 'tron' }, third);
    await stage.sql('update merchants set subscription_active = false');
    stage.pass(24 * HOUR_S);
    const held = await said(stage.count(chain(() => Promise.reject(new Error('away')))));
    expect(held.match(/no RPC endpoint of bsc/g)).to.have.length(2);
    expect(await stage.present('tron', third)).to.equal(onTron('b2'));
    expect(await stage.count()).to.equal(2);
    expect([await stage.present(), await stage.present('bsc', other)]).to.deep.equal([A, B]);
  });

  it('belongs to its merchant: nobody else cancels it or sees it', async () => {
    const { id } = await stage.ask(A);
    const other = await stage.newMerchant();
    const foreign = await refusalOf(stage.cancel(id, other));
    for (const [what, merchantId] of [
      [UNKNOWN_ID, stage.merchantId],
      ['x', stage.merchantId],
      [id, UNKNOWN_ID],
    ] as const)
      expect((await refusalOf(stage.cancel(what, merchantId))).code).to.equal('NOT_FOUND');
    const unknown = await refusalOf(stage.cancel(UNKNOWN_ID));
    expect([foreign.code, foreign.message]).to.deep.equal([unknown.code, unknown.message]);
    expect(await pendingWithdrawChanges(stage.deps, other)).to.deep.equal({ pending: [], refused: [] });
    expect(await pending()).to.have.length(1);
  });

  it('asks the guard first, and is for signed-in users alone', async () => {
    const no = new Refusal('INVALID', 'Not now.');
    const asked = { network: 'bsc', address: A, contractAllowed: false } as const;
    const refusing = { guard: () => Promise.reject(no) };
    expect(await refusalOf(askWithdrawChange(stage.user, stage.merchantId, asked, refusing))).to.equal(no);
    expect(await pending()).to.deep.equal([]);
    expect(await said(askWithdrawChange(stage.operator, stage.merchantId, asked))).to.match(
      /only what a signed-in user changes waits/,
    );
  });
});
