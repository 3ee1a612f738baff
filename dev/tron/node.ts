// A double of a Tron node for development and tests: Tron's dialect in front of an EVM node,
// which runs the contracts. Addresses, hashes, signatures, rules and answers are Tron's own.
import type { Print } from '../../src/base/processes.ts';
import type { AddressKey } from '../../src/chains/address-key.ts';
import type { Anvil } from '../anvil.ts';
import { testContracts } from '../support/chain-contracts.ts';
import { Chain, type Keep, SLOT_MS } from './chain.ts';
import { type Contracts, createContracts, type TronContract } from './contracts.ts';
import { startEvm } from './execution/evm.ts';
import { type EndpointOptions, openEndpoint, type TronEndpoint } from './http/endpoint.ts';
import type { Served } from './http/handler.ts';
import type { Body } from './http/requests.ts';
import { askDirectly } from './http/routes.ts';
import { type KeyPair, keyPair } from './signing.ts';
import type { Block } from './types.ts';
import { createWallet, type Send, type Wallet } from './wallet.ts';

/** The first account has more sun than a number of JavaScript holds. */
const FUNDS_SUN = [10n ** 17n, ...Array.from({ length: 9 }, () => 10n ** 13n)];
const TOKEN_UNITS = 10n ** 18n;
/** So far in the past the chain begins: blocks that are made by hand do not come from the future soon. */
const BEGINS_MS = 600_000;

export type TronNodeOptions = {
  /** Makes blocks by the clock. Without it nothing is mined until `mine()`. */
  readonly blockTimeMs?: number;
  /** How many blocks the newest irreversible one is behind the head. */
  readonly solidDistance?: number;
  readonly savesInternals?: boolean;
  /** Another port for `walletsolidity`, as on a node of one's own. */
  readonly separateSolidity?: boolean;
  /** Where the EVM node is recorded, so that the next start over this folder ends one that was left. */
  readonly dataDir?: string;
  readonly log?: Print;
};

export type Payment = Omit<Send, 'type' | 'value'> & {
  readonly to: AddressKey;
  readonly currency: 'TRX' | 'USDT';
  readonly units: bigint;
};

export type TronNode = TronEndpoint & {
  readonly anvil: Anvil;
  readonly genesisId: string;
  /** Ten funded accounts. */
  readonly accounts: readonly KeyPair[];
  /** A token of six decimals; the first account has plenty of it. */
  readonly usdt: TronContract;
  /** Whether all its endpoints show the transactions that code made. */
  savesInternals: boolean;
  /**
   * What things cost, from the next transaction on, because witnesses vote on it while the chain goes on; how
   * much energy a stake gives, which falls as others stake (a greater `energy.weight`, in TRX); and whether
   * the code of a transaction takes longer than a block allows, so that it ends in OUT_OF_TIME.
   */
  readonly rules: Pick<Chain, 'prices' | 'energy' | 'isTooSlow'>;
  /**
   * Makes blocks, the first of them with everything that waits, and returns the height of the head. Between
   * two of them lie `slotMs` (three seconds) of the chain's own time.
   */
  mine(blocks?: number, slotMs?: number): Promise<number>;
  /** Broadcasts a payment and returns its id. Throws Refusal where the node would not take it. */
  pay(payment: Payment): Promise<string>;
  /** Broadcasts a call of a contract; `data` is hex. */
  trigger: Contracts['trigger'];
  /** Makes a contract, and blocks until it is there. */
  deploy: Contracts['deploy'];
  /** Broadcasts what makes a contract; `bytecode` is hex. */
  create: Wallet['create'];
  /** Broadcasts any transaction that the double knows; see `CONTRACTS` of messages. */
  send(transaction: Send): Promise<string>;
  /** Broadcasts one again that was sent here before, with the same bytes. */
  again(txId: string): Promise<void>;
  /**
   * Lets an account have so much sun staked for energy, all that it lends included, from the next transaction
   * on; 0 takes it away. It comes from nowhere: no transaction says it, no balance shrinks, the stakes of all
   * (`rules.energy.weight`) stay what they are, both views show it at once, and no fork takes it back.
   * Throws a sentence where there is no such account.
   */
  stake(key: AddressKey, sun: bigint): Promise<void>;
  /** Replaces the newest blocks by as many others. Throws a sentence where one of them is irreversible. */
  replace(depth: number, options?: { readonly keep?: Keep }): Promise<void>;
  /** Loses every block that is not irreversible and what waits, as a node that is restarted. */
  restart(): Promise<void>;
  /** Drops a transaction that waits, as a node does that cannot pack it. */
  forget(txId: string): Promise<void>;
  /**
   * The node's own answer, without HTTP and without faults; the path is as in `wallet/getnowblock`.
   * With `top` it is that of a node which has no block above this height. Throws a sentence for a path
   * that nothing serves.
   */
  ask(path: string, body?: Body, top?: number): Promise<unknown>;
  /** One more address of the node, with faults of its own. */
  endpoint(options?: EndpointOptions): Promise<TronEndpoint>;
  head(): Block;
  solidHeight(): number;
};

