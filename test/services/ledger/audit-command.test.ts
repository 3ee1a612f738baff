import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { answer, gateway, oneObject } from '../../cli/support.ts';
import { writeByHand } from './by-hand.ts';
import { everyState, rowAt } from './every-state.ts';
import { startWorld, type World } from './support.ts';

describe('the books, from the command line', function () {
  this.timeout(60_000);
  let world: World;
  let addresses: ReadonlyMap<string, string>;

  before(async () => {
    world = await startWorld();
    addresses = await everyState(world);
  });
  after(() => world?.stop());

  it('are checked by the command line, which ends with 1 and the next action where they differ', async () => {
    const env = {
      DATABASE_URL: world.databaseUrl,
      DATA_DIR: await tempDir('books'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    const books = ['reconcile', '--books'];
    expect(await answer(books, env)).to.deep.include({
      ok: true,
      total: 0,
      differences: [],
      deposits: addresses.size + 7,
    });
    const { id, merchant_id: merchantId } = await rowAt(world, addresses.get('completed'));
    await writeByHand(world, `update deposits set amount_units = 3000000000000000000 where id = '${id}'`);
    const told = await gateway([...books, '--json'], env);
    expect(told.code).to.equal(1);
    const { differences: found } = oneObject<{ differences: Record<string, unknown>[] }>(told.stdout);
    expect(found).to.have.length(1);
    expect(found[0]).to.include({
      check: 'deposit',
      deposit_id: id,
      merchant_id: merchantId,
      state: 'completed',
      account: 'available',
    });
    expect(found[0]).to.include({
      expected: '3',
      expected_raw: '3000000000000000000',
      found: '0.00000000000000004',
      found_raw: '40',
    });
    const shown = await gateway(books, env);
    expect(shown.stdout).to.match(
      /^CHECK +ID +NETWORK +STATE +ACCOUNT +EXPECTED\ndeposit +[0-9a-f-]{36} +bsc live +completed +available +3 USDT/,
    );
    expect(shown.stderr).to.match(
      /1 entry of the books differs\. .* "gateway deposit show", and go on as docs\/operations\.md says\.\n$/,
    );
    const wrong = await gateway([...books, '--network', 'bsc'], env);
    expect([wrong.code, wrong.stdout]).to.deep.equal([2, '']);
  });
});
