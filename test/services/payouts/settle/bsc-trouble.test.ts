import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { changed } from '../../../../dev/support/faults.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { SentTransaction } from '../../../../src/db/entities/index.ts';
import type { Pages } from '../../../../src/services/find/found.ts';
import { shownSent } from '../../../../src/services/find/money.ts';
import { shown } from '../stage.ts';
import { type SettleStage, startFundedStage, USDT } from './stage.ts';
import { isPaid, isPaying, says } from './steps.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
const UNITS = 5n * USDT;

describe('a payout on BNB Chain that meets trouble', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(async () => {
    the.everywhere(undefined);
    await the.signer.stop();
    await the.signer.start();
  });
  const nobodyTakesIt = (message = 'nonce too low'): void =>
    the.everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction'
        ? { json: { jsonrpc: '2.0', id, error: { code: -32000, message } } }
        : undefined,
    );
  const attempts = async (key: AddressKey) =>
    (await the.sent(key))
      .filter(({ purpose }) => purpose === 'payout')
      .toSorted((a, b) => Number(a['attempt']) - Number(b['attempt']));
  const ends = async (key: AddressKey): Promise<string[]> =>
    (await attempts(key)).map(({ attempt, state }) => `${attempt} ${state}`);
  const raw = async (key: AddressKey, attempt: number): Promise<string> => {
    const row = (await attempts(key)).find((one) => one['attempt'] === attempt);
    return `0x${Buffer.from((row?.['raw'] ?? '') as Buffer).toString('hex')}`;
  };
  const lands = async (key: AddressKey, attempt: number): Promise<void> => {
    await the.chain.anvil.rpc('eth_sendRawTransaction', [await raw(key, attempt)]);
    await the.chain.mine();
  };
  const replaced = async (blocks: number): Promise<void> => {
    await the.chain.reorg(blocks);
    await the.chain.mine(blocks + 1);
    await the.catchUp();
  };

  /** The destination gets all of an address, once; what did it settles the last payout. */
  const paysOnce = async (act: (key: AddressKey) => Promise<unknown>): Promise<AddressKey> => {
    const key = await the.paid(['USDT', UNITS]);
    const had = await the.tokensOf(DESTINATION);
    await act(key);
    await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(UNITS);
    expect(await the.tokensOf(key)).to.equal(0n);
    const paidBy = (await attempts(key)).find(({ state, ok }) => state === 'final' && ok);
    const last = (await the.payouts(key)).at(-1);
    expect(last).to.include({ state: 'settled', transaction_hash: paidBy?.['hash'] });
    return key;
  };

  it('replaces by fee what no block takes, with the same nonce: what it was given, and the transfer', async () => {
    const key = await paysOnce(async (one) => {
      nobodyTakesIt();
      await the.settle(one, says('no block has them yet'));
      await the.outbids();
      the.everywhere(undefined);
      await the.settle(one, isPaying);
      nobodyTakesIt('transaction underpriced');
      await the.settle(one, says('no block has it yet: no RPC endpoint takes it (127.0.0.1'));
      await the.settle(one, says('transaction underpriced)'));
      await the.outbids();
      the.everywhere(undefined);
    });
    expect((await the.ways(key)).toSorted()).to.deep.equal([
      'gas dead',
      'gas final',
      'payout dead',
      'payout final',
    ]);
    expect(new Set((await attempts(key)).map(({ nonce }) => nonce)).size).to.equal(1);
  });

  it('is settled by the first attempt, where a block has that one after all', async () => {
    const key = await paysOnce(async (one) => {
      await the.settle(one, isPaying);
      nobodyTakesIt();
      await the.settle(one, isPaid);
      await the.outbids();
      await the.settle(one, isPaid);
      the.everywhere(undefined);
      await lands(one, 1);
    });
    expect(await ends(key)).to.deep.equal(['1 final', '2 dead']);
    const em = the.deps.orm.em.fork();
    const rows = await em.find(SentTransaction, { fromKey: key }, { orderBy: { attempt: 'asc' } });
    const looking = { em, deps: the.deps, pages: { explorers: {} } as unknown as Pages };
    const whyOf = async (row = rows[0]) => (await shownSent(looking, [row?.id ?? '']))[0]?.why;
    expect(await whyOf()).to.equal('a final block holds it');
    expect(await whyOf(rows[1])).to.match(/^it can land no more; no RPC endpoint took it: 127.*too low$/);
  });

  it('is settled by the other attempt, where the block of the one that was mined gives way', async () => {
    const second = await paysOnce(async (key) => {
      await the.settle(key, isPaid);
      await the.chain.mine();
      await the.catchUp();
      expect(await ends(key)).to.deep.equal(['1 mined']);
      nobodyTakesIt();
      await replaced(1);
      expect(await ends(key)).to.deep.equal(['1 sent']);
      await the.outbids();
      the.everywhere(undefined);
    });
    expect(await ends(second)).to.deep.equal(['1 dead', '2 final']);
    const first = await paysOnce(async (key) => {
      await the.settle(key, isPaid);
      await the.chain.anvil.rpc('anvil_dropAllTransactions');
      nobodyTakesIt();
      await the.outbids();
      the.everywhere(undefined);
      await the.settle(key, isPaid);
      await the.chain.mine();
      await the.catchUp();
      expect(await ends(key)).to.deep.equal(['1 sent', '2 mined']);
      await the.chain.anvil.rpc('anvil_reorg', [1, [[await raw(key, 1), 0]]]);
      await the.chain.mine();
      await the.catchUp();
    });
    expect(await ends(first)).to.deep.equal(['1 final', '2 dead']);
  });

  it('gives the deposits back where the chain undid it, although the signer refused another attempt', async () => {
    const key = await paysOnce(async (one) => {
      await the.settle(one, says(': signed'));
      nobodyTakesIt();
      await the.settle(one, isPaid);
      await the.signer.stop();
      await the.outbids();
      await the.rows("update sent_transactions set refused = 'new_destination: wait' where state = 'asked'");
      // The token is another one for the block that takes it.
      const { usdt, anvil } = the.chain;
      const code = await anvil.rpc('eth_getCode', [usdt.address, 'latest']);
      await anvil.rpc('anvil_setCode', [usdt.address, '0x60006000fd']);
      await lands(one, 1);
      await anvil.rpc('anvil_setCode', [usdt.address, code]);
      the.everywhere(undefined);
      await the.settle(one, says('failed on the chain'));
      await the.signer.start();
    });
    expect(await the.states(key)).to.deep.equal(['failed', 'settled']);
  });

  it('is neither settled nor failed by the word of blocks alone that endpoints deny', async () => {
    const hosts = [the.proxy, ...the.others].map(({ url }) => new URL(url).host);
    const key = await the.paid(['USDT', UNITS]);
    await the.settle(key, isPaid);
    const [payout] = await attempts(key);
    // Somebody else took its place, as a block is said to have shown.
    const foreign = 'ee'.repeat(32);
    await the.rows(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, block_number,
        block_hash, ok, fee_units, moves, verified_at, created_at, updated_at)
       values (?, 'bsc', ?, 'foreign', ?, ?, ?, 1, 'x', true, 1, '[]', now(), now(), now())`,
      [randomUUID(), foreign, shown('bsc', key), key, payout?.['nonce']],
    );
    expect(says('took the place')(await the.step(key))).to.equal(true);
    await the.chain.mine();
    expect(says(`of ${hosts.join(' and ')} none does so far`)(await the.step(key))).to.equal(true);
    await the.rows('delete from sent_transactions where hash = ?', [foreign]);
    await the.chain.mine(20);
    await the.finish();
    const [other] = the.others;
    if (!other) throw new Error('no second endpoint');
    other.fault = changed('eth_getBlockByNumber', (block: object) => ({ ...block, transactions: [] }));
    expect(
      says(`the RPC endpoint ${hosts[1]} says that it failed or is in no block`)(await the.step(key)),
    ).to.equal(true);
    // What is to be done stands at its end, and is not cut off where it is noted.
    expect((await the.wait(key))?.['reason']).to.match(/ read again with "rescan"$/);
    const shows = "update sent_transactions set ok = ? where hash = ? and state = 'final'";
    const setOk = async (ok: boolean) =>
      await the.deps.orm.em.fork().transactional(async (em) => {
        await em.execute("set local session_replication_role = 'replica'");
        await em.execute(shows, [ok, payout?.['hash']]);
      });
    await setOk(false);
    other.fault = undefined;
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'contradiction' });
    await setOk(true);
    expect(await the.states(key)).to.deep.equal(['paying']);
    // One that does not answer denies nothing, and one that has dropped its index of transactions neither.
    other.fault = () => 'reset';
    the.proxy.fault = ({ method, id }) =>
      method === 'eth_getTransactionReceipt' ? { json: { jsonrpc: '2.0', id, result: null } } : undefined;
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled']);
  });

  const untaken = (what: string, quote?: Spending['quote']) =>
    it(`is told to a person where no node ever takes what is sent, ${what}`, async () => {
      const key = await the.paid(['USDT', UNITS]);
      nobodyTakesIt();
      await the.settle(key, says('no block has them yet'));
      const isTold = async (): Promise<boolean> => {
        for (let taken = 0; taken < 6; taken += 1) {
          const over = { ...the.spending, ...(quote ? { quote } : {}) };
          await the.wallets(over);
          const step = await the.step(key, false, over);
          if (step.kind === 'wait' && step.stuck) return true;
        }
        return false;
      };
      for (let rounds = 0; !(await isTold()); rounds += 1) {
        expect(rounds, 'nobody is told').to.be.lessThan(20);
        // By turns it is to be sent again, and to be outbid.
        the.clock.aheadMs += rounds % 2 === 0 ? the.deps.settings.stuckAfterMs / 6 : 11_000;
        // The signer, which is there, has not looked since by this clock.
        await the.rows('update signer_state set seen_at = ?', [the.deps.now()]);
      }
      expect(await the.wait(key)).to.include({ code: 'on_its_way' });
      the.everywhere(undefined);
      await the.settle(key);
      expect([await the.states(key), await the.wait(key)]).to.deep.equal([['settled'], undefined]);
    });
  untaken('however often it is outbid');
  untaken('and no better one may be made', async () => ({ kind: 'refused', code: 'refuses', reason: 'why' }));

  it('leaves the books and the chain in agreement', () => the.agrees());
});
