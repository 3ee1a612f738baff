// A chain that payouts are made on, in words that hold for each: who pays, and what its blocks say was paid.
import { startTestChain, type TestChain, USDT_UNIT } from '../../../../dev/support/chain.ts';
import { type FaultProxy, startFaultProxy } from '../../../../dev/support/fault-proxy.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { chainOf } from '../../../../src/chains/index.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../../../src/domain/assets.ts';

export type PaidOut = {
  readonly hash: string;
  readonly from: AddressKey;
  readonly currency: Currency;
  readonly units: bigint;
};

export type PayingChain = {
  readonly network: Network;
  /** What a gateway has to be told to use it. */
  readonly env: NodeJS.ProcessEnv;
  /** Nobody's, as merchants write it. */
  readonly destination: string;
  /** So much is worth paying out. */
  readonly worth: Readonly<Record<'USDT' | 'coin', bigint>>;
  /** What a gas wallet needs for all payouts of a test. */
  readonly gasUnits: bigint;
  /** Sends a payment, which waits for a block, and returns its hash. */
  pay(paid: { readonly currency: 'USDT' | 'coin'; readonly units: bigint }, to: string): Promise<string>;
  mine(): Promise<unknown>;
  /** Every transfer to the destination that blocks show and that succeeded. */
  paidOut(): Promise<PaidOut[]>;
  /** While it is on, what is broadcast reaches the node, and its answer reaches nobody. */
  losesAnswers(on: boolean): void;
  /** How many transactions have reached the node whose answers were lost. */
  lost(): number;
  stop(): Promise<void>;
};

/** `transfer(address,uint256)`. */
const TRANSFER = 'a9059cbb';
export const BLOCK_EVERY_MS = 300;
/** Nobody's, on every chain. */
export const DESTINATION: AddressKey = keyOfHex('d1'.repeat(20));

/** BNB Chain, on a real EVM node behind a proxy. */
export async function startPayingBsc(): Promise<PayingChain> {
  const chain = await startTestChain();
  const proxy = await startFaultProxy(chain.url);
  await chain.mine(3);
  const lossy = lossyAnswers(proxy);
  return {
    network: 'bsc',
    env: { BSC_RPC_URLS: proxy.url, BSC_USDT_CONTRACT: chain.usdt.address, BSC_CONFIRMATIONS: '2' },
    destination: chainOf('bsc').addresses.format(DESTINATION),
    worth: { USDT: 200n * USDT_UNIT, coin: USDT_UNIT / 10n },
    gasUnits: USDT_UNIT,
    pay: ({ currency, units }, to) =>
      currency === 'USDT' ? chain.usdt.call('transfer', [to, units]) : chain.send({ to, valueUnits: units }),
    mine: () => chain.mine(),
    paidOut: () => paidOutOnBsc(chain),
    ...lossy,
    stop: async () => {
      await proxy.stop();
      await chain.stop();
    },
  };
}

function lossyAnswers(proxy: FaultProxy): Pick<PayingChain, 'losesAnswers' | 'lost'> {
  let lost = 0;
  return {
    lost: () => lost,
    losesAnswers: (on) => {
      proxy.fault = on
        ? async ({ method }, forward) => {
            if (method !== 'eth_sendRawTransaction') return undefined;
            await forward();
            lost += 1;
            return 'hang';
          }
        : undefined;
    },
  };
}

type Sent = { hash: string; from: string; to: string | null; value: string; input: string };

async function paidOutOnBsc({ anvil, usdt }: TestChain): Promise<PaidOut[]> {
  const head = Number.parseInt(String(await anvil.rpc('eth_blockNumber')), 16);
  const found: PaidOut[] = [];
  for (let number = 0; number <= head; number += 1) {
    const block = await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
    for (const sent of (block as { transactions: Sent[] }).transactions) {
      const paid = transferIn(sent, usdt.address);
      if (!paid || paid.to !== DESTINATION) continue;
      const receipt = (await anvil.rpc('eth_getTransactionReceipt', [sent.hash])) as { status: string };
      if (receipt.status === '0x1')
        found.push({
          hash: sent.hash,
          from: keyOfHex(sent.from, 2),
          currency: paid.currency,
          units: paid.units,
        });
    }
  }
  return found;
}

function transferIn(
  { to, value, input }: Sent,
  token: string,
): { readonly to: AddressKey; readonly currency: Currency; readonly units: bigint } | undefined {
  if (to === null) return undefined;
  if (to !== token) return { to: keyOfHex(to, 2), currency: NATIVE_CURRENCY.bsc, units: BigInt(value) };
  const paid = tokensIn(input.slice(2));
  return paid && { ...paid, currency: 'USDT' };
}

/** What the data of a call, hex, transfers of a token; undefined for any other call. */
export function tokensIn(data: string): { readonly to: AddressKey; readonly units: bigint } | undefined {
  if (!data.startsWith(TRANSFER)) return undefined;
  const words = data.slice(TRANSFER.length);
  return { to: keyOfHex(words.slice(24, 64)), units: BigInt(`0x${words.slice(64, 128)}`) };
}
