import { expect } from 'chai';
import { HDNodeWallet, SigningKey } from 'ethers';
import { createRandom } from '../../../dev/random.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { addressOfPublicKey } from '../../../dev/tron/signing.ts';
import type { SoakChain } from '../chain.ts';
import { compareHoldings } from '../oracle/holdings.ts';
import { creditKey, strangeKey } from '../oracle/truth.ts';
import type { PayAction } from '../plan/plan.ts';
import { createTronChain } from '../tron/chain.ts';
import { TRON_FAULTS, TRON_LIES, TRON_SHAPES, type TronShape } from '../tron/names.ts';
import { base58Of } from '../tron/spelling.ts';

const MILLION = 1_000_000n;
const [FIRST, SECOND] = [30n * MILLION, 7n * MILLION];
const root = HDNodeWallet.fromSeed(`0x${'2c'.repeat(32)}`);
const secretOf = (index: number): string => root.deriveChild(index).privateKey.slice(2);
const addressOf = (index: number): string =>
  base58Of(addressOfPublicKey(new SigningKey(`0x${secretOf(index)}`).publicKey));
const [ANN, BOB, TESTER, OWN, SHOP] = [0, 1, 2, 3, 4].map(addressOf) as [
  string,
  string,
  string,
  string,
  string,
];
const LIVE = new Set([ANN, BOB, OWN]);
const RULES = {
  live: LIVE,
  own: new Set([...LIVE, TESTER]),
  gas: new Set<string>(),
  destinations: new Set([SHOP]),
};

/** What each shape brings to Ann, who is paid 30, and to Bob, who is paid 7; unset means nothing at all. */
type Brought = { readonly ann?: bigint; readonly bob?: bigint; readonly in?: 'USDT' | 'TRX' };
const USDT = { ann: FIRST, in: 'USDT' } as const;
const TRX = { ann: FIRST, in: 'TRX' } as const;
const BROUGHT: Readonly<Partial<Record<TronShape, Brought>>> = {
  usdt: USDT,
  usdt_transfer_from: USDT,
  usdt_through_contract: USDT,
  usdt_batch: { ...USDT, bob: SECOND },
  usdt_twice_to_one: { ann: FIRST + SECOND, in: 'USDT' },
  usdt_pulled_by_contract: USDT,
  trx: TRX,
  trx_with_memo: TRX,
  trx_through_contract: TRX,
  trx_batch: { ...TRX, bob: SECOND },
  trx_passed_on: TRX,
  trx_by_creation: TRX,
  trx_by_selfdestruct: TRX,
  trx_and_usdt: TRX,
  usdt_dust: USDT,
  trx_dust: TRX,
};

