import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runCommand, startGatewayProcess } from '../../dev/demo/gateway-process.ts';
import { createScreen } from '../../dev/demo/screen.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import type { Mode } from '../../src/domain/assets.ts';

const CUSTOMERS = 6;

type Json = Record<string, unknown>;

/** One way of proving who calls, for one mode, and ids that exist for it. */
export type Credential = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly known: Known;
};

/** Values that exist for one merchant and mode, by the name of the member or parameter that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

export type Stage = {
  /** Where the description is. */
  readonly schemaUrl: string;
  readonly credentials: readonly Credential[];
  stop(): Promise<void>;
};

/**
 * A whole gateway as a process of its own, with one merchant,
 * a user, and something of every resource in both modes.
 */
export async function setStage(folder: string, beganMs: number): Promise<Stage> {
  const receiver = await startReceiver({ behaviour: 200 });
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    OPS_PORT: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '1000000',
    RATE_LIMIT_BAD_CREDENTIALS: '100000',
    RATE_LIMIT_TESTS_PER_SECOND: '100000',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
  };
  for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'BSC_RPC_URLS', 'TRON_API_URLS', 'PUBLIC_URL'])
    delete (env as Json)[name];
  const logFile = join(folder, 'gateway.log');
  const gateway = await startGatewayProcess({ env, dataDir: folder, logFile, screen: createScreen(beganMs) });
  const { api } = gateway.ready;
  const origin = new URL(api).origin;
  const merchant = await runCommand(['merchant', 'create', '--name', 'Fuzz'], env);
  const keys = merchant['keys'] as Record<Mode, string>;
  const cookie = await signIn(origin, String(merchant['merchant_id']), env);
  const credentials: Credential[] = [];
  for (const mode of ['live', 'test'] as const) {
    const byKey = { Authorization: `Bearer ${keys[mode]}` };
    const known = await seed(api, byKey, receiver.url, mode);
    credentials.push({ name: `key, ${mode}`, headers: byKey, known });
    const bySession = { Cookie: cookie, ...(mode === 'test' ? { 'X-Mode': 'test' } : {}) };
    credentials.push({ name: `session, ${mode}`, headers: bySession, known });
  }
  const stop = async () => {
    await gateway.child.stop();
    await receiver.stop();
  };
  return { schemaUrl: `${origin}/openapi.json`, credentials, stop };
}

/** Makes a user and returns the `Cookie` header of their session. */
async function signIn(origin: string, merchantId: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [email, password] = ['fuzz@example.com', randomBytes(12).toString('hex')];
  await runCommand(['user', 'create', '--merchant', merchantId, '--email', email], env, `${password}\n`);
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ email, password });
  const response = await fetch(`${origin}/login`, { method: 'POST', headers, body });
  const cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0];
  if (!response.ok || !cookie)
    throw new Error(`the user cannot sign in: ${response.status} ${await response.text()}`);
  return cookie;
}

/** Something of each resource. Live deposits would need a chain. */
async function seed(
  api: string,
  headers: Credential['headers'],
  receiverUrl: string,
  mode: Mode,
): Promise<Known> {
  const call = async (method: string, path: string, body?: Json): Promise<Json> => {
    const response = await fetch(api + path, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as Json;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const known: Record<string, string[]> = { url: [receiverUrl], webhook_url: [receiverUrl] };
  const learn = (name: string, ...values: unknown[]) => {
    known[name] = [...(known[name] ?? []), ...values.map(String)];
  };
  const endpoint = await call('POST', '/webhook-endpoints', { url: receiverUrl, events: '*' });
  const event = await call('POST', `/webhook-endpoints/${endpoint['id']}/test`);
  learn('/webhook-endpoints', endpoint['id']);
  learn('/events', event['id']);
  learn('/webhook-deliveries', ...(event['deliveries'] as Json[]).map(({ id }) => id));
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const names = { external_id: `user-${index}`, email: `user-${index}@example.com` };
    const customer = await call('POST', '/customers', { ...names, name: 'Known', metadata: { index } });
    learn('/customers', customer['id']);
    for (const name of ['external_id', 'email'] as const) learn(name, customer[name]);
    learn('address', ...(customer['addresses'] as Json[]).map(({ address }) => address));
    const payer = { customer_id: customer['id'] };
    const asked = { ...payer, amount_usd: 20 + index, webhook_url: receiverUrl };
    const link = await call('POST', '/request-payment', asked);
    learn('/payment-links', link['id']);
    learn('/payments', link['token']);
    if (mode === 'live') continue;
    const outcome = index % 2 === 0 ? 'completed' : 'confirming';
    const paid = { ...payer, amount: String(20 + index), outcome };
    const deposit = await call('POST', '/test/simulate-deposit', paid);
    learn('/deposits', deposit['id']);
    learn('transaction_hash', deposit['transaction_hash']);
  }
  return { ...known, customer_id: known['/customers'] ?? [], payment_token: known['/payments'] ?? [] };
}
