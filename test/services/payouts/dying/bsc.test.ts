import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { payablePage } from '../../../../src/services/repair/settlements.ts';
import { stallingBsc } from '../../../actors/support/stalling.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { isPaying, isSent, says } from '../settle/steps.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const RESEND_MS = 15_000;

describe('a worker that ends in the middle of a payout on BNB Chain', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(() => the.everywhere(undefined));
  /** Is killed when it would send the first bytes. */
  const dies = async (key: AddressKey): Promise<void> => {
    const broadcast = async (): Promise<never> => {
      throw new Error('it is killed');
    };
    const step = the.step(key, false, { ...the.spending, broadcast }).catch((error: Error) => error.message);
    expect(await step).to.equal('it is killed');
  };
  const topUp = async (key: AddressKey) =>
    (await the.sent(key)).find(({ purpose }) => purpose === 'gas') ?? expect.fail('no top-up');
  /** Two addresses with top-ups that are signed, one after the other. */
  const signedTopUps = async (): Promise<readonly [AddressKey, AddressKey]> => {
    const keys: AddressKey[] = [];
    for (const units of [5n * USDT, 6n * USDT]) {
      const key = await the.paid(['USDT', units]);
      await the.settle(key, says('asked for gas'));
      await eventually('the signer', async () => (await topUp(key))['raw'] !== null);
      keys.push(key);
    }
    return keys as [AddressKey, AddressKey];
  };
  const areSettled = async (...keys: AddressKey[]): Promise<void> => {
    for (const key of keys) {
      await the.settle(key);
      expect(await the.states(key)).to.deep.equal(['settled']);
    }
  };

  it('keeps the later places of the wallet waiting no longer than what is lost on the way', async () => {
    const [first, second] = await signedTopUps();
    await dies(first);
    expect(await topUp(first)).to.include({ state: 'sent' });
    // The first actor never continues; the second one is alone.
    await the.settle(second, isSent);
    await the.chain.mine(3);
    await the.catchUp();
    expect(await topUp(second), 'it waits for the place before it').to.include({ state: 'sent' });
    the.clock.aheadMs += RESEND_MS;
    await areSettled(second, first);
  });

  it('leaves no top-up of a payout that was cancelled to count against the gas wallet', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    the.everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
    );
    await the.settle(key, says('no block has them yet'));
    await the.outbids(key);
    const usdt = the.chain.usdt.address;
    the.everywhere(({ method, id, params }) =>
      method === 'eth_call' && (params[0] as { to: string }).to === usdt && 'from' in (params[0] as object)
        ? { json: { jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted: blacklisted' } } }
        : undefined,
    );
    await the.settle(key, says('blacklisted'));
    expect([await the.states(key), (await the.ways(key)).toSorted()]).to.deep.equal([
      ['cancelled'],
      ['gas dead', 'gas final'],
    ]);
    the.everywhere(undefined);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['cancelled', 'settled']);
    expect((await the.ways(key)).filter((way) => way.startsWith('gas'))).to.have.length(2);
  });

  it('settles what it covers, and leaves what came meanwhile to its actor, or to a repair where it has none', async () => {
    /** Whether a repair would start the actor of an address that has something to pay out. */
    const isDue = async (key: AddressKey): Promise<boolean | undefined> => {
      const page = payablePage('bsc', '' as AddressKey, new Date(0));
      return (await rows(the.deps.orm.em.fork(), page)).find(({ addressKey }) => addressKey === key)?.due;
    };
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isPaying);
    await the.pay(key, ['USDT', 3n * USDT]);
    await the.settle(key, says('paid out'));
    expect(await isDue(key)).to.equal(true);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    expect(await isDue(key)).to.equal(undefined);
  });
});

/** An endpoint calls final what is replaced afterwards, and a payout was settled by it. */
describe('a settled deposit under which finality breaks', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  it('shows the loss in the books, never below nothing, and takes it back when all is mined again', async () => {
    const accounts = async (): Promise<Record<string, bigint>> => {
      const sums = await the.rows(
        "select account, sum(amount_units)::text as sum from ledger_entries where currency = 'USDT' group by account",
      );
      return Object.fromEntries(sums.map((row) => [row['account'], BigInt(String(row['sum']))]));
    };
    const UNITS = 5n * USDT;
    const ground = await the.chain.mine(0);
    stallingBsc(the.chain, the.proxy).hasty();
    const key = await the.paid(['USDT', UNITS]);
    const hash = String((await the.depositsOf(key))[0]?.['transaction_hash']);
    const raws = [String(await the.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]))];
    await the.settle(key);
    for (const row of await the.sent(key))
      raws.push(`0x${Buffer.from(row['raw'] as Buffer).toString('hex')}`);
    // All blocks above are replaced by as many empty ones, which the watcher follows.
    the.proxy.fault = undefined;
    await the.chain.reorg((await the.chain.mine(0)) - ground);
    await the.chain.mine(20);
    // A look that meets the contradiction may end there; the watcher comes again.
    await eventually('the other branch being followed', async () =>
      (await the.catchUp().catch(() => undefined)) === undefined ? undefined : true,
    );
    await the.finish();

    expect((await the.depositsOf(key))[0]).to.include({ status: 'settled', block_hash: null });
    expect(await accounts()).to.deep.include({ shortfall: -UNITS, settled: UNITS });
    expect((await accounts())['available'] ?? 0n).to.equal(0n);
    const { differences } = await auditLedger(the.deps);
    expect(differences.map(({ check, account }) => [check, account])).to.deep.equal([['payout', 'chain']]);
    expect(await the.step(key), 'nothing is paid for it once more').to.include({ kind: 'rest' });

    const had = await the.tokensOf(DESTINATION);
    for (const raw of raws) {
      await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
      await the.chain.mine();
    }
    await the.finish();
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(UNITS);
    expect((await accounts())['shortfall'] ?? 0n).to.equal(0n);
    expect((await auditLedger(the.deps)).differences).to.deep.equal([]);
    await the.agrees();
  });
});
