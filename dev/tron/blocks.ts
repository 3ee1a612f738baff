// The blocks of the chain, from the first one to the head.
import { blockId, type Header, headerBytes, sha256, transactionBytes, transactionRoot } from './ids.ts';
import { type KeyPair, keyPair, sign } from './signing.ts';
import type { Block, Executed } from './types.ts';

const VERSION = 32;
const WITNESSES: readonly KeyPair[] = Array.from({ length: 27 }, (_, at) => keyPair(`witness ${at}`));

type Place = { readonly block: Block; readonly executed: Executed };

export class Blocks {
  readonly #blocks: Block[];
  readonly #transactions = new Map<string, Place>();
  readonly #ids = new Map<string, Block>();
  /** Counts forks: another witness makes the same block, so that it has another id. */
  #branch = 0;

  constructor(genesis: Block) {
    this.#blocks = [genesis];
    this.#ids.set(genesis.id, genesis);
  }

  get head(): Block {
    return this.#blocks.at(-1) as Block;
  }

  at(height: number): Block | undefined {
    return this.#blocks[height];
  }

  byId(id: string): Block | undefined {
    return this.#ids.get(id);
  }

  /** Where a transaction is. */
  place(txId: string): Place | undefined {
    return this.#transactions.get(txId);
  }

  /** The id of the newest block whose height ends with these 16 bits. */
  idAt(low: number): string | undefined {
    const { number } = this.head.header;
    const height = number - ((number - low) & 0xffff);
    return this.#blocks[height]?.id;
  }

  /** Puts a block on top of the head and returns it. */
  append(timestampMs: number, transactions: readonly Executed[], mark: number): Block {
    const number = this.head.header.number + 1;
    const witness = WITNESSES[(number + this.#branch) % WITNESSES.length] as KeyPair;
    const bytes = transactions.map(({ signed, outcome }) =>
      transactionBytes(signed.raw, signed.signatures, outcome.result),
    );
    const header: Header = {
      number,
      timestampMs,
      root: transactionRoot(bytes),
      parentHash: this.head.id,
      witness: `41${witness.address}`,
      version: VERSION,
    };
    const block = blockOf(header, transactions, mark, witness);
    this.#blocks.push(block);
    this.#ids.set(block.id, block);
    for (const executed of transactions) this.#transactions.set(executed.signed.id, { block, executed });
    return block;
  }

  /** Takes the newest blocks away and returns them, the oldest first. Those that follow have other ids. */
  remove(count: number): Block[] {
    this.#branch++;
    const removed = this.#blocks.splice(this.#blocks.length - count);
    for (const { id, transactions } of removed) {
      this.#ids.delete(id);
      for (const { signed } of transactions) this.#transactions.delete(signed.id);
    }
    return removed;
  }
}

/** A block by its header; its signature is made when somebody wants to see it. */
export function blockOf(
  header: Header,
  transactions: readonly Executed[],
  mark: number,
  witness?: KeyPair,
): Block {
  let made: string | undefined;
  const signature = (): string => {
    if (!witness) return '';
    made ??= sign(sha256(headerBytes(header)).toString('hex'), witness.privateKey);
    return made;
  };
  return { header, id: blockId(header), transactions, mark, signature };
}
