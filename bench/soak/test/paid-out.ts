// Payouts of a small run in which all is well: two deposits of a token by one transfer, which a top-up paid
// for, and one of the coin, which paid for itself.
import { placeKey } from '../oracle/truth.ts';
import { account, credit, customer, entry, hex, lived, USDT, type World } from './parts.ts';

export const [CID, GAS, DESTINATION, MOVED_TO] = [hex('d4', 20), hex('e5', 20), hex('f6', 20), hex('a7', 20)];
export const [TOP_UP, TOKENS, COINS] = [hex('70'), hex('71'), hex('72')];
const [GIVEN, TOPPED_UP] = [10_000n, 1_000n];
const [TOP_UP_FEE, TOKENS_FEE, COINS_FEE] = [200n, 300n, 900n];
const [COINS_GROSS, COINS_NET] = [100_000n, 99_000n];
/** What is told of the way of the tokens, by the parts of 4 and 6. */
const [FEE_OF_4, FEE_OF_6] = [200n, 300n];
const WAY = ['detected', 'confirming', 'completed', 'settled'];

const bsc = 'bsc' as const;
const settlement = (hash: string, amount: string, fee: string) => ({
  transaction_hash: hash,
  destination: DESTINATION,
  amount,
  fee_amount: fee,
  fee_currency: 'BNB',
  settled_at: '2026-01-01T00:01:00Z',
});
/** Wei as coins. */
const coins = (wei: bigint) => `0.${String(wei).padStart(18, '0')}`;

const sent = (hash: string, from: string, nonce: number, feeUnits: bigint) => ({
  network: bsc,
  hash,
  from,
  nonce,
  ok: true,
  feeUnits,
});
const sentRow = (
  { hash, from, nonce, feeUnits }: ReturnType<typeof sent>,
  payout: string,
  purpose: string,
  to: string,
  units: bigint,
): World['sentRows'][number] => ({
  network: bsc,
  hash,
  purpose,
  payout_id: payout,
  state: 'final',
  from_address: from,
  to_address: to,
  amount_units: String(units),
  nonce: String(nonce),
  signed: true,
  in_block: true,
  ok: true,
  fee_units: String(feeUnits),
});
const payout = (
  id: string,
  currency: 'USDT' | 'BNB',
  hash: string,
  fee: bigint,
): World['payouts'][number] => ({
  id,
  merchant_id: 'merchant-b',
  network: bsc,
  currency,
  address: CID,
  destination: DESTINATION,
  state: 'settled',
  fee_units: String(fee),
  transaction_hash: hash,
  signed_ms: 5_000,
});
const destination = (address: string, askedMs: number, fromMs: number): World['destinations'][number] => ({
  merchant: 'B',
  merchantId: 'merchant-b',
  network: bsc,
  address,
  askedMs,
  fromMs,
});

/** What a run has of them, by where it belongs. */
export function paidOut() {
  const cid = customer(4, 'B', 'live', CID);
  const credits = [
    credit(bsc, hex('6a'), CID, 'USDT', 4n * USDT),
    credit(bsc, hex('6c'), CID, 'USDT', 6n * USDT),
    credit(bsc, hex('6d'), CID, 'BNB', COINS_GROSS),
  ] as const;
  const [four, six, coin] = credits;
  const [topUp, tokens, ofCoins] = [
    sent(TOP_UP, GAS, 0, TOP_UP_FEE),
    sent(TOKENS, CID, 0, TOKENS_FEE),
    sent(COINS, CID, 1, COINS_FEE),
  ];
  const inTheEnd = (text: ReturnType<typeof settlement>) => ({ settlement: text });
  return {
    customer: cid,
    credits,
    lives: [
      lived('d6', cid.id, four, WAY, inTheEnd(settlement(TOKENS, '4', coins(FEE_OF_4)))),
      lived('d7', cid.id, six, WAY, inTheEnd(settlement(TOKENS, '6', coins(FEE_OF_6)))),
      lived('d8', cid.id, coin, WAY, inTheEnd(settlement(COINS, coins(COINS_NET), coins(1_000n)))),
    ],
    sent: [
      { ...topUp, moves: [{ to: CID, currency: 'BNB' as const, amountUnits: TOPPED_UP }] },
      { ...tokens, moves: [{ to: DESTINATION, currency: 'USDT' as const, amountUnits: 10n * USDT }] },
      { ...ofCoins, moves: [{ to: DESTINATION, currency: 'BNB' as const, amountUnits: COINS_NET }] },
    ],
    arrived: [
      [placeKey(bsc, CID, 'USDT'), 10n * USDT],
      [placeKey(bsc, CID, 'BNB'), COINS_GROSS + TOPPED_UP],
      [placeKey(bsc, GAS, 'BNB'), GIVEN],
      [placeKey(bsc, DESTINATION, 'USDT'), 10n * USDT],
      [placeKey(bsc, DESTINATION, 'BNB'), COINS_NET],
    ] as const,
    accounts: [
      account('live', bsc, 'USDT', 'settled', 10n * USDT),
      account('live', bsc, 'BNB', 'settled', COINS_NET),
      account('live', bsc, 'BNB', 'fees', COINS_GROSS - COINS_NET),
    ],
    depositAccounts: [
      ...[four, six].flatMap((one) => [
        entry(one, 'settled', one.amountUnits),
        entry(one, 'available', 0n),
        entry(one, 'chain', -one.amountUnits),
      ]),
      entry(coin, 'settled', COINS_NET),
      entry(coin, 'fees', COINS_GROSS - COINS_NET),
      entry(coin, 'chain', -COINS_GROSS),
    ],
    /** Coins of the top-up that were not burned, and of the payout of coins. */
    holding: { network: bsc, address: CID, usdtUnits: 0n, coinUnits: 800n, sent: 2 },
    records: recordsOf(topUp, tokens, ofCoins),
  };
}

type Sent = ReturnType<typeof sent>;

/** What the gateway's rows say, and what lies where. */
function recordsOf(topUp: Sent, tokens: Sent, ofCoins: Sent) {
  return {
    payouts: [
      payout('p1', 'USDT', TOKENS, FEE_OF_4 + FEE_OF_6),
      payout('p2', 'BNB', COINS, COINS_GROSS - COINS_NET),
    ],
    sentRows: [
      sentRow(topUp, 'p1', 'gas', CID, TOPPED_UP),
      sentRow(tokens, 'p1', 'payout', DESTINATION, 10n * USDT),
      sentRow(ofCoins, 'p2', 'payout', DESTINATION, COINS_NET),
    ],
    destinations: [destination(DESTINATION, 0, 0), destination(MOVED_TO, 10_000, 11_000)],
    gasHoldings: [
      {
        network: bsc,
        address: GAS,
        usdtUnits: 0n,
        coinUnits: GIVEN - TOPPED_UP - TOP_UP_FEE,
        sent: 1,
      },
    ],
    destinationHoldings: [
      { network: bsc, address: DESTINATION, usdtUnits: 10n * USDT, coinUnits: COINS_NET, sent: 0 },
      { network: bsc, address: MOVED_TO, usdtUnits: 0n, coinUnits: 0n, sent: 0 },
    ],
    paysOut: [bsc],
    spent: [],
  } satisfies Partial<World>;
}
