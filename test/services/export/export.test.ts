import { expect } from 'chai';
import { EXPORTED_ROWS, type ExportOf, exportCsv } from '../../../src/services/export/export.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const LISTS = ['deposits', 'customers', 'links', 'payouts', 'events'] as const;
const AT_ONCE = 5_000;
const MORE_THAN_EXPORTED = EXPORTED_ROWS + 20;

describe('a list as a file', function () {
  this.timeout(240_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ statementTimeoutMs: 60_000 });
  });
  after(() => shop?.stop());

  const { signal: never } = new AbortController();
  /** Its lines without the one of names, and how often a turn at the connections was taken. */
  async function exported(wanted: ExportOf, signal = never, most?: number) {
    let turns = 0;
    let held = 0;
    const pieces: string[] = [];
    const turn = async <T>(work: (deps: Shop['deps']) => Promise<T>): Promise<T> => {
      turns += 1;
      held += 1;
      return await work(shop.deps).finally(() => (held -= 1));
    };
    for await (const piece of exportCsv(turn, wanted, signal, most)) {
      expect(held, 'nothing is held while a piece is written').to.equal(0);
      pieces.push(piece);
    }
    const [names = '', ...lines] = pieces.join('').split('\r\n');
    expect(lines.pop(), 'the last line ends').to.equal('');
    return { names, lines, turns, pieces };
  }
  const ofMerchant = (list: (typeof LISTS)[number], more: object = {}): ExportOf => ({
    list,
    input: { merchantId: shop.merchantId, mode: 'live', ...more },
  });

  it('is the names alone where there is nothing', async () => {
    const other = await shop.api.newMerchant();
    for (const list of LISTS) {
      const { names, lines } = await exported({ list, input: { merchantId: other.id, mode: 'live' } });
      expect(names, list).to.match(/^\uFEFFid,/);
      expect(lines, list).to.deep.equal([]);
    }
  });

  it('has a line for each row of each list, with exact amounts, and follows the filter', async () => {
    const customerId = await shop.customer();
    const first = await shop.pay(customerId, { coins: '0.000000000000000001', state: 'detected' });
    shop.pass(1);
    const second = await shop.pay(customerId, { coins: '12.5' });
    await shop.move(second, 'settled');
    const link = await shop.link({ customerId, description: '=HYPERLINK("http://evil.example")' });
    const deposits = await exported(ofMerchant('deposits', { customerId }));
    expect(deposits.names.startsWith('\uFEFFid,detected_at,status,')).to.equal(true);
    expect(deposits.lines.map((line) => line.split(',')[0])).to.deep.equal([second, first]);
    expect(deposits.lines[1]).to.include(',0.000000000000000001,');
    expect(deposits.lines[0]).to.include(',settled,').and.include(',12.5,');
    expect(
      (await exported(ofMerchant('deposits', { customerId, status: 'detected' }))).lines.length,
    ).to.equal(1);
    const links = await exported(ofMerchant('links', { customerId }));
    expect(links.lines[0]).to.include(link.id).and.include(`"'=HYPERLINK(""http://evil.example"")"`);
    expect((await exported(ofMerchant('customers'))).lines[0]).to.match(/,2,12\.5$/);
    expect((await exported(ofMerchant('payouts', { state: 'settled' }))).lines.length).to.equal(1);
    expect((await exported(ofMerchant('payouts', { state: 'failed' }))).lines.length).to.equal(0);
    const events = await exported(ofMerchant('events', { subjectId: second }));
    expect(events.lines.map((line) => line.split(',')[2]).toSorted()).to.deep.equal([
      'deposit.completed',
      'deposit.confirming',
      'deposit.detected',
      'deposit.settled',
    ]);
  });

  it('ends with a line that says so where it was cut, in as many cells as every line has', async () => {
    const customerId = await shop.customer();
    for (let count = 0; count < 3; count += 1) await shop.pay(customerId, { coins: '1' });
    const { names, lines } = await exported(ofMerchant('deposits', { customerId }), never, 2);
    expect(lines.length).to.equal(3);
    expect(lines[2]).to.match(/^"?This list was cut after 2 rows, and there may be more/);
    expect(lines[2]?.match(/,(?! )/g)?.length).to.equal(names.split(',').length - 1);
    expect((await exported(ofMerchant('deposits', { customerId }), never, 3)).lines.length).to.equal(3);
  });

  it('refuses a wrong filter before its first piece', async () => {
    const wrong = exportCsv(
      (work) => work(shop.deps),
      ofMerchant('customers', { address: 'nonsense' }),
      never,
    );
    const refused = await wrong.next().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Refusal);
    expect((await exported(ofMerchant('events', { subjectId: 'nonsense' }))).lines).to.deep.equal([]);
    expect((await exported(ofMerchant('deposits', { customerId: UNKNOWN_ID }))).lines).to.deep.equal([]);
  });

  it('of more than 100,000 rows has that many, each once, page by page, and ends when its reader goes away', async () => {
    const customerId = await shop.customer();
    const id = await shop.pay(customerId, { coins: '1', state: 'detected' });
    await shop.deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      // In parts: beside the other tests one statement may take longer than any statement is waited for.
      for (let from = 1; from <= MORE_THAN_EXPORTED; from += AT_ONCE)
        await em.execute(
          `insert into deposits select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(),
             'transaction_hash', '0x' || md5(n::text),
             'created_at', d.created_at - n % 1000 * interval '1 second'))).*
           from deposits d, generate_series(?::int, least(?::int, ${MORE_THAN_EXPORTED})) n where d.id = ?`,
          [from, from + AT_ONCE - 1, id],
        );
    });
    await shop.sql('analyze deposits');
    const { lines, turns, pieces } = await exported(ofMerchant('deposits', { customerId }));
    expect(lines.length).to.equal(EXPORTED_ROWS + 1);
    expect(new Set(lines.slice(0, -1).map((line) => line.split(',')[0])).size).to.equal(EXPORTED_ROWS);
    expect(lines.at(-1)).to.include(`cut after ${EXPORTED_ROWS} rows`);
    expect([turns, pieces.length]).to.deep.equal([200, 201]);
    const gone = new AbortController();
    const walk = exportCsv((work) => work(shop.deps), ofMerchant('deposits', { customerId }), gone.signal);
    await walk.next();
    gone.abort();
    expect(await walk.next()).to.deep.equal({ done: true, value: undefined });
  });
});
