// A merchant with money at our addresses, payouts that ask to be signed, and a signer of one's own.
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { byNetwork } from '../../../src/chains/index.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { createMerchant, updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
import { runSigner, type SignerDeps } from '../../../src/signer/pull/loop.ts';
import { readPublicParts } from '../../../src/signer/wallet-file.ts';
import { type LoggedLine, testDeps } from '../../support/gateway.ts';
import { DESTINATIONS, forced, moneyOf, type Row, type Sql } from './asking.ts';
import { signerDeps, signerFiles } from './running.ts';

export type SignerStage = Awaited<ReturnType<typeof startSignerStage>>;

/** Starts nothing but the database; `signer` starts a signer. */
export async function startSignerStage() {
  const database = await migratedDatabase();
  const lines: LoggedLine[] = [];
  const { folder, ...files } = await signerFiles(TEST_PHRASE);
  const box = createSecretBox(SECRETS_KEY);
  const deps = await testDeps(database.url, lines, { deps: { secretBox: box } });
  const { merchantId } = await createMerchant(deps, {
    name: 'Shop',
    subscriptionActive: true,
    withdraw: byNetwork(({ network }) => DESTINATIONS[network][0]),
  });
  const { gas } = await readPublicParts(files.seedFile);
  await publishGasWallets(deps, gas);
  const sql = <T = Row>(text: string, params: unknown[] = []) =>
    deps.orm.em.fork().execute<T[]>(text, params);
  await sql('update gas_wallets set noted_at = now()');
  const log = logInto(lines);
  const stops: (() => Promise<void>)[] = [];
  const stopSigners = () => Promise.all(stops.map((stop) => stop()));
  const money = moneyOf(deps, merchantId, sql);
  return {
    database,
    deps,
    files,
    gas,
    lines,
    merchantId,
    sql,
    folder,
    ...money,
    ...outcomesOf(sql, money.row),
    /** Writes as nobody may: past every guard of the database. */
    force: (text: string, params: unknown[] = []) => forced(deps, text, params),
    /** Sets the withdraw address as an operator does. */
    setDestination: (network: Network, address: string | null, of = merchantId) =>
      updateMerchant(deps, { merchantId: of, withdraw: { [network]: address } }),
    /** Runs a signer in this process until `stop`. */
    async signer(change: Partial<SignerDeps> = {}) {
      const abort = new AbortController();
      const done = runSigner(await signerDeps({ orm: deps.orm, ...files }, { log, ...change }), abort.signal);
      const stop = async (): Promise<void> => {
        abort.abort(new Error('the test stops the signer'));
        await done;
      };
      stops.push(stop);
      return { stop };
    },
    stopSigners,
    async stop() {
      await stopSigners();
      await deps.orm.close(true);
      await database.drop();
    },
  };
}

/** A logger that keeps its lines. */
function logInto(lines: LoggedLine[]): SignerDeps['log'] {
  const write = (level: string) => (fields: object, text: string) =>
    void lines.push({ level, text, fields: fields as Record<string, unknown> });
  const log = { info: write('info'), warn: write('warn'), error: write('error'), debug: write('debug') };
  return log as unknown as SignerDeps['log'];
}

/** Waits for what the signer makes of a row, and for how it is. */
function outcomesOf(sql: Sql, row: (id: string) => Promise<Row>) {
  const once = async (id: string, isIt: (row: Row) => boolean): Promise<Row> => {
    let last: Row = {};
    const found = eventually('it', async () => {
      last = await row(id);
      return isIt(last);
    });
    await found.catch(() => expect.fail(`it is ${last['state']}, and was told: ${last['refused']}`));
    return last;
  };
  return {
    /** The row of what was asked for, once it is signed or refused. */
    decided: (id: string) => once(id, ({ state, refused }) => state !== 'asked' || refused !== null),
    signed: (id: string) => once(id, ({ state, refused }) => state === 'signed' && refused === null),
    /** Once it is refused with these words, it is unsigned. */
    async refused(id: string, says: RegExp): Promise<Row> {
      const found = await once(id, ({ refused }) => says.test(String(refused)));
      expect(found).to.include({ state: 'asked', raw: null, hash: null, signed_at: null });
      return found;
    },
    state: async () => (await sql('select * from signer_state'))[0] ?? {},
    /** Once it signs nothing for this reason. */
    async sealed(code: string, says = /./): Promise<void> {
      let last: Row = {};
      const isSealed = async () => {
        [last = {}] = await sql('select * from signer_state');
        return last['sealed_code'] === code && says.test(String(last['sealed_reason']));
      };
      await eventually('it', isSealed).catch(() =>
        expect.fail(`${last['sealed_code']}: ${last['sealed_reason']}`),
      );
      expect(last['sealed_since']).not.to.equal(null);
    },
  };
}
