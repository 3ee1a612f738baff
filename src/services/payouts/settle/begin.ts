// An address of which nothing is under way: whether something is to be paid out of it.
import type { AddressKey } from '../../../chains/address-key.ts';
import { Payout } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import { assetOf, type Currency, type Network } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { type Wait, waits } from '../../../domain/payouts/facts.ts';
import { describePause } from '../../../domain/payouts/pause.ts';
import { WAITS } from '../../../domain/payouts/waits.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import { transact } from '../../transact.ts';
import { readPause } from '../pauses.ts';
import { MAX_COVERED, Outdated, planPayout } from '../plan.ts';
import { assess } from './assess.ts';
import type { Assessing, Held, Outgoing, SettlementInput, SettlementStep } from './context.ts';
import { pauseAfterLast } from './failed-before.ts';
import { ask, holdStep, sentFor } from './living.ts';
import { endWait, waitStep } from './waits.ts';

/** What could be paid out of an address in one asset. */
type Payable = {
  readonly merchantId: string;
  readonly address: string;
  readonly currency: Currency;
  readonly units: bigint;
};

const FOREIGN_MS = 60_000;
/** So many times the least that is paid out goes at once. */
const LARGE = 100n;

/**
 * Plans a payout of the first asset that may be paid out now. Where none may, says why, with what stands in
 * the way of the one that would go soonest.
 */
export async function begin(deps: Assessing, input: SettlementInput): Promise<SettlementStep> {
  const found = await payableOf(deps, input);
  if (found.length === 0) {
    await endWait(deps, input);
    return { kind: 'rest', note: 'everything that was completed here is paid out' };
  }
  const held: { readonly payable: Payable; readonly wait: Held }[] = [];
  for (const payable of found) {
    const wait = await planned(deps, input, payable);
    if (wait === undefined) return { kind: 'went', state: 'planned', note: amountOf(input, payable) };
    held.push({ payable, wait });
  }
  const [first, ...others] = held.toSorted((a, b) => urgency(a.wait) - urgency(b.wait));
  if (!first) throw new Error('nothing was held');
  const note = [first, ...others]
    .map(({ payable, wait }) => `${amountOf(input, payable)}: ${wait.reason}`)
    .join('; ');
  const step = await waitStep(deps, input, first.payable, first.wait, note);
  return WAITS[first.wait.code].rests ? { kind: 'rest', note } : step;
}

/** Plans a payout of this asset, or says what it waits for. */
async function planned(
  deps: Assessing,
  { network, addressKey }: SettlementInput,
  payable: Payable,
): Promise<Held | undefined> {
  const { merchantId, address, currency, units } = payable;
  const em = deps.orm.em.fork();
  const over = await payoutsOver(em, { network, addressKey });
  const withdraw = await firstRow(
    em,
    sql<{ address: string }>`select address from withdraw_addresses
      where merchant_id = ${merchantId} and network = ${network} and address is not null`,
  );
  if (!withdraw)
    return waits(
      'no_destination',
      `the merchant has set no withdraw address on ${network}: set one with "merchant set"`,
      0,
    );
  const pause = await readPause(em, merchantId);
  if (pause) return waits('paused', describePause(pause), 0);
  const least = deps.settings.payouts.minUnits.get(`${currency}.${network}`);
  if (least !== undefined && units < least)
    return waits(
      'below_minimum',
      `${amountOf({ network }, payable)} is less than SETTLE_MIN (${formatUnits(least, assetOf(network, currency).decimals)}): it waits for more`,
      0,
    );
  const foreign = await firstRow(
    em,
    sql<{ hash: string }>`select hash from sent_transactions where network = ${network}
      and from_key = ${addressKey} and state = 'foreign' and decided_at is null limit 1`,
  );
  if (foreign)
    return waits(
      'foreign_use',
      `${address} sent ${foreign.hash}, which this gateway did not sign, or has forgotten: see "deposit stuck", and decide with "payout conclude", "payout accept" or "payout deny"`,
      FOREIGN_MS,
    );
  const place = { network, addressKey, currency };
  const contradiction = await contradicted(em, place);
  if (contradiction) return contradiction;
  const isLarge = least !== undefined && units >= LARGE * least;
  const paused = await pauseAfterLast(em, deps, place, { isLarge });
  if (paused) return paused;
  const destination = withdraw.address;
  const money: Outgoing = {
    network,
    addressKey,
    address,
    currency,
    grossUnits: units,
    destination,
  };
  const ready = await assess(deps, money);
  if (ready.does === 'wait') return ready;
  return await transact(deps, async ({ em: inTx }) => {
    const payout = await planPayout(inTx, deps, { network, addressKey, currency, destination });
    if (!payout) return waits('on_its_way', 'its deposits are paid out otherwise by now', 0);
    // Found out before another payout of the address used up the coins that this one counted on.
    if ((await payoutsOver(inTx, { network, addressKey })) !== over)
      throw new Outdated('another payout of the address has ended meanwhile');
    const step = { does: 'prepare' } as const;
    const held = await holdStep(inTx, deps, { payoutId: payout.id, step, rows: 0 });
    // What it takes beside more deposits than were thought of, the next step finds out.
    if (held.grossUnits === units) await ask(inTx, deps, held, ready);
    return undefined;
  });
}

