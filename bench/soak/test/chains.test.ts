import { expect } from 'chai';
import { HDNodeWallet } from 'ethers';
import { createRandom } from '../../../dev/random.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { NATIVE_CURRENCY, NETWORKS, type Network } from '../../../src/domain/assets.ts';
import { createBscChain } from '../chains/bsc.ts';
import type { SoakChain } from '../chains/chain.ts';
import { base58Of, createTronChain } from '../chains/tron.ts';
import { judgeItself } from '../judge/money.ts';
import type { Records } from '../judge/records.ts';
import { creditKey, readTruth, type Truth } from '../judge/truth.ts';
import { leastUnits } from '../plan/amounts.ts';
import { PLANNED } from '../plan/planned.ts';
import { isDouble, type Shape } from '../plan/shapes.ts';

const CREATE = { bsc: createBscChain, tron: createTronChain } as const;
const root = HDNodeWallet.fromSeed(`0x${'2c'.repeat(32)}`);
const OWN_KEY = root.deriveChild(3).privateKey.slice(2);
/** What brings nothing, whatever it looks like. */
const NOTHING: readonly Shape[] = [
  'usdt_zero',
  'coin_zero',
  'usdt_failed',
  'usdt_starved',
  'fake_token',
  'spoofed_event',
  'usdt_undone',
  'coin_undone',
  'coin_borrowed',
];

