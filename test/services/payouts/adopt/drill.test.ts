import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { answer, type Env, gateway } from '../../../cli/support.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { type Backup, backUp } from './backup.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const BNB = 10n ** 17n;
const WHO = ['--network', 'bsc', '--by', 'Ann', '--reason', 'the restore of the 25th'];

/** The drill of "Restore" in docs/operations.md, in its order. */
describe('the drill: a database of yesterday, the journal of today', function () {
  this.timeout(600_000);
  let the: SettleStage;
  let backup: Backup;
  /** Paid out before the backup; completed before it and paid out after; come and paid out after it. */
  let [paidBefore, completedBefore, cameAfter]: AddressKey[] = [];
  /** Signed after the backup, and sent by nobody. */
  let unsent: AddressKey | undefined;
  let paid: { readonly tokens: bigint; readonly coins: bigint };

  const merchantHas = async () => ({
    tokens: await the.tokensOf(DESTINATION),
    coins: await the.coinsOf(DESTINATION),
  });
  const says =
    (words: string) =>
    (step: SettlementStep): boolean =>
      ('note' in step ? step.note : step.reason).includes(words);
  const env = (): Env => ({
    DATABASE_URL: the.deps.orm.config.get('clientUrl') ?? '',
    BSC_USDT_CONTRACT: the.chain.usdt.address,
    SIGN_JOURNAL_FILE: the.signer.files.journalFile,
  });
  const payoutHash = async (key: AddressKey): Promise<string> =>
    String((await the.sent(key)).find(({ purpose }) => purpose === 'payout')?.['hash']);
  const hashes = new Map<AddressKey, string>();
  const adopt = (key: AddressKey) =>
    answer(['payout', 'adopt', '--tx', hashes.get(key) ?? '', ...WHO], env());

  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  it('pays out before and after the backup, and signs what nobody sends', async () => {
    paidBefore = await the.paid(['USDT', 10n * USDT]);
    await the.settle(paidBefore);
    completedBefore = await the.paid(['BNB', BNB]);
    unsent = await the.paid(['USDT', 7n * USDT]);
    cameAfter = await the.paid();
    backup = await backUp(the.deps);
    await the.pay(cameAfter, ['USDT', 5n * USDT], ['USDT', 3n]);
    for (const key of [completedBefore, cameAfter]) await the.settle(key);
    await the.settle(unsent, says(': signed'));
    for (const key of [completedBefore, cameAfter, unsent]) hashes.set(key, await payoutHash(key));
    paid = await merchantHas();
    expect(paid.tokens).to.equal(15n * USDT + 3n);
  });

  it('is restored: the signer first, and then the blocks are read again', async () => {
    await the.signer.stop();
    await backup.restore();
    // Nobody vouches for the journal yet.
    const early = await gateway(
      ['payout', 'adopt', '--tx', hashes.get(unsent as AddressKey) ?? '', ...WHO],
      env(),
    );
    expect([early.code, early.stderr]).to.deep.equal([1, early.stderr]);
    expect(early.stderr).to.match(/^The signer has not taken this database over yet.*start --role signer/s);
    const before = await the.rows("select line from signer_state where name = 'signer'");
    await the.signer.start();
    await eventually('the signer taking it over', async () => {
      const [now] = await the.rows("select line from signer_state where name = 'signer'");
      return Number(now?.['line']) > Number(before[0]?.['line']);
    });
    the.restart();
    await the.finish();
    await the.complete();
    await the.finish();
    const again = await the.depositsOf(cameAfter as AddressKey);
    expect(again.map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
    const foreign = await the.rows("select hash from sent_transactions where state = 'foreign'");
    const known = new Set(foreign.map(({ hash }) => hash));
    for (const key of [completedBefore, cameAfter])
      expect(known.has(hashes.get(key as AddressKey)), 'the payout is called foreign').to.equal(true);
  });

  it('pays nothing twice, whatever asks for it', async () => {
    for (const key of [completedBefore, cameAfter, unsent] as AddressKey[])
      for (let round = 0; round < 4; round += 1) {
        const step = await the.step(key);
        if (step.kind === 'rest') break;
        await the.finish();
      }
    expect(await merchantHas()).to.deep.equal(paid);
    expect(says('did not sign')(await the.step(cameAfter as AddressKey))).to.equal(true);
    const signedAnew = await the.rows(
      "select 1 from sent_transactions where state in ('asked', 'signed') and purpose = 'payout' and raw is not null",
    );
    expect(signedAnew).to.deep.equal([]);
  });

  it('takes up what was paid, and settles it once', async () => {
    for (const key of [completedBefore, cameAfter] as AddressKey[]) {
      const taken = await adopt(key);
      expect(taken).to.deep.include({ ok: true, network: 'bsc' });
      const steps = await the.settle(key);
      expect(steps.some((step) => step.kind === 'went' && step.state === 'settled')).to.equal(true);
      const deposits = await the.depositsOf(key);
      for (const { status, settled_units: units } of deposits)
        expect([status, units === null]).to.deep.equal(['settled', false]);
      expect((await the.payouts(key)).filter(({ state }) => state === 'settled')).to.have.length(1);
      expect(await payoutHash(key)).to.equal(hashes.get(key));
    }
    expect(await merchantHas()).to.deep.equal(paid);
    const twice = await gateway(
      ['payout', 'adopt', '--tx', hashes.get(cameAfter as AddressKey) ?? '', ...WHO],
      env(),
    );
    expect([twice.code, twice.stderr]).to.deep.equal([1, twice.stderr]);
    expect(twice.stderr).to.match(/which is settled: there is nothing to take up/);
  });

  it('takes up what nobody had sent, and sends the same bytes', async () => {
    const key = unsent as AddressKey;
    await adopt(key);
    await the.settle(key);
    const sent = await the.sent(key);
    expect(sent.filter(({ purpose, state }) => purpose === 'payout' && state === 'final')).to.have.length(1);
    expect(await payoutHash(key)).to.equal(hashes.get(key));
    expect(await the.tokensOf(DESTINATION)).to.equal(paid.tokens + 7n * USDT);
    expect((await merchantHas()).coins).to.equal(paid.coins);
  });

  it('ends with one event for each deposit, nothing foreign, and books that agree with the chain', async () => {
    const told = await the.rows(
      `select d.id, count(e.id)::int as told from deposits d
       left join events e on e.subject_id = d.id and e.type = 'deposit.settled'
       where d.mode = 'live' group by d.id`,
    );
    expect(told.map(({ told: times }) => times)).to.deep.equal(told.map(() => 1));
    expect(told).to.have.length(5);
    expect(await the.rows("select hash from sent_transactions where state = 'foreign'")).to.deep.equal([]);
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
    const audit = await auditLedger(the.deps);
    expect(audit.differences).to.deep.equal([]);
    const nonces = await the.rows(
      "select from_key, nonce, count(*)::int as n from sent_transactions where state = 'final' group by 1, 2 having count(*) > 1",
    );
    expect(nonces).to.deep.equal([]);
    const actions = await the.rows(
      "select by_name, reason from operator_actions where action = 'payout.adopt'",
    );
    expect(actions).to.have.length(3);
    expect(actions[0]).to.deep.equal({ by_name: 'Ann', reason: 'the restore of the 25th' });
  });

  it('is sealed by an older journal beside the newer database, until the newest is back', async () => {
    const { journalFile } = the.signer.files;
    await the.signer.stop();
    copyFileSync(journalFile, `${journalFile}.newest`);
    const lines = readFileSync(journalFile, 'utf8').trimEnd().split('\n');
    writeFileSync(journalFile, `${lines.slice(0, -2).join('\n')}\n`);
    await the.signer.start();
    const says = async (): Promise<string> =>
      String(
        (await the.rows("select sealed_reason from signer_state where name = 'signer'"))[0]?.[
          'sealed_reason'
        ],
      );
    await eventually('the signer being sealed', async () =>
      /is older than what it has signed for this database.*restore the newest journal|is not in the journal .*restore the newest journal/.test(
        await says(),
      ),
    );
    copyFileSync(`${journalFile}.newest`, journalFile);
    await eventually('the signer being open', async () => (await says()) === 'null');
    const key = await the.paid(['USDT', USDT]);
    await the.settle(key);
    expect((await the.depositsOf(key)).map(({ status }) => status)).to.deep.equal(['settled']);
  });
});
