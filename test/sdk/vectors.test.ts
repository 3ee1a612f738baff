import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import * as node from '../../packages/sdk/src/index.ts';
import * as web from '../../packages/sdk/src/web.ts';
import { buildHeaders } from '../../src/services/webhooks/http/signature.ts';
import { webhookVectors } from '../support/sdk/vectors.ts';

const PACKAGE = join(import.meta.dirname, '../../packages/sdk');
const VECTORS = webhookVectors();
const EXPECTED = VECTORS.map(({ name, expected }) => ({ name, expected }));
const DATA = { id: 'd1', amount: '12.5', note: 'Größe 🙂 </script>' };

/** What other languages are told of a vector: texts with characters that no header can have, too. */
const TOLD = VECTORS.map(({ bytes, headers, secret, now, toleranceSeconds }) => ({
  body: bytes.toString('base64'),
  headers,
  secret,
  now: Date.parse(now) / 1000,
  toleranceSeconds: toleranceSeconds ?? 300,
}));

const PYTHON = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from gateway_webhook import WebhookVerificationError, sign_test_event, verify_webhook
def outcome(v):
    try:
        verify_webhook(base64.b64decode(v["body"]), v["headers"], v["secret"], v["toleranceSeconds"], v["now"])
        return "accepted"
    except WebhookVerificationError as error:
        return error.code
told = json.load(sys.stdin)
raw_body, headers = sign_test_event(told["secret"], "deposit.completed", told["data"], now=told["now"])
print(json.dumps([[outcome(v) for v in told["vectors"]], raw_body.decode(), headers]))
`;
const PHP = `
require $argv[1] . '/GatewayWebhook.php';
$told = json_decode(stream_get_contents(STDIN), true);
$outcomes = array_map(function ($v) {
  try {
    GatewayWebhook::verify(base64_decode($v['body']), $v['headers'], $v['secret'], $v['toleranceSeconds'], $v['now']);
    return 'accepted';
  } catch (WebhookVerificationError $error) {
    return $error->reason;
  }
}, $told['vectors']);
$signed = GatewayWebhook::signTestEvent($told['secret'], 'deposit.completed', $told['data'], now: $told['now']);
echo json_encode([$outcomes, $signed['rawBody'], $signed['headers']], JSON_THROW_ON_ERROR);
`;

describe('what every verifier says of the same webhooks', function () {
  this.timeout(30_000);

  it('is in the vectors as the gateway signs', () => {
    const [both] = VECTORS;
    const rotation = VECTORS.find(({ name }) => name === 'in a rotation, the old secret');
    if (!both || !rotation) throw new Error('the vectors have other names');
    const sent = (secrets: string[]) =>
      buildHeaders({
        eventId: both.headers['X-Webhook-Id'] ?? '',
        event: 'deposit.completed',
        attempt: 1,
        sentAt: new Date(both.now),
        body: both.bytes,
        secrets,
      });
    expect(sent([both.secret])).to.include(both.headers);
    expect(sent([both.secret, rotation.secret])).to.include(rotation.headers);
    expect(new Set(EXPECTED.map(({ expected }) => expected)).size).to.equal(7);
  });

  it('is said by Node’s', () => {
    expect(
      VECTORS.map((vector) => ({ name: vector.name, expected: outcome(vector, node.verifyWebhook) })),
    ).to.deep.equal(EXPECTED);
  });

  it('is said by that of Web Crypto, and by Node’s when it is awaited', async () => {
    for (const { verifyWebhookAsync } of [web, node]) {
      const said = VECTORS.map(async ({ name, bytes, now, ...vector }) => {
        const input = { ...vector, rawBody: new Uint8Array(bytes), now: () => Date.parse(now) };
        const expected = await verifyWebhookAsync(input).then(() => 'accepted', codeOf);
        return { name, expected };
      });
      expect(await Promise.all(said)).to.deep.equal(EXPECTED);
    }
  });

  const others = [
    { name: 'Python’s', command: 'python3', args: ['-c', PYTHON, join(PACKAGE, 'python')] },
    { name: 'PHP’s', command: 'php', args: ['-r', PHP, join(PACKAGE, 'php')] },
  ];
  for (const { name, command, args } of others)
    it(`is said by ${name}, whose test event is signed like one of the gateway`, () => {
      const secret = VECTORS[0]?.secret ?? '';
      const now = Date.parse('2026-11-20T09:30:00Z') / 1000;
      const told = JSON.stringify({ vectors: TOLD, secret, data: DATA, now });
      const { stdout, stderr, error } = spawnSync(command, args, { input: told, encoding: 'utf8' });
      if (error) throw new Error(`${command} is not on this machine: ${error.message}`);
      expect(stderr).to.equal('');
      const [outcomes, rawBody, headers] = JSON.parse(stdout);
      expect(
        outcomes.map((expected: string, at: number) => ({ name: EXPECTED[at]?.name, expected })),
      ).to.deep.equal(EXPECTED);
      const ours = node.signTestEvent({
        secret,
        event: 'deposit.completed',
        data: DATA,
        now: () => now * 1000,
      });
      expect(rawBody).to.equal(ours.rawBody);
      const lower = Object.entries<string>(headers).map(([key, value]) => [key.toLowerCase(), value]);
      expect(Object.fromEntries(lower)).to.deep.equal(ours.headers);
    });

  it('is the same under each name in both builds of the package', async () => {
    expect(Object.keys(web).sort()).to.deep.equal(Object.keys(node).sort());
    const input = { secret: VECTORS[0]?.secret ?? '', event: 'webhook.test', data: DATA, now: () => 0 };
    expect(await web.signTestEventAsync(input)).to.deep.equal(node.signTestEvent(input));
    expect(await node.signTestEventAsync(input)).to.deep.equal(node.signTestEvent(input));
    expect(() => web.signTestEvent(input)).to.throw(TypeError, 'signTestEventAsync');
    expect(() => web.verifyWebhook({ rawBody: '', headers: {}, secret: '' })).to.throw(
      TypeError,
      'verifyWebhookAsync',
    );
  });
});

type Vector = (typeof VECTORS)[number];

function outcome({ bytes, now, ...vector }: Vector, verify: typeof node.verifyWebhook): string {
  try {
    verify({ ...vector, rawBody: bytes, now: () => Date.parse(now) });
    return 'accepted';
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  if (error instanceof node.WebhookVerificationError) return error.code;
  throw error;
}
