import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { isSent, says, wordsOf } from '../settle/steps.ts';

const RESEND_MS = 15_000;
const HOUR_MS = 3_600_000;

describe('a worker that ends between what it noted and what it sends', function () {
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
      method === 'eth_sendRawTransaction'
        ? { json: { jsonrpc: '2.0', id, error: { code: -32000, message: 'overloaded' } } }
        : undefined,
    );
  /** Is killed when it would send the first bytes. */
  const dying = (): Spending => ({
    ...the.spending,
    broadcast: async () => {
      throw new Error('it is killed');
    },
  });
  const topUp = async (key: AddressKey) =>
    (await the.sent(key)).find(({ purpose }) => purpose === 'gas') ?? expect.fail('no top-up');
  const signedTopUp = async (...units: bigint[]): Promise<AddressKey[]> => {
    const keys: AddressKey[] = [];
    for (const one of units) {
      const key = await the.paid(['USDT', one]);
      await the.settle(key, says('asked for gas'));
      await eventually('the signer', async () => (await topUp(key))['raw'] !== null || undefined);
      keys.push(key);
    }
    return keys;
  };
  const died = async (key: AddressKey): Promise<void> => {
    expect(await the.step(key, false, dying()).catch(wordsOfError)).to.equal('it is killed');
  };
  const wordsOfError = (error: unknown): string => (error instanceof Error ? error.message : '');

  it('keeps the later places of the wallet waiting no longer than what is lost on the way', async () => {
    const [first, second] = (await signedTopUp(5n * USDT, 6n * USDT)) as [AddressKey, AddressKey];
    await died(first);
    expect(await topUp(first)).to.include({ state: 'sent' });
    // The first actor never continues; the second one is alone.
    await the.settle(second, isSent);
    await the.chain.mine(3);
    await the.catchUp();
    expect(await topUp(second), 'it waits for the place before it').to.include({ state: 'sent' });
    the.clock.aheadMs += RESEND_MS;
    await the.settle(second);
    expect((await the.payouts(second)).map(({ state }) => state)).to.deep.equal(['settled']);
    await the.settle(first);
    expect((await the.payouts(first)).map(({ state }) => state)).to.deep.equal(['settled']);
  });

  it('calls nothing sent but what it was about to send', async () => {
    const [first, second] = (await signedTopUp(5n * USDT, 6n * USDT)) as [AddressKey, AddressKey];
    await died(second);
    const states = [(await topUp(first))['state'], (await topUp(second))['state']];
    expect(states).to.deep.equal(['sent', 'signed']);
    expect((await topUp(second))['sent_at']).to.equal(null);
    expect(isSent(await the.step(second)), 'it is sent at once').to.equal(true);
    the.clock.aheadMs += RESEND_MS;
    await the.settle(second);
    await the.settle(first);
  });

  it('sends again at once what was sent by a clock that was wrong', async () => {
    const [first, second] = (await signedTopUp(5n * USDT, 6n * USDT)) as [AddressKey, AddressKey];
    the.clock.aheadMs += HOUR_MS;
    nobodyTakesIt();
    await the.step(first);
    the.clock.aheadMs -= HOUR_MS;
    everywhere(undefined);
    await the.settle(second, isSent);
    await the.settle(second);
    expect((await the.payouts(second)).map(({ state }) => state)).to.deep.equal(['settled']);
    await the.settle(first);
  });

  it('outbids although it is found out so slowly what that takes that the bytes are to be sent again', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, says(': signed'));
    nobodyTakesIt();
    await the.settle(key, isSent);
    const slow: Spending = {
      ...the.spending,
      quote: async (...question) => {
        const answer = await the.spending.quote(...question);
        the.clock.aheadMs += 11_000;
        return answer;
      },
    };
    the.clock.aheadMs += 50_000;
    await the.step(key, false, slow);
    the.clock.aheadMs += 11_000;
    const step = await the.step(key, false, slow);
    expect(wordsOf(step)).to.include('asked for the same transfer at a higher price');
    everywhere(undefined);
    await the.settle(key);
  });

  it('asks about coins anew where a moment ago one endpoint said that there are none', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    const gas = `0x${the.gas}`;
    everywhere(({ method, id, params }) =>
      method === 'eth_getBalance' && String(params[0]).toLowerCase() === gas
        ? { json: { jsonrpc: '2.0', id, result: '0x0' } }
        : undefined,
    );
    expect(wordsOf(await the.step(key))).to.include('the gas wallet has too little');
    everywhere(undefined);
    // Nothing becomes final meanwhile.
    the.clock.aheadMs += 31_000;
    expect(wordsOf(await the.step(key))).to.not.include('the gas wallet has too little');
    await the.settle(key);
  });
});
