import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { SentTransaction } from '../../../../src/db/entities/index.ts';
import type { Pages } from '../../../../src/services/find/found.ts';
import { shownSent } from '../../../../src/services/find/money.ts';
import { advanceWallet, sendFirst } from '../../../../src/services/payouts/wallet.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';
import { termsOf } from '../../../signer/pull/asking.ts';
import { type SignerStage, startSignerStage } from '../../../signer/pull/stage.ts';

const FINAL = `update sent_transactions set state = 'final', block_number = 1, block_hash = 'x', ok = true,
  verified_at = now(), fee_units = 1, moves = '[]' where id = ?`;
const LOST = `update sent_transactions set state = 'sent', block_number = null, block_hash = null, ok = null,
  verified_at = null, fee_units = null, moves = null where id = ?`;
const DEARER = termsOf('bsc', 'BNB', { gas_price: '2000000000' });
const HANGS_MS = 5_000;
const LONG_MS = 300_000;

describe('a wallet of which no block takes what pays too little', function () {
  this.timeout(120_000);
  let the: SignerStage;
  let [beganAt, aheadMs] = [0, 0];
  let takesMs = 0;
  let quote: () => object;
  beforeEach(async () => {
    the = await startSignerStage();
    await the.signer();
    [beganAt, aheadMs, takesMs] = [Date.now(), 0, 0];
    quote = () => ({ kind: 'terms', terms: DEARER, units: 1n, mostUnits: 1n });
  });
  afterEach(() => the?.stop());

  const spending = {
    resendMs: 15_000,
    outbidMs: 60_000,
    broadcast: async () => {
      aheadMs += takesMs;
      return [];
    },
    quote: async () => quote(),
  } as Partial<Spending> as Spending;
  const deps = () => ({ ...the.deps, now: () => new Date(beganAt + aheadMs) });
  const look = async (laterMs = 0) => {
    aheadMs += laterMs;
    const chains = new Map([['bsc', { spending } as Partial<WatchedChain> as WatchedChain]]);
    const addressKey = keyOfHex(String(the.gas.bsc), 2);
    return await advanceWallet({ ...deps(), chains }, { network: 'bsc', addressKey, alarmed: false });
  };
  const given = async (payout: Awaited<ReturnType<SignerStage['planned']>>, attempt = 1) => {
    const id = await the.ask(payout, { purpose: 'gas', attempt });
    await the.signed(id);
    return id;
  };
  const asked = async () => (await the.sql('select id from sent_transactions order by created_at desc'))[0];
  const ASKED = { kind: 'went', note: 'asked for the same at a higher price', late: false };

  it('replaces the second that an address was given, and nothing with a newer one behind it', async () => {
    const payout = await the.planned();
    const first = await given(payout);
    await the.force(FINAL, [first]);
    const second = await given(payout, 2);
    await look(LONG_MS);
    expect(await look(6_000)).to.deep.equal(ASKED);
    const third = await the.signed(String((await asked())?.['id']));
    expect(third).to.include({ attempt: 3, nonce: (await the.row(second))['nonce'] });
    // The block of the first one gave way: what the signer signed then would be one more.
    await the.force(FINAL, [third['id']]);
    await the.force(LOST, [first]);
    await look(LONG_MS);
    expect(await look(6_000)).to.include({ kind: 'wait', delayMs: 5_000 });
  });

  it('replaces the lowest, and sends what is new, although an endpoint takes its time for each', async () => {
    for (let n = 0; n < 8; n += 1) await given(await the.planned());
    takesMs = HANGS_MS;
    await look(LONG_MS);
    const last = await given(await the.planned());
    aheadMs += LONG_MS;
    await sendFirst({ ...deps(), spending, signal: AbortSignal.timeout(60_000) }, last);
    expect(await the.row(last)).to.include({ state: 'sent' });
    // Whoever waits for one that was sent just now takes it that the wallet's actor did so.
    const woken = await the.sql("select 1 from outbox where workflow_id like 'wallet:%'");
    expect(woken).to.have.length(1);
    const said = [];
    for (let n = 0; n < 20; n += 1) said.push(await look());
    expect(said).to.deep.include(ASKED);
  });

  it('says why it cannot, until it can', async () => {
    const id = await given(await the.planned());
    const whyOf = async () => {
      const em = the.deps.orm.em.fork();
      const row = await em.findOneOrFail(SentTransaction, id);
      const pages = { explorers: {} } as unknown as Pages;
      return (await shownSent({ em, deps: the.deps, pages }, [row.id]))[0]?.why;
    };
    quote = () => ({ kind: 'refused', code: 'gas_price', reason: 'gas costs 9 gwei' });
    await look(LONG_MS);
    expect(await look(6_000)).to.include({ kind: 'wait' });
    expect(await whyOf()).to.match(/^it was sent, .*; it could not be replaced: gas costs 9 gwei$/);
    quote = () => ({ kind: 'terms', terms: DEARER, units: 1n, mostUnits: 1n });
    expect(await look(1_000)).to.deep.equal(ASKED);
    expect(await whyOf()).to.equal('it was sent, and no block that was read holds it yet');
  });
});
