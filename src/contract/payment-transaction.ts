import { z } from 'zod';
import { DEPOSIT_STATES, FAILURE_CODES } from '../domain/deposit.ts';
import { coinAmount, network } from './common.ts';
import { LINK_HASH } from './story.ts';

export const linkTransaction = z
  .strictObject({
    transaction_hash: z.string().meta({ description: 'The transaction.' }),
    network: network.meta({ description: 'Where it is.' }),
    amount: coinAmount.meta({ description: 'What it paid, in coins.' }),
    confirmations: z.int().meta({ description: 'Blocks on top of it.' }),
    status: z.enum(DEPOSIT_STATES).meta({ description: 'The state of its deposit.' }),
    failure_code: z.enum(FAILURE_CODES).nullable().meta({
      description:
        'Why it failed; a failed deposit counts for nothing. The payer’s view names REORGED and BELOW_MINIMUM alone, and has null for every other reason.',
    }),
  })
  .meta({
    id: 'PaymentTransaction',
    description: 'One deposit that was sent for the link; those that did not fail add up.',
  });
export type PaymentTransactionView = z.output<typeof linkTransaction>;

/** One that counts; its amount is the link's to say. */
export const paidExample = {
  transaction_hash: LINK_HASH,
  network: 'bsc',
  confirmations: 15,
  status: 'completed',
  failure_code: null,
} as const;
