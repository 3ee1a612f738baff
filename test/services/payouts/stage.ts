// A watched chain on which our own wallets send: the same short words for both chains.
import { randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import type { Anvil } from '../../../dev/anvil.ts';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { chainOf } from '../../../src/chains/index.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import type { WatchedChain } from '../../../src/services/watcher/watched-chain.ts';
import { commitAll, emptyPayout } from '../../support/payout-rows.ts';
import { ownKey, type Row, startTestWatcher } from '../watcher/test-watcher.ts';
import { startTronWatcher } from '../watcher/tron/tron-watcher.ts';

const CHAIN_ID = 56;
const GAS_PRICE = 5_000_000_000n;

/** Keys are those of addresses; amounts are the chain's own coin in base units. */
export type SendingStage = {
  readonly network: Network;
  readonly deps: Deps;
  readonly watchedChain: WatchedChain;
  /** The private key of an address that this stage made, hex. */
  secretOf(key: AddressKey): string;
  newAddress(): Promise<AddressKey>;
  /** A stranger pays; coins unless told otherwise. */
  pay(to: AddressKey, units: bigint, asset?: 'coin' | 'token'): Promise<string>;
  /** Whoever has the key sends; it waits for a block. Throws where the node would not take it. */
  send(secret: string, to: AddressKey, units: bigint, asset?: 'coin' | 'token'): Promise<string>;
  /** What lies on an address at the head. */
  held(address: AddressKey): Promise<{ readonly coin: bigint; readonly token: bigint }>;
  height(): Promise<number>;
  /** Sends once more, with the same bytes, what `send` sent. */
  again(hash: string): Promise<unknown>;
  mine(blocks?: number): Promise<unknown>;
  catchUp(): Promise<unknown>;
  /** Makes all so far final, and reads it twice. */
  finish(): Promise<void>;
  /** Replaces the newest blocks by empty ones. */
  replace(blocks: number): Promise<unknown>;
  reconcile(): Promise<unknown>;
  rows(sql: string, params?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

/** An address as the chain shows it. */
export const shown = (network: Network, key: AddressKey): string => chainOf(network).addresses.format(key);

async function bscStage(): Promise<SendingStage> {
  const live = await startTestWatcher({ slotsInAnEpoch: 2 });
  const { anvil } = live.chain;
  const raws = new Map<string, string>();
  return {
    ...live,
    network: 'bsc',
    secretOf: (key) => ownKey('bsc', key),
    newAddress: async () => keyOfHex(await live.newAddress(), 2),
    pay: (to, units, asset) =>
      asset === 'token'
        ? live.chain.usdt.call('transfer', [`0x${to}`, units])
        : live.chain.send({ to: `0x${to}`, valueUnits: units }),
    held: async (address) => ({
      coin: BigInt(String(await anvil.rpc('eth_getBalance', [`0x${address}`, 'latest']))),
      token: await tokensOf(anvil, live.chain.usdt.address, address),
    }),
    height: async () => Number(await anvil.rpc('eth_blockNumber')),
    send: async (secret, to, units, asset) => {
      const wallet = new Wallet(`0x${secret}`);
      const count = await anvil.rpc('eth_getTransactionCount', [wallet.address, 'pending']);
      const raw = await wallet.signTransaction({
        chainId: CHAIN_ID,
        nonce: Number(count),
        gasPrice: GAS_PRICE,
        ...(asset === 'token'
          ? {
              gasLimit: 100_000n,
              to: live.chain.usdt.address,
              data: live.chain.usdt.data('transfer', [`0x${to}`, units]),
            }
          : { gasLimit: 21_000n, to: `0x${to}`, value: units }),
      });
      const hash = String(await anvil.rpc('eth_sendRawTransaction', [raw]));
      raws.set(hash, raw);
      return hash;
    },
    again: (hash) => anvil.rpc('eth_sendRawTransaction', [raws.get(hash)]),
    mine: live.chain.mine,
    replace: (blocks) => anvil.rpc('anvil_reorg', [blocks, []]),
  };
}

async function tronStage(): Promise<SendingStage> {
  const live = await startTronWatcher();
  return {
    ...live,
    network: 'tron',
    secretOf: (key) => ownKey('tron', key),
    pay: (to, units, asset) => live.node.pay({ to, currency: asset === 'token' ? 'USDT' : 'TRX', units }),
    held: async (address) => {
      const account = await live.node.ask('wallet/getaccount', { address: `41${address}` });
      return {
        coin: BigInt((account as { balance?: number }).balance ?? 0),
        token: await tokensOf(live.node.anvil, `0x${live.node.usdt.key}`, address),
      };
    },
    height: async () => live.node.head().header.number,
    send: (secret, to, units, asset) =>
      live.node.pay({
        to,
        currency: asset === 'token' ? 'USDT' : 'TRX',
        units,
        from: { address: keyOfHex(new Wallet(`0x${secret}`).address, 2), privateKey: secret },
      }),
    again: live.node.again,
    mine: live.node.mine,
    replace: (blocks) => live.node.replace(blocks),
  };
}

/** The tokens that lie on an address at the head. */
export async function tokensOf(anvil: Anvil, token: string, address: string): Promise<bigint> {
  const data = `0x70a08231${address.padStart(64, '0')}`;
  return BigInt(String(await anvil.rpc('eth_call', [{ to: token, data }, 'latest'])));
}

/** Notes a transaction as the signer will, before anybody can send it. */
export async function noteSigned(
  { deps, network }: Pick<SendingStage, 'deps' | 'network'>,
  hash: string,
  row: {
    readonly purpose: 'gas' | 'payout';
    readonly from: AddressKey;
    readonly to: AddressKey;
    readonly units: bigint;
    readonly currency?: Currency;
  },
): Promise<void> {
  const payoutId = randomUUID();
  await commitAll(deps, emptyPayout(payoutId, network));
  const insert = {
    text: `insert into sent_transactions (id, network, hash, purpose, payout_id, attempt, state, from_address,
       from_key, to_address, to_key, currency, amount_units, raw, signed_at, created_at, updated_at)
     values (gen_random_uuid(), ?, ?, ?, ?, 1, 'signed', ?, ?, ?, ?, ?, ?, '\\x00', now(), now(), now())`,
    params: [
      network,
      hash,
      row.purpose,
      payoutId,
      shown(network, row.from),
      row.from,
      shown(network, row.to),
      row.to,
      row.currency ?? NATIVE_CURRENCY[network],
      row.units.toString(),
    ],
  };
  // Past what the database holds of payouts: here only the transaction's place in the chain counts.
  await commitAll(deps, [{ text: "set local session_replication_role = 'replica'", params: [] }, insert]);
}

/** Starts the chain with a watcher, each on parts of its own. */
export const startSendingStage = (network: Network): Promise<SendingStage> =>
  network === 'bsc' ? bscStage() : tronStage();
