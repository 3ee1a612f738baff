/** What a shop's first program needs to know of the gateway. */
export type ShopInput = { readonly url: string; readonly key: string; readonly name: string };

/**
 * The first program of a shop, as text for any runtime: a customer, an endpoint, an error, a test event
 * that verifies and a changed one that does not. `sync`: also by the functions that need Node's crypto.
 */
export function shopProgram(input: ShopInput, { sync }: { readonly sync: boolean }): string {
  return `async function exercise(sdk) {
  const { url, key, name } = ${JSON.stringify(input)};
  const ending = new AbortController();
  const call = { signal: ending.signal };
  const client = sdk.createClient({ baseUrl: url, apiKey: key, timeoutMs: 20_000 });
  const customer = await client.customers.create({ external_id: name }, call);
  const found = [];
  for await (const row of client.customers.all({ external_id: name })) found.push(row.id);
  const failed = await client.customers.get('no-id').catch((error) => error);
  const refused = await sdk.createClient({ baseUrl: url, apiKey: key + 'x' }).balance.get().catch((error) => error);
  ending.abort(new Error('the shop gave up'));
  const ended = await client.balance.get(call).catch((error) => error.message);
  const { secret } = await client.endpoints.create({ url: 'http://127.0.0.1:9/', events: '*' });
  const event = { secret, event: 'deposit.completed', data: { id: name, note: 'Größe 🙂' } };
  const signed = await sdk.signTestEventAsync(event);
  const verified = await sdk.verifyWebhookAsync({ ...signed, secret });
  const changed = { ...signed, secret, rawBody: signed.rawBody.replace(name, 'other') };
  const mismatch = await sdk.verifyWebhookAsync(changed).catch((error) => error);
  ${sync ? 'if (sdk.verifyWebhook({ ...sdk.signTestEvent(event), secret }).data.id !== name) throw new Error("sync");' : ''}
  return JSON.stringify({
    found: found.length === 1 && found[0] === customer.id,
    failed: failed instanceof sdk.GatewayError && failed.status,
    refused: refused.code,
    ended,
    verified: verified.data.id === name,
    mismatch: mismatch instanceof sdk.WebhookVerificationError && mismatch.code,
  });
}
`;
}

/** What the program prints where everything works. */
export const SHOP_ANSWER = {
  found: true,
  failed: 404,
  refused: 'UNAUTHORIZED',
  ended: 'the shop gave up',
  verified: true,
  mismatch: 'SIGNATURE_MISMATCH',
};

/** The same with every type said, and what the contract has no word for refused by the compiler. */
export function typedShopProgram({ url, key, name }: ShopInput): string {
  return `import {
  type ClientOptions, createClient, type Customer, type Deposit, type GatewayClient, GatewayError, type Page,
  signTestEvent, verifyWebhook, verifyWebhookAsync, type WebhookEvent, WebhookVerificationError,
} from '@deposit-gateway/sdk';

async function main(): Promise<void> {
  const options: ClientOptions = { baseUrl: ${JSON.stringify(url)}, apiKey: ${JSON.stringify(key)} };
  const client: GatewayClient = createClient(options);
  const customer: Customer = await client.customers.create({ external_id: ${JSON.stringify(name)} });
  const page: Page<Deposit> = await client.deposits.list({ customer_id: customer.id, status: 'completed' });
  // @ts-expect-error: no deposit is ever called that
  const wrong = () => client.deposits.list({ status: 'lost' });
  // @ts-expect-error: an amount of coins is a text
  const number = (deposit: Deposit): number => deposit.amount;
  const failed: unknown = await client.customers.get('no-id').catch((error: unknown) => error);
  const status: number | false = failed instanceof GatewayError && failed.status;
  const { secret } = await client.endpoints.create({ url: 'http://127.0.0.1:9/', events: ['deposit.completed'] });
  const signed = signTestEvent({ secret, event: 'deposit.completed', data: { id: customer.id } });
  const event: WebhookEvent<Deposit> = verifyWebhook<Deposit>({ ...signed, secret });
  const again = await verifyWebhookAsync<Deposit>({ rawBody: signed.rawBody, headers: new Headers(signed.headers), secret });
  let code = '';
  try {
    verifyWebhook({ ...signed, rawBody: new Uint8Array(3), secret });
  } catch (error) {
    if (error instanceof WebhookVerificationError) code = error.code;
  }
  console.log(JSON.stringify({
    rows: page.data.length, status, same: event.data.id === customer.id && again.data.id === customer.id, code,
    unused: typeof wrong + typeof number,
  }));
}

main().catch((error: unknown) => {
  console.error(error);
  throw error;
});
`;
}

/** What the typed program prints. */
export const TYPED_ANSWER = {
  rows: 0,
  status: 404,
  same: true,
  code: 'SIGNATURE_MISMATCH',
  unused: 'functionfunction',
};

/** The options of a compiler that lets nothing pass. */
export const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: false,
  skipLibCheck: false,
  target: 'es2022',
  types: [],
  outDir: 'out',
};
