import { expect } from 'chai';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { tronTransfers } from '../../../src/chains/tron/transfer/transfer.ts';
import type { Currency } from '../../../src/domain/assets.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { BACK, LOAN } from './cases.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

const TRX = 10n ** 6n;
const READ = tronTransfers({ usdtContract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', maxFeeLimitSun: 50n * TRX });

describe('the signer, asked to lend energy and to take it back', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    await the.signer({ limits: { perHour: () => 50n * TRX, perDay: () => 50n * TRX } });
  });
  after(() => the?.stop());

  const planned = (currency: Currency = 'USDT') => the.planned('tron', currency, 5n * TRX);
  type Planned = Awaited<ReturnType<typeof planned>>;
  const lend = async (payout: Planned) => await the.signed(await the.ask(payout, LOAN));
  const wayOf = ({ addressKey: to }: Planned) => ({
    from: addressKeyOf('tron', the.gas.tron),
    to,
    units: LOAN.units,
    nonce: null,
  });
  /** As final blocks have shown it; `state` is the payout's from then on. */
  const landed = async (payout: Planned, state?: 'cancelled'): Promise<void> => {
    await the.force(
      `update sent_transactions set state = 'final', ok = true, fee_units = 0, block_number = 1, block_hash = 'b',
        moves = '[]', verified_at = now() where payout_id = ? and state = 'signed'`,
      [payout.id],
    );
    if (!state) return;
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force("update payouts set state = ?, reason = 'x' where id = ?", [state, payout.id]);
  };

  it('lends once for a payout, from the gas wallet to its address', async () => {
    const payout = await planned();
    expect(READ.read((await lend(payout))['raw'] as Buffer).transfer).to.deep.equal({
      ...wayOf(payout),
      kind: 'delegate',
    });
    const early = await the.ask(payout, { ...LOAN, attempt: 2 });
    await the.refused(early, /^earlier: .* is signed: wait until final blocks/);
    await landed(payout);
    await the.refused(early, /^payout: .* has done it, as final blocks show/);
  });

  it('takes back only what its journal has lent, to the unit, once that payout is over and nothing is paused', async () => {
    const payout = await planned();
    await lend(payout);
    await landed(payout, 'cancelled');
    const less = await the.ask(payout, { ...BACK, units: LOAN.units - 1n });
    await the.refused(less, /^payout: the journal has lent the address no such part of the stake/);
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [less]);
    await setPaused(the.deps, { merchantId: null, paused: true });
    const back = await the.ask(payout, { ...BACK, attempt: 2 });
    await the.refused(back, /^paused: /);
    await setPaused(the.deps, { merchantId: null, paused: false });
    const { raw } = await the.signed(back);
    expect(READ.read(raw as Buffer).transfer).to.deep.equal({ ...wayOf(payout), kind: 'reclaim' });
  });

  it('holds the database to what is lent: to the address of a payout of a token, and back to the unit', async () => {
    const payout = await planned();
    const insert = `insert into sent_transactions (id, network, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, terms, created_at, updated_at)
      select gen_random_uuid(), 'tron', ?, id, 1, 'asked', 'g', ?, address, ?, 'TRX', 5, '{}', now(), now()
      from payouts where id = ?`;
    const gas = addressKeyOf('tron', the.gas.tron);
    const failure = async (values: unknown[]): Promise<string> =>
      await the.sql(insert, values).then(
        () => '',
        (error: Error) => error.message,
      );
    expect(await failure(['delegate', gas, 'ab'.repeat(20), payout.id])).to.match(
      /goes to the address of a payout/,
    );
    expect(await failure(['reclaim', gas, payout.addressKey, payout.id])).to.match(
      /taken back was lent before/,
    );
    const coin = await planned('TRX');
    expect(await failure(['delegate', gas, coin.addressKey, coin.id])).to.match(
      /goes to the address of a payout/,
    );
    expect(await failure(['delegate', gas, payout.addressKey, payout.id])).to.equal('');
  });
});
