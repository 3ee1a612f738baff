// Money, held against the chains: what arrived is credited once, booked, paid out once, and kept otherwise.
import { NATIVE_CURRENCY } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import { MERCHANTS } from '../plan/plan.ts';
import { keyOf, type Records, type Say, type Settled, settledOf } from './records.ts';
import { addressAs, placeKey, sums } from './truth.ts';

const all = ({ deposits }: Records): Json[] => MERCHANTS.flatMap((merchant) => deposits[merchant]);
const settledIn = (records: Records): Settled[] => all(records).flatMap((row) => settledOf(row) ?? []);
const sumOf = (list: readonly Settled[], of: (one: Settled) => bigint): bigint =>
  list.reduce((total, one) => total + of(one), 0n);

/** Each transfer is one deposit, as the API shows it, whose end is right; and there is no other. */
export function judgeDeposits(records: Records, say: Say): void {
  const { truth, customers } = records;
  const owners = new Map(
    customers.flatMap(({ id, addresses }) => Object.entries(addresses).map((entry) => [entry.join(' '), id])),
  );
  const rows = Map.groupBy(all(records), keyOf);
  for (const [key, credit] of truth.credits) {
    const [row, ...more] = rows.get(key) ?? [];
    if (!row || more.length > 0) {
      const found = `${rows.get(key)?.length ?? 0} deposits`;
      say('one deposit for each transfer', key, `${found}, ${credit.amountUnits} units`);
      continue;
    }
    const must: Json = {
      // Whether it had to be paid out is another question.
      status: credit.belowMinimum ? 'failed' : row['status'] === 'settled' ? 'settled' : 'completed',
      failure_code: credit.belowMinimum ? 'BELOW_MINIMUM' : null,
      customer_id: owners.get(`${credit.network} ${credit.address}`) ?? null,
      amount_raw: String(credit.amountUnits),
      block_number: credit.blockNumber,
      block_hash: credit.blockHash,
    };
    for (const [name, value] of Object.entries(must))
      if (row[name] !== value)
        say('a deposit is what its transfer was', key, `${name} is ${row[name]} instead of ${value}`);
  }
  for (const [key, list] of rows)
    for (const row of truth.credits.has(key) ? [] : list)
      if (
        row['status'] !== 'failed' ||
        row['failure_code'] !== 'REORGED' ||
        truth.transactions.has(String(row['transaction_hash']))
      )
        say('no deposit without a transfer', key, `${row['status']} ${row['failure_code']} ${row['amount']}`);
}

/** The books have each deposit where it is: available, held, or settled less what a coin paid for its way. */
export function judgeBooks(records: Records, say: Say): void {
  const { truth, entries } = records;
  const settled = new Map(settledIn(records).map((one) => [keyOf(one.row), one]));
  const booked = Map.groupBy(entries, keyOf);
  for (const key of new Set([...truth.credits.keys(), ...booked.keys()])) {
    const credit = truth.credits.get(key);
    const paid = settled.get(key);
    const must = sums();
    must.add('chain', -(credit?.amountUnits ?? 0n));
    if (credit && paid) {
      must.add('settled', paid.units);
      must.add('fees', paid.isCoin ? paid.feeUnits : 0n);
    } else if (credit) must.add(credit.belowMinimum ? 'held' : 'available', credit.amountUnits);
    const is = new Map((booked.get(key) ?? []).map(({ account, sum }) => [account, BigInt(sum)]));
    for (const account of new Set([...is.keys(), ...must.map.keys()])) {
      const [has, wants] = [is.get(account) ?? 0n, must.map.get(account) ?? 0n];
      if (has !== wants) say('the books equal the chain', `${key} ${account}`, `${has} instead of ${wants}`);
    }
  }
}

