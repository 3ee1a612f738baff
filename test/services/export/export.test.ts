import { expect } from 'chai';
import { EXPORTED_ROWS, type ExportOf, exportCsv } from '../../../src/services/export/export.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const LISTS = ['deposits', 'customers', 'links', 'payouts', 'events'] as const;
/** Four pages. */
const MANY = 2_000;

describe('a list as a file', function () {
  this.timeout(60_000);
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
    const linesOf = async (...wanted: Parameters<typeof ofMerchant>) =>
      (await exported(ofMerchant(...wanted))).lines;
    const [shown] = await linesOf('links', { customerId });
    expect(shown).to.include(link.id).and.include(`"'=HYPERLINK(""http://evil.example"")"`);
    expect((await linesOf('payouts', { state: 'settled' })).length).to.equal(1);
    expect((await linesOf('deposits', { customerId, status: 'detected' })).length).to.equal(1);
    const events = await exported(ofMerchant('events', { subjectId: second }));
    expect(events.lines.map((line) => line.split(',')[2]).toSorted()).to.deep.equal([
      'deposit.completed',
      'deposit.confirming',
      'deposit.detected',
      'deposit.settled',
    ]);
  });

  it('of more rows than are exported has that many, each once, page by page', async () => {
    expect(EXPORTED_ROWS).to.equal(100_000);
    const customerId = await shop.customer();
    const id = await shop.pay(customerId, { coins: '1', state: 'detected' });
    await shop.deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      await em.execute(
        `insert into deposits select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(),
           'transaction_hash', '0x' || md5(n::text),
           'created_at', d.created_at - n % 10 * interval '1 second'))).*
         from deposits d, generate_series(1, ${MANY + 20}) n where d.id = ?`,
        [id],
      );
    });
    const wanted = ofMerchant('deposits', { customerId });
    const { lines, turns, pieces } = await exported(wanted, never, MANY);
    expect(lines.length).to.equal(MANY + 1);
    expect(new Set(lines.slice(0, -1).map((line) => line.split(',')[0])).size).to.equal(MANY);
    expect(lines.at(-1)).to.match(/^"?This list was cut after 2000 rows, and there may be more/);
    expect([turns, pieces.length]).to.deep.equal([4, 5]);
  });
});