for (const network of NETWORKS)
  describe(`the soak's side of ${network}`, function () {
    this.timeout(240_000);
    const [ann, bob, tester, own, shop] = [0, 1, 2, 3, 4].map((index) => addressOf(network, index)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const live = new Set([ann, bob, own]);
    const coin = NATIVE_CURRENCY[network];
    const amountsIn = (currency: typeof coin) =>
      [30n, 7n].map((times) => times * leastUnits('minimum', network, currency)) as [bigint, bigint];
    const shapes = Object.entries(PLANNED.find((one) => one.network === network)?.shapes ?? {}).flatMap(
      ([shape, weight]) => (weight > 0 ? (shape as Shape) : []),
    );
    let chain: SoakChain;
    before(async () => {
      const folder = await tempDir('soak-chain');
      chain = await CREATE[network]({ folder, random: createRandom('a test'), log: () => undefined });
    });
    after(() => chain?.stop());

    const pay = (
      shape: Shape,
      to: readonly string[],
      amounts: readonly bigint[],
      ownKey?: string,
      sender = 3,
    ) => {
      const common = { kind: 'pay', network, sender, customers: [], transactionType: 2 } as const;
      return chain.pay({ ...common, shape, amounts: amounts.map(String) }, to, ownKey);
    };
    const truth = (): Promise<Truth> =>
      readTruth([chain], () => ({
        live,
        own: new Set([...live, tester]),
        gas: new Set(),
        destinations: new Set([shop]),
      }));
    const agrees = async (found: Truth): Promise<void> => {
      const held: Records['held'][number][] = [];
      for (const address of [ann, bob, tester, own, shop])
        held.push({ network, address, ...(await chain.held(address)) });
      const said: string[] = [];
      judgeItself({ truth: found, held } as unknown as Records, (...words) => said.push(words.join(': ')));
      expect(said).to.deep.equal([]);
    };

    it('is read as it counts itself, whatever shape money comes in', async () => {
      const paid = new Map<Shape, string>();
      for (const shape of shapes) {
        if (shape.endsWith('own_wallet')) continue;
        const [first, second] = amountsIn(shape.startsWith('coin') ? coin : 'USDT');
        const both = shape === 'coin_and_usdt' ? [first, amountsIn('USDT')[1]] : [first, second];
        const batch = shape.endsWith('_batch');
        const amounts = shape.endsWith('_zero') ? [0n] : batch || isDouble(shape) ? both : [first];
        const to = shape === 'to_test_address' ? [tester] : batch ? [ann, bob] : [ann];
        paid.set(shape, await pay(shape, to, amounts));
        await chain.mine();
      }
      const found = await truth();
      for (const [shape, hash] of paid) {
        expect(found.transactions.has(hash), shape).to.equal(true);
        const currency = shape.startsWith('coin') ? coin : 'USDT';
        const [first, second] = amountsIn(currency);
        const credited = (address: string, of = currency) =>
          found.credits.get(creditKey(network, hash, address, of))?.amountUnits;
        const brings = !NOTHING.includes(shape) && shape !== 'to_test_address';
        const all = shape === 'usdt_twice_to_one' ? first + second : first;
        expect(credited(ann), shape).to.equal(brings ? all : undefined);
        expect(credited(bob), shape).to.equal(shape.endsWith('_batch') ? second : undefined);
        if (shape === 'coin_and_usdt') expect(credited(ann, 'USDT')).to.equal(amountsIn('USDT')[1]);
        const isStrange = ['fake_token', 'spoofed_event', 'to_test_address'].includes(shape);
        const strange = found.strange.get(`${network} ${hash} ${shape === 'to_test_address' ? tester : ann}`);
        expect(strange, shape).to.equal(isStrange ? amountsIn('USDT')[0] : undefined);
      }
      await agrees(found);
    });

    it('counts what a wallet of ours pays as sent, and as no deposit', async () => {
      const [coins, tokens] = [amountsIn(coin)[0], amountsIn('USDT')[0]];
      await pay('coin', [own], [100n * coins]);
      await pay('usdt', [own], [100n * tokens]);
      await chain.mine();
      const hashes = [
        await pay('coin_from_own_wallet', [ann], [coins], OWN_KEY),
        await pay('usdt_from_own_wallet', [ann], [tokens], OWN_KEY),
      ];
      await chain.mine();
      const found = await truth();
      expect([...found.credits.values()].filter(({ hash }) => hashes.includes(hash))).to.deep.equal([]);
      expect(found.sent.map(({ hash, from, ok }) => [hash, from, ok])).to.deep.equal(
        hashes.map((hash) => [hash, own, true]),
      );
      expect(found.sent.flatMap(({ moves }) => moves)).to.deep.equal([
        { to: ann, currency: coin, units: coins },
        { to: ann, currency: 'USDT', units: tokens },
      ]);
      await agrees(found);
    });

    it('loses, moves and sends again as a reorganisation does', async () => {
      const hash = await pay('usdt', [ann], [amountsIn('USDT')[0]]);
      await chain.mine();
      // Of another sender, or it could not be mined without the one before it.
      const other = await pay('coin', [bob], [amountsIn(coin)[0]], undefined, 5);
      await chain.mine();
      expect(await chain.drop(hash, async () => true)).to.equal(true);
      await chain.mine();
      const { transactions } = await truth();
      expect([transactions.has(hash), transactions.has(other)]).to.deep.equal([false, true]);
      await chain.sendAgain(hash);
      await chain.mine();
      expect((await truth()).transactions.has(hash)).to.equal(true);
      expect(await chain.reorg(1, true)).to.deep.equal([hash]);
      await chain.mine();
      const found = await truth();
      expect(found.transactions.has(hash)).to.equal(true);
      await agrees(found);
    });

    it('knows every fault and every lie by its name, and heals', async () => {
      const { faults = [], lies = [] } = PLANNED.find((one) => one.network === network) ?? {};
      for (const name of faults) chain.trouble(name, [0, 1]);
      for (const name of lies) chain.lie(name, true);
      expect(() => chain.trouble('no such fault', [0])).to.throw('no fault is called no such fault');
      expect(() => chain.lie('no such lie', true)).to.throw('no lie is called no such lie');
      chain.heal();
      const urls = chain.env[network === 'bsc' ? 'BSC_RPC_URLS' : 'TRON_API_URLS'] ?? '';
      const asked = network === 'bsc' ? '' : '/wallet/getnowblock';
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
      const answer = await fetch(`${urls.split(',')[0]}${asked}`, { method: 'POST', body });
      expect((await answer.json()) as object).to.have.property(network === 'bsc' ? 'result' : 'blockID');
    });
  });

function addressOf(network: Network, index: number): string {
  const { address } = root.deriveChild(index);
  return network === 'tron' ? base58Of(address.slice(2)) : address.toLowerCase();
}
