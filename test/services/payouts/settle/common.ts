// What the stages of both chains have in common: a signer, steps as a test takes them, and what rows say.
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import type { Currency, Network } from '../../../../src/domain/assets.ts';
import { advanceDeposit } from '../../../../src/services/deposits/advance.ts';
import type { Deps } from '../../../../src/services/deps.ts';
import { advanceSettlement } from '../../../../src/services/payouts/settle/advance.ts';
import { newMemory, type SettlementStep } from '../../../../src/services/payouts/settle/context.ts';
import { advanceWallet, type WalletStep } from '../../../../src/services/payouts/wallet.ts';
import { runSigner, type SignerDeps } from '../../../../src/signer/pull/loop.ts';
import { readPublicParts } from '../../../../src/signer/wallet-file.ts';
import { signerDeps, signerFiles, testTransfers } from '../../../signer/pull/running.ts';
import { OWN_PHRASE, type Row, type TestWatcher } from '../../watcher/test-watcher.ts';

const MAX_STEPS = 200;

type Followed = Pick<TestWatcher, 'rows' | 'finish' | 'reconcile' | 'seen'>;
type Acting<C extends Currency> = {
  readonly network: Network;
  readonly deps: Deps;
  readonly spending: Spending;
  readonly live: Followed & Pick<TestWatcher, 'watchedChain'>;
  newKey(): Promise<AddressKey>;
  /** Somebody pays, in the next block. */
  send(to: AddressKey, currency: C, units: bigint): Promise<unknown>;
  mine(blocks?: number): Promise<unknown>;
  /** Reads what was mined. */
  read(): Promise<unknown>;
};

/** Customers who pay, and steps of the settlement of their addresses. */
export function actingOn<C extends Currency>(on: Acting<C>) {
  const { network, deps, spending, live, mine } = on;
  const watchedChain = Object.assign(live.watchedChain, { spending });
  type Payments = readonly (readonly [C, bigint])[];
  const memory = newMemory();
  const overChain = (over: Spending) => ({
    ...deps,
    ...(over === spending ? { memory } : {}),
    chains: new Map([[network, over === spending ? watchedChain : { ...watchedChain, spending: over }]]),
  });
  const step = async (addressKey: AddressKey, alarmed = false, over = spending): Promise<SettlementStep> =>
    await advanceSettlement(overChain(over), { network, addressKey, alarmed });
  const { wallets, woken } = walletsOf(live, (addressKey, over = spending) =>
    advanceWallet(overChain(over), { network, addressKey, alarmed: false }),
  );
  return {
    step,
    wallets,
    settle: settling((key) => step(key), live, woken),
    /** The same, by a worker that sends and asks over something else. */
    settleOver: (over: Spending) =>
      settling(
        (key) => step(key, false, over),
        live,
        () => woken(over),
      ),
    /** A customer's address on which so much was paid and completed. */
    async paid(...payments: Payments): Promise<AddressKey> {
      const key = await on.newKey();
      await this.pay(key, ...payments);
      return key;
    },
    async pay(key: AddressKey, ...payments: Payments): Promise<void> {
      for (const [currency, units] of payments) {
        await on.send(key, currency, units);
        await mine();
      }
      await this.complete();
    },
    /** Every deposit that the chain permits is completed. */
    async complete(): Promise<void> {
      await mine(20);
      await on.read();
      const open = await live.rows("select id from deposits where status in ('detected', 'confirming')");
      for (const { id } of open) await advanceDeposit(deps, { depositId: String(id), alarmed: false });
    },
    ...rowsOfPayouts(live),
  };
}

