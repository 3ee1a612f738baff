import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../../dev/support/live-gateway.ts';
import { tempDir } from '../../../../dev/support/parts.ts';
import { postgresPrograms } from '../../../../dev/support/postgres-programs.ts';
import { testRun } from '../../../../dev/support/test-run.ts';
import { createPaymentLink } from '../../../../dev/support/use-cases.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { noteRestoreGoals } from '../../../../src/services/restores/hold.ts';
import { ask } from '../../../cli/care/stage.ts';
import { answer, type Env, gateway, oneObject } from '../../../cli/support.ts';
import {
  MERCHANTS,
  type SettleStage,
  startFundedStage,
  USDT,
} from '../../../services/payouts/settle/stage.ts';
import { says } from '../../../services/payouts/settle/steps.ts';
import { shown } from '../../../services/payouts/stage.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const BNB = 10n ** 17n;
const WHO = ['--by', 'Ann', '--reason', 'the restore of the 25th'];

/** The drill of "Restore" in docs/operations.md, in its order. */
describe('the drill: a database of yesterday, the journal of today', function () {
  this.timeout(600_000);
  let the: SettleStage;
  let backup: string;
  let programs: string;
  /** Paid out before the backup; completed before it and paid out after; come and paid out after it. */
  let [paidBefore, completedBefore, cameAfter]: AddressKey[] = [];
  /** Seen before the backup, completed and paid out after it; half of a link before it, and half after. */
  let [seenBefore, halfBefore]: AddressKey[] = [];
  let linkId = '';
  /** Signed after the backup, and sent by nobody. */
  let unsent: AddressKey | undefined;
  let paid: { readonly tokens: bigint; readonly coins: bigint };

  const merchantHas = async () => ({
    tokens: await the.tokensOf(DESTINATION),
    coins: await the.coinsOf(DESTINATION),
  });
  const env = (): Env => ({
    DATABASE_URL: the.deps.orm.config.get('clientUrl') ?? '',
    BSC_USDT_CONTRACT: the.chain.usdt.address,
    SIGN_JOURNAL_FILE: the.signer.files.journalFile,
    POSTGRES_BIN: programs,
    BSC_RPC_URLS: the.chain.url,
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
  });
  const payoutHash = async (key: AddressKey): Promise<string> =>
    String((await the.sent(key)).find(({ purpose }) => purpose === 'payout')?.['hash']);
  const link = async () =>
    (
      await the.rows(
        'select status, (paid_units * 100 / amount_units)::int as percent from payment_links where id = ?',
        [linkId],
      )
    )[0];
  const hashes = new Map<AddressKey, string>();
  const takingUp = (key: AddressKey = '' as AddressKey): string[] => {
    const named = [shown('bsc', key), '--tx', hashes.get(key) ?? ''];
    return ['payout', 'conclude', ...named, '--journal', the.signer.files.journalFile, ...WHO];
  };
  const takeUp = (key: AddressKey) => answer(takingUp(key), env());
  const isRefused = async (args: readonly string[], says: RegExp): Promise<void> => {
    const ran = await gateway(args, env());
    expect(ran.code, ran.stdout).to.equal(1);
    expect(ran.stderr).to.match(says);
  };
  const RESUME = ['payout', 'resume', '--by', 'Ann'];

  /** What a disk does that dies: every row is gone, and an empty database is made in its place. */
  const lose = async (): Promise<void> => {
    const url = new URL(env().DATABASE_URL ?? '');
    const name = url.pathname.slice(1);
    const server = Object.assign(url, { pathname: '/postgres' }).href;
    await ask(server, `drop database ${name} with (force)`);
    await ask(server, `create database ${name}`);
  };

  before(async () => {
    programs = await testRun.unlimited(async () => postgresPrograms(console.error, process.env));
    the = await startFundedStage();
  });
  after(() => the?.stop());

  it('pays out before and after the backup, and signs what nobody sends', async () => {
    paidBefore = await the.paid(['USDT', 10n * USDT]);
    await the.settle(paidBefore);
    completedBefore = await the.paid(['BNB', BNB]);
    unsent = await the.paid(['USDT', 7n * USDT]);
    cameAfter = await the.paid();
    halfBefore = await the.paid();
    const [owner] = await the.rows('select customer_id from deposit_addresses where address_key = ?', [
      halfBefore,
    ]);
    const made = await createPaymentLink(the.deps, {
      merchantId: the.api.merchant.id,
      mode: 'live',
      customerId: String(owner?.['customer_id']),
      amountCents: 1_000n,
      publicUrl: 'https://pay.example',
      expiresInS: 86_400,
    });
    linkId = made.link.id;
    await the.pay(halfBefore, ['USDT', 4n * USDT]);
    seenBefore = keyOfHex(await the.newAddress(), 2);
    await the.chain.usdt.call('transfer', [`0x${seenBefore}`, 2n * USDT]);
    await the.chain.mine();
    await the.catchUp();
    expect((await the.depositsOf(seenBefore)).map(({ status }) => status)).to.deep.equal(['detected']);
    expect(await link()).to.deep.equal({ status: 'partially_paid', percent: 40 });
    ({ folder: backup } = await answer<{ folder: string }>(
      ['backup', '--to', await tempDir('backups')],
      env(),
    ));
    const drill = await answer(['restore', '--drill', '--from', backup], env());
    expect(drill).to.deep.include({ ok: true, drill: true });
    await the.pay(cameAfter, ['USDT', 5n * USDT], ['USDT', 3n]);
    await the.pay(halfBefore, ['USDT', 6n * USDT]);
    expect(await link()).to.deep.equal({ status: 'completed', percent: 100 });
    for (const key of [completedBefore, cameAfter, seenBefore]) await the.settle(key);
    await the.settle(unsent, says(': signed'));
    for (const key of [completedBefore, cameAfter, seenBefore, unsent])
      hashes.set(key, await payoutHash(key));
    paid = await merchantHas();
    expect(paid.tokens).to.equal(17n * USDT + 3n);
  });

  it('is restored: the signer first, and then the blocks are read again', async () => {
    await the.signer.stop();
    await lose();
    const restored = await eventually(
      'nobody being connected',
      async () => {
        const ran = await gateway(['restore', '--from', backup, '--json', '--by', 'Ann'], env());
        return ran.code === 0 ? oneObject(ran.stdout) : undefined;
      },
      60_000,
    );
    expect(restored).to.deep.include({ ok: true, payouts_held: true });
    await isRefused(RESUME, /Payouts are held since .* the signer has not taken/s);
    // Nobody vouches for the journal yet.
    await isRefused(
      takingUp(unsent),
      /^The signer has not taken this database over yet.*start --role signer/s,
    );
    const before = await the.rows("select line from signer_state where name = 'signer'");
    await the.signer.start();
    await eventually('the signer taking it over', async () => {
      const [now] = await the.rows("select line from signer_state where name = 'signer'");
      return Number(now?.['line']) > Number(before[0]?.['line']);
    });
    await isRefused(RESUME, /no worker has looked at bsc since the restore/);
    the.restart();
    await the.finish();
    await noteRestoreGoals(the.deps);
    await the.complete();
    await the.finish();
    expect(await link()).to.deep.equal({ status: 'completed', percent: 100 });
    const again = await the.depositsOf(cameAfter as AddressKey);
    expect(again.map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
    const foreign = await the.rows("select hash from sent_transactions where state = 'foreign'");
    const known = new Set(foreign.map(({ hash }) => hash));
    for (const key of [completedBefore, cameAfter, seenBefore])
      expect(known.has(hashes.get(key as AddressKey)), 'the payout is called foreign').to.equal(true);
  });

  it('pays nothing twice, whatever asks for it', async () => {
    for (const key of [completedBefore, cameAfter, seenBefore, halfBefore, unsent] as AddressKey[])
      for (let round = 0; round < 4; round += 1) {
        const step = await the.step(key);
        if (step.kind === 'rest') break;
        await the.finish();
      }
    expect(await merchantHas()).to.deep.equal(paid);
    // Held by the restore; the tests of the signer show what it refuses where nothing is held.
    expect(says('paused')(await the.step(cameAfter as AddressKey))).to.equal(true);
    await isRefused(RESUME, /was sent by our wallets, and the database does not know it: "payout conclude"/);
    const signedAnew = await the.rows(
      "select 1 from sent_transactions where state in ('asked', 'signed') and purpose = 'payout' and raw is not null",
    );
    expect(signedAnew).to.deep.equal([]);
  });

  it('takes up what was paid, and settles it once', async () => {
    for (const key of [completedBefore, cameAfter, seenBefore] as AddressKey[]) {
      const taken = await takeUp(key);
      expect(taken).to.deep.include({ ok: true, concluded: false });
      const steps = await the.settle(key);
      expect(steps.some((step) => step.kind === 'went' && step.state === 'settled')).to.equal(true);
      const deposits = await the.depositsOf(key);
      for (const { status, settled_units: units } of deposits)
        expect([status, units === null]).to.deep.equal(['settled', false]);
      expect((await the.payouts(key)).filter(({ state }) => state === 'settled')).to.have.length(1);
      expect(await payoutHash(key)).to.equal(hashes.get(key));
    }
    expect(await merchantHas()).to.deep.equal(paid);
    await isRefused(takingUp(cameAfter), /which is settled: there is nothing to take up/);
  });

  it('takes up what nobody had sent, and sends the same bytes', async () => {
    const key = unsent as AddressKey;
    await takeUp(key);
    await the.settle(key);
    const sent = await the.sent(key);
    expect(sent.filter(({ purpose, state }) => purpose === 'payout' && state === 'final')).to.have.length(1);
    expect(await payoutHash(key)).to.equal(hashes.get(key));
    expect(await the.tokensOf(DESTINATION)).to.equal(paid.tokens + 7n * USDT);
    expect((await merchantHas()).coins).to.equal(paid.coins);
  });

  it('lets payouts go on once everything is known', async () => {
    await the.finish();
    const ran = await gateway(RESUME, env());
    expect(ran.code, ran.stderr).to.equal(0);
    expect(await the.rows('select over_at is not null as over from restores')).to.deep.equal([
      { over: true },
    ]);
    // What was never paid out is paid out now, once.
    await the.settle(halfBefore as AddressKey);
    expect(await the.tokensOf(DESTINATION)).to.equal(paid.tokens + 17n * USDT);
  });

  it('ends with one event for each deposit, nothing foreign, and books that agree with the chain', async () => {
    const told = await the.rows(
      `select d.id, count(e.id)::int as told from deposits d
       left join events e on e.subject_id = d.id and e.type = 'deposit.settled'
       where d.mode = 'live' group by d.id`,
    );
    expect(told.map(({ told: times }) => times)).to.deep.equal(told.map(() => 1));
    expect(told).to.have.length(8);
    expect(
      await the.rows("select count(*)::int as n from events where type = 'payment.completed'"),
    ).to.deep.equal([{ n: 1 }]);
    await the.agrees();
    const audit = await auditLedger(the.deps);
    expect(audit.differences).to.deep.equal([]);
    const nonces = await the.rows(
      "select from_key, nonce, count(*)::int as n from sent_transactions where state = 'final' group by 1, 2 having count(*) > 1",
    );
    expect(nonces).to.deep.equal([]);
    const actions = await the.rows(
      "select by_name, reason from operator_actions where action = 'payout.take-up'",
    );
    expect(actions).to.have.length(4);
    expect(actions[0]).to.deep.equal({ by_name: 'Ann', reason: 'the restore of the 25th' });
  });
});
