import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { sealDirection } from '../../../src/domain/payouts/direction.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { resealDirections, sealFound } from '../../../src/services/secrets/directions.ts';
import { approve } from '../../../src/signer/pull/approvals.ts';
import { openWallet } from '../../../src/signer/wallet-file.ts';
import { DESTINATIONS, PASSPHRASE, type SignerStage, startSignerStage } from './stage.ts';

const THIEF = '0x7A1eF00000000000000000000000000000000000'.toLowerCase();
const HOUR_MS = 3_600_000;

/** Who may write every row of the database, past every guard, and knows no key. */
describe('a thief in the database', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const planned = async (of = the.merchantId) => {
    const place = await the.place('bsc', of);
    await the.deposit(place, 'USDT', 10n ** 18n);
    return { place, payout: await the.plan(place, 'USDT', of) };
  };
  const state = async () => (await the.sql('select * from signer_state'))[0] ?? {};
  const sealedAs = (code: string) =>
    eventually(`the signer being sealed (${code})`, async () => (await state())['sealed_code'] === code);
  const unsigned = async () => {
    expect(await the.sql('select id from sent_transactions where raw is not null')).to.deep.equal([]);
    expect(readFileSync(the.files.journalFile, 'utf8')).not.to.contain('"kind":"signed"');
  };
  const errors = () => the.lines.filter(({ level }) => level === 'error').map(({ text }) => text);
  /** Another withdraw address in the merchant's row, and everywhere that it is compared with. */
  const redirect = async (payoutId: string, address = THIEF) => {
    await the.force('update withdraw_addresses set address = ? where network = ?', [address, 'bsc']);
    await the.force('update payouts set destination = ? where id = ?', [address, payoutId]);
  };
  const to = (address: string) => ({ change: { to_address: address, to_key: addressKeyOf('bsc', address) } });

  it('who changes a withdraw address gets nothing: the signer seals itself, with an alarm, for everybody', async () => {
    const { payout } = await planned();
    const innocent = await createMerchant(the.deps, {
      name: 'Innocent',
      subscriptionActive: true,
      withdraw: { bsc: DESTINATIONS.bsc[1] },
    });
    const other = await planned(innocent.merchantId);
    await the.force('update withdraw_addresses set address = ? where merchant_id = ? and network = ?', [
      THIEF,
      the.merchantId,
      'bsc',
    ]);
    await the.force('update payouts set destination = ? where id = ?', [THIEF, payout.id]);
    await the.ask(other.payout);
    await the.ask(payout, to(THIEF));
    await the.signer();
    await sealedAs('tampered');
    await unsigned();
    expect((await state())['sealed_reason']).to.match(
      /withdraw address of merchant .* was changed by somebody who does not have SECRETS_KEY/,
    );
    expect(errors().filter((text) => /^sealed, signs nothing/.test(text))).to.have.length(1);
    expect(readFileSync(the.files.journalFile, 'utf8')).to.contain('"kind":"alarm"');
    // The operator finds out, and sets what the merchant says.
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    await eventually(
      'the payout of the innocent one',
      async () => (await the.sql('select 1 from sent_transactions where raw is not null')).length === 1,
    );
  });

  it('who puts another merchant’s seal, or that of another network, beside an address gets nothing', async () => {
    const { payout } = await planned();
    const own = await createMerchant(the.deps, {
      name: 'Thief',
      subscriptionActive: true,
      withdraw: { bsc: THIEF },
    });
    await redirect(payout.id);
    await the.force(
      `update withdraw_addresses w set address = t.address, seal = t.seal from withdraw_addresses t
       where t.merchant_id = ? and t.network = 'bsc' and w.merchant_id = ? and w.network = 'bsc'`,
      [own.merchantId, the.merchantId],
    );
    await the.ask(
      payout,
      to(
        (
          await the.sql<{ address: string }>(
            'select address from withdraw_addresses where merchant_id = ? and network = ?',
            [own.merchantId, 'bsc'],
          )
        )[0]?.address ?? '',
      ),
    );
    await the.signer();
    await sealedAs('tampered');
    await unsigned();
  });

  it('who gives an address of ours to a merchant of their own gets nothing', async () => {
    const own = await createMerchant(the.deps, {
      name: 'Thief',
      subscriptionActive: true,
      withdraw: { bsc: THIEF },
    });
    const { place, payout } = await planned();
    const address =
      (
        await the.sql<{ address: string }>('select address from withdraw_addresses where merchant_id = ?', [
          own.merchantId,
        ])
      )[0]?.address ?? '';
    for (const table of ['deposits', 'payouts', 'deposit_addresses'])
      await the.force(`update ${table} set merchant_id = ? where address_key = ?`, [
        own.merchantId,
        place.addressKey,
      ]);
    await the.force('update customers set merchant_id = ? where id = ?', [own.merchantId, place.customerId]);
    await the.force('update payouts set destination = ? where id = ?', [address, payout.id]);
    await the.ask(payout, to(address));
    await the.signer();
    await sealedAs('tampered');
    await unsigned();
    expect((await state())['sealed_reason']).to.match(/^the address [0-9a-f]{40} on bsc was changed/);
  });

  it('who moves a customer to another place of the wallet, or to another mode, gets nothing', async () => {
    const { place, payout } = await planned();
    await the.force('update customers set wallet_index = wallet_index + 1 where id = ?', [place.customerId]);
    await the.ask(payout);
    await the.signer();
    await sealedAs('tampered');
    await unsigned();
  });

  it('who takes a seal away gets nothing, also not by having the row found without one', async () => {
    const { payout } = await planned();
    const signer = await the.signer();
    await eventually('the journal', async () => (await state())['journal']);
    await redirect(payout.id, DESTINATIONS.bsc[1]);
    await the.force('update withdraw_addresses set seal = null', []);
    const id = await the.ask(payout, to(DESTINATIONS.bsc[1]));
    expect((await the.decided(id))['refused']).to.match(/^destination: .* carries no seal/);
    expect(await sealFound(the.deps)).to.equal(2);
    await eventually('the refusal of a found row', async () =>
      /was found without a seal after this signer had begun/.test(String((await the.row(id))['refused'])),
    );
    await unsigned();
    await signer.stop();
  });

  it('who puts an earlier withdraw address back gets nothing', async () => {
    await the.signer();
    const before = await the.sql<{ address: string; seal: Buffer }>(
      "select address, seal from withdraw_addresses where network = 'bsc'",
    );
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const first = await planned();
    await eventually('a signature', async () => (await the.row(await the.ask(first.payout)))['id']);
    await eventually(
      'it being signed',
      async () => (await the.sql('select 1 from sent_transactions where raw is not null')).length > 0,
    );
    await the.force("update withdraw_addresses set address = ?, seal = ? where network = 'bsc'", [
      before[0]?.address,
      before[0]?.seal,
    ]);
    const { payout } = await planned();
    expect((await the.decided(await the.ask(payout)))['refused']).to.match(
      /^backup: the withdraw address .* is older than what this signer has seen/,
    );
  });
});

