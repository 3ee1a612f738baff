import { expect } from 'chai';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();

describe('a payout that meets trouble', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(() => {
    for (const proxy of [the.proxy, ...the.others]) proxy.fault = undefined;
  });
  const isPaying = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'paying';
  const isSent = (step: SettlementStep): boolean =>
    step.kind === 'went' && step.state === 'paying' && step.note.endsWith('sent');
  const raws = async (): Promise<string[]> =>
    (
      (await the.rows("select encode(raw, 'hex') as raw from sent_transactions where raw is not null")) as {
        raw: string;
      }[]
    ).map(({ raw }) => raw);
  const everywhere = (fault: SettleStage['proxy']['fault']): void => the.everywhere(fault);
  /** What the destination gets of an address, all its steps taken. */
  const paysOnce = async (key: string, units: bigint, act: () => Promise<unknown>): Promise<void> => {
    const had = await the.tokensOf(DESTINATION);
    await act();
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(units);
    expect(await the.tokensOf(key)).to.equal(0n);
    expect((await the.depositsOf(key as never)).map(({ status }) => status)).to.not.include('completed');
  };

  it('sends the same bytes again where no broadcast arrived', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      everywhere(({ method, id }) =>
        method === 'eth_sendRawTransaction'
          ? { json: { jsonrpc: '2.0', id, error: { code: -32000, message: 'already known' } } }
          : undefined,
      );
      await the.settle(key, (step) => step.kind === 'wait' && step.reason.includes('no block has them yet'));
      everywhere(undefined);
      the.clock.aheadMs += 16_000;
      await the.settle(key);
      const sent = await the.sent(key);
      expect(sent.map(({ attempt }) => attempt)).to.deep.equal([1, 1]);
    });
  });

  it('outbids what no block takes, in the same place, and is paid once', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      everywhere(({ method, id }) =>
        method === 'eth_sendRawTransaction'
          ? { json: { jsonrpc: '2.0', id, result: `0x${'00'.repeat(32)}` } }
          : undefined,
      );
      await the.settle(key, (step) => step.kind === 'wait' && step.reason.includes('no block has them yet'));
      everywhere(undefined);
      the.clock.aheadMs += 16_000;
      await the.settle(key, isPaying);
      everywhere(({ method, id }) =>
        method === 'eth_sendRawTransaction'
          ? { json: { jsonrpc: '2.0', id, error: { code: -32000, message: 'nonce too low' } } }
          : undefined,
      );
      await the.settle(key, (step) => step.kind === 'wait' && step.reason.includes('no block has it yet'));
      await the.outbids(key);
      everywhere(undefined);
      await the.settle(key);
      const sent = (await the.sent(key)).filter(({ purpose }) => purpose === 'payout');
      expect(new Set(sent.map(({ nonce }) => nonce)).size).to.equal(1);
      expect(sent.map(({ state }) => state).toSorted()).to.deep.equal(['dead', 'final']);
    });
  });

  it('settles by the attempt that was outbid, where that one is mined', async () => {
    const key = await the.paid(['BNB', 10n ** 17n]);
    await the.settle(key, isPaying);
    everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
    );
    await the.settle(key, (step) => step.kind === 'wait');
    await the.outbids(key);
    await the.settle(key, isSent);
    everywhere(undefined);
    const [first] = (await the.sent(key)).filter(({ attempt }) => attempt === 1);
    await the.chain.anvil.rpc('eth_sendRawTransaction', [
      `0x${Buffer.from((first?.['raw'] ?? '') as Buffer).toString('hex')}`,
    ]);
    await the.settle(key);
    const [payout] = await the.payouts(key);
    expect(payout).to.include({ state: 'settled', transaction_hash: first?.['hash'] });
  });

  it('is paid again by the chain where its block is replaced, and settles once', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, isSent);
      await the.chain.mine();
      await the.catchUp();
      await the.chain.reorg(1);
      await the.chain.mine(2);
      await the.catchUp();
      the.clock.aheadMs += 16_000;
      await the.settle(key);
      expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled']);
    });
  });

  it('gives the deposits back where the chain undid it, and pays them with another transaction', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, isPaying);
      // The token is another one for the block that takes it.
      const { usdt, anvil } = the.chain;
      const code = await anvil.rpc('eth_getCode', [usdt.address, 'latest']);
      await anvil.rpc('anvil_setCode', [usdt.address, '0x60006000fd']);
      await the.step(key);
      await the.chain.mine();
      await anvil.rpc('anvil_setCode', [usdt.address, code]);
      await the.settle(key);
      expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['failed', 'settled']);
    });
  });

  it('does not believe one endpoint that a payout failed', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isSent);
    await the.chain.mine();
    const [hash] = (await the.sent(key))
      .filter(({ purpose }) => purpose === 'payout')
      .map((row) => row['hash']);
    await the.finish();
    await the.deps.orm.em.fork().transactional(async (em) => {
      await em.execute("set local session_replication_role = 'replica'");
      await em.execute("update sent_transactions set ok = false, state = 'final' where hash = ?", [hash]);
    });
    const step = await the.step(key);
    expect(step).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'contradiction' });
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['paying']);
  });

  it('pays once whoever takes the steps, and however many do so at once', async () => {
    const keys = [
      await the.paid(['USDT', 5n * USDT]),
      await the.paid(['USDT', 6n * USDT], ['BNB', 10n ** 16n]),
    ];
    const had = await the.tokensOf(DESTINATION);
    for (let round = 0; round < 60; round += 1) {
      const steps = await Promise.allSettled(keys.flatMap((key) => [1, 2, 3].map(() => the.step(key))));
      const kinds = steps.map((one) => (one.status === 'fulfilled' ? one.value.kind : String(one.reason)));
      if (kinds.every((kind) => kind === 'rest')) break;
      await the.finish();
    }
    for (const key of keys) await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(11n * USDT);
    for (const key of keys) {
      const payouts = await the.payouts(key);
      expect(payouts.filter(({ state }) => state === 'settled').length).to.equal(payouts.length);
    }
    const count = new Set(await raws()).size;
    expect(count).to.equal((await raws()).length);
  });
});