/** Starts a node with a token on it. */
export async function startTronNode(options: TronNodeOptions = {}): Promise<TronNode> {
  const { savesInternals = true, separateSolidity = false } = options;
  const { chain, accounts, stopChain } = await startChain(options);
  const served: Served = { chain, savesInternals };
  const first = await openEndpoint(served, { separateSolidity });
  const endpoints = [first];
  const wallet = createWallet(chain, accounts);
  const mine: TronNode['mine'] = (blocks = 1, slotMs = undefined) => chain.mine(blocks, slotMs);
  const { trigger, deploy } = createContracts(chain, wallet);
  const usdt = await deploy(testContracts().Token, [6]);
  await usdt.call('mint', [accounts[0]?.address, TOKEN_UNITS]);
  await mine();
  const stopClock = startClock(chain, options);

  return {
    url: first.url,
    solidityUrl: first.solidityUrl,
    requests: first.requests,
    forgetRequests: first.forgetRequests,
    get fault() {
      return first.fault;
    },
    set fault(fault) {
      first.fault = fault;
    },
    get savesInternals() {
      return served.savesInternals;
    },
    set savesInternals(saves) {
      served.savesInternals = saves;
    },
    rules: chain,
    anvil: chain.evm.anvil,
    genesisId: chain.blocks.at(0)?.id ?? '',
    accounts,
    usdt,
    mine,
    pay: ({ to, currency, units, ...sending }) =>
      currency === 'USDT'
        ? usdt.call('transfer', [to, units], sending)
        : wallet.send({
            ...sending,
            type: 'TransferContract',
            value: { to_address: `41${to}`, amount: units },
          }),
    trigger,
    deploy,
    create: wallet.create,
    send: wallet.send,
    again: wallet.again,
    stake: (key, sun) => chain.stake(key, sun),
    replace: (depth, { keep = 'none' } = {}) => chain.replace(depth, keep),
    restart: () => chain.restart(),
    forget: (txId) => chain.forget(txId),
    endpoint: async (wanted) => {
      const endpoint = await openEndpoint(served, { separateSolidity, ...wanted });
      endpoints.push(endpoint);
      return endpoint;
    },
    ask: (path, body = {}, top = undefined) => askDirectly({ ...served, top }, path, body),
    head: () => chain.head,
    solidHeight: () => chain.solidHeight,
    stop: async () => {
      stopClock();
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()));
      await stopChain();
    },
  };
}

/** A chain with its funded accounts and no block but the first. */
async function startChain({ solidDistance = 18, dataDir, log = () => undefined }: TronNodeOptions) {
  const startMs = Math.floor((Date.now() - BEGINS_MS) / SLOT_MS) * SLOT_MS;
  const evm = await startEvm(startMs, log, dataDir);
  const accounts = FUNDS_SUN.map((_, at) => keyPair(`account ${at}`));
  const genesis = accounts.map(({ address }, at) => ({ address, sun: FUNDS_SUN[at] ?? 0n }));
  for (const { address, sun } of genesis) await evm.fund(address, sun);
  const chain = new Chain(evm, genesis, startMs, solidDistance);
  return { chain, accounts, stopChain: () => evm.anvil.stop() };
}

/** Makes blocks by the clock where that is wanted; what is returned ends it. */
function startClock(chain: Chain, { blockTimeMs, log = () => undefined }: TronNodeOptions): () => void {
  if (blockTimeMs === undefined) return () => undefined;
  const report = (error: unknown): void => log(`no block was made: ${error}`);
  const clock = setInterval(() => void chain.mineAt(Date.now(), blockTimeMs).catch(report), blockTimeMs);
  return () => clearInterval(clock);
}
