import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';
import { overtaken, standingStill } from './standing-still.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const MINUTE = 61_000;
const RESEND = 16_000;
/** What was sent is not outbid so soon. */
const LET_BE_MS = 5_000;

describe('a payout whose block is replaced, or whose answer is lost', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(() => everywhere(undefined));
  const everywhere = (fault: SettleStage['proxy']['fault']): void => the.everywhere(fault);
  const nobodyTakesIt = (): void =>
    everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
    );
  const isPaid = (step: SettlementStep): boolean =>
    step.kind === 'went' && step.state === 'paying' && step.note.endsWith(': sent');
  const isPaying = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'paying';
  /** It is sent, as rows say, and nobody has it: by now it is to be outbid. */
  const signedLongAgo = async (key: AddressKey): Promise<void> => {
    const [{ id = '' } = {}] = await attempts(key);
    the.clock.aheadMs += MINUTE;
    const sentAt = new Date(Date.now() + the.clock.aheadMs - LET_BE_MS);
    await the.rows("update sent_transactions set state = 'sent', sent_at = ? where id = ?", [sentAt, id]);
  };
  const attempts = async (key: AddressKey) =>
    (await the.sent(key))
      .filter(({ purpose }) => purpose === 'payout')
      .toSorted((a, b) => Number(a['attempt']) - Number(b['attempt']));
  const raw = async (key: AddressKey, attempt: number): Promise<string> => {
    const row = (await attempts(key)).find((one) => one['attempt'] === attempt);
    return `0x${Buffer.from((row?.['raw'] ?? '') as Buffer).toString('hex')}`;
  };
  const ends = async (key: AddressKey): Promise<string[]> =>
    (await attempts(key)).map(({ attempt, state }) => `${attempt} ${state}`);

  /** The destination gets this of an address, once, and the payout is settled by that transaction. */
  const paysOnce = async (key: AddressKey, units: bigint, act: () => Promise<void>): Promise<void> => {
    const had = await the.tokensOf(DESTINATION);
    await act();
    await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(units);
    expect(await the.tokensOf(key)).to.equal(0n);
    const [payout, ...others] = await the.payouts(key);
    expect(others).to.deep.equal([]);
    const paidBy = (await attempts(key)).find(({ state }) => state === 'final');
    expect(payout).to.include({ state: 'settled', transaction_hash: paidBy?.['hash'] });
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  };

  for (const [how, answer] of [
    ['the connection is reset', 'reset'],
    ['half of it comes', 'cut'],
    ['a proxy answers with a page', { status: 502, body: '<html>Bad Gateway</html>' }],
  ] as const)
    it(`is settled by the bytes that a node took, where ${how} instead of its answer`, async () => {
      const key = await the.paid(['USDT', 5n * USDT]);
      await paysOnce(key, 5n * USDT, async () => {
        everywhere(async ({ method }, forward) => {
          if (method !== 'eth_sendRawTransaction') return undefined;
          await forward();
          return answer;
        });
        await the.settle(key);
        expect(await ends(key)).to.deep.equal(['1 final']);
      });
    });

  it('is settled by another attempt, where the one that had been mined is in no block any more', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, isPaid);
      await the.chain.mine();
      await the.catchUp();
      expect(await ends(key)).to.deep.equal(['1 mined']);
      nobodyTakesIt();
      await the.chain.reorg(1);
      await the.chain.mine(2);
      await the.catchUp();
      expect(await ends(key)).to.deep.equal(['1 sent']);
      await the.outbids(key);
      everywhere(undefined);
      await the.settle(key);
      expect(await ends(key)).to.deep.equal(['1 dead', '2 final']);
    });
  });

  it('is settled by the first attempt, where the block of the second one gives way to one with the first', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, isPaid);
      await the.chain.anvil.rpc('anvil_dropAllTransactions');
      nobodyTakesIt();
      await the.outbids(key);
      everywhere(undefined);
      await the.settle(key, isPaid);
      await the.chain.mine();
      await the.catchUp();
      const before = await ends(key);
      const mined = before.includes('2 mined') ? 2 : 1;
      const other = 3 - mined;
      await the.chain.anvil.rpc('anvil_reorg', [1, [[await raw(key, other), 0]]]);
      await the.chain.mine();
      await the.catchUp();
      await the.settle(key);
      expect(before).to.deep.equal(['1 sent', '2 mined']);
      expect(await ends(key)).to.deep.equal(['1 final', '2 dead']);
    });
  });

  it('is sent again where the coins that it was given are in no block any more', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, (step) => step.kind === 'went' && step.note.endsWith(': sent'));
      await the.chain.mine();
      await the.catchUp();
      await the.chain.reorg(1);
      await the.chain.mine(2);
      await the.catchUp();
      the.clock.aheadMs += RESEND;
      await the.settle(key);
      expect((await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
        'gas final',
        'payout final',
      ]);
    });
  });

  it('is asked for no further attempt by a worker that stood still while another one had it mined', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await paysOnce(key, 5n * USDT, async () => {
      await the.settle(key, isPaying);
      await signedLongAgo(key);
      await overtaken(the, key, keyOfHex(DESTINATION), standingStill(the.spending, 1));
      expect(await ends(key)).to.deep.equal(['1 final']);
    });
  });
});
