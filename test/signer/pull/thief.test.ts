import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { sealDirection } from '../../../src/domain/payouts/direction.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { resealDirections } from '../../../src/services/secrets/directions.ts';
import { requireKeyInUse } from '../../../src/services/secrets/key-in-use.ts';
import { DESTINATIONS, to } from './asking.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

const THIEF = `0x7a1ef${'0'.repeat(35)}`;

/** Who may write every row of the database, past every guard, and knows no key. */
describe('a thief in the database', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const journal = () => readFileSync(the.files.journalFile, 'utf8');
  const signatures = () => the.sql('select id from sent_transactions where raw is not null');
  const unsigned = async () => {
    expect(await signatures()).to.deep.equal([]);
    expect(journal()).not.to.contain('"kind":"signed"');
  };
  const merchant = async (address: string) => {
    const withdraw = { bsc: address };
    const made = await createMerchant(the.deps, { name: 'Other', subscriptionActive: true, withdraw });
    return made.merchantId;
  };
  /** Another withdraw address in the merchant's row, and everywhere that it is compared with. */
  const redirect = async (payoutId: string, address = THIEF) => {
    await the.force("update withdraw_addresses set address = ? where merchant_id = ? and network = 'bsc'", [
      address,
      the.merchantId,
    ]);
    await the.force('update payouts set destination = ? where id = ?', [address, payoutId]);
  };

  it('who changes a withdraw address gets nothing: the signer seals itself, with an alarm, for everybody', async () => {
    const payout = await the.planned();
    const innocent = await merchant(DESTINATIONS.bsc[1]);
    const place = await the.place('bsc', innocent);
    await the.deposit(place, 'USDT', 10n ** 18n);
    const other = await the.ask(await the.plan(place, 'USDT', innocent));
    await redirect(payout.id);
    await the.ask(payout, to(THIEF));
    await the.signer();
    await the.sealed(
      'tampered',
      /withdraw address of merchant .* was changed by somebody who does not have SECRETS_KEY/,
    );
    await unsigned();
    const errors = the.lines.filter(
      ({ level, text }) => level === 'error' && /^sealed, signs noth/.test(text),
    );
    expect(errors).to.have.length(1);
    expect(journal()).to.contain('"kind":"alarm"');
    // The operator finds out, and sets what the merchant says.
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    await the.signed(other);
    expect(await signatures()).to.deep.equal([{ id: other }]);
  });

  type Planned = Awaited<ReturnType<SignerStage['planned']>>;
  /** What is written, and who is asked to be paid then. */
  const TAMPERED: Readonly<Record<string, (payout: Planned) => Promise<string>>> = {
    'puts the seal of another merchant beside an address': async (payout) => {
      const own = await merchant(THIEF);
      await redirect(payout.id);
      const [row] = await the.sql<{ address: string }>(
        `update withdraw_addresses w set address = t.address, seal = t.seal from withdraw_addresses t
         where t.merchant_id = ? and t.network = 'bsc' and w.merchant_id = ? and w.network = 'bsc'
         returning w.address`,
        [own, the.merchantId],
      );
      return row?.address ?? '';
    },
    'gives an address of ours to a merchant of their own': async (payout) => {
      const own = await merchant(THIEF);
      for (const table of ['deposits', 'payouts', 'deposit_addresses'])
        await the.force(`update ${table} set merchant_id = ? where address_key = ?`, [
          own,
          payout.addressKey,
        ]);
      await the.force('update customers set merchant_id = ?', [own]);
      const [row] = await the.sql<{ address: string }>(
        'select address from withdraw_addresses where merchant_id = ?',
        [own],
      );
      await the.force('update payouts set destination = ? where id = ?', [row?.address, payout.id]);
      return row?.address ?? '';
    },
    'moves a customer to another place of the wallet': async () => {
      await the.force('update customers set wallet_index = wallet_index + 1');
      return DESTINATIONS.bsc[0];
    },
  };
  for (const [what, write] of Object.entries(TAMPERED))
    it(`who ${what} gets nothing`, async () => {
      const payout = await the.planned();
      await the.ask(payout, to(await write(payout)));
      await the.signer();
      await the.sealed('tampered', / was changed by somebody who does not have SECRETS_KEY/);
      await unsigned();
    });

  it('who takes a seal away gets nothing', async () => {
    const payout = await the.planned();
    await redirect(payout.id);
    await the.force('update withdraw_addresses set seal = null');
    await the.signer();
    await the.refused(await the.ask(payout, to(THIEF)), /^destination: .* carries no seal/);
    await unsigned();
  });

  it('who puts an earlier withdraw address back gets nothing, whether the signer was there then or slept', async () => {
    const signer = await the.signer();
    const read = () => the.sql("select address, seal from withdraw_addresses where network = 'bsc'");
    const putBack = async ([row]: Awaited<ReturnType<typeof read>>) => {
      await the.force(
        `insert into withdraw_addresses (merchant_id, network, address, seal) values (?, 'bsc', ?, ?)
         on conflict (merchant_id, network) do update set address = excluded.address, seal = excluded.seal`,
        [the.merchantId, row?.['address'], row?.['seal']],
      );
      await the.refused(
        await the.ask(await the.planned()),
        /^backup: the withdraw address .* is older than what this signer has seen/,
      );
    };
    await the.signed(await the.ask(await the.planned()));
    const first = await read();
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    await the.signed(await the.ask(await the.planned()));
    await putBack(first);
    await signer.stop();
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const between = await read();
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    await the.signer();
    await the.signed(await the.ask(await the.planned()));
    await putBack(between);
    // Taken away is another one, too.
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    await the.signed(await the.ask(await the.planned()));
    const last = await read();
    await the.setDestination('bsc', null);
    await eventually('noted', async () => journal().includes('"address":null'));
    await putBack(last);
    const removed = await the.sql('delete from withdraw_addresses').catch(String);
    expect(removed).to.match(/never changed or removed/);
  });

  it('is not who changes SECRETS_KEY: withdraw addresses and the owners of addresses keep their seals', async () => {
    const next = createSecretBox(Buffer.alloc(32, 7), SECRETS_KEY);
    const id = await the.ask(await the.planned());
    await the.signer({ keys: [next, ...(next.previous ? [next.previous] : [])] });
    await the.signed(id);
    const [{ n = 0 } = {}] = await the.sql<{ n: number }>('select count(*)::int as n from deposit_addresses');
    await the.force("update withdraw_addresses set address = lower(address) where network = 'bsc'");
    expect(await resealDirections({ ...the.deps, secretBox: next })).to.equal(n + 1);
    expect(await resealDirections({ ...the.deps, secretBox: next })).to.equal(0);
    const under = await the.sql<{ mark: Buffer }>(
      'select substring(seal from 1 for 5) as mark from deposit_addresses',
    );
    for (const { mark } of under) expect(mark.equals(next.mark)).to.equal(true);
    // Under a key that the signer does not have.
    const { merchantId } = the;
    const direction = {
      kind: 'destination',
      network: 'bsc',
      merchantId,
      address: DESTINATIONS.bsc[0],
    } as const;
    const strange = createSecretBox(Buffer.alloc(32, 9));
    await the.sql("update withdraw_addresses set seal = ? where network = 'bsc'", [
      sealDirection(strange, direction, new Date()),
    ]);
    await the.refused(await the.ask(await the.planned()), /^key: .* is sealed under another SECRETS_KEY/);
    const innocent = await merchant(DESTINATIONS.bsc[1]);
    const place = await the.place('bsc', innocent);
    await the.deposit(place, 'USDT', 1n);
    await the.signed(await the.ask(await the.plan(place, 'USDT', innocent)));
    // A signer whose key is another one than the gateway's signs nothing at all.
    await the.stopSigners();
    await requireKeyInUse(the.deps);
    await the.signer({ keys: [strange] });
    await the.sealed('key', /the gateway seals under another SECRETS_KEY/);
  });

  it('who lets payouts go on that were paused gets nothing, and has to wait where they stole SECRETS_KEY', async () => {
    let nowMs = Date.now();
    await the.signer({ resumeAfterMs: 300_000, now: () => new Date(nowMs) });
    const pause = (paused: boolean) => setPaused(the.deps, { merchantId: null, paused });
    const isPaused = async () =>
      await the.refused(await the.ask(await the.planned()), /^paused: all payouts are paused/);
    const goOn = async () => {
      await pause(true);
      await isPaused();
      await pause(false);
      const id = await the.ask(await the.planned());
      await the.refused(id, /^paused: all payouts were let go on at .* and go on at 20.*"payout pause"/);
      nowMs += 300_000;
      await the.signed(id);
    };
    await goOn();
    await pause(true);
    await isPaused();
    const resume = "insert into payout_decisions (kind, by_name, at, seal) values ('resume', 'ann', now(), ";
    for (const theft of [
      `${resume} null)`,
      `${resume} (select seal from payout_decisions where seal is not null limit 1))`,
      'delete from payout_decisions',
    ]) {
      await the.force(theft);
      await isPaused();
    }
    await goOn();
    const warned = the.lines.filter(({ text }) => /^payouts that were paused go on in 300 s/.test(text));
    expect(warned).to.have.length(2);
  });

  it('who keeps a seal that let payouts go on, or writes a row above all others, ends or hides no later pause', async () => {
    const pause = (paused: boolean) => setPaused(the.deps, { merchantId: null, paused });
    const isPaused = async () =>
      await the.refused(await the.ask(await the.planned()), /^paused: all payouts are paused/);
    const resume = 'insert into payout_decisions (kind, by_name, at, seal';
    const replay = `${resume}) select 'resume', 'ann', now(), seal from payout_decisions
      where seal is not null order by id desc limit 1`;
    // First one that knows of no pause, then one that knows of the first of two.
    for (const known of [false, true]) {
      if (!known) await pause(true);
      await pause(false);
      await pause(true);
      await the.signer();
      await isPaused();
      await the.force(replay);
      await isPaused();
      await the.stopSigners();
      await pause(true);
    }
    await pause(false);
    await the.signer();
    await the.signed(await the.ask(await the.planned()));
    await the.force(`${resume}, id) values ('resume', 'ann', now(), null, 9223372036854775807)`);
    await pause(true);
    await isPaused();
  });
});
