import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { approve } from '../../../src/signer/pull/approvals.ts';
import { openWallet } from '../../../src/signer/wallet-file.ts';
import { DESTINATIONS } from './asking.ts';
import { PASSPHRASE } from './running.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

const HOUR_MS = 3_600_000;

describe('a withdraw address that was changed', function () {
  this.timeout(120_000);
  let the: SignerStage;
  let nowMs = Date.now();
  const patient = { newDestinationAfterMs: 24 * HOUR_MS, now: () => new Date(nowMs) };
  const asked = async () => await the.ask(await the.planned());
  before(async () => {
    the = await startSignerStage();
  });
  after(() => the?.stop());

  it('is paid to a day after the signer saw it, also when the signer was stopped meanwhile', async () => {
    const signer = await the.signer(patient);
    // A merchant's first one is paid to at once: there is nothing that it could have been changed from.
    await the.signed(await asked());
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const id = await asked();
    await the.refused(
      id,
      /^new_destination: the withdraw address 0x.* is new and is paid to from 20.* on: ask the merchant/,
    );
    nowMs += 23 * HOUR_MS;
    await signer.stop();
    await the.signer(patient);
    await the.refused(await asked(), /^new_destination: /);
    expect((await the.row(id))['state']).to.equal('asked');
    nowMs += 2 * HOUR_MS;
    await the.signed(id);
  });

  it('is paid to at once where an operator approved of it who can open the wallet, and nobody else can', async () => {
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    const id = await asked();
    await the.refused(id, /^new_destination: /);
    const approval = {
      merchant_id: the.merchantId,
      network: 'bsc' as const,
      address: addressKeyOf('bsc', DESTINATIONS.bsc[0]),
      by_name: 'Ann',
      approved_at: new Date(nowMs - 2_000 * HOUR_MS).toISOString(),
    };
    const { journalFile, seedFile } = the.files;
    const wallet = await openWallet({ file: seedFile, passphrase: PASSPHRASE });
    const forged = { ...approval, approved_at: new Date(nowMs).toISOString(), seal: 'ab'.repeat(32) };
    writeFileSync(`${journalFile}.approvals`, `${JSON.stringify(forged)}\nnonsense\n`);
    // One of long before the address was set is of another time.
    await approve(journalFile, wallet, approval);
    const lines = () => readFileSync(journalFile, 'utf8').split('"kind":"approved"').length - 1;
    await eventually('the one that counts for nothing', () => lines() === 1);
    await the.refused(await asked(), /^new_destination: /);
    expect((await the.row(id))['state']).to.equal('asked');
    nowMs += 1_000;
    await approve(journalFile, wallet, { ...approval, approved_at: new Date(nowMs).toISOString() });
    await the.signed(id);
    expect(lines()).to.equal(2);
  });

  it('by a machine whose clock is ahead is paid to once it is set again by the right clock, and not in its year', async () => {
    const set = (aheadMs: number, address: string) =>
      updateMerchant(
        { ...the.deps, now: () => new Date(nowMs + aheadMs) },
        { merchantId: the.merchantId, withdraw: { bsc: address } },
      );
    await set(20_000 * HOUR_MS, DESTINATIONS.bsc[1]);
    await the.refused(await asked(), /^new_destination: .* was set at 20.*: correct the clock that is wrong/);
    await set(0, DESTINATIONS.bsc[0]);
    await the.signed(await asked());
    // Two machines, minutes apart: what was set last is the newest.
    await set(HOUR_MS / 15, DESTINATIONS.bsc[1]);
    await the.refused(await asked(), /^new_destination: .* is new and is paid to from/);
    await set(0, DESTINATIONS.bsc[0]);
    await the.refused(await asked(), /^new_destination: .* is new and is paid to from/);
  });
});
