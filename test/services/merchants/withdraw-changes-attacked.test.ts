import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { sealDirection } from '../../../src/domain/payouts/direction.ts';
import { countOldSeals, resealDirections } from '../../../src/services/secrets/directions.ts';
import { A, B, C, type ChangeStage, HOUR_S, startChangeStage } from './change-stage.ts';

describe('a changed withdraw address in the hands of whoever writes to the database', function () {
  this.timeout(60_000);
  const key = randomBytes(32);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage({ deps: { secretBox: createSecretBox(key) } });
  });
  beforeEach(async () => {
    await stage.renew();
    await stage.set(A);
  });
  after(() => stage?.stop());

  const said = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'was done',
      (error: Error) => error.message,
    );

  it('counts for no other address, merchant, network or time than was asked for', async () => {
    const other = await stage.newMerchant();
    const stranger = await stage.newUser(other);
    const { id } = await stage.ask(B);
    const [row] = await stage.sql('select * from withdraw_changes where id = ?', [id]);
    for (const [column, value] of [
      ['address', C],
      ['address', null],
      ['merchant_id', other],
      ['network', 'tron'],
      ['contract_allowed', true],
      ['asked_by', stranger],
      ['asked_from', '198.51.100.1'],
      ['asked_at', new Date(stage.clock.now.getTime() - 1_000)],
      ['counts_at', stage.clock.now],
      ['id', other],
    ] as const) {
      await stage.force(`update withdraw_changes set ${column} = ?`, [value]);
      if (column !== 'counts_at') stage.pass(24 * HOUR_S);
      expect(await said(stage.count()), column).to.match(
        /was changed by somebody who does not have SECRETS_KEY/,
      );
      if (column !== 'counts_at') stage.pass(-24 * HOUR_S);
      await stage.force(`update withdraw_changes set ${column} = ?`, [row?.[column]]);
    }
    expect(await stage.present()).to.equal(A);
    stage.pass(24 * HOUR_S);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, B]);
  });

  it('counts not with a seal of another row, of a destination or under another key, and others go on', async () => {
    const other = await stage.newMerchant();
    await stage.ask(B, {}, other);
    const { id } = await stage.ask(B);
    const sealOf = async (text: string, ...params: string[]) =>
      (await stage.sql<{ seal: Buffer }>(`select seal from ${text}`, params))[0]?.seal;
    const sealed = await sealOf('withdraw_changes where merchant_id = ?', other);
    const paid = await sealOf('withdraw_addresses');
    const [row] = await stage.sql<{ counts_at: string }>(
      'select counts_at from withdraw_changes where id = ?',
      [id],
    );
    const terms = {
      kind: 'asked',
      id,
      network: 'bsc',
      merchantId: stage.merchantId,
      address: B,
      contractAllowed: false,
      askedBy: stage.userId,
      askedFrom: '203.0.113.7',
      countsAt: new Date(row?.counts_at ?? ''),
    } as const;
    const at = stage.deps.now();
    const right = sealDirection(stage.deps.secretBox, terms, at);
    stage.pass(24 * HOUR_S);
    for (const seal of [
      sealed,
      paid,
      Buffer.alloc(0),
      Buffer.alloc(right.length),
      sealDirection(createSecretBox(randomBytes(32)), terms, at),
      sealDirection(stage.deps.secretBox, terms, new Date(at.getTime() + 1)),
      sealDirection(stage.deps.secretBox, { ...terms, kind: 'destination' }, at),
    ]) {
      await stage.force('update withdraw_changes set seal = ? where id = ?', [seal, id]);
      expect(await said(stage.count())).to.match(new RegExp(`${id}: it (was changed by|is sealed under)`));
    }
    expect([await stage.present(), await stage.present('bsc', other)]).to.deep.equal([A, B]);
    await stage.force('update withdraw_changes set seal = ? where id = ?', [right, id]);
    expect([await stage.count(), await stage.present()]).to.deep.equal([1, B]);
  });

  it('can be cancelled though it was written by nobody who has the key', async () => {
    const { id } = await stage.ask(B);
    await stage.force('update withdraw_changes set address = ?, counts_at = now()', [C]);
    expect((await stage.cancel(id)).outcome).to.equal('cancelled');
    expect([await stage.count(), await stage.present()]).to.deep.equal([0, A]);
  });

  it('is a row that keeps its terms, ends once, is not counted early and stays', async () => {
    const { id } = await stage.ask(B);
    for (const [text, says] of [
      ['update withdraw_changes set address = null', /keeps its terms/],
      ["update withdraw_changes set counts_at = counts_at - interval '1 s'", /keeps its terms/],
      ['update withdraw_changes set contract_allowed = true', /keeps its terms/],
      [
        "update withdraw_changes set ended_at = counts_at - interval '1 ms', outcome = 'counted'",
        /withdraw_changes_early_check/,
      ],
      ['update withdraw_changes set ended_at = now()', /withdraw_changes_ended_check/],
      ["update withdraw_changes set ended_at = now(), outcome = 'x'", /withdraw_changes_outcome_check/],
      ["update withdraw_changes set ended_at = now(), outcome = 'refused'", /withdraw_changes_reason_check/],
      ['delete from withdraw_changes', /never removed/],
      ['truncate withdraw_changes', /never changed or removed/],
    ] as const)
      expect(await said(stage.sql(text)), text).to.match(says);
    const copy = (columns: string) =>
      said(
        stage.sql(
          `insert into withdraw_changes select gen_random_uuid(), merchant_id, network, address,
            contract_allowed, asked_by, asked_from, asked_at, counts_at, seal, ${columns} from withdraw_changes`,
        ),
      );
    expect(await copy('null, null, null')).to.match(/withdraw_changes_open_unique/);
    expect(await copy("counts_at, 'counted', null")).to.match(/has not ended/);
    await stage.cancel(id);
    for (const text of [
      'update withdraw_changes set ended_at = null, outcome = null',
      "update withdraw_changes set outcome = 'replaced'",
    ])
      expect(await said(stage.sql(text)), text).to.match(/ends once/);
  });

  it('counts under the key that it was sealed with and under the next one, once that has sealed it again', async () => {
    const { id } = await stage.ask(B);
    const next = randomBytes(32);
    const between = { ...stage.deps, secretBox: createSecretBox(next, key) };
    expect(await countOldSeals(between)).to.equal(2);
    await resealDirections(between);
    expect(await countOldSeals(between)).to.equal(0);
    stage.pass(24 * HOUR_S);
    expect(await said(stage.count())).to.include(`${id}: it is sealed under another SECRETS_KEY`);
    const after = { ...stage.deps, secretBox: createSecretBox(next) };
    expect([await stage.count(undefined, after), await stage.present()]).to.deep.equal([1, B]);
    await stage.ask(C);
    stage.pass(24 * HOUR_S);
    expect([await stage.count(undefined, between), await stage.present()]).to.deep.equal([1, C]);
  });

  it('counts only where the clock of the database has come to its time as well', async () => {
    stage.clock.now = new Date();
    const { countsAt } = await stage.ask(B);
    const ahead = { ...stage.deps, now: () => new Date(countsAt.getTime() + 1_000) };
    expect([await stage.count(undefined, ahead), await stage.present()]).to.deep.equal([0, A]);
    expect((await stage.outcomes()).map(({ outcome }) => outcome)).to.deep.equal([null]);
  });
});
