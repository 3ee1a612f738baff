import { tronEnv } from '../../../../dev/support/live-chains.ts';
import { startTronNode, type TronNode } from '../../../../dev/tron/node.ts';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import type { Currency } from '../../../../src/domain/assets.ts';
import { BLOCK_EVERY_MS, DESTINATION, type PaidOut, type PayingChain, tokensIn } from './paying-chain.ts';

const UNIT = 1_000_000n;
const GAS_UNITS = 100_000n * UNIT;

/** Tron, on the double of a node. */
export async function startPayingTron(): Promise<PayingChain> {
  const node = await startTronNode({ solidDistance: 3 });
  const { key, format } = TRON_ADDRESSES;
  await node.mine(4);
  let lost = 0;
  return {
    network: 'tron',
    env: { ...tronEnv(node), TRON_CONFIRMATIONS: '2', TRON_ENERGY: 'burn' },
    destination: format(DESTINATION),
    worth: { USDT: 500n * UNIT, coin: 500n * UNIT },
    gasUnits: GAS_UNITS,
    pay: ({ currency, units }, to) =>
      node.pay({ to: key(to), currency: currency === 'USDT' ? 'USDT' : 'TRX', units }),
    mine: () => node.mine(1, BLOCK_EVERY_MS),
    paidOut: () => paidOutOnTron(node),
    lost: () => lost,
    losesAnswers: (on) => {
      node.fault = on
        ? async ({ path }, answer) => {
            if (!path.endsWith('/broadcasthex')) return undefined;
            await answer();
            lost += 1;
            return 'hang';
          }
        : undefined;
    },
    stop: () => node.stop(),
  };
}

type Sent = {
  readonly txID: string;
  readonly ret: readonly { readonly contractRet: string }[];
  readonly raw_data: {
    readonly contract: readonly {
      readonly type: string;
      readonly parameter: { readonly value: Readonly<Record<string, string | bigint | number>> };
    }[];
  };
};

async function paidOutOnTron(node: TronNode): Promise<PaidOut[]> {
  const found: PaidOut[] = [];
  for (let num = 1; num <= node.head().header.number; num += 1) {
    const block = (await node.ask('wallet/getblockbynum', { num })) as { transactions?: Sent[] };
    for (const sent of block.transactions ?? []) {
      const paid = transferIn(sent, `41${node.usdt.key}`);
      if (paid?.to === `41${DESTINATION}` && sent.ret[0]?.contractRet === 'SUCCESS')
        found.push({
          hash: sent.txID,
          from: keyOfHex(paid.from.slice(2)),
          currency: paid.currency,
          units: paid.units,
        });
    }
  }
  return found;
}

function transferIn(
  { raw_data: { contract } }: Sent,
  token: string,
): { from: string; to: string; currency: Currency; units: bigint } | undefined {
  const [only] = contract;
  if (!only) return undefined;
  const { value } = only.parameter;
  const from = String(value['owner_address']);
  if (only.type === 'TransferContract')
    return { from, to: String(value['to_address']), currency: 'TRX', units: BigInt(value['amount'] ?? 0) };
  if (only.type !== 'TriggerSmartContract' || value['contract_address'] !== token) return undefined;
  const paid = tokensIn(String(value['data']));
  return paid && { from, to: `41${paid.to}`, currency: 'USDT', units: paid.units };
}
