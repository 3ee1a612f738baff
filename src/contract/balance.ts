import { z } from 'zod';
import { coinAmount, currency, id, isLive, listQuery, network, time, usdAmount } from './common.ts';
import { ID, USDT_BSC } from './story.ts';

const amounts = {
  amount: coinAmount.meta({ description: 'available + pending.', example: '137.5' }),
  amount_usd: usdAmount.nullable().meta({
    description:
      'The amount at the present price. Null only while there is money in a coin whose price was never known.',
    example: 137.5,
  }),
  available: coinAmount.meta({
    description: 'Of completed deposits, still on your deposit addresses.',
    example: '125',
  }),
  pending: coinAmount.meta({ description: 'Of detected and confirming deposits.', example: '12.5' }),
  settled: coinAmount.meta({
    description: 'Paid out to your withdraw address since the beginning.',
    example: '1050',
  }),
};
const postedAt = 'The last time that money moved; when there was none yet, when the account was made.';

export const currencyBalance = z
  .strictObject({
    currency: currency.meta({ description: 'The coin, on all of its networks.' }),
    ...amounts,
    networks: z.array(network).meta({ description: 'Where it can be received.', example: ['bsc', 'tron'] }),
  })
  .meta({ id: 'CurrencyBalance' });

export const balance = z
  .strictObject({
    is_live: isLive,
    currency: z.literal('USD').meta({ description: 'Of every member that ends in _usd.' }),
    total_usd: usdAmount.meta({
      description: 'available_usd + pending_usd, and the sum of the amount_usd below.',
      example: 137.5,
    }),
    available_usd: usdAmount.meta({ example: 125 }),
    pending_usd: usdAmount.meta({ example: 12.5 }),
    settled_usd: usdAmount.meta({
      description: 'What was paid out since the beginning, at the present price.',
      example: 1050,
    }),
    balances: z
      .array(currencyBalance)
      .meta({ description: 'One for each currency, always in the same order, also where it is zero.' }),
    updated_at: time.meta({ description: postedAt }),
  })
  .meta({
    id: 'Balance',
    description: 'Money of failed deposits, which is held for a decision, is in none of these.',
  });
export type BalanceView = z.output<typeof balance>;

export const merchantBalance = z
  .strictObject({
    id: id.meta({ description: 'Always the same for this asset, merchant and mode.' }),
    network: network.meta({ description: 'Where the coin is.' }),
    currency: currency.meta({ description: 'The coin.' }),
    contract_address: z.string().nullable().meta({
      description: "Null for the network's own coin.",
      example: '0x55d398326f99059fF775485246999027B3197955',
    }),
    decimals: z.int().meta({ description: 'Decimals of the coin on this network.', example: 18 }),
    ...amounts,
    rate_usd: z.number().nullable().meta({
      description: 'USD for one coin, at which amount_usd was reckoned. Null while unknown.',
      example: 1,
    }),
    is_live: isLive,
    updated_at: time.meta({ description: postedAt }),
  })
  .meta({ id: 'MerchantBalance' });
export type MerchantBalanceView = z.output<typeof merchantBalance>;

export const merchantBalanceQuery = listQuery({});

const NOTHING = { amount: '0', amount_usd: 0, available: '0', pending: '0', settled: '0' };

/** As the documents show it. */
export const balanceExample: BalanceView = {
  is_live: false,
  currency: 'USD',
  total_usd: 38,
  available_usd: 38,
  pending_usd: 0,
  settled_usd: 0,
  balances: [
    { currency: 'BNB', ...NOTHING, networks: ['bsc'] },
    { currency: 'TRX', ...NOTHING, networks: ['tron'] },
    {
      currency: 'USDT',
      amount: '38',
      amount_usd: 38,
      available: '38',
      pending: '0',
      settled: '0',
      networks: ['bsc', 'tron'],
    },
  ],
  updated_at: '2026-11-20T10:12:00Z',
};

/** As the documents show it. */
export const merchantBalanceExample: MerchantBalanceView = {
  id: ID.balance,
  network: 'bsc',
  currency: 'USDT',
  contract_address: USDT_BSC,
  decimals: 18,
  amount: '38',
  amount_usd: 38,
  available: '38',
  pending: '0',
  settled: '0',
  rate_usd: 1,
  is_live: false,
  updated_at: '2026-11-20T10:12:00Z',
};
