import { expect } from 'chai';
import { migratedDatabase } from '../../dev/support/parts.ts';
import { startTestApi } from '../support/gateway.ts';
import { openPage } from '../support/http/browser.ts';
import { openDashboard } from '../support/http/dashboard.ts';
import { startGate } from '../support/http/gate.ts';
import { wrongWith } from '../support/http/look.ts';
import { browserStage } from '../support/http/stage.ts';

const PAYER_PATHS = [`/pay/pl_${'A'.repeat(32)}`, `/address/ap_${'A'.repeat(32)}?lang=de`];

describe('pages that cannot give what is asked for are read by everybody', function () {
  this.timeout(120_000);
  const the = browserStage();

  it('where too many requests come', async () => {
    const busy = await startTestApi({ limits: { requestsPerSecond: 0.001, requestsBurst: 1 } });
    const { page, context } = await openPage(the.browser, busy.origin, {
      viewport: { width: 320, height: 640 },
    });
    const wrong: string[] = [];
    for (const path of PAYER_PATHS) {
      let status = 0;
      for (let tries = 0; status !== 429 && tries < 5; tries += 1)
        status = (await page.goto(busy.origin + path))?.status() ?? 0;
      expect(status, path).to.equal(429);
      wrong.push(...(await wrongWith(page, `429-${path.slice(1, 6)}`)));
    }
    await context.close();
    await busy.stop();
    expect(wrong).to.deep.equal([]);
  });

  it('while the database is away', async () => {
    const database = await migratedDatabase();
    const gate = await startGate();
    const url = new URL(database.url);
    gate.target(database.url);
    url.host = new URL(gate.url).host;
    const away = await startTestApi({ databaseUrl: url.href, poolSize: 4 });
    const { page, context } = await openDashboard(the.browser, away);
    await gate.close();
    const wrong: string[] = [];
    for (const [turn, path] of [...PAYER_PATHS, '/dashboard'].entries()) {
      await page.emulateMedia({ colorScheme: turn % 2 === 0 ? 'dark' : 'light' });
      expect((await page.goto(away.origin + path))?.status(), path).to.equal(503);
      wrong.push(...(await wrongWith(page, `503-${path.slice(1, 6)}`)));
    }
    await context.close();
    await gate.open();
    await away.stop();
    await gate.close();
    await database.drop();
    expect(wrong).to.deep.equal([]);
  });
});
