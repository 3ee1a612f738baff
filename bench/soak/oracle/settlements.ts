import { type Currency, NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import { unitsOf } from '../plan/amounts.ts';
import type { Difference } from './compare.ts';
import type { Holding } from './holdings.ts';
import { addressAs, creditKey, placeKey, type SentByUs, type Truth } from './truth.ts';

/** A deposit that the API shows as paid out; addresses as the run writes them. */
export type Settled = {
  readonly id: string;
  readonly key: string;
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly amountUnits: bigint;
  readonly hash: string;
  readonly destination: string;
  /** What of it reached the destination, and what it bears of the payout's cost, in units of the coin. */
  readonly units: bigint;
  readonly feeUnits: bigint;
  readonly row: Json;
};

/** Every deposit with a settlement, as the API lists it. Throws on a settlement that is none. */
export function settledOf(deposits: readonly Json[]): Settled[] {
  return deposits.flatMap((row) => {
    const settlement = row['settlement'] as Json | null | undefined;
    if (settlement === null || settlement === undefined) return [];
    const network = row['network'] as Network;
    const currency = row['currency'] as Currency;
    const address = addressAs(network, String(row['address']));
    return {
      id: String(row['id']),
      key: creditKey(network, String(row['transaction_hash']), address, currency),
      network,
      address,
      currency,
      amountUnits: BigInt(String(row['amount_raw'])),
      hash: String(settlement['transaction_hash']),
      destination: addressAs(network, String(settlement['destination'])),
      units: unitsOf(network, currency, String(settlement['amount'])),
      feeUnits: unitsOf(network, NATIVE_CURRENCY[network], String(settlement['fee_amount'])),
      row,
    };
  });
}

/** Whether an asset pays for its own way. */
export function isCoin({ network, currency }: Pick<Settled, 'network' | 'currency'>): boolean {
  return currency === NATIVE_CURRENCY[network];
}

const sumOf = (list: readonly Settled[], of: (one: Settled) => bigint): bigint =>
  list.reduce((total, one) => total + of(one), 0n);
const payoutKey = (network: string, hash: string): string => `${network} ${hash}`;

/**
 * Payouts as the chains show them against settlements as merchants are told of them: each payout settles
 * deposits of its own address, to the unit, and each settled deposit has one. `spent` are transactions with
 * which the run itself used a wallet.
 */
export function compareSettlements(
  truth: Truth,
  settled: readonly Settled[],
  { gas, spent }: { readonly gas: ReadonlySet<string>; readonly spent: ReadonlySet<string> },
): Difference[] {
  const found: Difference[] = [];
  const groups = Map.groupBy(settled, ({ network, hash }) => payoutKey(network, hash));
  const payouts = new Map<string, SentByUs>();
  for (const one of truth.sent) {
    if (gas.has(`${one.network} ${one.from}`) || spent.has(one.hash)) continue;
    const subject = payoutKey(one.network, one.hash);
    payouts.set(subject, one);
    const mine = groups.get(subject) ?? [];
    const [move] = one.moves;
    const fits =
      !one.ok ||
      (move !== undefined &&
        one.moves.length === 1 &&
        mine.length > 0 &&
        mine.every(
          ({ address, currency, destination }) =>
            address === one.from && currency === move.currency && destination === move.to,
        ) &&
        sumOf(mine, ({ units }) => units) === move.amountUnits);
    if (!fits)
      found.push({
        rule: 'a payout on the chain settles deposits of its address, to the unit',
        subject,
        detail: `${textOf(one)}, and ${mine.length} deposits of ${sumOf(mine, ({ units }) => units)} units name it`,
      });
  }
  for (const [subject, list] of groups) {
    if (payouts.get(subject)?.ok === true) continue;
    found.push({
      rule: 'what is settled was paid on the chain',
      subject,
      detail: `${list.length} deposits name it, and it ${payouts.has(subject) ? 'failed' : 'is in no block'}`,
    });
  }
  for (const list of groups.values()) found.push(...compareParts(list));
  return found;
}

const textOf = ({ from, moves }: SentByUs): string =>
  `${from} sent ${moves.map(({ amountUnits, currency, to }) => `${amountUnits} ${currency} to ${to}`).join(', ') || 'nothing'}`;

/** The parts of one payout: each deposit has its whole amount, divided as the amounts are. */
function compareParts(list: readonly Settled[]): Difference[] {
  const found: Difference[] = [];
  const gross = sumOf(list, ({ amountUnits }) => amountUnits);
  const [net, fees] = [sumOf(list, ({ units }) => units), sumOf(list, ({ feeUnits }) => feeUnits)];
  const isShare = (part: bigint, whole: bigint, amount: bigint): boolean => {
    const off = part * gross - whole * amount;
    return off < gross && off > -gross;
  };
  for (const one of list) {
    const { id, amountUnits, units, feeUnits, row } = one;
    const settlement = row['settlement'] as Json;
    if (row['status'] !== 'settled')
      found.push({
        rule: 'only what is settled has a settlement',
        subject: id,
        detail: String(row['status']),
      });
    const whole = isCoin(one) ? units + feeUnits : units;
    if (whole !== amountUnits || settlement['fee_currency'] !== NATIVE_CURRENCY[one.network])
      found.push({
        rule: 'a settlement is the whole deposit, less what a coin pays for itself',
        subject: id,
        detail: `${JSON.stringify(settlement)} of ${amountUnits} units`,
      });
    if (!isShare(units, net, amountUnits) || !isShare(feeUnits, fees, amountUnits))
      found.push({
        rule: 'a payout is divided as the amounts of its deposits are',
        subject: id,
        detail: `${units} units and a fee of ${feeUnits}, of ${net} and ${fees} for ${gross} units`,
      });
  }
  return found;
}

/** The money of others stays where it is: no address paid out more than was to be credited there. */
export function compareOutgoing(truth: Truth, spent: ReadonlySet<string>): Difference[] {
  const credited = new Map<string, bigint>();
  const paid = new Map<string, bigint>();
  const add = (sums: Map<string, bigint>, place: string, units: bigint) =>
    void sums.set(place, (sums.get(place) ?? 0n) + units);
  const addresses = new Set<string>();
  for (const { network, address, currency, amountUnits, belowMinimum } of truth.credits.values()) {
    addresses.add(`${network} ${address}`);
    if (!belowMinimum) add(credited, placeKey(network, address, currency), amountUnits);
  }
  for (const { network, hash, from, feeUnits, moves } of truth.sent) {
    if (!addresses.has(`${network} ${from}`) || spent.has(hash)) continue;
    // A coin that is paid out pays for its own way.
    for (const { currency, amountUnits } of moves)
      add(
        paid,
        placeKey(network, from, currency),
        amountUnits + (isCoin({ network, currency }) ? feeUnits : 0n),
      );
  }
  return [...paid].flatMap(([subject, units]) =>
    units <= (credited.get(subject) ?? 0n)
      ? []
      : [
          {
            rule: 'no address pays out more than was credited there',
            subject,
            detail: `${units} units left, ${credited.get(subject) ?? 0n} were to be credited`,
          },
        ],
  );
}

/** The wallets of the merchants hold what merchants are told, and nothing else. */
export function compareDestinations(
  settled: readonly Settled[],
  destinations: readonly Holding[],
): Difference[] {
  return destinations.flatMap(({ network, address, usdtUnits, coinUnits }) => {
    const own = settled.filter((one) => one.network === network && one.destination === address);
    const must = (coins: boolean) =>
      sumOf(
        own.filter((one) => isCoin(one) === coins),
        ({ units }) => units,
      );
    return must(false) === usdtUnits && must(true) === coinUnits
      ? []
      : [
          {
            rule: 'a destination holds exactly what was settled to it',
            subject: `${network} ${address}`,
            detail: `${usdtUnits} USDT and ${coinUnits} coins lie there, ${must(false)} and ${must(true)} were settled`,
          },
        ];
  });
}
