// Every reason why a payout waits, into it and out of it in the way that the table names. What a chain has to
// show is in settle/ and conclude/; here rows, settings and an endpoint's answers are changed by hand.
import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import type { Quote, Spending } from '../../../src/chains/spending.ts';
import { WAIT_CODES, type WaitCode } from '../../../src/domain/payouts/waits.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../src/services/payouts/decisions.ts';
import { acceptForeign } from '../../../src/services/payouts/foreign.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { advanceSettlement } from '../../../src/services/payouts/settle/advance.ts';
import type { WatchedChain } from '../../../src/services/watcher/watched-chain.ts';
import { forced } from '../../signer/pull/asking.ts';
import { DESTINATION } from '../../support/payout-rows.ts';
import { type PayableWorld, startPayableWorld } from './payable-world.ts';

/** All of these are within what the merchant may take in a month. */
const UNITS = 10n ** 18n;
const GAS = `0x${'9a'.repeat(20)}`;
const HASH = `0x${'f0'.repeat(32)}`;
/** These end by blocks: see conclude/. */
const ELSEWHERE: readonly WaitCode[] = ['contradiction', 'paid_lately'];

/** What the endpoints of a case answer. */
type Answers = { tokens: bigint; coins: bigint; gas: bigint; quote: () => Quote };
type Case = { readonly key: AddressKey; readonly address: string; readonly answers: Answers };
type Change = (one: Case) => unknown;

