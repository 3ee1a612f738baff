// What lies on our addresses at each height of a chain on which strangers, customers' wallets and the gas
// wallet send at random and blocks are replaced, beside what the ledger expects there.
import { expect } from 'chai';
import { Wallet } from 'ethers';
import fc from 'fast-check';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { NATIVE_CURRENCY, NETWORKS } from '../../../../src/domain/assets.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas.ts';
import { assetKey, expectedUnits } from '../../../../src/services/reconciliation/expected-balances.ts';
import { noteSigned, type SendingStage, shown, startSendingStage } from '../../../services/payouts/stage.ts';

const STRANGER = keyOfHex('5e'.repeat(20));
const GAS_SECRET = '6a'.repeat(32);
const GAS = keyOfHex(new Wallet(`0x${GAS_SECRET}`).address, 2);
const UNIT = { bsc: 10n ** 15n, tron: 1_000_000n } as const;
const PLENTY = 10_000n;
const CUSTOMERS = 3;
/** At least one block for so many steps. */
const STEPS_PER_BLOCK = 6;
/** Less than what is final on either stage. */
const MAX_REPLACED = 3;

const who = fc.nat({ max: CUSTOMERS - 1 });
const asset = fc.constantFrom('coin' as const, 'token' as const);
const units = fc.oneof(fc.constant(1n), fc.bigInt({ min: 2n, max: 400n }));
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('is paid' as const), who, asset, units }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('pays out' as const), who, to: fc.option(who), asset, units }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('is topped up' as const), who, units }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('block' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('replaced' as const),
      depth: fc.integer({ min: 1, max: MAX_REPLACED }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('sent again' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('read' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Held = Awaited<ReturnType<SendingStage['held']>>;

for (const network of NETWORKS)
  describe(`what the ledger expects of our wallets on ${network}`, function () {
    this.timeout(240_000);
    let the: SendingStage;
    before(async () => {
      the = await startSendingStage(network);
      await the.newAddress();
      await publishGasWallets(the.deps, { [network]: shown(network, GAS) });
      await the.pay(GAS, PLENTY * UNIT[network]);
      await the.mine(MAX_REPLACED + 1);
      await the.catchUp();
    });
    after(() => the?.stop());

    it('is what lies there, to the unit, at every height, whatever was sent and replaced', async () => {
      const run = fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
        const story = new Story(the, await addresses(the));
        for (const [place, one] of steps.entries()) {
          await story.take(one);
          // Chance alone makes stories with hardly a block, which would compare nothing.
          if (place % STEPS_PER_BLOCK === 0) await story.take({ does: 'block' });
        }
        await story.take({ does: 'block' });
        await the.finish();
        expect(await story.compare(), 'heights compared').to.be.greaterThan(3);
        const open = await the.rows("select hash from sent_transactions where state = 'foreign'");
        expect(open).to.deep.equal([]);
      });
      await fc.assert(run, { numRuns: 4, endOnFailure: true });
    });
  });

/** Customers that can pay for a while, in blocks that cannot be replaced any more. */
async function addresses(the: SendingStage): Promise<AddressKey[]> {
  const keys: AddressKey[] = [];
  for (let made = 0; made < CUSTOMERS; made++) {
    const key = await the.newAddress();
    await the.pay(key, 300n * UNIT[the.network]);
    keys.push(key);
  }
  await the.mine(MAX_REPLACED + 1);
  return keys;
}

class Story {
  readonly #the: SendingStage;
  readonly #keys: readonly AddressKey[];
  readonly #held = new Map<number, Held[]>();
  readonly #sent: string[] = [];

  constructor(the: SendingStage, keys: readonly AddressKey[]) {
    this.#the = the;
    this.#keys = keys;
  }

  async take(one: Step): Promise<void> {
    const { network } = this.#the;
    const units = 'units' in one ? (one.units === 1n ? 1n : one.units * UNIT[network]) : 0n;
    const at = (place: number): AddressKey => this.#keys[place] ?? STRANGER;
    if (one.does === 'is paid') await this.#the.pay(at(one.who), units, one.asset);
    else if (one.does === 'is topped up')
      await this.#send(GAS_SECRET, { purpose: 'gas', from: GAS, to: at(one.who), units });
    else if (one.does === 'pays out') {
      const from = at(one.who);
      const to = one.to === null ? STRANGER : at(one.to);
      const payout = { purpose: 'payout' as const, from, to, units, asset: one.asset };
      await this.#send(this.#the.secretOf(from), payout);
    } else if (one.does === 'block') await this.#block();
    else if (one.does === 'replaced') await this.#replace(one.depth);
    else if (one.does === 'sent again') await this.#the.again(this.#sent.at(-1) ?? '').catch(() => undefined);
    else {
      await this.#the.catchUp();
      await this.compare();
    }
  }

  /** Compares at each height that was read and is in the chain; returns how many there were. */
  async compare(): Promise<number> {
    const { network, deps, rows } = this.#the;
    const [cursor] = await rows('select scanned_number from chain_cursors where network = ?', [network]);
    const read = [...this.#held].filter(([number]) => number <= Number(cursor?.['scanned_number']));
    for (const [blockNumber, held] of read) {
      const at = { network, addressKeys: this.#keys, blockNumber };
      const found = await expectedUnits(deps.orm.em.fork(), deps, at);
      for (const [place, key] of this.#keys.entries()) {
        const coin = found.get(assetKey(key, NATIVE_CURRENCY[network]))?.boundUnits ?? 0n;
        const token = found.get(assetKey(key, 'USDT'))?.boundUnits ?? 0n;
        expect({ coin, token }, `address ${place} at block ${blockNumber}`).to.deep.equal(held[place]);
      }
    }
    return read.length;
  }

  async #send(
    secret: string,
    { asset = 'coin', ...row }: Parameters<typeof noteSigned>[2] & { asset?: 'coin' | 'token' },
  ): Promise<void> {
    // What the node refuses at once (too little on the address, say) was never sent.
    const hash = await this.#the.send(secret, row.to, row.units, asset).catch(() => undefined);
    // After a replaced block the same bytes may be sent once more: their row is there.
    if (hash === undefined || this.#sent.includes(hash)) return;
    this.#sent.push(hash);
    const currency = asset === 'token' ? 'USDT' : NATIVE_CURRENCY[this.#the.network];
    await noteSigned(this.#the, hash, { ...row, currency });
  }

  async #block(): Promise<void> {
    await this.#the.mine();
    const held = await Promise.all(this.#keys.map((key) => this.#the.held(key)));
    this.#held.set(await this.#the.height(), held);
  }

  /** The chain has other blocks at these heights, and nothing is sent in them. */
  async #replace(depth: number): Promise<void> {
    const head = await this.#the.height();
    if (![...Array(depth + 1).keys()].every((back) => this.#held.has(head - back))) return;
    await this.#the.replace(depth);
    // Not asked of the node: one of Tron already counts what waits for a block.
    const held = this.#held.get(head - depth) ?? [];
    for (let number = head - depth + 1; number <= head; number++) this.#held.set(number, held);
    // A longer chain, which is what makes a watcher leave the old one.
    await this.#block();
  }
}
