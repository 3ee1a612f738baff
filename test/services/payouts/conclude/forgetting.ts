// What a signer has signed, what blocks show of it, and a database that forgets.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Payout } from '../../../../src/db/entities/index.ts';
import type { Currency, Network } from '../../../../src/domain/assets.ts';
import { decideLiving } from '../../../../src/domain/payouts/step.ts';
import { type TakenUp, takeUp } from '../../../../src/services/payouts/conclude/forgotten.ts';
import { failPayout, settlePayout } from '../../../../src/services/payouts/finish.ts';
import { recordSent, verifySent } from '../../../../src/services/payouts/sent.ts';
import {
  beginPaying,
  endOthers,
  livingFacts,
  livingPayout,
} from '../../../../src/services/payouts/settle/living.ts';
import { transact } from '../../../../src/services/transact.ts';
import { readSignedFor } from '../../../../src/signer/signed-for.ts';
import type { Asking } from '../../../signer/pull/asking.ts';
import { testTransfers } from '../../../signer/pull/running.ts';
import { type SignerStage, startSignerStage } from '../../../signer/pull/stage.ts';

type Row = Record<string, unknown>;
type Place = Awaited<ReturnType<SignerStage['place']>>;
type Planned = Awaited<ReturnType<SignerStage['plan']>>;
/** What was signed for one payout, as the database had it before it forgot. */
export type SignedPayout = {
  readonly place: Place;
  readonly payout: Planned;
  readonly depositIds: readonly string[];
  readonly topUp: Row | undefined;
  readonly transfer: Row;
};
type Move = { readonly to: string; readonly currency: string; readonly units: bigint };
type Showing = { readonly ok?: boolean; readonly twice?: boolean; readonly moves?: readonly Move[] };

export const UNITS = 3n * 10n ** 18n;
export const FEE_UNITS = 11n;

export type ForgettingStage = Awaited<ReturnType<typeof startForgettingStage>>;

/** A signer that runs, and the words of these tests. */
export async function startForgettingStage() {
  const the = await startSignerStage();
  await the.signer();
  const taking = takingOf(the);
  return {
    ...the,
    ...makingOf(the),
    ...taking,
    async notTakenUp(row: Row, says: RegExp, file?: string): Promise<void> {
      const error: unknown = await taking.takeUp(row, file).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Error);
      expect((error as Error).message).to.match(says);
    },
  };
}

function makingOf(the: SignerStage) {
  let height = 2_000;
  return {
    /** With what a token takes: coins unless told otherwise. */
    async signedPayout(
      network: Network,
      currency: Currency,
      units = UNITS,
      gives: Asking = { purpose: 'gas' },
    ): Promise<SignedPayout> {
      const place = await the.place(network);
      const first = await the.deposit(place, currency, units);
      const depositIds = [first, await the.deposit(place, currency, units + 1n)];
      const payout = await the.plan(place, currency);
      const isToken = currency === 'USDT';
      const topUp = isToken ? await the.decided(await the.ask(payout, gives)) : undefined;
      const transfer = await the.decided(await the.ask(payout));
      for (const row of [topUp, transfer])
        if (row && row['state'] !== 'signed') throw new Error(`not signed: ${row['refused']}`);
      return { place, payout, depositIds, topUp, transfer };
    },
    /** Takes away every row of a payout, as a backup does that is older. */
    async forget({ payout }: Pick<SignedPayout, 'payout'>): Promise<void> {
      await the.force('delete from sent_transactions where payout_id = ?', [payout.id]);
      await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
      await the.force('delete from payouts where id = ?', [payout.id]);
    },
    async forgotten(network: Network = 'bsc', currency: Currency = 'USDT', units = UNITS) {
      const one = await this.signedPayout(network, currency, units);
      await this.forget(one);
      return one;
    },
    /** A block that holds a transaction of ours, read twice unless told otherwise. */
    async shows(row: Row, showing: Showing = {}): Promise<void> {
      height += 1;
      const network = String(row['network']) as Network;
      const block = { number: height, hash: randomHash(), sent: [sentOf(row, showing)] } as never;
      await transact(the.deps, ({ em }) => recordSent(em, the.deps, { network, block }));
      if (showing.twice === false) return;
      const at = { network, block, isRepeated: false };
      await transact(the.deps, ({ em }) => verifySent(em, the.deps, at));
    },
    async shown(one: SignedPayout): Promise<SignedPayout> {
      if (one.topUp) await this.shows(one.topUp);
      await this.shows(one.transfer);
      return one;
    },
  };
}

const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`;

/** As a reader reports what a wallet of ours has sent. */
function sentOf(row: Row, { ok = true, moves }: Showing) {
  const asSigned = {
    to: String(row['to_address']),
    currency: String(row['currency']),
    units: BigInt(String(row['amount_units'])),
  };
  return {
    txHash: String(row['hash']),
    from: String(row['from_address']),
    nonce: row['nonce'] == null ? null : Number.parseInt(String(row['nonce']), 10),
    ok,
    feeUnits: FEE_UNITS,
    moves: ok ? (moves ?? [asSigned]) : [],
  };
}

function takingOf(the: SignerStage) {
  const spending = { resendMs: 60_000, finalLookMs: 500 };
  return {
    /** Undefined where there is nothing to take up. */
    async takeUp(row: Row, file = the.files.journalFile): Promise<TakenUp | undefined> {
      const [network, hash] = [String(row['network']) as Network, String(row['hash'])];
      const transfers = (await testTransfers())[network];
      const signed = await readSignedFor({ file, network, hash, transfers });
      if (!signed) throw new Error('the journal does not know it');
      return await takeUp(the.deps, { signed, hash, reason: 'a drill' });
    },
    /** Takes the steps that rows alone allow; says which, and the one at which more is needed. */
    async goesOn({ network, addressKey }: Place): Promise<string[]> {
      for (const steps: string[] = []; ; ) {
        const em = the.deps.orm.em.fork();
        const payout = await livingPayout(em, { network, addressKey });
        if (!payout) return steps;
        const { id: payoutId } = payout;
        const step = decideLiving(await livingFacts(em, { ...the.deps, spending }, payout));
        const { does } = step;
        steps.push(step.does === 'wait' ? step.code : does);
        if (does !== 'pay' && does !== 'settle' && does !== 'fail') return steps;
        await transact(the.deps, async (tx) => {
          if (does === 'pay') await beginPaying(tx.em, the.deps, await tx.em.findOneOrFail(Payout, payoutId));
          else if (does === 'settle') await settlePayout(tx, the.deps, { payoutId, headNumber: null });
          else {
            const hold = () => endOthers(tx.em, the.deps, payoutId);
            await failPayout(tx.em, the.deps, { payoutId, reason: 'it failed', hold });
          }
        });
      }
    },
    async states(ids: readonly string[]): Promise<unknown[]> {
      const rows = await the.sql('select status from deposits where id = any(?::uuid[])', [
        `{${ids.join(',')}}`,
      ]);
      return rows.map(({ status }) => status);
    },
  };
}
