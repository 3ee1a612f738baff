import { expect } from 'chai';
import { decideReclaim } from '../../../../src/domain/payouts/reclaim.ts';
import { sentFor, signerFacts } from '../../../../src/services/payouts/settle/living.ts';
import { type AdoptStage, type Row, startAdoptStage } from './stage.ts';

const USDT = 5n * 10n ** 6n;
const LOAN = { purpose: 'delegate', units: 8_000n * 10n ** 6n } as const;
const BACK = { ...LOAN, purpose: 'reclaim' } as const;
const NOTHING = { moves: [] };

describe('taking up what took energy back, of a payout that was over in the backup', function () {
  this.timeout(180_000);
  let the: AdoptStage;
  before(async () => {
    the = await startAdoptStage();
  });
  after(() => the?.stop());

  type Place = Awaited<ReturnType<AdoptStage['place']>>;
  /** A payout that was given up with its loan in a final block, and what took that back. */
  async function lent(place: Place) {
    await the.deposit(place, 'USDT', USDT);
    const payout = await the.plan(place, 'USDT');
    const loan = await the.decided(await the.ask(payout, LOAN));
    await the.shows(loan, NOTHING);
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force("update payouts set state = 'cancelled', reason = 'x' where id = ?", [payout.id]);
    const back = await the.decided(await the.ask(payout, BACK));
    expect(back, `${back['refused']}`).to.include({ state: 'signed' });
    return { payout, back };
  }
  const forget = (row: Row) => the.force('delete from sent_transactions where id = ?', [row['id']]);
  const foreign = () => the.sql("select hash from sent_transactions where state = 'foreign'");
  async function decides(payoutId: string): Promise<string> {
    const em = the.deps.orm.em.fork();
    const sent = await sentFor(em, 'tron', payoutId);
    const loan = sent.find(({ purpose }) => purpose === 'delegate');
    if (!loan) throw new Error('nothing was lent');
    const facts = { retriedAt: null, now: new Date(), resendMs: 30_000, blockLookMs: 3_000 };
    const reclaims = sent.filter(({ purpose }) => purpose === 'reclaim');
    return decideReclaim({ ...facts, loan, sent: reclaims, signer: await signerFacts(em) }).does;
  }

  it('says what to do, and knows that the energy is back, though nothing is to be paid out there', async () => {
    const place = await the.place('tron');
    const { payout, back } = await lent(place);
    await forget(back);
    await the.shows(back, NOTHING);
    // The worker asks for it anew, as it knows nothing of the first time.
    const again = await the.decided(await the.ask(payout, BACK));
    expect(again['refused']).to.match(/^backup: .*"payout adopt --tx [0-9a-f]{64} --network tron"/);
    expect(await foreign()).to.deep.equal([{ hash: back['hash'] }]);
    const { payoutId } = await the.adopt(back);
    expect(payoutId).to.equal(payout.id);
    expect(await foreign()).to.deep.equal([]);
    expect((await the.row(String(again['id'])))['state']).to.equal('dead');
    expect(await decides(payout.id)).to.equal('returned');
  });

  it('beside another payout of the address, with which it has nothing to do', async () => {
    const place = await the.place('tron');
    const { payout, back } = await lent(place);
    await forget(back);
    await the.plan(place, 'USDT');
    await the.shows(back, NOTHING);
    expect((await the.adopt(back)).payoutId).to.equal(payout.id);
    expect(await decides(payout.id)).to.equal('returned');
  });
});
