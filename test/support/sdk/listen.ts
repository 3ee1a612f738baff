import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../../../dev/support/eventually.ts';
import { LocalShop } from '../../cli/webhooks/local-shop.ts';
import { call, type TestApi } from '../gateway.ts';

/**
 * Has the package of a project forward the event of a new customer to a shop of this machine, run by this
 * Node. Returns the events that came there, and how the program ended when it was told to.
 */
export async function forwardsTo(node: string, project: string, api: TestApi) {
  const { keys } = await api.newMerchant();
  const local = new LocalShop();
  await local.open();
  local.secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  const file = join(project, 'node_modules/@deposit-gateway/sdk/dist/listen.mjs');
  const words = ['listen', '--api', api.origin, '--forward-to', local.url];
  const env = { ...process.env, GATEWAY_KEY: keys.test, WEBHOOK_SECRET: local.secret };
  const program = spawn(node, [file, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(program, 'exit');
  try {
    await once(program.stdout, 'data');
    await call(`${api.url}/customers`, { key: keys.test, body: { external_id: 'here' } });
    await eventually('the webhook', () => local.got.length === 1);
  } finally {
    program.kill('SIGINT');
    await ended;
    await local.close();
  }
  return { events: local.got.map(({ event }) => event), ended: await ended };
}
