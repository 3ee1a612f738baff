import { expect } from 'chai';
import type { UnrecognisedTransfer } from '../../../src/chains/reader.ts';
import { listLeftOut, purgeStrangers } from '../../../src/services/uncredited/strangers.ts';
import { recordUnrecognised } from '../../../src/services/uncredited/unrecognised.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { statementsOf } from '../../support/statements.ts';

const DAY_MS = 24 * 3_600_000;

type Sent = { readonly text: string; readonly values: unknown[] };
type Client = {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, string>[] }>;
  release(): void;
};
type Pool = { on(event: 'acquire', heard: (client: Client) => void): void; connect(): Promise<Client> };

const hex = (count: number, digits: number, fill: string): string =>
  `0x${count.toString(16).padStart(digits, fill)}`;

/**
 * Tokens of strangers cost their sender nearly nothing: what they cost
 * us is bounded, and nothing of ours is ever among what is left out.
 */
describe('what reaches our addresses and is never credited', () => {
  let shop: Shop;

  before(async () => {
    shop = await startShop({ statementTimeoutMs: 15_000 });
  });
  after(() => shop?.stop());
  /** The text and values of what reads the rows of a block, once it is listened to. */
  async function listen() {
    const sent: Sent[] = [];
    const pool: Pool = await shop.deps.orm.em.getConnection().getNativeClient();
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
    return { sent, pool };
  }

  let count = 0;
  const newAddress = (): string => `0x${(++count).toString(16).padStart(40, 'e')}`;
  const hash = (): string => `0x${(++count).toString(16).padStart(64, '0')}`;
  const contract = (): string => `0x${(++count).toString(16).padStart(40, 'c')}`;
  const spam = (address: string, token: string | null, times: number): UnrecognisedTransfer[] =>
    Array.from({ length: times }, () => ({
      txHash: hash(),
      to: address,
      contract: token,
      amountUnits: 1n,
      reason: 'another token',
    }));
  const record = (transfers: readonly UnrecognisedTransfer[], more: { again?: boolean; at?: Date } = {}) => {
    const deps = more.at ? { ...shop.deps, now: () => more.at as Date } : shop.deps;
    return recordUnrecognised(shop.deps.orm.em.fork(), deps, {
      network: 'bsc',
      blockNumber: 7,
      transfers,
      ...more,
    });
  };
  const kept = async (token: string): Promise<number> =>
    Number(
      (
        await shop.sql('select count(*) as n from unrecognised_transfers where contract_address = ?', [token])
      )[0]?.['n'],
    );

  it('is kept in one statement, a thousand of them too', async () => {
    const address = newAddress();
    const [token, warm] = [contract(), contract()];
    await record(spam(address, warm, 1));
    const transfers = spam(address, token, 1_000);
    const sent = await statementsOf(shop.deps.orm);
    await record(transfers);
    expect(sent).to.have.length(1);
    expect(await kept(token)).to.equal(1_000);
  });

  it('is kept up to a thousand of one token a day, says so once, and counts the rest', async () => {
    const address = newAddress();
    const [flood, rare] = [contract(), contract()];
    await record([...spam(address, flood, 900), ...spam(address, rare, 2)]);
    await record(spam(address, flood, 150));
    const late = spam(address, flood, 30);
    await record(late);
    await record(late, { again: true });
    expect(await kept(flood)).to.equal(1_000);
    expect(await kept(rare)).to.equal(2);
    const day = shop.clock.now.toISOString().slice(0, 10);
    const listed = await listLeftOut(shop.deps, { limit: 10 });
    expect(listed).to.deep.equal([{ network: 'bsc', contract_address: flood, day, left_out: 80 }]);
    const said = shop.api.lines.filter((line) => line.text.startsWith('a token floods our addresses'));
    expect(said).to.have.length(1);
    await record(spam(address, flood, 5), { at: new Date(shop.clock.now.getTime() + DAY_MS) });
    expect(await kept(flood), 'another day').to.equal(1_005);
  });

  it('is kept whole where it is in our own assets', async () => {
    const address = newAddress();
    const usdt = shop.deps.settings.contracts.bsc;
    await record([...spam(address, usdt, 1_100), ...spam(address, null, 1_100)]);
    expect([await kept(usdt), await kept('')]).to.deep.equal([1_100, 1_100]);
  });

  it('is one row for each transaction, address and contract, however often it is read', async () => {
    const address = newAddress();
    const token = contract();
    const [one] = spam(address, token, 1);
    if (!one) throw new Error('no transfer');
    await record([one, { ...one, amountUnits: 5n }]);
    await record([one]);
    expect(await kept(token)).to.equal(1);
  });

  it('is of the amount that the second read shows, where the first had shown another', async () => {
    const token = contract();
    const transfers = spam(newAddress(), token, 2);
    const shown = async () =>
      (
        await shop.sql(
          'select amount_units::text as units from unrecognised_transfers where contract_address = ?',
          [token],
        )
      ).map((row) => row['units']);
    await record(transfers.map((transfer) => ({ ...transfer, amountUnits: 3n })));
    await record(transfers);
    expect(await shown()).to.deep.equal(['3', '3']);
    await record(transfers.slice(1), { again: true });
    expect((await shown()).toSorted()).to.deep.equal(['1', '3']);
  });

  it('is removed after 90 days, but never what is in our own assets', async () => {
    const address = newAddress();
    const [old, young, usdt] = [contract(), contract(), shop.deps.settings.contracts.bsc];
    const before = await kept(usdt);
    const at = new Date(shop.clock.now.getTime() - 91 * DAY_MS);
    await record([...spam(address, old, 1_010), ...spam(address, usdt, 3)], { at });
    await record(spam(address, young, 3), { at: new Date(shop.clock.now.getTime() - 89 * DAY_MS) });
    await record(spam(address, old, 3));
    expect(await purgeStrangers(shop.deps)).to.equal(1_000);
    expect([await kept(old), await kept(young), await kept(usdt)]).to.deep.equal([3, 3, before + 3]);
    expect(
      (await listLeftOut(shop.deps, { limit: 10 })).some((day) => day.contract_address === old),
    ).to.equal(false);
  });

  const flooded = hex(1, 40, 'a');
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

  it('is read again by the key of each transfer, however many lie on the address and whatever is known of the table', async () => {
    const { sent, pool } = await listen();
    await shop.sql('alter table unrecognised_transfers set (autovacuum_enabled = false)');
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
