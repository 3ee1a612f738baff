import { expect } from 'chai';
import fc from 'fast-check';
import type { Contract } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { firstOf } from '../../../dev/support/fault-proxy.ts';
import { MULTICALL3 } from '../../../src/chains/bsc/balances.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { advancedTo, readAgain } from '../watcher/asked.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';
import { forgetful, priced } from './support.ts';

const { signal } = new AbortController();
const COIN = 10n ** 18n;
const RUNS = 6;
const PAYMENTS = 3;

type Payment = { readonly txHash: string; readonly paid: bigint };
type Case = {
  readonly address: string;
  readonly payments: readonly Payment[];
  readonly from: number;
  readonly to: number;
};

/** `half` and `double` are words of an operator who is wrong about the amount. */
const WORDS = ['none', 'right', 'half', 'double'] as const;
type Word = (typeof WORDS)[number];

/**
 * Money that contracts passed on, over endpoints of which nobody
 * knows what they will show, in any order of whoever looks for it.
 */
describe('what claims, searches and repeated reads credit', function () {
  this.timeout(400_000);
  let live: TestWatcher;
  let payer: Contract;
  const cases: Case[] = [];
  let agreed = 0;
  let traces = false;
  let keepsOldBalances = false;

  before(async () => {
    const noTraces = without(...NO_TRACES);
    const forgets = forgetful(() => live);
    const fault = firstOf(
      (call, forward) => (keepsOldBalances ? undefined : forgets(call, forward)),
      (call, forward) => (traces ? undefined : noTraces(call, forward)),
    );
    live = await startTestWatcher({ fault });
    await live.chain.anvil.rpc('anvil_setCode', [MULTICALL3, testContracts().Multicall3.runtime]);
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 100n * COIN });
    const addresses: string[] = [];
    for (let made = 0; made < RUNS; made++) addresses.push(await live.newAddress());
    await live.finish();
    [{ agreed }] = (await live.rows('select verified_number::int as agreed from chain_cursors')) as [
      { agreed: number },
    ];
    for (const [index, address] of addresses.entries()) cases.push(await pay(address, index));
    await live.chain.mine(12);
    await live.finish();
  });
  after(() => live?.stop());

  /**
   * Three transactions that name the address, each in a block of its own; one of some cases only mentions it.
   */
  async function pay(address: string, index: number): Promise<Case> {
    const payments: Payment[] = [];
    let from = 0;
    let to = 0;
    for (let n = 0; n < PAYMENTS; n++) {
      const units = [300n, 200n, 40n][n] ?? 0n;
      const mentions = n === 2 && index % 3 === 0;
      const txHash = mentions
        ? await payer.call('payCoinAndSwallow', [address, units])
        : n === 1
          ? await payer.call('payCoin', [address, units])
          : await payer.call('passOn', [address], { valueUnits: units });
      payments.push({ txHash, paid: mentions ? 0n : units });
      to = await live.chain.mine();
      if (n === 0) from = to;
    }
    return { address, payments, from, to };
  }

  /** A whole round for one address alone: the row says where a round stands. */
  async function roundOf({ address }: Case): Promise<void> {
    const key = address.slice(2);
    const before = `${key.slice(0, -1)}${'0123456789abcdef'['0123456789abcdef'.indexOf(key.slice(-1)) - 1] ?? ''}`;
    const [cursor] = await live.rows('select verified_number from chain_cursors');
    await live.rows(
      `insert into balance_rounds (network, started_number, started_at, position, agreed_number, checked)
       values ('bsc', ?, now(), ?, ?, 0)
       on conflict (network) do update set position = excluded.position,
         agreed_number = excluded.agreed_number returning network`,
      [cursor?.['verified_number'], before, agreed],
    );
    const pace = { everyMs: 0, batchAddresses: 1 };
    await reconcileStep(live.deps, live.watchedChain, pace, signal);
    await live.rows(`update balance_rounds set position = ? returning network`, ['f'.repeat(40)]);
    await reconcileStep(live.deps, live.watchedChain, pace, signal);
  }

  const wordOf = (said: Word, { paid }: Payment) => {
    const carriedUnits = said === 'right' ? paid : said === 'half' ? paid / 2n : paid * 2n + 20n;
    return said === 'none' || carriedUnits === 0n
      ? undefined
      : { carriedUnits, decider: { by: 'Ann', reason: 'an explorer' } };
  };
  /** Whether it was done; a refusal is an outcome like any other. */
  const claim = async (payment: Payment | undefined, said: Word): Promise<boolean> => {
    if (!payment) return false;
    const claiming = claimTransaction(live.deps, live.watchedChain, {
      txHash: payment.txHash,
      word: wordOf(said, payment),
      signal,
    });
    return await claiming.then(
      () => true,
      (error: Error) => {
        if (error.name === 'DecisionRefused') return false;
        throw error;
      },
    );
  };

  const show = (change: { traces?: boolean; keepsOldBalances?: boolean }) => async () => {
    ({ traces = traces, keepsOldBalances = keepsOldBalances } = change);
    live.restart();
  };
  type Deed = (now: Case) => Promise<unknown>;
  /** Everything that somebody may do, in any order. */
  const DEEDS: Readonly<Record<string, Deed>> = {
    round: roundOf,
    'a round again': roundOf,
    rescan: ({ from, to }) => readAgain(live, from, to),
    complete: async ({ address }) => {
      for (const { id } of await live.deposits(address)) await advancedTo(priced(live.deps), id);
    },
    'endpoint traces': show({ traces: true }),
    'endpoint stops tracing': show({ traces: false }),
    'old balances': show({ keepsOldBalances: true }),
    'no old balances': show({ keepsOldBalances: false }),
    ...Object.fromEntries(
      WORDS.flatMap((said): [string, Deed][] => [
        ...[0, 1, 2].map((n): [string, Deed] => [
          `claim ${n}, ${said} word`,
          ({ payments }) => claim(payments[n], said),
        ]),
        [
          `claim two at once, ${said} word`,
          (now) => Promise.all([claim(now.payments[0], said), claim(now.payments[1], said), roundOf(now)]),
        ],
      ]),
    ),
  };

  const credited = async ({ address }: Case): Promise<bigint> => {
    const [row] = await live.rows(
      `select coalesce(sum(e.amount_units), 0)::text as units from ledger_entries e
       join ledger_transactions t on t.id = e.transaction_id
       join deposits d on d.id = t.deposit_id
         where d.address_key = ? and e.account in ('pending', 'available', 'held')`,
      [address.slice(2)],
    );
    return BigInt(String(row?.['units']));
  };

  it('is never more than lies on the chain, and in the end all of it', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(DEEDS)), { minLength: 3, maxLength: 8 }),
        async (steps) => {
          const now = cases[run++];
          if (!now) return;
          [traces, keepsOldBalances] = [false, false];
          live.restart();
          const onChain = BigInt(
            String(await live.chain.anvil.rpc('eth_getBalance', [now.address, 'latest'])),
          );
          expect(onChain).to.equal(now.payments.reduce((sum, { paid }) => sum + paid, 0n));
          await roundOf(now);
          for (const one of steps) {
            await DEEDS[one]?.(now);
            expect((await credited(now)) <= onChain, `after ${one}`).to.equal(true);
          }
          for (const last of ['endpoint traces', 'rescan', 'complete', 'rescan', 'round'] as const)
            await DEEDS[last]?.(now);
          const deposits = await live.deposits(now.address);
          // What was credited to a transaction before it was known to have
          // carried more is never rewritten: the rest stays a difference.
          const tooLittle = deposits
            .filter((row) => row['proven_units'] !== null && row['status'] === 'completed')
            .map((row) => BigInt(String(row['proven_units'])) - BigInt(String(row['amount_units'])))
            .filter((units) => units > 0n)
            .reduce((sum, units) => sum + units, 0n);
          const end = await credited(now);
          const [open] = await live.rows(
            'select difference_units from balance_differences where address_key = ?',
            [now.address.slice(2)],
          );
          expect(
            end + tooLittle >= onChain,
            `${end} of ${onChain}, and ${tooLittle} known to be too little`,
          ).to.equal(true);
          expect(BigInt(String(open?.['difference_units'] ?? '0')), 'what is left is shown').to.equal(
            onChain - end,
          );
          if (!steps.some((one) => /half|double/.test(one))) expect(end).to.equal(onChain);
        },
      ),
      { numRuns: RUNS, seed: 16, endOnFailure: true },
    );
  });
});
