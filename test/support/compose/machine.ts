// A machine that runs docker-compose.yml without Docker: the same commands, users, environment and order.
// What differs from containers is named in `#here`: one network for all, so that each has ports of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '../../../dev/support/eventually.ts';
import { type Child, startChild } from '../../../src/base/processes.ts';
import { accepts, freePort } from '../../../src/embedded/ports.ts';
import { buildImage, type Image, NODE_USER, ownFolder } from './container.ts';
import { composeServices, imageOfGateway, ROOT, type Service, variablesIn } from './file.ts';
import { scriptHere, startPostgresService, temporalHere, temporalImages } from './stores.ts';

const LIMIT_MS = 180_000;
const HEALTHY_WITHIN_MS = 120_000;

/** How a command in a container ended. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
type Running = { readonly child?: Child; readonly env: Readonly<Record<string, string>> };

export class ComposeMachine {
  readonly #folder: string;
  readonly #services = composeServices();
  readonly #running = new Map<string, Running>();
  #image: Image | undefined;
  #postgres = { port: 0, client: {} as Record<string, string> };
  #temporalPort = 0;
  /** The folder where the operator types: a checkout with `deploy` in it. */
  readonly checkout: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.checkout = join(folder, 'checkout');
    cpSync(join(ROOT, 'deploy'), join(this.checkout, 'deploy'), { recursive: true });
  }

  /** `docker compose build`. */
  build(): void {
    this.#image ??= buildImage(join(this.#folder, 'image'));
  }

  /** One command in a container of the gateway's image, as `docker run` and `exec` run it. */
  inContainer(command: readonly string[], env: Readonly<Record<string, string>>, asUs = false): Ended {
    const { app, path } = this.#image ?? this.#missing();
    const user = asUs || !NODE_USER ? {} : { uid: NODE_USER.uid, gid: NODE_USER.gid };
    const [program = '', ...args] = command;
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: app,
      env: { ...env, PATH: path, HOME: '/nonexistent' },
      encoding: 'utf8',
      timeout: LIMIT_MS,
      ...user,
    });
    return { code: status, stdout, stderr };
  }

  /** `docker compose up -d`: every service after those that it needs. The Web UI's image cannot be had. */
  async up(): Promise<void> {
    for (const name of Object.keys(this.#services)) if (name !== 'temporal-ui') await this.#start(name);
  }

  /** The environment in which a started service runs. */
  envOf(name: string): Readonly<Record<string, string>> {
    return this.#running.get(name)?.env ?? this.#missing();
  }

  child(name: string): Child {
    return this.#running.get(name)?.child ?? this.#missing();
  }

  /** What a service of the gateway's image has said so far. */
  logOf(name: string): string {
    return readFileSync(join(this.#folder, `${name}.log`), 'utf8');
  }

  /** Whether the service's own health check succeeds now. */
  async healthy(name: string): Promise<boolean> {
    const [kind, ...test] = this.#services[name]?.healthcheck?.test ?? [];
    const env = this.envOf(name);
    if (name === 'temporal') return test[0] === 'nc' && (await accepts(this.#temporalPort));
    if (kind === 'CMD-SHELL') {
      const path = { ...this.#postgres.client, PATH: process.env['PATH'] };
      return spawnSync('/bin/sh', ['-c', test[0] ?? ''], { env: path, timeout: LIMIT_MS }).status === 0;
    }
    return (
      this.inContainer(
        test.map((part) => part.replace(':8080/', `:${env['PORT']}/`)),
        env,
      ).code === 0
    );
  }

  /** Ends a service as `docker compose stop` does, within its time; its exit code. */
  async stop(name: string): Promise<number | NodeJS.Signals | null> {
    await this.child(name).stop();
    return this.child(name).status();
  }

  /** Ends all that lasts, the latest first. */
  async down(): Promise<void> {
    for (const { child } of [...this.#running.values()].reverse()) await child?.stop();
  }

  #missing(): never {
    throw new Error('it was not built or started');
  }

  async #start(name: string): Promise<void> {
    if (this.#running.has(name)) return;
    const service = this.#services[name] ?? this.#missing();
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      await this.#start(other);
      if (condition === 'service_healthy')
        await eventually(`${other} is healthy`, () => this.healthy(other), HEALTHY_WITHIN_MS);
    }
    if (name === 'postgres') return await this.#startPostgres(service);
    if (service.image.startsWith('temporalio/')) return await this.#startTemporal(name, service);
    await this.#startGateway(name, service);
  }

  #given(service: Service): Record<string, string> {
    const files = (service.env_file ?? []).map((file) => variablesIn(join(this.checkout, file)));
    return Object.assign({}, ...files, service.environment);
  }

  async #startPostgres(service: Service): Promise<void> {
    const env = this.#given(service);
    const folder = join(this.#folder, 'postgres');
    mkdirSync(folder);
    const { child, port, client } = await startPostgresService(service, { folder, env });
    this.#postgres = { port, client };
    this.#running.set('postgres', { child, env });
  }

  async #startTemporal(name: string, service: Service): Promise<void> {
    const folder = join(this.#folder, 'temporal');
    mkdirSync(folder, { recursive: true });
    const { tools, server, schemas } = await temporalImages(folder);
    const given = this.#here(this.#given(service));
    if (name !== 'temporal') {
      const [shell = '', script = ''] = service.entrypoint ?? [];
      const file = scriptHere(script, { folder, port: this.#postgres.port, schemas });
      const env = { ...given, PATH: `${tools}:${process.env['PATH']}`, HOME: folder };
      execFileSync(shell, [file], { env, timeout: LIMIT_MS, stdio: 'pipe' });
      this.#running.set(name, { env });
      return;
    }
    this.#temporalPort = await freePort();
    const env = {
      ...given,
      ...(await temporalHere(this.#temporalPort)),
      POSTGRES_SEEDS: '127.0.0.1',
      DB_PORT: String(this.#postgres.port),
      DYNAMIC_CONFIG_FILE_PATH: join(ROOT, 'deploy/temporal/dynamic-config.yaml'),
      HOME: folder,
    };
    const child = await startChild({
      name: 'Temporal of the compose file',
      command: server,
      args: ['--allow-no-auth', 'start'],
      cwd: folder,
      env,
      logFile: join(folder, 'log'),
      stopTimeoutMs: seconds(service) * 1_000,
    });
    this.#running.set(name, { child, env });
  }

  async #startGateway(name: string, service: Service): Promise<void> {
    const { env: ofImage, entrypoint } = imageOfGateway();
    const folder = ownFolder(join(this.#folder, name));
    const env = this.#here({ ...ofImage, ...this.#given(service) });
    Object.assign(env, { DATA_DIR: ownFolder(join(folder, 'data')), TMPDIR: ownFolder(join(folder, 'tmp')) });
    if (env['PORT'])
      Object.assign(env, { PORT: String(await freePort()), OPS_PORT: String(await freePort()) });
    this.#mount(folder, service, env);
    const command = [...entrypoint, ...(service.command ?? [])];
    if (service.restart?.startsWith('on-failure')) {
      const { code, stderr } = this.inContainer(command, env);
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr.slice(-2_000)}`);
      this.#running.set(name, { env });
      return;
    }
    const { app, path } = this.#image ?? this.#missing();
    const [, ...args] = command;
    const child = await startChild({
      name: `${name} of the compose file`,
      command: join(path.split(':')[0] ?? '', 'node'),
      args,
      cwd: app,
      env: { ...env, PATH: path, HOME: '/nonexistent' },
      logFile: join(this.#folder, `${name}.log`),
      stopTimeoutMs: seconds(service) * 1_000,
      ...(NODE_USER ? { user: NODE_USER } : {}),
    });
    this.#running.set(name, { child, env });
    if (service.healthcheck)
      await eventually(
        `${name} is healthy`,
        async () => {
          if (!child.running()) throw new Error(`${name} ended: ${child.output().slice(-2_000)}`);
          return await this.healthy(name);
        },
        HEALTHY_WITHIN_MS,
      );
  }

  /** Secrets with the owner and the rights that they have in the checkout, and the signer's volume. */
  #mount(folder: string, service: Service, env: Record<string, string>): void {
    for (const secret of service.secrets ?? []) {
      const [from, to] = [join(this.checkout, 'deploy/secrets', secret), join(folder, secret)];
      if (!existsSync(from)) throw new Error(`invalid mount: bind source path does not exist: ${from}`);
      const { mode, uid, gid } = statSync(from);
      copyFileSync(from, to);
      if (NODE_USER) chownSync(to, uid, gid);
      chmodSync(to, mode);
    }
    for (const [variable, value] of Object.entries(env)) {
      if (value.startsWith('/run/secrets/')) env[variable] = join(folder, basename(value));
      if (value.startsWith('/var/lib/signer/'))
        env[variable] = join(ownFolder(join(folder, 'journal')), basename(value));
    }
  }

  /** Names of services, which are names of hosts in their network, as addresses of this machine. */
  #here(env: Readonly<Record<string, string>>): Record<string, string> {
    const hosts = (text: string): string =>
      text
        .replace('@postgres:5432/', `@127.0.0.1:${this.#postgres.port}/`)
        .replace(/^temporal:7233$/, `127.0.0.1:${this.#temporalPort}`);
    return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, hosts(value)]));
  }
}

function seconds({ stop_grace_period: given = '10s' }: Service): number {
  return Number.parseInt(given, 10) * (given.endsWith('m') ? 60 : 1);
}
