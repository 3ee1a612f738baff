import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';

const USDT = TRX;
const MOST_TURNS = 200;
const OF_TRANSACTIONS = ['gas', 'delegate', 'payout', 'reclaim'].flatMap((purpose) =>
  ['asked', 'signed', 'sent'].map((state) => `${purpose} ${state}`),
);
/** What is about to be committed, each of which ends whoever wants that the first time. */
const MOMENTS = [...OF_TRANSACTIONS, 'delegate back', 'payout planned', 'payout paying', 'payout settled'];
const sequenceOf = (moment: string): string => `dies_${moment.replace(' ', '_')}`;
/** A sequence counts on, whatever becomes of the transaction. */
const DIES = `create function dies_at_first() returns trigger language plpgsql as $$
  declare
    moment text := case when tg_table_name = 'payouts' then 'payout_' || new.state
      when to_jsonb(new)->>'reclaimed_at' is not null then 'delegate_back'
      else (to_jsonb(new)->>'purpose') || '_' || new.state end;
  begin
    if to_regclass('dies_' || moment) is not null and nextval('dies_' || moment) = 1 then
      raise exception 'it dies before this is committed: %', moment;
    end if;
    return null;
  end $$`;

/** As if a worker or the signer were killed there: nothing that follows is done, and another one goes on. */
describe('a payout with lent energy whose workers and signer die at every line', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: 400_000n * TRX });
    for (const moment of MOMENTS) await the.rows(`create sequence ${sequenceOf(moment)}`);
    await the.rows(DIES);
    for (const table of ['payouts', 'sent_transactions'])
      await the.rows(
        `create constraint trigger dies after insert or update on ${table} deferrable initially deferred
          for each row execute function dies_at_first()`,
      );
  });
  after(() => the?.stop());

  const died = async (): Promise<string[]> => {
    const reached: string[] = [];
    for (const moment of MOMENTS) {
      const [row] = await the.rows(`select is_called from ${sequenceOf(moment)}`);
      if (row?.['is_called'] === true) reached.push(moment);
    }
    return reached;
  };
  /** Ends before it sends what it never sent, and after it the next time. */
  const dyingAtBroadcasts = (): { readonly over: Spending; readonly deaths: Map<string, number> } => {
    const deaths = new Map<string, number>();
    const over: Spending = {
      ...the.spending,
      broadcast: async (raw, signal) => {
        const bytes = Buffer.from(raw).toString('hex');
        const times = (deaths.get(bytes) ?? 0) + 1;
        deaths.set(bytes, times);
        if (times === 1) throw new Error('it dies before it sends them');
        const said = await the.spending.broadcast(raw, signal);
        if (times === 2) throw new Error('it dies once they are sent');
        return said;
      },
    };
    return { over, deaths };
  };
  const signedFor = (payoutId: unknown): string[] =>
    readFileSync(the.signer.files.journalFile, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; purpose: string; payout_id: string })
      .filter(({ kind, payout_id: id }) => kind === 'signed' && id === payoutId)
      .map(({ purpose }) => purpose);

  it('is lent once, paid once and lent back once', async () => {
    const key: AddressKey = await the.paid(['USDT', 10n * USDT]);
    const had = await the.tokensOf(MERCHANT_KEY);
    const { over, deaths } = dyingAtBroadcasts();
    for (let turn = 0; ; turn += 1) {
      expect(turn, 'it never ends').to.be.lessThan(MOST_TURNS);
      const steps = await Promise.allSettled([the.step(key, false, over), the.step(key, false, over)]);
      await the.wallets(over).catch(() => undefined);
      const kinds = steps.map((one) => (one.status === 'fulfilled' ? one.value.kind : 'died'));
      if (kinds.every((kind) => kind === 'rest')) break;
      if (kinds.includes('went')) continue;
      if (!kinds.includes('died')) await the.finish();
      // What was noted as sent is sent again by then.
      the.clock.aheadMs += 10_000;
    }
    expect(await died()).to.have.members(MOMENTS);
    expect(
      [...deaths.values()].every((times) => times >= 2),
      'at each broadcast',
    ).to.equal(true);
    const [payout, ...others] = await the.payouts(key);
    expect(others).to.deep.equal([]);
    expect(payout).to.include({ state: 'settled' });
    const all = ['delegate', 'gas', 'payout', 'reclaim'];
    expect(signedFor(payout?.['id']).toSorted(), 'in the journal').to.deep.equal(all);
    const rows = (await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`);
    expect(rows.toSorted()).to.deep.equal(all.map((purpose) => `${purpose} final`));
    expect((await the.tokensOf(MERCHANT_KEY)) - had).to.equal(10n * USDT);
    const { lending } = the.spending;
    const parties = { lender: the.gas, borrower: key };
    expect(await lending?.lent(parties, new AbortController().signal)).to.equal(0n);
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
