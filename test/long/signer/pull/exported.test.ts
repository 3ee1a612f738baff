import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../../dev/support/live-money.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { DESTINATIONS } from '../../../signer/pull/asking.ts';
import { searchFor } from '../../../signer/pull/secrets.ts';
import { PASSPHRASE, startLiveSigner } from '../../../support/live-signer.ts';

const COIN_UNITS = 5n * 10n ** 17n;
const BLOCK_EVERY_MS = 500;

/** All bytes and texts that a history holds: what payloads carry is written out, and not as base64. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${textOf(member)}`)
    .join('\n');
}

describe('an export of everything that Temporal knows of payouts', function () {
  this.timeout(240_000);
  let live: LiveMoney;
  let signer: Awaited<ReturnType<typeof startLiveSigner>> | undefined;
  let clock: NodeJS.Timeout | undefined;
  before(async () => {
    live = await startLiveMoney();
    clock = setInterval(() => void live.chain.mine().catch(() => undefined), BLOCK_EVERY_MS);
  });
  after(async () => {
    clearInterval(clock);
    await signer?.stop();
    await live?.stop();
  });

  it('holds no seed, no key and no passphrase, while the signer waits, is sealed and has signed', async () => {
    const { deps, gateway } = live.gateway;
    await updateMerchant(deps, { merchantId: live.merchantId, withdraw: { bsc: DESTINATIONS.bsc[0] } });
    const { address } = await live.newCustomer();
    const hash = await live.chain.send({ to: address, valueUnits: COIN_UNITS });
    await live.eventOf('deposit.completed', hash);
    signer = await startLiveSigner(live, { passphrase: 'another one, which is wrong' });
    const { orm } = deps;
    const waits = async (): Promise<string> =>
      JSON.stringify(await orm.em.fork().execute('select code, reason from settlement_waits'));
    await eventually('the sealed signer being told', async () => (await waits()).includes('sealed'), 60_000);
    signer.setPassphrase(PASSPHRASE);
    await live.eventOf('deposit.settled', hash, 120_000);

    const namesIn = searchFor(PASSPHRASE);
    const { client } = gateway.link ?? expect.fail('no client');
    const types = new Set<string>();
    for await (const { workflowId, runId, type, ...rest } of client.workflow.list()) {
      types.add(type);
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const told = `${textOf(history)}\n${textOf(rest.memo ?? {})}\n${textOf(rest.searchAttributes)}`;
      expect(namesIn(told), workflowId).to.deep.equal([]);
      // It would be found: what payloads hold is in the text.
      if (type === 'settlement') expect(told).to.include(address.slice(2));
    }
    expect([...types]).to.include.members(['settlement', 'deposit', 'watchChain']);
    expect(namesIn(readFileSync(signer.journalFile, 'latin1'))).to.deep.equal([]);
    expect(namesIn(await waits())).to.deep.equal([]);
  });
});
