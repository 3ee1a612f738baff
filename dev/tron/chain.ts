// The state of the chain: its blocks, what waits for the next one, and how both change.

import type { AddressKey } from '../../src/chains/address-key.ts';
import { Blocks } from './blocks.ts';
import { Accounts } from './execution/accounts.ts';
import { ENERGY, type EnergyRules } from './execution/energy.ts';
import type { Evm } from './execution/evm.ts';
import { execute } from './execution/execute.ts';
import { PRICES, type Prices } from './execution/prices.ts';
import { checkExpiration, checkReference, checkSignatures, expirationOf } from './execution/rules.ts';
import { type Genesis, genesisBlock } from './genesis.ts';
import { type Block, type Executed, Refusal, type Signed } from './types.ts';

export const SLOT_MS = 3_000;
const MOST_WAITING = 2_000;

/** Everything back into the pool, nothing of it, or all of it into the newest of the other blocks. */
export type Keep = 'none' | 'again' | 'moved';

export class Chain {
  readonly evm: Evm;
  readonly accounts = new Accounts();
  readonly prices: Prices = {
    sunPerEnergy: PRICES.sunPerEnergy,
    sunPerByte: PRICES.sunPerByte,
    newAccount: PRICES.newAccount,
  };
  readonly energy: EnergyRules = { ...ENERGY };
  /** Sun that accounts have staked for energy, outside of every block. */
  readonly stakes = new Map<AddressKey, bigint>();
  isTooSlow: (signed: Signed) => boolean = () => false;
  readonly blocks: Blocks;
  readonly #solidDistance: number;
  #solid = 0;
  #pool: Executed[] = [];
  /** No block is older than this: time went on while the node was away. */
  #notBeforeMs = 0;
  readonly #beginsMs: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(evm: Evm, genesis: Genesis, startMs: number, solidDistance: number) {
    this.evm = evm;
    this.#solidDistance = solidDistance;
    for (const { address } of genesis)
      this.accounts.set({ key: address, createdMs: 0, createdAt: 0, netUsed: 0n, netUsedMs: 0 });
    this.blocks = new Blocks(genesisBlock(genesis, this.accounts.mark()));
    this.#beginsMs = startMs;
  }

  get head(): Block {
    return this.blocks.head;
  }

  /** What the rules take for now: the time of the head; block 0 has none. */
  get headMs(): number {
    return Math.max(this.head.header.timestampMs, this.#beginsMs);
  }

  /** The newest block that nothing can replace. */
  get solidHeight(): number {
    return this.#solid;
  }

  /** What is in no block yet, in the order in which it came. */
  get pool(): readonly Executed[] {
    return this.#pool;
  }

  /** Takes a transaction into the pool. Throws Refusal where it breaks a rule. */
  async broadcast(signed: Signed): Promise<void> {
    await this.#alone(async () => {
      if (this.#pool.length >= MOST_WAITING) throw new Refusal('SERVER_BUSY', 'Server busy.');
      await this.#take(signed);
    });
  }

  /** Executes what nobody signed and leaves nothing behind. Throws Refusal as for a broadcast. */
  async rehearse(unsigned: Signed): Promise<void> {
    await this.#alone(async () => {
      const { number } = this.head.header;
      const mark = this.accounts.mark();
      const { accounts, prices, isTooSlow, energy, stakes } = this;
      const evm = { ...this.evm, send: async () => '' };
      const books = { evm, accounts, prices, isTooSlow, energy, stakes };
      await execute(books, unsigned, { height: number + 1, headMs: this.headMs });
      this.accounts.rollback(mark);
    });
  }

  /** Makes blocks, the first of them with everything that waits, and returns the height of the head. */
  async mine(blocks = 1, slotMs = SLOT_MS): Promise<number> {
    await this.#alone(() => this.#mine(blocks, slotMs));
    return this.head.header.number;
  }

  /** The same for one block by a clock that may have gone on by more than one slot. */
  async mineAt(nowMs: number, slotMs: number): Promise<void> {
    await this.#alone(async () => {
      this.#notBeforeMs = Math.max(this.#notBeforeMs, nowMs - (nowMs % slotMs));
      await this.#mine(1, slotMs);
    });
  }

  /**
   * Replaces the newest blocks by as many others. Throws a sentence where one of them is irreversible.
   */
  async replace(depth: number, keep: Keep = 'none'): Promise<void> {
    if (this.head.header.number - depth < this.#solid)
      throw new Error(`block ${this.head.header.number - depth + 1} is irreversible`);
    if (depth === 0) return;
    await this.#alone(async () => {
      const waiting = this.#pool.map(({ signed }) => signed);
      const lost = await this.#rollback(depth);
      const again = lost.flatMap(({ transactions }) => transactions.map(({ signed }) => signed));
      await this.#mine(depth - 1, SLOT_MS);
      if (keep === 'moved') await this.#takeAll(again);
      await this.#mine(1, SLOT_MS);
      await this.#takeAll([...(keep === 'again' ? again : []), ...waiting]);
    });
  }

  /** Loses what is not irreversible, as a node does that is restarted: blocks and what waits. */
  async restart(): Promise<void> {
    await this.#alone(async () => {
      const lostMs = this.headMs;
      await this.#rollback(this.head.header.number - this.#solid);
      this.#notBeforeMs = lostMs + SLOT_MS;
    });
  }

  /** Drops a transaction from what waits, as a node does with one that it cannot pack. */
  async forget(txId: string): Promise<void> {
    await this.#alone(() => this.#keepOnly(({ id }) => id !== txId));
  }

  /** Gives an account this stake for energy, in place of any other. Throws a sentence where there is none. */
  async stake(key: AddressKey, sun: bigint): Promise<void> {
    await this.#alone(async () => {
      if (!this.accounts.get(key)) throw new Error(`${key} is no account that could stake`);
      this.stakes.set(key, sun);
    });
  }

  async #take(signed: Signed): Promise<void> {
    const { header } = this.head;
    checkSignatures(signed, this.accounts.get(signed.owner));
    checkReference(signed, (low) => this.blocks.idAt(low));
    checkExpiration(signed, this.headMs);
    if (this.blocks.place(signed.id) || this.#pool.some((one) => one.signed.id === signed.id))
      throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.');
    const moment = { height: header.number + 1, headMs: this.headMs };
    this.#pool.push(await execute(this, signed, moment));
  }

  /** Those that a rule of the new chain forbids are gone, as on every node. */
  async #takeAll(transactions: readonly Signed[]): Promise<void> {
    for (const signed of transactions) {
      try {
        await this.#take(signed);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }

  async #mine(blocks: number, slotMs: number): Promise<void> {
    if (blocks < 1) return;
    const nextMs = this.#nextMs(slotMs);
    await this.#keepOnly((signed) => expirationOf(signed) > nextMs);
    const height = this.head.header.number + 1;
    await this.evm.mine(blocks);
    await this.#compare(height);
    const packed = this.#pool;
    this.#pool = [];
    for (let i = 0; i < blocks; i++)
      this.blocks.append(this.#nextMs(slotMs), i === 0 ? packed : [], this.accounts.mark());
    this.#solid = Math.max(this.#solid, this.head.header.number - this.#solidDistance);
  }

  #nextMs(slotMs: number): number {
    return Math.max(this.headMs + slotMs, this.#notBeforeMs);
  }

  /** Throws where the EVM node did otherwise than was told: nothing that is told may be untrue. */
  async #compare(height: number): Promise<void> {
    if (this.#pool.length === 0) return;
    const results = await this.evm.results(height);
    const told = this.#pool.flatMap(({ evm }) => evm);
    const isTrue = results.size === told.length && told.every(({ hash }) => results.get(hash) === true);
    if (!isTrue) throw new Error(`block ${height}: the EVM node did otherwise than the double told`);
  }

  async #keepOnly(wanted: (signed: Signed) => boolean): Promise<void> {
    const waiting = this.#pool.map(({ signed }) => signed);
    const kept = waiting.filter(wanted);
    if (kept.length === waiting.length) return;
    await this.evm.clear();
    this.#pool = [];
    this.accounts.rollback(this.head.mark);
    await this.#takeAll(kept);
  }

  async #rollback(depth: number): Promise<Block[]> {
    this.#pool = [];
    await (depth > 0 ? this.evm.rollback(depth) : this.evm.clear());
    const lost = this.blocks.remove(depth);
    this.accounts.rollback(this.head.mark);
    return lost;
  }

  /** One change after the other. */
  async #alone<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(change);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}