describe("Tron's side of the soak", function () {
  this.timeout(120_000);
  let chain: SoakChain;
  beforeEach(async () => {
    chain = await createTronChain({
      folder: await tempDir('soak-tron'),
      random: createRandom('a test'),
      log: () => undefined,
    });
  });
  afterEach(() => chain?.stop());

  const action = (shape: string, amounts: readonly bigint[]): PayAction => ({
    kind: 'pay',
    network: 'tron',
    shape,
    sender: 3,
    customers: [],
    amounts: amounts.map(String),
    transactionType: 2,
  });
  const pay = (shape: string, to: readonly string[], amounts: readonly bigint[], ownKey?: string) =>
    chain.pay(action(shape, amounts), to, ownKey);
  const agrees = async (): Promise<void> => {
    const holdings = [ANN, BOB, TESTER, OWN, SHOP].map(async (address) => ({
      network: 'tron' as const,
      address,
      ...(await chain.holdings(address)),
    }));
    expect(compareHoldings(await Promise.all(holdings), await chain.truth(RULES))).to.deep.equal([]);
  };

  for (const shape of Object.keys(TRON_SHAPES) as TronShape[])
    if (!shape.endsWith('own_wallet') && shape !== 'to_test_address')
      it(`reads ${shape} as the chain counts it`, async () => {
        const batch = shape.endsWith('_batch');
        const two = batch || shape.includes('_twice_') || shape.endsWith('_and_usdt');
        const amounts = shape.endsWith('_zero') ? [0n] : two ? [FIRST, SECOND] : [FIRST];
        const hash = await pay(shape, batch ? [ANN, BOB] : [ANN], amounts);
        await chain.mine();
        const truth = await chain.truth(RULES);
        expect([...truth.transactions]).to.include(hash);
        const { ann, bob, in: currency = 'USDT' } = BROUGHT[shape] ?? {};
        const credited = (address: string, of = currency) =>
          truth.credits.get(creditKey('tron', hash, address, of))?.amountUnits;
        expect([credited(ANN), credited(BOB)]).to.deep.equal([ann, bob]);
        if (shape === 'trx_and_usdt') expect(credited(ANN, 'USDT')).to.equal(SECOND);
        const isStrange = shape === 'fake_token' || shape === 'spoofed_event';
        expect(truth.strange.get(strangeKey('tron', hash, ANN))).to.equal(isStrange ? FIRST : undefined);
        await agrees();
      });

  it('counts neither what our wallet pays nor what reaches a test address as a deposit', async () => {
    await pay('trx', [OWN], [100n * MILLION]);
    await pay('usdt', [OWN], [100n * MILLION]);
    await chain.mine();
    const own = [
      await pay('trx_from_own_wallet', [ANN], [FIRST], secretOf(3)),
      await pay('usdt_from_own_wallet', [ANN], [FIRST], secretOf(3)),
    ];
    const test = await pay('to_test_address', [TESTER], [FIRST]);
    await chain.mine();
    const truth = await chain.truth(RULES);
    for (const hash of [...own, test])
      expect([...truth.credits.values()].filter((credit) => credit.hash === hash)).to.deep.equal([]);
    expect(truth.strange.get(strangeKey('tron', test, TESTER))).to.equal(FIRST);
    expect(truth.sent.map(({ hash, from, ok }) => [hash, from, ok])).to.deep.equal(
      own.map((hash) => [hash, OWN, true]),
    );
    expect(truth.sent.flatMap(({ moves }) => moves)).to.deep.equal([
      { to: ANN, currency: 'TRX', amountUnits: FIRST },
      { to: ANN, currency: 'USDT', amountUnits: FIRST },
    ]);
    expect(truth.sent.every(({ feeUnits }) => feeUnits >= 0n)).to.equal(true);
    await agrees();
  });

  it('loses, moves and sends again as a reorganisation does', async () => {
    const hash = await pay('usdt', [ANN], [FIRST]);
    await chain.mine();
    const other = await pay('trx', [BOB], [SECOND]);
    await chain.mine();
    const dropped = await chain.drop(hash, async () => true);
    expect(dropped?.hash).to.equal(hash);
    await chain.mine();
    const without = await chain.truth(RULES);
    expect([without.transactions.has(hash), without.transactions.has(other)]).to.deep.equal([false, true]);
    if (dropped) await chain.sendAgain(dropped);
    await chain.mine();
    expect((await chain.truth(RULES)).transactions.has(hash)).to.equal(true);
    expect((await chain.reorg(1, false)).map((sent) => sent.hash)).to.deep.equal([hash]);
    expect((await chain.truth(RULES)).transactions.has(hash)).to.equal(false);
    await agrees();
  });

  it('knows every fault and every lie by its name, and heals', async () => {
    for (const name of TRON_FAULTS) chain.trouble(name, [0, 1]);
    for (const name of TRON_LIES) chain.lie(name, true);
    expect(() => chain.trouble('no such fault', [0])).to.throw('no fault is called no such fault');
    expect(() => chain.lie('no such lie', true)).to.throw('no lie is called no such lie');
    chain.heal();
    await pay('usdt', [ANN], [FIRST]);
    await chain.mine();
    const [first = ''] = chain.env['TRON_API_URLS']?.split(',') ?? [];
    const newest = await fetch(`${first}/wallet/getnowblock`, { method: 'POST', body: '{}' });
    expect((await newest.json()) as object).to.have.property('blockID');
  });
});
