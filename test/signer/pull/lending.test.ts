import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { tronTransfers } from '../../../src/chains/tron/transfer/transfer.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { type Asking, type SignerStage, startSignerStage } from './stage.ts';

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

  const planned = async (network: Network = 'tron', currency: Currency = 'USDT') => {
    const place = await the.place(network);
    await the.deposit(place, currency, currency === 'BNB' ? 10n ** 18n : 5n * TRX);
    return await the.plan(place, currency);
  };
  type Planned = Awaited<ReturnType<typeof planned>>;
  const asked = async (payout: Planned, asking: Asking) => await the.decided(await the.ask(payout, asking));
  /** More than any limit allows to sign away: no money moves. */
  const LOAN = { purpose: 'delegate', units: 8_000n * TRX } as const;
  const BACK = { ...LOAN, purpose: 'reclaim' } as const;
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

  it('signs just that: from the gas wallet to the address of the payout, and back when that is over', async () => {
    const payout = await planned();
    const gas = addressKeyOf('tron', the.gas.tron);
    const lent = await asked(payout, LOAN);
    expect(lent, `${lent['refused']}`).to.include({ state: 'signed' });
    const shown = READ.read(lent['raw'] as Buffer);
    const way = { from: gas, to: payout.addressKey, units: LOAN.units, nonce: null };
    expect(shown.transfer).to.deep.equal({ ...way, kind: 'delegate' });
    await landed(payout, 'cancelled');
    const back = await asked(payout, BACK);
    expect(back, `${back['refused']}`).to.include({ state: 'signed' });
    expect(READ.read(back['raw'] as Buffer).transfer).to.deep.equal({ ...way, kind: 'reclaim' });
  });

  it('lends once for a payout', async () => {
    const payout = await planned();
    expect(await asked(payout, LOAN)).to.include({ state: 'signed' });
    const early = await asked(payout, { ...LOAN, attempt: 2 });
    expect(early['refused']).to.match(/^earlier: .* is signed: wait until final blocks/);
    await landed(payout);
    const again = await eventually('another refusal', async () => {
      const row = await the.row(String(early['id']));
      return String(row['refused']).startsWith('payout:') ? row : undefined;
    });
    expect(again['refused']).to.match(/^payout: .* has done it, as final blocks show/);
  });

  const REFUSED: Readonly<Record<string, readonly [() => Promise<Planned>, Asking, RegExp]>> = {
    'a loan for a coin': [
      () => planned('tron', 'TRX'),
      LOAN,
      /^payout: a payout of the coin runs no contract/,
    ],
    'a loan on a chain without': [() => planned('bsc'), LOAN, /^payout: nothing can be lent on bsc/],
    'a loan to another address': [
      planned,
      { ...LOAN, change: { to_key: 'ab'.repeat(20) } },
      /^payout: energy is lent from the gas wallet to the address of its payout/,
    ],
    'a loan from another wallet': [
      planned,
      { ...LOAN, change: { from_key: 'ab'.repeat(20) } },
      /^payout: energy is lent from the gas wallet/,
    ],
    'a loan that may burn coins': [
      planned,
      {
        ...LOAN,
        terms: {
          fee_limit: '1',
          ref_block_bytes: 'a1b2',
          ref_block_hash: '00112233445566aa',
          timestamp: 1,
          expiration: 2,
        },
      },
      /^terms: the fee limit in sun is 1, and may be from 0 to 0/,
    ],
    'energy back while its payout is planned': [
      planned,
      BACK,
      /^payout: the payout is planned, and takes what/,
    ],
  };
  for (const [what, [plan, asking, says]] of Object.entries(REFUSED))
    it(`refuses ${what}`, async () => {
      const row = await asked(await plan(), asking);
      expect(row['refused']).to.match(says);
      expect(row).to.include({ state: 'asked', raw: null });
    });

  it('takes back only what its journal has lent, to the unit', async () => {
    const payout = await planned();
    expect(await asked(payout, LOAN)).to.include({ state: 'signed' });
    await landed(payout, 'cancelled');
    const row = await asked(payout, { ...BACK, units: LOAN.units - 1n });
    expect(row['refused']).to.match(/^payout: the journal has lent the address no such part of the stake/);
  });

  it('takes nothing back while payouts are paused, and does it once they go on', async () => {
    const payout = await planned();
    expect(await asked(payout, LOAN)).to.include({ state: 'signed' });
    await landed(payout, 'cancelled');
    await setPaused(the.deps, { merchantId: null, paused: true });
    const row = await asked(payout, BACK);
    expect(row['refused']).to.match(/^paused: /);
    await setPaused(the.deps, { merchantId: null, paused: false });
    await eventually('the signature', async () => (await the.row(String(row['id'])))['state'] === 'signed');
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
    const coin = await planned('tron', 'TRX');
    expect(await failure(['delegate', gas, coin.addressKey, coin.id])).to.match(
      /goes to the address of a payout/,
    );
    expect(await failure(['delegate', gas, payout.addressKey, payout.id])).to.equal('');
  });
});
