import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { closedPort } from '../../dev/support/receiver.ts';
import { signTestEvent } from '../../packages/sdk/src/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const STARTS_WITHIN_MS = 15_000;
const MINUTE_MS = 60_000;

/** Set it to the entry file of an installed Express to run the example over the real one. */
const EXPRESS = pathToFileURL(
  process.env['TEST_EXPRESS'] ?? join(import.meta.dirname, '../support/http/express-stand-in.mjs'),
).href;
const EXPRESS_HOOK = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => (name === 'express' ? { url: '${EXPRESS}', shortCircuit: true } : next(name, context)) });`;

type Example = {
  readonly name: string;
  readonly command: string;
  /** Debian's package with the command. */
  readonly package?: string;
  /** What its reader copies, by the paths from the root of the repository. */
  readonly files: readonly string[];
  readonly args: (port: number) => readonly string[];
};

const RECEIVERS: readonly Example[] = [
  {
    name: 'Koa',
    command: process.execPath,
    files: ['examples/koa.mjs', 'examples/credit.mjs'],
    args: () => ['koa.mjs'],
  },
  {
    name: 'Express',
    command: process.execPath,
    files: ['examples/express.mjs', 'examples/credit.mjs'],
    args: () => ['--import', `data:text/javascript,${encodeURIComponent(EXPRESS_HOOK)}`, 'express.mjs'],
  },
  {
    name: 'Python',
    command: 'python3',
    package: 'python3',
    files: ['examples/receiver.py', 'packages/sdk/python/gateway_webhook.py'],
    args: () => ['receiver.py'],
  },
  {
    name: 'PHP',
    command: 'php',
    package: 'php-cli',
    files: ['examples/receiver.php', 'packages/sdk/php/GatewayWebhook.php'],
    args: (port) => ['-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
];

const EVENT = {
  event: 'deposit.completed',
  data: {
    id: '4842a81f-303e-8696-ab67-15527a19014e',
    customer_id: '63ea4dc0-a6ca-4f3b-9cf2-a4c538254f29',
    amount: '12.5',
    currency: 'USDT',
    note: 'Größe 🙂 </script> \u2028',
  },
};

type Signed = { readonly rawBody: string; readonly headers: Record<string, string> };

/** A folder with what the reader of an example copies, and with what they install. */
async function copied({ files }: Example): Promise<string> {
  const folder = await tempDir('example');
  for (const file of files) await copyFile(join(ROOT, file), join(folder, basename(file)));
  await mkdir(join(folder, 'node_modules/@deposit-gateway'), { recursive: true });
  for (const name of ['koa', '@deposit-gateway/sdk'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  return folder;
}

for (const example of RECEIVERS) {
  describe(`the example for ${example.name}`, function () {
    this.timeout(30_000);
    let child: ChildProcess;
    let port: number;
    let folder: string;
    let output = '';

    before(async () => {
      if (spawnSync(example.command, ['--version']).error)
        throw new Error(
          `${example.command} is not on this machine. Install it: apt-get install -y ${example.package}`,
        );
      port = await closedPort();
      folder = await copied(example);
      const env = {
        ...process.env,
        WEBHOOK_SECRET: SECRET,
        PORT: String(port),
        CREDITED_DIR: join(folder, 'ids'),
      };
      child = spawn(example.command, example.args(port), {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
      const until = Date.now() + STARTS_WITHIN_MS;
      while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) {
        if (child.exitCode !== null || Date.now() > until)
          throw new Error(`the receiver did not start:\n${output}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    after(async () => {
      if (!child || child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    });

    const send = async ({ rawBody, headers }: Signed): Promise<{ status: number; text: string }> => {
      const response = await fetch(`http://127.0.0.1:${port}/webhooks`, {
        method: 'POST',
        body: rawBody,
        headers,
      });
      return { status: response.status, text: await response.text() };
    };
    const signed = (
      options: { secret?: string; event?: string; id?: string; atMs?: number } = {},
    ): Signed => {
      const data = { ...EVENT.data, ...(options.id === undefined ? {} : { id: options.id }) };
      const now = (): number => Date.now() + (options.atMs ?? 0);
      return signTestEvent({
        secret: options.secret ?? SECRET,
        event: options.event ?? EVENT.event,
        data,
        now,
      });
    };
    const without = ({ rawBody, headers }: Signed, ...names: string[]): Signed => ({
      rawBody,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
    });
    const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const OWN = ['x-webhook-signature', 'x-webhook-timestamp'];

    it('credits a deposit once, however often and however fast its event comes', async () => {
      expect(await send(signed())).to.deep.equal({ status: 200, text: 'credited' });
      expect(await send(signed())).to.deep.equal({ status: 200, text: 'credited before' });
      const id = '11111111-2222-4333-8444-555555555555';
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(signed({ id }))));
      expect(answers.map(({ text }) => text).sort()).to.deep.equal(
        ['credited', ...Array(9).fill('credited before')].sort(),
      );
    });

    it('takes other events and credits nothing for them', async () => {
      for (const event of ['deposit.detected', 'deposit.failed', 'customer.created', 'webhook.test'])
        expect(await send(signed({ event, id: '22222222-2222-4333-8444-555555555555' }))).to.deep.equal({
          status: 200,
          text: 'ignored',
        });
    });

    it('needs one of the two signatures', async () => {
      expect((await send(without(signed(), ...STANDARD))).status).to.equal(200);
      expect((await send(without(signed(), ...OWN))).status).to.equal(200);
      expect((await send(without(signed(), ...OWN, ...STANDARD))).status).to.equal(400);
    });

    const good = signTestEvent({ secret: SECRET, ...EVENT });
    const bad: Record<string, () => Signed> = {
      'another body': () => ({ ...signed(), rawBody: good.rawBody.replace('12.5', '9999.5') }),
      'another secret': () => signed({ secret: OTHER_SECRET }),
      'a time more than five minutes ago': () => signed({ atMs: -6 * MINUTE_MS }),
      'a new time with the old signature': () => {
        const old = signed({ atMs: -6 * MINUTE_MS });
        const { headers } = signed();
        const times = {
          'x-webhook-timestamp': headers['x-webhook-timestamp'] ?? '',
          'webhook-timestamp': headers['webhook-timestamp'] ?? '',
        };
        return { rawBody: old.rawBody, headers: { ...old.headers, ...times } };
      },
      'a signature that is no hex and times that are none': () => ({
        rawBody: good.rawBody,
        headers: {
          'x-webhook-signature': 'é'.repeat(64),
          'x-webhook-timestamp': 'now',
          'webhook-timestamp': '²',
          'webhook-signature': 'v1',
        },
      }),
      'a request without any header': () => ({ rawBody: good.rawBody, headers: {} }),
    };
    it('answers 400 to what is forged, old, or no signature at all', async () => {
      for (const [name, make] of Object.entries(bad)) expect((await send(make())).status, name).to.equal(400);
    });

    if (example.command !== 'php')
      it('is still there afterwards, and shows no secret', async () => {
        expect((await send(signed())).text).to.equal('credited before');
        expect(output).not.to.contain(SECRET);
      });
  });
}
