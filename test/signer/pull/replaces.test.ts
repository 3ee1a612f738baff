import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Payout } from '../../../src/db/entities/index.ts';
import type { Currency } from '../../../src/domain/assets.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { type Asking, DESTINATIONS, GAS_PRICE, termsOf, to } from './asking.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

const UNITS = 10n ** 18n;
/** What was signed before, and asks for the same at a higher price. */
const KINDS = {
  'a payout of tokens': { currency: 'USDT', purpose: 'payout' },
  'a payout of coins': { currency: 'BNB', purpose: 'payout' },
  'coins for a fee': { currency: 'USDT', purpose: 'gas' },
} as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];

describe('the signer, asked for the same transfer in its place at a higher price', function () {
  this.timeout(120_000);
  let the: SignerStage;
  let signer: { stop(): Promise<void> };
  before(async () => {
    the = await startSignerStage();
    signer = await the.signer();
  });
  after(() => the?.stop());
  afterEach(async () => {
    await the.sql("update sent_transactions set state = 'dead' where state = 'asked'");
    await setPaused(the.deps, { merchantId: null, paused: false });
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
  });

  const at = ({ currency, purpose }: Kind, percent: bigint, payout: Payout): Asking => {
    const price = (GAS_PRICE * percent) / 100n;
    const paid: Currency = purpose === 'gas' ? 'BNB' : currency;
    const fee = currency === 'BNB' ? 21_000n * price : 0n;
    const units = purpose === 'gas' ? 1_000_000n : payout.grossUnits - fee;
    return { purpose, units, terms: termsOf('bsc', paid, { gas_price: price.toString() }) };
  };
  const signed = async (kind: Kind) => {
    const payout = await the.planned('bsc', kind.currency, UNITS);
    const first = await the.signed(await the.ask(payout, at(kind, 100n, payout)));
    const again = (percent = 110n, more: Asking = {}) =>
      the.ask(payout, { ...at(kind, percent, payout), attempt: 2, ...more });
    return { payout, first, again };
  };
  const foreign = (payout: Payout, from: unknown) =>
    the.sql(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, created_at, updated_at)
       values (?, 'bsc', ?, 'foreign', ?, ?, null, now(), now())`,
      [randomUUID(), `0x${payout.id.replaceAll('-', '').repeat(2)}`, payout.address, from],
    );
  /** What stands before every other signature. */
  const GATES: readonly (readonly [string, (payout: Payout, first: Record<string, unknown>) => unknown])[] = [
    ['payouts are paused', () => setPaused(the.deps, { merchantId: null, paused: true })],
    ['the merchant has another withdraw address', () => the.setDestination('bsc', DESTINATIONS.bsc[1])],
    ['the merchant has none', () => the.force('delete from withdraw_addresses where network = ?', ['bsc'])],
    [
      'its payout is over',
      ({ id }) => the.force("update payouts set state = 'failed', reason = 'x' where id = ?", [id]),
    ],
    [
      'a deposit has lost its block',
      ({ id }) =>
        the.force('update deposits set block_hash = null, verified_at = null where payout_id = ?', [id]),
    ],
    ['somebody else has used its wallet', (payout, { from_key: from }) => foreign(payout, from)],
    [
      'a limit is reached',
      async () => {
        await signer.stop();
        signer = await the.signer({ limits: { perHour: () => 1n, perDay: () => 1n } });
      },
    ],
  ];
  for (const [name, kind] of Object.entries(KINDS))
    for (const [gate, close] of GATES)
      it(`signs ${name}, although ${gate}`, async () => {
        const { payout, first, again } = await signed(kind);
        await close(payout, first);
        const second = await the.signed(await again());
        expect(second['nonce']).to.equal(first['nonce']);
        expect(second['hash']).not.to.equal(first['hash']);
        await the.sql(
          "update sent_transactions set decided_at = now(), decided_by = 'x', decided_reason = 'x' where state = 'foreign' and decided_at is null",
        );
        if (gate !== 'a limit is reached') return;
        await signer.stop();
        signer = await the.signer();
      });

  it('holds it to a tenth more, to what it may cost, and to the transfer before it', async () => {
    for (const kind of Object.values(KINDS)) {
      const { payout, again } = await signed(kind);
      await setPaused(the.deps, { merchantId: null, paused: true });
      await the.refused(await again(109n), /^terms: it replaces 0x/);
      await the.sql("update sent_transactions set state = 'dead' where state = 'asked'");
      await the.refused(await again(600n, { attempt: 3 }), /^terms: the gas price in wei is 6000000000/);
      await the.sql("update sent_transactions set state = 'dead' where state = 'asked'");
      const less = { units: (at(kind, 110n, payout).units ?? 0n) - 100_000n * GAS_PRICE };
      const other = kind.purpose === 'gas' ? { units: 2_000_000n } : less;
      await the.refused(await again(110n, { attempt: 4, ...other }), /^(payout|paused): /);
      await the.sql("update sent_transactions set state = 'dead' where state = 'asked'");
      await the.refused(
        await again(110n, { attempt: 5, ...to(DESTINATIONS.bsc[1]) }),
        /^(payout|paused|destination): /,
      );
      await setPaused(the.deps, { merchantId: null, paused: false });
    }
  });
});