/** Each payout on the chain settles deposits of its address to the unit, and each settled deposit has one. */
export function judgePayouts(records: Records, say: Say): void {
  const { truth, customers, gas, spent } = records;
  const own = new Set(
    customers.flatMap(({ addresses }) => Object.entries(addresses).map((entry) => entry.join(' '))),
  );
  const settled = settledIn(records);
  const groups = Map.groupBy(settled, ({ network, hash }) => `${network} ${hash}`);
  const paid = new Set<string>();
  for (const { network, hash, from, ok, feeUnits, moves } of truth.sent) {
    const subject = `${network} ${hash}`;
    if (!ok || spent.includes(hash)) continue;
    if (gas.includes(`${network} ${from}`)) {
      for (const { to, units } of moves)
        if (!own.has(`${network} ${to}`))
          say('a wallet for gas pays addresses of deposits alone', subject, `${units} units to ${to}`);
      continue;
    }
    paid.add(subject);
    const mine = groups.get(subject) ?? [];
    const [move] = moves;
    const fits =
      move !== undefined &&
      moves.length === 1 &&
      mine.every(
        (one) => one.address === from && one.currency === move.currency && one.destination === move.to,
      ) &&
      sumOf(mine, ({ units }) => units) === move.units;
    const text = moves.map(({ to, currency, units }) => `${units} ${currency} to ${to}`).join(', ');
    const told = `${mine.length} deposits name it`;
    if (!fits || mine.length === 0)
      say('a payout settles deposits of its address, to the unit', subject, `${from}: ${text}; ${told}`);
    else if (sumOf(mine, (one) => one.feeUnits) < feeUnits)
      say('what a payout took is told', subject, `the chain took ${feeUnits} units for its own way alone`);
  }
  for (const [subject, list] of groups)
    if (!paid.has(subject)) say('what is settled was paid', subject, `${list.length} deposits name it`);
  for (const { row, network, isCoin, units, feeUnits, amountUnits } of settled)
    if (
      row['status'] !== 'settled' ||
      (isCoin ? units + feeUnits : units) !== amountUnits ||
      (row['settlement'] as Json)['fee_currency'] !== NATIVE_CURRENCY[network]
    )
      say(
        'a settlement is the whole deposit, less what a coin pays for itself',
        String(row['id']),
        `${row['status']}: ${JSON.stringify(row['settlement'])} of ${amountUnits} units`,
      );
}

/**
 * What is signed goes where its merchant wanted it then, or, signed before a change was made, to the place
 * before; and the wallets of merchants hold what merchants are told, and nothing else.
 */
export function judgeDestinations(records: Records, say: Say): void {
  const { signed, destinations, held } = records;
  for (const payout of signed) {
    const { network, signed_ms: at } = payout;
    const own = destinations.filter(
      (one) => one.merchantId === payout.merchant_id && one.network === network && one.askedMs <= at,
    );
    const made = own.findLastIndex(({ fromMs }) => fromMs <= at);
    const allowed = own.slice(Math.max(0, made)).map(({ address }) => address);
    if (!allowed.includes(addressAs(network, payout.destination)))
      say(
        'a payout goes where its merchant said',
        `payout ${payout.id}`,
        `${payout.destination} instead of ${allowed.join(' or ') || 'nowhere'}`,
      );
  }
  const settled = settledIn(records);
  for (const { network, address, usdtUnits, coinUnits } of held) {
    if (!destinations.some((one) => one.network === network && one.address === address)) continue;
    const own = settled.filter((one) => one.network === network && one.destination === address);
    const [tokens, coins] = [false, true].map((isCoin) =>
      sumOf(
        own.filter((one) => one.isCoin === isCoin),
        ({ units }) => units,
      ),
    );
    if (tokens !== usdtUnits || coins !== coinUnits)
      say(
        'a destination holds exactly what was settled to it',
        `${network} ${address}`,
        `${usdtUnits} USDT and ${coinUnits} coins lie there, ${tokens} and ${coins} were settled`,
      );
  }
}

/** Unknown tokens, dust and real money on test addresses are kept for the operator to see. */
export function judgeSetAside({ truth, setAside }: Records, say: Say): void {
  const kept = new Map(
    setAside.map(({ network, transaction_hash: hash, address, sum }) => [
      `${network} ${hash} ${addressAs(network, address)}`,
      BigInt(sum),
    ]),
  );
  for (const [subject, units] of truth.strange)
    if (kept.get(subject) !== units)
      say('what is never credited is kept for the operator', subject, `${kept.get(subject)}, not ${units}`);
}

/**
 * The judge's own reading of the transactions against the balances that each chain keeps itself: a way to
 * pay, to be paid or to burn coins that the judge did not understand would show here.
 */
export function judgeItself({ truth, held }: Records, say: Say): void {
  const left = sums();
  for (const { network, from, feeUnits, moves } of truth.sent) {
    left.add(placeKey(network, from, NATIVE_CURRENCY[network]), feeUnits);
    for (const { currency, units } of moves) left.add(placeKey(network, from, currency), units);
  }
  for (const { network, address, usdtUnits, coinUnits } of held)
    for (const [currency, is] of [
      ['USDT', usdtUnits],
      [NATIVE_CURRENCY[network], coinUnits],
    ] as const) {
      const place = placeKey(network, address, currency);
      const must = (truth.arrived.get(place) ?? 0n) - (left.map.get(place) ?? 0n);
      if (is !== must)
        say('the judge reads the chain as the chain does', place, `${is} lie there, not ${must}`);
    }
}
