import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { processOwner } from '../../support/compose/container.ts';
import { productionSteps } from '../../support/compose/file.ts';
import { ComposeMachine, type Ended } from '../../support/compose/machine.ts';
import { call } from '../../support/gateway.ts';

/** What an operator does by the README on a machine with Docker, done without it. */
class Operator {
  readonly machine: ComposeMachine;
  #cwd: string;
  #xpubs = '';
  readonly ran: string[] = [];

  constructor(machine: ComposeMachine) {
    this.machine = machine;
    this.#cwd = machine.checkout;
  }

  /** Does one line of the README; what the last command printed. */
  async type(line: string): Promise<Ended> {
    this.ran.push(line);
    if (line === 'docker compose build') return this.#done(() => this.machine.build());
    if (line === 'docker compose up -d') {
      this.#fillIn();
      return this.#done(() => this.machine.up());
    }
    const exec = /^docker compose exec (\S+) (.+)$/.exec(line);
    if (exec)
      return this.machine.inContainer(['/bin/sh', '-c', exec[2] ?? ''], this.machine.envOf(exec[1] ?? ''));
    if (line.startsWith('docker run ')) return this.#run(line);
    return this.#shell(line);
  }

  async #done(work: () => void | Promise<void>): Promise<Ended> {
    await work();
    return { code: 0, stdout: '', stderr: '' };
  }

  #shell(line: string): Ended {
    const isOurs = process.getuid?.() !== 0 && line.startsWith('sudo ');
    if (isOurs) return { code: 0, stdout: '', stderr: '' };
    const script = `${line.replace(/^sudo /, '')} && pwd >&9`;
    const { status, stdout, stderr, output } = spawnSync('bash', ['-c', script], {
      cwd: this.#cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
    });
    this.#cwd = output[9]?.trim() || this.#cwd;
    return { code: status, stdout, stderr };
  }

  /** `docker run … IMAGE COMMAND`: its variables, its one folder, and its user, who is us. */
  #run(line: string): Ended {
    const [options = '', command = ''] = line.split(/deposit-gateway:[\d.]+ /);
    const [, host = '', inside = ''] = /-v "\$PWD\/(\S+?):(\S+?)"/.exec(options) ?? [];
    const env = Object.fromEntries(
      [...options.matchAll(/-e (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
        name,
        value.replace(inside, join(this.#cwd, host)),
      ]),
    );
    expect(options, 'without a network, as the one who types')
      .to.include('--network none')
      .and.include('--user');
    const ended = this.machine.inContainer(
      ['node', 'src/bin.mjs', ...command.split(' ')],
      { NODE_ENV: 'production', ...env },
      true,
    );
    this.#xpubs = ended.stdout.match(/^WALLET_XPUB_\w+=\S+$/gm)?.join('\n') ?? '';
    return ended;
  }

  /** What the README says to fill in, and the two exceptions for a receiver on this machine. */
  #fillIn(): void {
    const passwords = new Map<string, string>();
    const secretsKey = randomBytes(32).toString('base64');
    for (const name of ['postgres', 'temporal', 'gateway', 'migrate', 'signer']) {
      const file = join(this.machine.checkout, `deploy/${name}.env`);
      const text = readFileSync(file, 'utf8')
        .replace(/CHANGE_ME_\d/g, (found) => {
          const known = passwords.get(found) ?? randomBytes(12).toString('hex');
          passwords.set(found, known);
          return known;
        })
        .replace('BASE64_OF_32_RANDOM_BYTES', secretsKey)
        .replace('pay.example.com', 'pay.shop.test')
        .replace(/^WALLET_XPUB_.+\n/gm, '')
        .replace(/^(BSC|TRON)_.+\n/gm, '');
      const added = `${this.#xpubs}\nWEBHOOK_ALLOW_HTTP=true\nWEBHOOK_ALLOWED_CIDRS=127.0.0.0/8\n`;
      writeFileSync(file, name === 'gateway' ? `${text}${added}` : text);
    }
  }
}

describe('the compose file, started without Docker by what the README says', function () {
  this.timeout(20 * 60_000);
  let machine: ComposeMachine;
  let operator: Operator;
  let receiver: Receiver;
  let keys: string;

  before(async () => {
    machine = new ComposeMachine(await tempDir('compose'));
    operator = new Operator(machine);
    receiver = await startReceiver();
    for (const line of productionSteps()) {
      const { code, stdout, stderr } = await operator.type(line);
      expect(code, `${line}\n${stdout}\n${stderr}`).to.equal(0);
      keys = stdout;
    }
  });
  after(async () => {
    await receiver?.stop();
    await machine?.down();
    if (process.env['KEEP'])
      (await import('node:fs')).cpSync(join(machine.checkout, '..'), process.env['KEEP'], {
        recursive: true,
        filter: (p) => !p.includes('image'),
      });
  });

  it('needed every file that the compose file names, and the wallet before the first start', () => {
    for (const file of ['postgres.env', 'signer.env', 'secrets/wallet.json', 'secrets/wallet.passphrase'])
      expect(existsSync(join(machine.checkout, 'deploy', file)), file).to.equal(true);
    const order = ['wallet new', 'compose up', 'merchant create'].map((part) =>
      operator.ran.findIndex((line) => line.includes(part)),
    );
    expect([...order].sort((one, other) => one - other)).to.deep.equal(order);
    expect(order[0]).to.be.greaterThan(-1);
  });

  it('runs every part as the user of its image, healthy by its own check', async () => {
    for (const name of ['postgres', 'temporal', 'api', 'worker'])
      expect(await machine.healthy(name), name).to.equal(true);
    for (const name of ['api', 'worker', 'signer']) {
      expect(machine.child(name).running(), name).to.equal(true);
      const expected = process.getuid?.() === 0 ? 1000 : process.getuid?.();
      expect(processOwner(machine.child(name).pid), name).to.equal(expected);
    }
    await eventually('the signer is ready', () => machine.logOf('signer').includes('"ready":true'), 60_000);
    for (const name of ['api', 'worker', 'signer'])
      expect(machine.logOf(name), name).to.not.match(/"level":"(error|fatal)"/);
  });

  it('takes a simulated deposit of the merchant who was made, and tells it in a signed webhook', async () => {
    const key = /sk_test_\S+/.exec(keys)?.[0] ?? expect.fail(keys);
    const api = `http://127.0.0.1:${machine.envOf('api')['PORT']}/api/v1`;
    const customer = await call(`${api}/customers`, {
      key,
      body: { external_id: 'u-1', email: 'ann@shop.test' },
    });
    expect(customer.status, JSON.stringify(customer.body)).to.equal(201);
    const endpoint = await call(`${api}/webhook-endpoints`, {
      key,
      body: { url: receiver.url, events: ['*'] },
    });
    expect(endpoint.status, JSON.stringify(endpoint.body)).to.equal(201);
    receiver.setSecret((endpoint.body as { secret: string }).secret);
    const deposit = await call(`${api}/test/simulate-deposit`, {
      key,
      body: { customer_id: (customer.body as { id: string }).id, amount: '12.5' },
    });
    expect(deposit.status, JSON.stringify(deposit.body)).to.be.lessThan(300);
    const told = await eventually(
      'deposit.completed',
      () => receiver.requests.find(({ body }) => body.includes('deposit.completed')),
      60_000,
    );
    expect([told.verified, JSON.parse(told.body.toString()).data.amount_usd]).to.deep.equal([true, 12.5]);
  });

  it('ends in good order within the time that it is given', async () => {
    for (const name of ['signer', 'worker', 'api']) expect(await machine.stop(name), name).to.equal(0);
  });
});
