import { expect } from 'chai';
import { chainOf } from '../../../../src/chains/index.ts';
import { openTron } from '../../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../../src/config/index.ts';

/** What is said at the start, and what doctor finds, where a day allows so many requests. */
async function said(perDay: number) {
  const { tron } = loadConfig({
    TRON_API_URLS: 'http://127.0.0.1:1',
    TRON_REQUESTS_PER_DAY: String(perDay),
  }).chains;
  const log: string[] = [];
  const opened = openTron(tron, { onEndpoint: () => undefined, onRead: (message) => void log.push(message) });
  const findings = await opened.describe({ chain: chainOf('tron'), mustMove: false });
  return { log, finding: findings.find(({ name }) => name === 'requests_tron') };
}

describe('the requests that a day allows on Tron', () => {
  it('are nothing to speak of where every block can be read twice', async () => {
    const { log, finding } = await said(92_000);
    expect(log).to.deep.equal([]);
    expect(finding).to.include({
      ok: true,
      detail: 'at most 15 a second and 92,000 a day: every block is read twice',
    });
  });

  it('are told, by the log as by doctor, with what is given up where that takes more', async () => {
    const { log, finding } = await said(91_999);
    const givenUp = 'a deposit that an endpoint hides in its first answer is found by the comparison';
    expect(log).to.have.length(1);
    for (const text of [log[0], finding?.detail])
      expect(text).to.include('only blocks that touch your addresses are read twice').and.include(givenUp);
    expect(finding).to.include({ ok: true });
  });

  it('are a fault where they may not last for following, with what to change', async () => {
    expect((await said(75_000)).finding).to.include({ ok: true });
    const { log, finding } = await said(74_999);
    expect(log[0]).to.match(
      /^tron: TRON_REQUESTS_PER_DAY is 74999: .* may stand still until midnight \(UTC\); only blocks/,
    );
    expect(finding).to.include({ ok: false });
    expect(JSON.stringify(finding)).to.include('Raise TRON_REQUESTS_PER_DAY');
  });
});