/** How many payouts of an address have ended. */
const payoutsOver = (em: Em, { network, addressKey }: Pick<SettlementInput, 'network' | 'addressKey'>) =>
  em.count(Payout, { network, addressKey, simulated: false, state: { $nin: [...LIVING_PAYOUTS] } });

/** By asset, what a payout would cover: of many deposits the largest, as {@link planPayout} takes them. */
async function payableOf(
  deps: Assessing,
  { network, addressKey }: SettlementInput,
): Promise<readonly Payable[]> {
  const found = await rows(
    deps.orm.em.fork(),
    sql<Omit<Payable, 'units'> & { units: string }>`
      select merchant_id, address, currency, sum(amount_units)::text as units from (
        select merchant_id, address, currency, amount_units,
          row_number() over (partition by currency order by amount_units desc, id) as place
        from deposits where network = ${network} and address_key = ${addressKey} and mode = 'live'
          and not simulated and status = 'completed' and payout_id is null and block_hash is not null
          and verified_at is not null
      ) payable where place <= ${MAX_COVERED} group by merchant_id, address, currency
      order by currency desc`,
  );
  return found.map((row) => ({ ...row, units: BigInt(row.units) }));
}

const amountOf = ({ network }: Pick<SettlementInput, 'network'>, { currency, units }: Payable): string =>
  `${formatUnits(units, assetOf(network, currency).decimals)} ${currency}`;

/** What goes on by itself is looked at first; what has to be told is looked at never. */
const urgency = ({ code, delayMs }: Held): number => (WAITS[code].rests ? Number.POSITIVE_INFINITY : delayMs);

const LOOK_MS = 60_000;

type Place = { readonly network: Network; readonly addressKey: AddressKey; readonly currency: Currency };

/**
 * Why nothing more is planned at an address, as far as blocks contradict rows: a payout of it is called
 * failed and was paid, or the token has moved something else than was signed, here or at another address:
 * each further payout of it would.
 */
async function contradicted(em: Em, place: Place): Promise<Wait | undefined> {
  const { network, addressKey, currency } = place;
  const paid = await firstRow(
    em,
    sql<{ hash: string; payoutId: string }>`select s.hash, s.payout_id from sent_transactions s
      join payouts p on p.id = s.payout_id where s.network = ${network} and s.from_key = ${addressKey}
        and s.purpose = 'payout' and s.state = 'final' and s.ok and p.state = 'failed' limit 1`,
  );
  if (paid)
    return waits(
      'contradiction',
      `payout ${paid.payoutId} is called failed, and a final block shows that ${paid.hash} has paid it: nothing is paid twice; "payout conclude ${paid.payoutId} --tx ${paid.hash} --by NAME --reason TEXT" books it`,
      LOOK_MS,
    );
  if (assetOf(network, currency).kind !== 'token') return undefined;
  const final = await rows(
    em,
    sql<{ id: string; hash: string }>`select p.id, s.hash from payouts p
      join sent_transactions s on s.payout_id = p.id where p.network = ${network} and p.state = 'paying'
        and p.currency = ${currency} and s.purpose = 'payout' and s.state = 'final' and s.ok`,
  );
  for (const { id, hash } of final)
    if ((await sentFor(em, network, id)).some((one) => one.ok === true && one.asAsked === false))
      return waits(
        'contradiction',
        `${hash} of payout ${id} moved something else than was signed, as others of ${currency} would: compare it with an explorer; "payout conclude ${id} --tx ${hash} --by NAME --reason TEXT" books what arrived, and the others go on`,
        LOOK_MS,
      );
  return undefined;
}
