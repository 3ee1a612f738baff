// What holds of every chain whose blocks are replaced, in words that fit each.
import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { RpcCall } from '../../../dev/support/fault-proxy.ts';
import { type AddressKey, hexAddress, keyOfHex } from '../../../src/chains/address-key.ts';
import type { Mode, Network } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { advancedTo, cursorOf, depositOf } from './asked.ts';
import { type Row, startTestWatcher } from './test-watcher.ts';
import { startTronWatcher } from './tron/tron-watcher.ts';

/** How many blocks the final one lies below the head. */
const FINAL_BEHIND = 32;
/** Base units of USDT: below it is dust, above it is a deposit. */
const FLOOR = 100n;
const BACKLOG = 80;

/** Who sends: what `other` sent may be lost without holding up what is sent after it. */
type Sender = 'payer' | 'other';

/** A watched chain. Payments wait for a block, and are told by their hash. */
type Side = {
  readonly deps: Deps;
  newAddress(mode?: Mode): Promise<AddressKey>;
  /** Our USDT. */
  pay(to: AddressKey, units: bigint, from?: Sender): Promise<string>;
  /** Another token, whose contract tells of payments as ours does. */
  payForeign(to: AddressKey, units: bigint, from?: Sender): Promise<string>;
  /** Makes blocks and returns the height of the head. */
  mine(blocks?: number): Promise<number>;
  /** Replaces the newest blocks by as many others without their payments. */
  replace(blocks: number): Promise<void>;
  /** Loses at least 21 of the newest blocks and puts none in their place. */
  shorten(): Promise<void>;
  /** Sends a payment again that was lost with its block. */
  again(hash: string): Promise<void>;
  headHash(): Promise<string>;
  /** Does this once, when the block of this height has just been read. */
  whenRead(height: number, work: () => Promise<void>): void;
  heal(): void;
  catchUp(): Promise<unknown>;
  /** Follows as far as the node lets it; a worker comes again. */
  tryToCatchUp(): Promise<unknown>;
  /** Mines so many blocks that all before is final, and follows them. */
  finish(): Promise<void>;
  reconcile(): Promise<unknown>;
  /** What a watcher that starts now has: nothing but the database. */
  restart(): void;
  rows(sql: string, params?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

async function bscSide(): Promise<Side> {
  const settings = { dustFloorUnits: new Map([['USDT.bsc', FLOOR]]) };
  const live = await startTestWatcher({ slotsInAnEpoch: FINAL_BEHIND / 2, settings });
  const { chain, proxy } = live;
  const [payer = '', , , other = ''] = chain.accounts;
  const senders = { payer, other };
  const foreign = await chain.deploy(testContracts().Token, [18]);
  await chain.usdt.call('transfer', [other, 1_000_000n]);
  const raws = new Map<string, unknown>();
  const kept = async (hash: string): Promise<string> => {
    raws.set(hash, await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    return hash;
  };
  return {
    ...live,
    newAddress: async (mode) => keyOfHex(await live.newAddress(mode), 2),
    pay: async (to, units, from = 'payer') =>
      await kept(await chain.usdt.call('transfer', [hexAddress(to), units], { from: senders[from] })),
    payForeign: async (to, units, from = 'payer') =>
      await kept(await foreign.call('mint', [hexAddress(to), units], { from: senders[from] })),
    mine: chain.mine,
    replace: chain.reorg,
    shorten: async () => void (await chain.anvil.rpc('anvil_rollback', [21])),
    again: async (hash) => void (await chain.anvil.rpc('eth_sendRawTransaction', [raws.get(hash)])),
    headHash: async () =>
      ((await chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { hash: string }).hash,
    whenRead: (height, work) => {
      let done = false;
      proxy.fault = async (call: RpcCall, forward) => {
        const reads = call.method === 'eth_getBlockByNumber' && Number(call.params[0]) === height;
        if (done || !reads) return undefined;
        done = true;
        const answer = await forward();
        await work();
        return { json: answer };
      };
    },
    heal: () => {
      proxy.fault = undefined;
    },
    // A block that is replaced between the two questions about it has no receipts any more.
    tryToCatchUp: () => live.catchUp().catch(() => undefined),
  };
}

async function tronSide(): Promise<Side> {
  const settings = { dustFloorUnits: new Map([['USDT.tron', FLOOR]]) };
  const live = await startTronWatcher({ solidDistance: FINAL_BEHIND, settings });
  const { node, endpoint } = live;
  const foreign = await node.deploy(testContracts().Token, [6]);
  return {
    ...live,
    pay: (to, units) => node.pay({ to, currency: 'USDT', units }),
    payForeign: (to, units) => foreign.call('mint', [to, units]),
    mine: node.mine,
    replace: (blocks) => node.replace(blocks),
    shorten: () => node.restart(),
    again: node.again,
    headHash: async () => node.head().id,
    whenRead: (height, work) => {
      let done = false;
      endpoint.fault = async ({ path, body }, answer) => {
        const [from, to] = path.endsWith('getblockbylimitnext')
          ? [Number(body['startNum']), Number(body['endNum']) - 1]
          : [Number(body['num']), Number(body['num'])];
        if (done || !(from <= height && height <= to)) return undefined;
        done = true;
        const json = await answer();
        await work();
        return { json };
      };
    },
    heal: () => {
      endpoint.fault = undefined;
    },
    tryToCatchUp: () => live.tryToCatchUp(1),
  };
}

const SIDES: Readonly<Record<Network, () => Promise<Side>>> = { bsc: bscSide, tron: tronSide };

/** What is set aside and not credited, by where it comes to and what it is. */
const ASIDE: Readonly<Record<string, { mode: Mode; units: bigint; foreign?: boolean }>> = {
  'real money on an address of test mode': { mode: 'test', units: 5_000n },
  dust: { mode: 'live', units: 5n },
  'another token': { mode: 'live', units: 7_000n, foreign: true },
};

for (const [network, start] of Object.entries(SIDES))
  describe(`blocks of ${network} that are replaced, as of every chain`, function () {
    this.timeout(120_000);
    let live: Side;

    before(async () => {
      live = await start();
      await live.newAddress();
      await live.mine(FINAL_BEHIND + 3);
      await live.catchUp();
    });
    after(() => live?.stop());
    afterEach(() => live?.heal());

    const rowOf = (hash: string): Promise<Row> => depositOf(live, hash);
    const advanced = async (hash: string) => await advancedTo(live.deps, (await rowOf(hash))['id']);
    const pay = async (units: bigint, from?: Sender): Promise<string> =>
      await live.pay(await live.newAddress(), units, from);
    /** Every kept block is in the chain now, and each links to the one before. */
    async function expectOnChain(): Promise<void> {
      expect(await cursorOf(live)).to.include({ scanned_hash: await live.headHash() });
      const kept = await live.rows(
        'select number, hash, parent_hash from chain_blocks order by number desc limit 60',
      );
      expect(kept.slice(0, -1).map(({ parent_hash: parent }) => parent)).to.deep.equal(
        kept.slice(1).map(({ hash }) => hash),
      );
    }

    it('take their payments along down to finality, bind what came back elsewhere, and keep what lies below', async () => {
      const below = await pay(1_001n);
      await live.mine(3);
      const gone = await pay(1_002n, 'other');
      await live.mine(10);
      const moved = await pay(1_003n);
      await live.mine(FINAL_BEHIND - 14);
      await live.catchUp();
      const [before, held] = [await rowOf(moved), await rowOf(below)];
      await live.replace(FINAL_BEHIND - 3);
      await live.catchUp();
      for (const hash of [gone, moved])
        expect(await rowOf(hash)).to.include({ block_hash: null, status: 'detected' });
      expect(await rowOf(below), 'its block was not replaced').to.include({ block_hash: held['block_hash'] });
      await expectOnChain();
      await live.again(moved);
      await live.finish();
      const after = await rowOf(moved);
      expect(after['block_hash']).to.be.a('string').and.not.equal(before['block_hash']);
      expect(after['verified_at']).to.not.equal(null);
      await expectOnChain();
      expect([await advanced(moved), await advanced(gone)]).to.deep.equal(['completed', 'failed']);
      expect(await rowOf(gone)).to.include({ block_hash: null, verified_at: null, failure_code: 'REORGED' });
      // Long after it was given up: one deposit still, in its second life.
      await live.again(gone);
      await live.finish();
      expect(await advanced(gone)).to.equal('completed');
      expect(
        await live.rows('select generation, amount_units from deposits where transaction_hash = ?', [gone]),
      ).to.deep.equal([{ generation: 2, amount_units: '1002' }]);
    });

    it('take along what was set aside of them, and bring back what is in a block again', async () => {
      const aside = async (address: AddressKey): Promise<unknown[]> =>
        (
          await live.rows('select transaction_hash from unrecognised_transfers where address_key = ?', [
            address,
          ])
        ).map((row) => row['transaction_hash']);
      const all: { what: string; address: AddressKey; gone: string; back: string }[] = [];
      for (const [what, { mode, units, foreign = false }] of Object.entries(ASIDE)) {
        const address = await live.newAddress(mode);
        const send = foreign ? live.payForeign : live.pay;
        const gone = await send(address, units, 'other');
        all.push({ what, address, gone, back: await send(address, units + 1n) });
      }
      await live.mine(2);
      await live.catchUp();
      for (const { what, address, gone, back } of all)
        expect(await aside(address), what).to.have.members([gone, back]);
      await live.replace(3);
      await live.catchUp();
      for (const { what, address } of all) expect(await aside(address), what).to.deep.equal([]);
      for (const { back } of all) await live.again(back);
      await live.finish();
      for (const { what, address, back } of all) expect(await aside(address), what).to.deep.equal([back]);
      await live.reconcile();
      expect(await live.rows('select * from balance_differences')).to.deep.equal([]);
    });

    it('are followed where that happens while an outage is being caught up with', async () => {
      await live.catchUp();
      const early = await pay(4_000n);
      await live.mine(BACKLOG);
      const gone = await pay(5_000n, 'other');
      const head = await live.mine(20);
      let stays = '';
      live.whenRead(head - 18, async () => {
        await live.replace(25);
        stays = await pay(6_000n);
        await live.mine(2);
      });
      for (let looks = 0; looks < 20; looks += 1) {
        await live.tryToCatchUp();
        if (stays !== '' && (await cursorOf(live))['scanned_hash'] === (await live.headHash())) break;
      }
      expect(stays, 'the blocks were replaced meanwhile').not.to.equal('');
      live.heal();
      await live.finish();
      await expectOnChain();
      for (const hash of [early, stays]) expect((await rowOf(hash))['verified_at']).to.be.a('string');
      const { block_hash: bound = null } = await rowOf(gone);
      expect(bound, 'never bound to a block that is not in the chain').to.equal(null);
    });

    it('are noticed after a restart where no watcher ran, also when the new branch is shorter', async () => {
      const gone = await pay(7_000n, 'other');
      await live.mine(20);
      await live.catchUp();
      const before = Number((await cursorOf(live))['scanned_number']);
      expect((await rowOf(gone))['block_hash']).to.be.a('string');
      await live.shorten();
      const stays = await pay(8_000n);
      await live.mine(5);
      live.restart();
      await live.catchUp();
      expect(await rowOf(gone)).to.include({ block_hash: null });
      expect((await rowOf(stays))['block_hash']).to.be.a('string');
      expect(Number((await cursorOf(live))['scanned_number'])).to.be.below(before);
      await expectOnChain();
      await live.finish();
      expect((await rowOf(stays))['verified_at']).to.be.a('string');
      expect(await rowOf(gone)).to.include({ block_hash: null, verified_at: null });
    });
  });
