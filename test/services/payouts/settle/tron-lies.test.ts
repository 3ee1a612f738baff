import { expect } from 'chai';
import { changed, firstOf, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import type { Block } from '../../../../dev/tron/types.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { rescan } from '../../../../src/services/watcher/rescan.ts';
import { isPaid, isSent, reasonOf, says, wordsOf } from './steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;
const UNITS = 50n * TRX;
const RESEND_MS = 31_000;
/** Longer than anything that is signed can land. */
const PAST_ITS_TIME_MS = 12 * 60_000;
const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const noted = (code: string, message: string) => ({ code, message: hexOf(message) });
/** What nodes say of a broadcast, whether they take it, as a real node was seen to say it. */
const SAID: readonly (readonly [said: object, takes: boolean])[] = [
  [{ result: true }, false],
  [noted('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired'), true],
];

describe('payouts on Tron over endpoints that lie', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ others: 1 });
    // From now on the destination is an account, and costs no coin.
    await the.node.pay({ to: MERCHANT_KEY, currency: 'TRX', units: TRX });
    await the.finish();
  });
  after(() => the?.stop());
  afterEach(() => everywhere(undefined));
  const everywhere = (fault: TronFault | undefined): void => {
    for (const endpoint of [the.endpoint, ...the.others]) endpoint.fault = fault;
  };
  const lastHash = async (key: AddressKey) => String((await the.sent(key)).at(-1)?.['hash']);
  const readAgain = (number: number): Promise<unknown> =>
    rescan(the.deps, the.watchedChain, {
      from: number,
      to: number,
      signal: new AbortController().signal,
      progress: () => undefined,
    });
  /** Coins of an address, whose payout is paid once by what is done, in the last of its payouts. */
  const paidOnce = async (act: (key: AddressKey) => Promise<unknown>): Promise<AddressKey> => {
    const key = await the.paid(['TRX', UNITS]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await act(key);
    await the.settle(key);
    const last = (await the.payouts(key)).at(-1);
    expect(last).to.include({ state: 'settled' });
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(BigInt(String(last?.['net_units'])));
    return key;
  };

  for (const [said, takes] of SAID)
    it(`say ${JSON.stringify(said)} of what they ${takes ? 'take' : 'lose'}: it proves nothing`, async () => {
      const key = await paidOnce(async (one) => {
        everywhere(async ({ path }, ask) => {
          if (!path.endsWith('/broadcasthex')) return undefined;
          if (takes) await ask();
          return { json: said };
        });
        if (takes) return await the.settle(one);
        await the.settle(one, says('no block has it yet'));
        expect(await the.states(one)).to.deep.equal(['paying']);
        everywhere(undefined);
        the.clock.aheadMs += RESEND_MS;
        return undefined;
      });
      expect(await the.ways(key)).to.deep.equal(['payout final']);
    });

  it('show as done, and its coins as gone, what is in no block yet: it is not believed', () =>
    paidOnce(async (key) => {
      await the.settle(key, isSent);
      const shown = await the.node.ask('wallet/gettransactionbyid', { value: await lastHash(key) });
      expect(shown).to.have.nested.property('ret[0].contractRet', 'SUCCESS');
      expect(await the.coinsOf(key)).to.equal(0n);
      for (let looks = 0; looks < 3; looks += 1) {
        await the.catchUp();
        expect(await the.step(key)).to.include({ kind: 'wait' });
      }
      expect(await the.states(key)).to.deep.equal(['paying']);
    }));

  it('say that its time is over of what has landed, before our own reading shows it: it is no end', async () => {
    const key = await paidOnce(async (one) => {
      await the.settle(one, isSent);
      await the.node.mine();
      const { timestampMs } = the.node.head().header;
      const nowMs = the.deps.now().getTime();
      the.clock.aheadMs += Math.max(0, timestampMs - nowMs) + PAST_ITS_TIME_MS;
      await the.node.mine(1, Math.max(nowMs, timestampMs) + PAST_ITS_TIME_MS - timestampMs);
      const [row] = await the.sent(one);
      const transaction = Buffer.from(row?.['raw'] as Buffer).toString('hex');
      const again = await the.node.ask('wallet/broadcasthex', { transaction });
      expect(again).to.include({ code: 'TRANSACTION_EXPIRATION_ERROR' });
      for (let looks = 0; looks < 3; looks += 1) await the.step(one);
      expect(await the.states(one)).to.deep.equal(['paying']);
    });
    expect(await the.ways(key)).to.deep.equal(['payout final']);
  });

  it('overstate or understate what a transfer takes: it goes within minutes, and burns coins once for all', async () => {
    /** Whichever endpoint is asked first says that trials take this part of their energy, in percent. */
    const tellsEnergy = (percent: number): void => {
      let liar: number | undefined;
      for (const [index, endpoint] of [the.endpoint, ...the.others].entries())
        endpoint.fault = changed(['triggerconstantcontract'], (answer: { energy_used?: number }) => {
          liar ??= index;
          if (liar !== index) return answer;
          return { ...answer, energy_used: Math.ceil((Number(answer.energy_used) * percent) / 100) };
        });
    };
    const dear = await the.paid(['USDT', 4n * USDT]);
    tellsEnergy(600);
    expect(wordsOf(await the.step(dear))).to.match(/it would cost up to/);
    everywhere(undefined);
    the.clock.aheadMs += 60_000;
    await the.settle(dear);
    expect(await the.states(dear)).to.deep.equal(['settled']);
    const [first, second] = [await the.paid(['USDT', 10n * USDT]), await the.paid(['USDT', 20n * USDT])];
    tellsEnergy(10);
    await the.settle(first);
    expect(await the.states(first)).to.deep.equal(['failed', 'settled']);
    await the.settle(second);
    expect(await the.states(second)).to.deep.equal(['settled']);
  });

  /** As an endpoint shows the chain that hides a transaction. */
  const hiding = (hash: string): TronFault => {
    type One = { txID?: string; id?: string; transactions?: One[]; block?: One[] };
    const without = (one: One): One =>
      one.transactions ? { ...one, transactions: one.transactions.filter(({ txID }) => txID !== hash) } : one;
    return firstOf(
      changed(['getblock', 'getblockbynum', 'getnowblock'], without),
      changed(['getblockbylimitnext'], (piece: One) => ({ block: (piece.block ?? []).map(without) })),
      changed(['gettransactioninfobyblocknum'], (infos: One[]) => infos.filter(({ id }) => id !== hash)),
      when(
        ({ path, body }) => path.endsWith('gettransactioninfobyid') && body['value'] === hash,
        () => ({ json: {} }),
      ),
    );
  };

  it('hide the transaction: nothing is paid twice, and it settles once its block is read again', () =>
    paidOnce(async (key) => {
      await the.settle(key, isPaid);
      the.endpoint.fault = hiding(await lastHash(key));
      await the.node.pay({ to: the.gas, currency: 'TRX', units: 1n });
      const from = await the.node.mine();
      await the.finish();
      await the.letItsTimePass();
      expect(reasonOf(await the.step(key))).to.match(/rescan/);
      expect(await the.states(key)).to.deep.equal(['paying']);
      the.endpoint.fault = undefined;
      await readAgain(from);
    }));

  it('have a clock that is ahead: one alone gives nothing back, and what lands meanwhile is paid once', async () => {
    const key = await paidOnce(async (one) => {
      await the.settle(one, isPaid);
      await the.node.forget(await lastHash(one));
      await the.finish();
      // What it showed of the last block that was read twice, and what it says of the end of the chain.
      await the.rows(
        `update chain_blocks b set mined_at = b.mined_at + interval '3 hours' from chain_cursors c
          where c.network = 'tron' and b.network = c.network and b.number = c.verified_number`,
      );
      type Header = { block_header: { raw_data: { timestamp: number } } };
      the.endpoint.fault = changed(['getblock'], (header: Header) => {
        const raw = header.block_header.raw_data;
        return {
          ...header,
          block_header: { raw_data: { ...raw, timestamp: raw.timestamp + 3 * 3_600_000 } },
        };
      });
      expect(reasonOf(await the.step(one))).to.match(/counts once two RPC endpoints say so/);
      expect(await the.states(one)).to.deep.equal(['paying']);
      the.endpoint.fault = undefined;
      await the.finish();
      the.clock.aheadMs += 60_000;
    });
    expect(await the.states(key)).to.deep.equal(['settled']);
  });

  /** Two reads of a block have shown an outcome of this transaction, as an endpoint does that lies twice. */
  async function showedTwice(hash: string, ok: boolean, { header, id }: Block): Promise<number> {
    const moves = ok
      ? "jsonb_build_array(jsonb_build_object('to', to_address, 'currency', currency, 'units', amount_units::text))"
      : "'[]'::jsonb";
    await the.rows(
      `update sent_transactions set state = 'mined', block_number = ?, block_hash = ?, ok = ?, fee_units = 0,
        moves = ${moves} where hash = ?`,
      [header.number, id, ok, hash],
    );
    const final = "update sent_transactions set state = 'final', verified_at = now() where hash = ?";
    await the.rows(final, [hash]);
    return header.number;
  }

  it('show as done what never was: the others deny it, and it is paid once that is out', async () => {
    const key = await paidOnce(async (one) => {
      await the.settle(one, isPaid);
      const hash = await lastHash(one);
      await the.node.forget(hash);
      await the.node.mine();
      const block = the.node.head();
      await the.finish();
      const number = await showedTwice(hash, true, block);
      const hosts = [the.endpoint, ...the.others].map(({ url }) => new URL(url).host).join(' and ');
      const denied = wordsOf(await the.step(one));
      expect(denied).to.include(`the RPC endpoints ${hosts} say that it failed or is in no block`);
      expect((await the.wait(one))?.['reason']).to.match(/ read again with "rescan"$/);
      expect(await the.states(one)).to.deep.equal(['paying']);
      await readAgain(number);
      await the.letItsTimePass();
    });
    expect(await the.states(key)).to.deep.equal(['failed', 'settled']);
  });

  it('show as failed what was done: it is not given back, and settles once its block is read again', async () => {
    const key = await paidOnce(async (one) => {
      await the.settle(one, isPaid);
      const hash = await lastHash(one);
      await the.node.mine();
      const number = await showedTwice(hash, false, the.node.head());
      await the.finish();
      expect(wordsOf(await the.step(one))).to.match(/says? that it succeeded/);
      expect(await the.states(one)).to.deep.equal(['paying']);
      await readAgain(number);
    });
    expect(await the.states(key)).to.deep.equal(['settled']);
  });

  it('leaves the books and the chain in agreement', () => the.agrees());
});
