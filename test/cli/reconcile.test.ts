import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { tronEnv } from '../../dev/support/live-chains.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { checkBalances } from '../../src/cli/doctor/balances.ts';
import { advanceDeposit } from '../../src/services/deposits/advance.ts';
import { startTestWatcher, type TestWatcher } from '../services/watcher/test-watcher.ts';
import { startTronWatcher, type TronWatcher } from '../services/watcher/tron/tron-watcher.ts';
import { type Env, gateway, oneObject, type Ran } from './support.ts';

type Difference = Record<string, unknown>;
type Report = { ok: boolean; differences: Difference[] };

/** The command itself, over a chain that is followed by hand: between two looks the watcher is off. */
describe('command line: reconcile', function () {
  this.timeout(90_000);
  let live: TestWatcher;
  let env: Env;

  before(async () => {
    live = await startTestWatcher();
    env = {
      DATABASE_URL: live.deps.orm.config.get('clientUrl') ?? '',
      DUST_FLOOR: 'none',
      BSC_RPC_URLS: live.proxy.url,
      BSC_CONFIRMATIONS: '3',
      BSC_USDT_CONTRACT: live.chain.usdt.address,
      DATA_DIR: await tempDir('reconcile'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
  });
  after(() => live?.stop());

  const run = (...options: string[]): Promise<Ran> => gateway(['reconcile', ...options], env);
  const report = async (): Promise<Report & { code: number | null; stderr: string }> => {
    const ran = await run('--json');
    return { ...oneObject<Report>(ran.stdout), code: ran.code, stderr: ran.stderr };
  };
  /** As it is a minute after the watcher ended. */
  const watcherIsOff = () =>
    live.rows(`update chain_cursors set polled_at = now() - interval '1 minute' returning network`);

  it('agrees where money is completed or set aside, and finds what came while no watcher ran', async () => {
    const [paid, unlucky, late] = [
      await live.newAddress(),
      await live.newAddress('test'),
      await live.newAddress(),
    ];
    await live.chain.usdt.call('transfer', [paid, 50n]);
    await live.chain.send({ to: unlucky, valueUnits: 70n });
    await live.finish();
    await watcherIsOff();
    expect(await report()).to.deep.include({ ok: true, code: 0, differences: [] });
    await live.chain.usdt.call('transfer', [late, 5_000_000_000_000_000n]);
    await live.chain.mine(6);
    const { differences, code } = await report();
    const expected = { network: 'bsc', currency: 'USDT', difference: '0.005', unread: true };
    const address = String(differences[0]?.['address']);
    expect([code, address.toLowerCase(), differences]).to.deep.equal([
      1,
      late,
      [{ ...differences[0], ...expected, difference_raw: '5000000000000000' }],
    ]);
    const shown = await run();
    expect(shown.code).to.equal(1);
    expect(shown.stdout).to.match(
      /NETWORK +ADDRESS +CHAIN LESS LEDGER[\s\S]*0\.005 USDT[\s\S]*no worker has read blocks \d+ to \d+ yet; start one/,
    );
    expect(shown.stderr).to.match(
      /1 balance differs\. Start a worker, and run this again when it has caught up\.\n$/,
    );
    await live.catchUp();
    await watcherIsOff();
    expect(await run()).to.include({ code: 0, stdout: 'Every balance agrees with the ledger.\n' });
  });

  it('finds what no transaction explains, and what is missing', async () => {
    const [more, less] = [await live.newAddress(), await live.newAddress()];
    await live.chain.send({ to: less, valueUnits: 10n });
    await live.finish();
    await live.chain.anvil.rpc('anvil_setBalance', [more, '0x5']);
    await live.chain.anvil.rpc('anvil_setBalance', [less, '0x4']);
    await live.finish();
    await watcherIsOff();
    const { differences, code, stderr } = await report();
    expect(code).to.equal(1);
    const told = differences.map((row) => [String(row['address']).toLowerCase(), row['difference_raw']]);
    expect(told).to.have.deep.members([
      [more, '5'],
      [less, '-6'],
    ]);
    expect(stderr).to.match(
      /2 balances differ\. Find the transactions with an explorer and run "gateway deposit claim"\.\n$/,
    );
    await live.chain.anvil.rpc('anvil_setBalance', [more, '0x0']);
    await live.chain.anvil.rpc('anvil_setBalance', [less, '0xa']);
    await live.finish();
  });

  it('shows credited money whose block was replaced, with the alarm that explains it, and so do the others that look', async () => {
    const address = await live.newAddress();
    const txHash = await live.chain.usdt.call('transfer', [address, 72n * USDT_UNIT]);
    await live.chain.mine(15);
    await live.finish();
    const [deposit] = await live.deposits(address);
    const id = String(deposit?.['id']);
    for (let steps = 0; steps < 3; steps++)
      await advanceDeposit(live.deps, { depositId: id, alarmed: false });
    expect((await live.deposits(address))[0]).to.include({ status: 'completed', transaction_hash: txHash });
    await watcherIsOff();
    // Finality broke: the block that held it and all above were replaced, and the watcher went back.
    const [head, block] = [
      Number(await live.chain.anvil.rpc('eth_blockNumber')),
      Number(deposit?.['block_number']),
    ];
    expect(head - block, 'far below finality').to.be.at.least(17);
    await live.chain.reorg(head - block + 1);
    await live.rows(
      'update deposits set block_hash = null, verified_at = null, alarmed_at = now() where id = ? returning id',
      [id],
    );
    const why = `deposit ${id} (completed): its block ${block} was replaced`;
    const { differences, code, stderr } = await report();
    expect(code).to.equal(1);
    expect(differences).to.have.length(1);
    expect(differences[0]).to.include({
      currency: 'USDT',
      difference: '-72',
      reason: 'less lies on the address than the ledger says',
    });
    expect(differences[0]?.['explained_by']).to.deep.equal([why]);
    expect(stderr).to.match(
      /1 balance differs\. Look at the deposits named with "gateway deposit stuck"\.\n$/,
    );
    const [check] = await checkBalances(live.deps.orm.em.fork());
    expect(check).to.include({ name: 'balances_bsc', ok: false });
    expect(check?.detail).to.equal(`deposit ${id}: credited, and the block was replaced`);
    const stuck = await gateway(['deposit', 'stuck', '--json'], env);
    expect(stuck.stdout).to.match(new RegExp(`"deposit_id":"${id}"[^}]*finality broke`));
  });
});

/** Where balances are told of this moment alone, what the watcher has not read yet is not compared. */
describe('command line: reconcile on a chain that keeps no old balances', function () {
  this.timeout(90_000);
  let live: TronWatcher;
  let env: Env;

  before(async () => {
    live = await startTronWatcher();
    env = {
      ...(tronEnv(live.node, live.endpoint.url) as Env),
      DATABASE_URL: live.deps.orm.config.get('clientUrl') ?? '',
      DATA_DIR: await tempDir('reconcile-tron'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
  });
  after(() => live?.stop());

  const run = (): Promise<Ran> => gateway(['reconcile', '--network', 'tron'], env);
  const watcherReads = (since: string) =>
    live.rows(`update chain_cursors set polled_at = now() + ?::interval returning network`, [since]);
  const balancesAsked = (): number =>
    live.endpoint.requests.filter(({ path }) => path === 'walletsolidity/getaccount').length;

  it('compares when a watcher that is alive has read up to what is final', async () => {
    const to = await live.newAddress();
    await live.finish();
    await live.node.pay({ to, currency: 'USDT', units: 5n });
    await live.node.mine(5);
    await watcherReads('1 hour');
    const running = run();
    await eventually('the first balances', () => balancesAsked() > 0, 60_000);
    await live.catchUp();
    expect(await running).to.include({ code: 0, stdout: 'Every balance agrees with the ledger.\n' });
  });

  it('is refused at once where nobody reads the chain, and says what to do', async () => {
    await live.node.mine(2);
    await watcherReads('-1 minute');
    const asked = balancesAsked();
    const ran = await run();
    expect([ran.code, balancesAsked()]).to.deep.equal([1, asked]);
    expect(ran.stderr).to.match(/no worker reads its blocks now.*\n*.*Start a worker, and run this again/);
  });
});