describe('a withdraw address', function () {
  this.timeout(120_000);
  let the: SignerStage;
  let nowMs: number;
  beforeEach(async () => {
    the = await startSignerStage();
    nowMs = Date.now();
  });
  afterEach(() => the?.stop());
  const patient = { newDestinationAfterMs: 24 * HOUR_MS, now: () => new Date(nowMs) };

  const asked = async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    return await the.ask(await the.plan(place, 'USDT'));
  };
  const signed = (id: string) =>
    eventually('the signature', async () => (await the.row(id))['state'] === 'signed');

  it('that was changed is paid to a day after the signer saw it, also when the signer was stopped meanwhile', async () => {
    const signer = await the.signer(patient);
    // A merchant's first one is paid to at once: there is nothing that it could have been changed from.
    await signed(await asked());
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const id = await asked();
    expect((await the.decided(id))['refused']).to.match(
      /^new_destination: the withdraw address 0x.* is new and is paid to from 20.* on: ask the merchant/,
    );
    nowMs += 23 * HOUR_MS;
    await signer.stop();
    await the.signer(patient);
    expect((await the.decided(id))['state']).to.equal('asked');
    nowMs += 2 * HOUR_MS;
    await signed(id);
    // Seen while nothing was asked for: at the first payout to it the day is over.
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    const next = await asked();
    expect((await the.decided(next))['refused']).to.match(/^new_destination: /);
    nowMs += 25 * HOUR_MS;
    await signed(next);
  });

  it('is paid to at once where an operator approved of it who can open the wallet, and nobody else can', async () => {
    await the.signer(patient);
    await signed(await asked());
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const id = await asked();
    await the.decided(id);
    const approval = {
      merchant_id: the.merchantId,
      network: 'bsc' as const,
      address: addressKeyOf('bsc', DESTINATIONS.bsc[1]),
      by_name: 'Ann',
      approved_at: new Date(nowMs - 2_000 * HOUR_MS).toISOString(),
    };
    const file = `${the.files.journalFile}.approvals`;
    const wallet = await openWallet({ file: the.files.seedFile, passphrase: PASSPHRASE });
    writeFileSync(
      file,
      `${JSON.stringify({ ...approval, approved_at: new Date().toISOString(), seal: 'ab'.repeat(32) })}\nnonsense\n`,
    );
    // One of long before the address was set is of another time.
    await approve(the.files.journalFile, wallet, approval);
    const lines = () => readFileSync(the.files.journalFile, 'utf8').split('"kind":"approved"').length - 1;
    await eventually('the one that counts for nothing', () => lines() === 1);
    expect((await the.row(id))['state']).to.equal('asked');
    nowMs = Date.now() + 1_000;
    await approve(the.files.journalFile, wallet, { ...approval, approved_at: new Date(nowMs).toISOString() });
    await signed(id);
    expect(lines()).to.equal(2);
  });

  it('and the owners of addresses keep their seals when SECRETS_KEY is changed', async () => {
    const next = createSecretBox(Buffer.alloc(32, 7), SECRETS_KEY);
    const id = await asked();
    await the.signer({ keys: [next, ...(next.previous ? [next.previous] : [])] });
    await signed(id);
    const count = Number((await the.sql<{ n: string }>('select count(*) as n from deposit_addresses'))[0]?.n);
    await the.force("update withdraw_addresses set address = lower(address) where network = 'bsc'", []);
    expect(await resealDirections({ ...the.deps, secretBox: next })).to.equal(count + 1);
    expect(await resealDirections({ ...the.deps, secretBox: next })).to.equal(0);
    const under = await the.sql<{ mark: Buffer }>(
      'select substring(seal from 1 for 5) as mark from deposit_addresses',
    );
    for (const { mark } of under) expect(mark.equals(next.mark)).to.equal(true);
  });

  it('that is sealed under a key which the signer does not have seals it, and says which key is meant', async () => {
    const strange = createSecretBox(Buffer.alloc(32, 9));
    const direction = {
      kind: 'destination',
      network: 'bsc',
      merchantId: the.merchantId,
      address: DESTINATIONS.bsc[0],
    } as const;
    await the.sql("update withdraw_addresses set seal = ? where network = 'bsc'", [
      sealDirection(strange, direction, { at: new Date(), found: false }),
    ]);
    await asked();
    await the.signer();
    await eventually(
      'the signer being sealed',
      async () => (await the.sql('select * from signer_state'))[0]?.['sealed_code'] === 'key',
    );
    expect((await the.sql('select * from signer_state'))[0]?.['sealed_reason']).to.match(
      /under another SECRETS_KEY/,
    );
  });
});
