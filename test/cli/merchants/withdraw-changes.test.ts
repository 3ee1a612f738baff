import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../dev/support/parts.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { A, B, type ChangeStage, startChangeStage } from '../../services/merchants/change-stage.ts';
import { answer, type Env, gateway } from '../support.ts';

describe('what an operator does about a withdraw address that a user changed', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let stage: ChangeStage;
  let env: Env;
  before(async () => {
    database = await migratedDatabase();
    const key = randomBytes(32);
    stage = await startChangeStage({ databaseUrl: database.url, deps: { secretBox: createSecretBox(key) } });
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: await tempDir('changes'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SECRETS_KEY: key.toString('hex'),
    };
    await stage.set(A);
  });
  after(async () => {
    await stage?.stop();
    await database?.drop();
  });

  it('is to see it beside what counts, to hear of one that is late, and to take it back', async () => {
    stage.clock.now = new Date();
    const { id } = await stage.ask(B);
    const { found } = await answer<{ found: Record<string, unknown>[] }>(['find', stage.merchantId], env);
    const [shown] = found;
    expect(shown?.['view']).to.deep.include({ id: stage.merchantId, withdraw_bsc: A });
    const [change, ...others] = (shown?.['withdraw_changes'] ?? []) as Record<string, unknown>[];
    const text = await gateway(['find', stage.merchantId], env);
    expect(text.stdout.replaceAll(/\s+/g, ' ')).to.include(`payouts go to ${B}, as ann@shop.example asked`);
    expect(others).to.deep.equal([]);
    const asked = { asked_by: 'ann@shop.example', asked_from: '203.0.113.7' };
    expect(change).to.include({ id, network: 'bsc', address: B, present: A, outcome: null, ...asked });
    expect(await answer(['merchant', 'changes'], env)).to.deep.equal({ withdraw_changes: [change] });
    const doctor = await gateway(['doctor'], env);
    expect(doctor.stdout).to.match(/1 changed withdraw address waits, the next one until/);
    expect((await gateway(['deposit', 'stuck'], env)).stdout).to.not.include(id);

    const cancel = ['merchant', 'changes', '--cancel'];
    const took = await gateway([...cancel, id, '--by', 'Olga', '--reason', 'not theirs'], env);
    expect([took.code, took.stdout]).to.deep.equal([
      0,
      `The change is cancelled. Payouts still go to ${A} on bsc.\n`,
    ]);
    expect(await answer(['merchant', 'changes'], env)).to.deep.equal({ withdraw_changes: [] });
    const said = await stage.sql('select by_name, reason from operator_actions where reason is not null');
    expect(said).to.deep.equal([{ by_name: 'Olga', reason: 'not theirs' }]);

    stage.clock.now = new Date(Date.now() - 25 * 3_600_000);
    const late = await stage.ask(B);
    expect((await gateway(['deposit', 'stuck'], env)).stdout).to.match(
      new RegExp(
        `changed withdraw address\\s+${late.id}[\\s\\S]*is due[\\s\\S]*loop\\s+"withdraw\\s+changes"`,
      ),
    );
    expect((await gateway(['doctor'], env)).stdout).to.match(
      new RegExp(`changed\\s+withdraw\\s+address\\s+${late.id}`),
    );
    await gateway(['merchant', 'set', stage.merchantId, '--withdraw-bsc', A], env);
    expect((await stage.outcomes()).map(({ outcome }) => outcome)).to.deep.equal(['cancelled', 'replaced']);
    const over = await gateway([...cancel, late.id], env);
    expect([over.code, over.stdout]).to.deep.equal([1, '']);
    expect(over.stderr.replaceAll(/\s+/g, ' ')).to.match(
      /ended already \(replaced\).*"merchant set .*changes it/,
    );
  });
});