/** What each wallet says of which no block has something, or (woken) that was told to look, till it waits. */
function walletsOf(
  { rows }: Followed,
  walletStep: (key: AddressKey, over?: Spending) => Promise<WalletStep>,
) {
  const looks = async (found: readonly Row[], over: Spending | undefined): Promise<WalletStep[]> => {
    const said: WalletStep[] = [];
    for (const key of new Set(found.map((row) => String(row['key']))))
      do said.push(await walletStep(key as AddressKey, over));
      while (said.at(-1)?.kind === 'went');
    return said;
  };
  return {
    wallets: async (over?: Spending) =>
      await looks(
        await rows(
          "select from_key as key from sent_transactions where state in ('signed', 'sent') order by 1",
        ),
        over,
      ),
    woken: async (over?: Spending) =>
      await looks(
        await rows(
          "delete from outbox where workflow_id like 'wallet:%' returning split_part(workflow_id, ':', 3) as key",
        ),
        over,
      ),
  };
}

/** Takes steps until one is as wanted (nothing is left to do); blocks are made wherever one waits. */
function settling(
  step: (key: AddressKey) => Promise<SettlementStep>,
  { rows, finish }: Followed,
  woken: () => Promise<unknown>,
) {
  return async (
    addressKey: AddressKey,
    until: (step: SettlementStep) => boolean = ({ kind }) => kind === 'rest',
  ): Promise<SettlementStep[]> => {
    const steps: SettlementStep[] = [];
    for (let taken = 0; taken < MAX_STEPS; taken += 1) {
      const one = await step(addressKey);
      steps.push(one);
      if (until(one)) return steps;
      if (one.kind === 'wait') {
        await woken();
        await finish();
        await signed(rows);
      }
    }
    throw new Error(`it never ends: ${JSON.stringify(steps.slice(-5))}`);
  };
}

/** What the database holds of the payouts of an address. */
function rowsOfPayouts({ rows, finish, reconcile, seen }: Followed) {
  const payouts = (key: AddressKey) =>
    rows('select * from payouts where address_key = ? order by created_at, id', [key]);
  const sent = (key: AddressKey) =>
    rows(
      `select s.* from sent_transactions s join payouts p on p.id = s.payout_id where p.address_key = ?
       order by s.created_at, s.id`,
      [key],
    );
  return {
    payouts,
    sent,
    states: async (key: AddressKey) => (await payouts(key)).map(({ state }) => String(state)),
    /** Each transaction by purpose and state, as "gas final". */
    ways: async (key: AddressKey) => (await sent(key)).map(({ purpose, state }) => `${purpose} ${state}`),
    wait: async (key: AddressKey) =>
      (await rows('select * from settlement_waits where address_key = ?', [key]))[0],
    /** The ledger and the chain agree, and nobody but the signer has signed. */
    async agrees(): Promise<void> {
      await finish();
      await reconcile();
      expect(seen.differences).to.deep.equal([]);
      expect(
        await rows("select hash from sent_transactions where state = 'foreign' and decided_at is null"),
      ).to.deep.equal([]);
    },
  };
}

/** Waits until what was asked for is signed or refused. */
async function signed(rows: (sql: string) => Promise<Row[]>): Promise<void> {
  await eventually('the signer', async () => {
    const open = await rows("select 1 from sent_transactions where state = 'asked' and refused is null");
    return open.length === 0 ? true : undefined;
  }).catch(() => undefined);
}

/** A signer over a wallet of its own, which signs while it is started. */
export async function signerOf(
  deps: Pick<SignerDeps, 'orm' | 'now'> & { readonly secretBox: unknown },
  contracts: Parameters<typeof testTransfers>[0],
) {
  const { folder: _, ...files } = await signerFiles(OWN_PHRASE);
  const { gas } = await readPublicParts(files.seedFile);
  const { orm, now } = deps;
  const keys = [deps.secretBox as SignerDeps['keys'][number]];
  const transfers = await testTransfers(contracts);
  let running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  return {
    gas,
    files,
    async start(change: Partial<SignerDeps> = {}) {
      const abort = new AbortController();
      const started = await signerDeps({ orm, ...files }, { now, keys, transfers, ...change });
      running = { abort, done: runSigner(started, abort.signal) };
    },
    async stop() {
      running?.abort.abort(new Error('the test stops the signer'));
      await running?.done;
      running = undefined;
    },
  };
}
