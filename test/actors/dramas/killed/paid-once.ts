// What must hold once everything is paid out, whatever was killed on the way.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../../../src/domain/assets.ts';
import { formatUnits } from '../../../../src/domain/money.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { type Row, watchedBy, wholePass } from '../../../services/watcher/test-watcher.ts';
import type { PaidOut, PayingChain } from './paying-chain.ts';
import type { KillingStage } from './stage.ts';

/** Waits until everything that was paid is settled, and every event of that has been delivered. */
export async function everythingSettled(the: KillingStage): Promise<void> {
  await the.reach('settled');
  await eventually(
    'the last delivery',
    async () =>
      (await the.rows("select 1 from webhook_deliveries where status = 'pending' limit 1")).length === 0,
    60_000,
  );
}

/**
 * One transfer on the chain for each payout, and one payout for each deposit; chain, ledger and what
 * merchants are told agree to the unit; one event for each deposit.
 */
export async function expectPaidOnce(the: KillingStage): Promise<void> {
  for (const chain of the.chains) await expectPaidOnceOn(the, chain);
  const foreign = await the.rows("select hash from sent_transactions where state = 'foreign'");
  expect(foreign, 'what nobody signed').to.deep.equal([]);
  expect((await auditLedger(the.deps)).differences, 'the books').to.deep.equal([]);
  await expectToldOnce(the);
  expectSignedOnce(the);
}

async function expectPaidOnceOn(the: KillingStage, chain: PayingChain): Promise<void> {
  const { network } = chain;
  const deposits = await the.rows(
    `select d.transaction_hash, d.amount_units::text as amount, d.settled_units::text as settled,
       d.settlement_fee_units::text as fee, p.transaction_hash as payout, p.state
     from deposits d left join payouts p on p.id = d.payout_id where d.network = ?`,
    [network],
  );
  expect(deposits.map((row) => [row['transaction_hash'], row['amount'], row['state']])).to.have.deep.members(
    the.paid
      .filter((paid) => paid.chain === chain)
      .map(({ hash, units }) => [hash, String(units), 'settled']),
  );
  const onChain = await chain.paidOut();
  const asOneLine = ({ hash, from, currency, units }: PaidOut): string =>
    [hash, from, currency, units].join(' ');
  const payouts = await the.rows(
    `select transaction_hash || ' ' || address_key || ' ' || currency || ' ' || net_units::text as line
     from payouts where network = ? and state = 'settled'`,
    [network],
  );
  expect(payouts.map(({ line }) => line)).to.have.members(onChain.map(asOneLine));
  const byPayout = Map.groupBy(deposits, (row) => row['payout']);
  for (const { hash, units } of onChain)
    expect(sumOf(byPayout.get(hash) ?? [], 'settled'), `what ${hash} settled`).to.equal(units);
  await expectLedger(the, network, deposits);
  await expectCompared(the, network);
}

const sumOf = (rows: readonly Row[], name: string): bigint =>
  rows.reduce((sum, row) => sum + BigInt(String(row[name])), 0n);

/** A merchant's money is where the deposits say that it is. */
async function expectLedger(the: KillingStage, network: Network, deposits: readonly Row[]): Promise<void> {
  const accounts = await the.rows(
    `select account, sum(amount_units)::text as sum from ledger_entries where network = ? group by account`,
    [network],
  );
  const of = (account: string): bigint =>
    BigInt(String(accounts.find((row) => row['account'] === account)?.['sum'] ?? 0));
  expect(of('available'), 'available').to.equal(0n);
  expect(of('shortfall'), 'shortfall').to.equal(0n);
  expect(of('settled'), 'settled').to.equal(sumOf(deposits, 'settled'));
  expect(of('settled') + of('fees'), 'settled and fees').to.equal(sumOf(deposits, 'amount'));
}

/** What lies on every address at the chain's last final block is what the ledger expects there. */
async function expectCompared(the: KillingStage, network: Network): Promise<void> {
  const open = the.gateway.chains.get(network) ?? expect.fail(`${network} is not watched`);
  const seen = { foundLate: 0, differences: [] as bigint[], heights: 0 };
  const watched = watchedBy(open.reader, seen);
  expect(await wholePass(the.deps, watched)).to.include({ did: 'finished' });
  expect(seen.differences, `differences on ${network}`).to.deep.equal([]);
}

/** Each deposit has one event that says so, with one body, and it says what the deposit says. */
async function expectToldOnce(the: KillingStage): Promise<void> {
  const events = await the.rows(
    `select e.id as event, d.network, d.currency, d.settled_units::text as settled, p.destination,
       d.settlement_fee_units::text as fee, p.transaction_hash as payout
     from events e join deposits d on d.id = e.subject_id left join payouts p on p.id = d.payout_id
     where e.type = 'deposit.settled'`,
  );
  expect(events.length, 'events').to.equal(the.paid.length);
  for (const event of events) {
    const network = event['network'] as Network;
    const told = the.receiver.requests.filter(({ headers }) => headers['x-webhook-id'] === event['event']);
    expect(new Set(told.map(({ body }) => body.toString('hex'))).size, 'bodies of one event').to.equal(1);
    expect(told.every(({ verified }) => verified)).to.equal(true);
    const { data } = JSON.parse(told[0]?.body.toString('utf8') ?? '') as { data: Row };
    expect(data['settlement']).to.deep.include({
      transaction_hash: event['payout'],
      destination: event['destination'],
      amount: shown(network, String(event['currency']), event['settled']),
      fee_amount: shown(network, NATIVE_CURRENCY[network], event['fee']),
    });
  }
}

const shown = (network: Network, currency: string, units: unknown): string =>
  formatUnits(BigInt(String(units)), assetOf(network, currency as never).decimals);

type Line = {
  readonly kind: string;
  readonly network: Network;
  readonly purpose: string;
  readonly hash: string;
  readonly payout_id: string;
  readonly nonce: number | null;
  readonly deposits: readonly string[];
};

/** What the journal has signed. */
function signedLines({ journalFile }: KillingStage): readonly Line[] {
  const lines = readFileSync(journalFile, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line).filter(({ kind }) => kind === 'signed');
}

/** What the signer has signed on a chain and no row has. */
export async function onlyInTheJournal(the: KillingStage, network: Network): Promise<string[]> {
  const stored = await the.rows('select hash from sent_transactions where hash is not null');
  const hashes = new Set(stored.map(({ hash }) => hash));
  return signedLines(the)
    .filter((line) => line.network === network && !hashes.has(line.hash))
    .map(({ hash }) => hash);
}

/** The journal has signed each deposit for one payout, and all attempts of a payout in one place. */
function expectSignedOnce(the: KillingStage): void {
  const signed = signedLines(the).filter(({ purpose }) => purpose === 'payout');
  const payoutsOf = new Map<string, Set<string>>();
  const placesOf = new Map<string, Set<number | null>>();
  for (const { payout_id: payout, nonce, deposits } of signed) {
    placesOf.set(payout, (placesOf.get(payout) ?? new Set()).add(nonce));
    for (const id of deposits) payoutsOf.set(id, (payoutsOf.get(id) ?? new Set()).add(payout));
  }
  for (const [id, payouts] of payoutsOf) expect([...payouts], `payouts of ${id}`).to.have.length(1);
  for (const [id, places] of placesOf) expect([...places], `places of ${id}`).to.have.length(1);
}