describe('a payout that waits', function () {
  this.timeout(120_000);
  let world: PayableWorld;
  let deps: Deps;
  let minUnits: Map<string, bigint>;
  let hasPrice = true;
  before(async () => {
    world = await startPayableWorld(['bsc']);
    minUnits = new Map();
    const { settings } = world.deps;
    const prices = {
      price: async () =>
        hasPrice ? { usd8: 10n ** 8n, source: 'test', at: new Date(), stale: false } : undefined,
    };
    deps = {
      ...world.deps,
      prices,
      settings: { ...settings, payouts: { ...settings.payouts, minUnits } },
    };
    await publishGasWallets(deps, { bsc: GAS });
    await setWithdraw(DESTINATION);
    await sql("insert into signer_state (name, seen_at) values ('signer', now())");
  });
  after(() => world?.stop());

  const sql = async (text: string, params: unknown[] = []) => await world.rows(text, params);
  const setWithdraw = (bsc: string | null) =>
    updateMerchant(deps, { merchantId: world.merchantId, withdraw: { bsc } });
  const terms = (mostUnits: bigint): Quote => ({ kind: 'terms', terms: {}, units: UNITS, mostUnits });
  const refusing = (code: 'refuses' | 'gas_price' | 'requests') => (): Quote => ({
    kind: 'refused',
    code,
    reason: 'why',
  });
  const quotes =
    (quote: () => Quote): Change =>
    ({ answers }) =>
      Object.assign(answers, { quote });
  const goesWell = quotes(() => terms(10n));
  const asked =
    "update sent_transactions set refused = ? where from_key = ? or to_key = ? and state = 'asked'";
  const says =
    (refused: string | null): Change =>
    async ({ key }) => {
      await forced(deps, asked, [refused, key, key]);
    };
  const signer =
    (set: string): Change =>
    async () =>
      await forced(deps, `update signer_state set ${set}`, []);
  const insertForeign: Change = ({ key, address }) =>
    forced(
      deps,
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, created_at, updated_at)
       values (gen_random_uuid(), 'bsc', ?, 'foreign', ?, ?, now(), now())`,
      [HASH, address, key],
    );
  const failTwice: Change = async ({ key }) => {
    for (const _ of [1, 2])
      await forced(
        deps,
        `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key,
           destination, gross_units, state, state_since, reason, created_at, updated_at)
         select gen_random_uuid(), merchant_id, mode, false, network, currency, address, address_key, ?, 1,
           'failed', now(), 'x', now(), now() from deposits where address_key = ? limit 1`,
        [DESTINATION, key],
      );
  };
  const by = { by: 'ann', reason: 'known' };

  /** How it comes to wait, and what ends it; `asked`: once something is asked of the signer. */
  const cases: Readonly<Partial<Record<WaitCode, { in: Change; out: Change; asked?: true }>>> = {
    on_its_way: { asked: true, in: () => undefined, out: says('payout: x') },
    no_destination: { in: () => setWithdraw(null), out: () => setWithdraw(DESTINATION) },
    paused: {
      in: () => setPaused(deps, { merchantId: null, paused: true }),
      out: () => setPaused(deps, { merchantId: null, paused: false }),
    },
    below_minimum: {
      in: () => minUnits.set('USDT.bsc', UNITS + 1n),
      out: () => minUnits.clear(),
    },
    chain_behind: {
      in: quotes(() => {
        throw Object.assign(new Error('away'), { name: 'RpcUnavailable' });
      }),
      out: goesWell,
    },
    no_price: {
      in: () => {
        hasPrice = false;
      },
      out: () => {
        hasPrice = true;
      },
    },
    fee_too_high: { in: quotes(() => terms(UNITS)), out: goesWell },
    gas_price: { in: quotes(refusing('gas_price')), out: goesWell },
    refuses: { in: quotes(refusing('refuses')), out: goesWell },
    requests: { in: quotes(refusing('requests')), out: goesWell },
    waiting_for_gas: {
      in: ({ answers }) => Object.assign(answers, { gas: 0n }),
      out: ({ answers }) => Object.assign(answers, { gas: 10n ** 18n }),
    },
    signer_away: {
      asked: true,
      in: signer("seen_at = now() - interval '2 minutes'"),
      out: signer('seen_at = now()'),
    },
    sealed: {
      asked: true,
      in: signer("sealed_code = 'key', sealed_reason = 'x', sealed_since = now()"),
      out: signer('sealed_code = null, sealed_reason = null, sealed_since = null'),
    },
    limit: { asked: true, in: says('limit: x'), out: says(null) },
    new_destination: { asked: true, in: says('new_destination: x'), out: says(null) },
    refused: {
      asked: true,
      in: says('wallet: x'),
      out: says(null),
    },
    address_short: {
      in: ({ answers }) => Object.assign(answers, { tokens: UNITS - 1n }),
      out: ({ answers }) => Object.assign(answers, { tokens: UNITS }),
    },
    foreign_use: {
      in: insertForeign,
      out: () => acceptForeign(deps, { network: 'bsc', hash: HASH, ...by }),
    },
    failed_again: {
      in: failTwice,
      out: ({ address }) =>
        retryPayout(
          { ...deps, actor: { kind: 'operator', name: 'ann', from: null } },
          {
            id: address,
            reason: null,
          },
        ),
    },
  };

  const startCase = async () => {
    const address = await world.newAddress();
    await world.pay([UNITS], address);
    const key = keyOfHex(address, 2);
    await sql('update deposits set verified_at = now() where address_key = ? and verified_at is null', [key]);
    const answers: Answers = { tokens: UNITS, coins: 0n, gas: 10n ** 18n, quote: () => terms(10n) };
    const { reader, watched } = { reader: world.chain.reader(), watched: {} as WatchedChain['watched'] };
    const balances = async (keys: readonly AddressKey[]) =>
      keys.map((addressKey) => ({
        addressKey,
        nativeUnits: addressKey === key ? answers.coins : answers.gas,
        tokenUnits: addressKey === key ? answers.tokens : 0n,
      }));
    const spending = { quote: async () => answers.quote(), resendMs: 60_000, outbidMs: 60_000 };
    // What is remembered of a chain is remembered by its object: each look has one of its own.
    const step = () =>
      advanceSettlement(
        {
          ...deps,
          chains: new Map([
            [
              'bsc',
              {
                reader: { ...reader, balances },
                watched,
                spending: {
                  topUpMarginPercent: 0n,
                  shortLookMs: 0,
                  finalLookMs: 100,
                  ...spending,
                } as never as Spending,
              },
            ],
          ]),
        },
        { network: 'bsc', addressKey: key, alarmed: false },
      );
    return { key, address, answers, step };
  };
  const codeOf = async (key: AddressKey): Promise<string | undefined> =>
    (await sql('select code from settlement_waits where address_key = ?', [key]))[0]?.['code'] as string;

  it('has a case here for each reason, or in the tests of what blocks show', () => {
    expect([...Object.keys(cases), ...ELSEWHERE]).to.have.members([...WAIT_CODES]);
  });

  for (const [code, one] of Object.entries(cases))
    it(`as ${code} goes on in the way that the table names`, async () => {
      const { step, ...at } = await startCase();
      if (one.asked) expect(await step()).to.include({ kind: 'went' });
      await one.in(at);
      await step();
      expect(await codeOf(at.key)).to.equal(code);
      await one.out(at);
      const after = await step();
      if (!one.asked) expect(after, JSON.stringify(after)).to.include({ kind: 'went', state: 'planned' });
      for (let n = 0; n < 2; n += 1) await step();
      expect(await codeOf(at.key)).to.equal(code === 'on_its_way' ? 'refused' : 'on_its_way');
      await sql('delete from settlement_waits');
    });

  it('asks once for what a limit has said that all of it has room for', async () => {
    const { step, key, ...at } = await startCase();
    quotes(() => terms(0n))({ key, ...at });
    expect(await step()).to.include({ kind: 'went' });
    await says(`limit ${UNITS}: x`)({ key, ...at });
    for (let n = 0; n < 3; n += 1) await step();
    expect(await codeOf(key)).to.equal('limit');
    expect(await sql('select purpose, state from sent_transactions where from_key = ?', [key])).to.deep.equal(
      [{ purpose: 'payout', state: 'asked' }],
    );
  });
});
