import { expect } from 'chai';
import type { UnrecognisedTransfer } from '../../../src/chains/reader.ts';
import { recordUnrecognised } from '../../../src/services/uncredited/unrecognised.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

type Sent = { readonly text: string; readonly values: unknown[] };
type Client = {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, string>[] }>;
  release(): void;
};

const hex = (count: number, digits: number, fill: string): string =>
  `0x${count.toString(16).padStart(digits, fill)}`;

/** A stranger's token costs its sender nearly nothing: no number of them may make the reading slow. */
describe('a flood of strangers’ tokens on one address', function () {
  this.timeout(60_000);
  let shop: Shop;
  const flooded = hex(1, 40, 'a');
  const sent: Sent[] = [];
  let pool: { on(event: 'acquire', heard: (client: Client) => void): void; connect(): Promise<Client> };

  before(async () => {
    shop = await startShop({ statementTimeoutMs: 15_000 });
    pool = await shop.deps.orm.em.getConnection().getNativeClient();
    const heard = new WeakSet<Client>();
    pool.on('acquire', (client) => {
      if (heard.has(client)) return;
      heard.add(client);
      const query = client.query.bind(client);
      client.query = (text, values) => {
        if (`${text}`.includes('corrected as')) sent.push({ text, values });
        return query(text, values);
      };
    });
    await shop.sql('alter table unrecognised_transfers set (autovacuum_enabled = false)');
  });
  after(() => shop?.stop());

  /** Rows of as many transactions: to an address each, or all to the flooded one. */
  const keep = async (from: number, to: number, address: string | null) =>
    await shop.sql(
      `insert into unrecognised_transfers (id, network, transaction_hash, address, address_key,
         contract_address, amount_units, block_number, reason, foreign_token, created_at)
       select gen_random_uuid(), 'bsc', '0x' || lpad(to_hex(n), 64, 'f'), a, substr(a, 3),
         '0x' || lpad(to_hex(n % 50), 40, 'c'), 1, n / 50, 'another token', true, now()
       from (select n, coalesce(?, '0x' || lpad(to_hex(n), 40, 'b')) as a
         from generate_series(?::int, ?::int) n) x`,
      [address, from, to],
    );

  it('is read again by the key of each transfer, whatever is known of the table', async () => {
    await keep(1, 300, null);
    await shop.sql('vacuum analyze unrecognised_transfers');
    await keep(301, 5_000, flooded);
    const transfers: UnrecognisedTransfer[] = Array.from({ length: 200 }, (_, index) => ({
      txHash: hex(index, 64, 'd'),
      to: flooded,
      contract: hex(7, 40, 'd'),
      amountUnits: 1n,
      reason: 'another token',
    }));
    const block = { network: 'bsc', blockNumber: 9_000, transfers } as const;
    for (const again of [false, true])
      await recordUnrecognised(shop.deps.orm.em.fork(), shop.deps, { ...block, again });
    expect(sent).to.have.length(2);
    for (const { text, values } of sent.splice(0)) {
      const client = await pool.connect();
      const { rows } = await client.query(`explain ${text}`, values).finally(() => client.release());
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).to.include('unrecognised_transfers_unique');
      expect(plan).to.not.include('unrecognised_transfers_address_index');
    }
  });
});
