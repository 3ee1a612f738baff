import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { testXpubs } from '../../../dev/support/test-wallet.ts';
import { makeProgram } from '../../../src/cli/program.ts';
import { VARIABLES } from '../../../src/config/variables/index.ts';
import { problemsOf, SECRETS_KEY } from '../../support/repository/config-samples.ts';
import { buildManifests, type KubernetesObject } from '../../support/repository/kubernetes/kustomize.ts';
import { schemaProblems } from '../../support/repository/kubernetes/schema.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const MANIFESTS = join(ROOT, 'deploy/kubernetes');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const FOLDERS = ['base', 'migrate', 'replay', 'example/gateway', 'example/migrate', 'example/replay'];
/** The newest whose schemas the checker knows, and the oldest that has every field that is used. */
const VERSIONS = ['1.37', '1.31'];
const ROLES = { api: 'api', worker: 'worker', signer: 'signer', migrate: 'tool', replay: 'tool' } as const;
type Part = keyof typeof ROLES;
const PARTS = Object.keys(ROLES) as Part[];
const DRAIN_SECONDS = 30;

describe('the manifests for Kubernetes', function () {
  this.timeout(20 * 60_000);
  const built = new Map<string, Awaited<ReturnType<typeof buildManifests>>>();
  let all: readonly KubernetesObject[];
  const workloads = new Map<Part, KubernetesObject>();

  before(async () => {
    for (const folder of FOLDERS) built.set(folder, await buildManifests(join(MANIFESTS, folder)));
    all = ['gateway', 'migrate', 'replay'].flatMap((name) => built.get(`example/${name}`)?.objects ?? []);
    for (const object of all)
      if (['Deployment', 'StatefulSet', 'Job'].includes(object.kind))
        workloads.set(object.metadata.name as Part, object);
  });

  const podOf = (part: Part) => workloads.get(part)?.spec.template.spec;
  const containerOf = (part: Part) => podOf(part).containers[0];
  const ofKind = (kind: string) => all.filter((object) => object.kind === kind);
  const named = (kind: string, name: string) =>
    ofKind(kind).find((object) => object.metadata.name === name) ?? expect.fail(`no ${kind} ${name}`);

  it('are of the form that Kubernetes has, old and new, with no field that it does not know', async () => {
    for (const version of VERSIONS)
      for (const [folder, { yaml }] of built)
        expect(await schemaProblems(yaml, version), `${folder}, ${version}`).to.equal('');
  });

  it('run the image with commands that it has, as its user', () => {
    expect([...workloads.keys()]).to.have.members(PARTS);
    expect(read('Dockerfile')).to.match(/^ENTRYPOINT \["node", "src\/bin.mjs"\]$/m);
    for (const part of PARTS) {
      const { args, command, image } = containerOf(part);
      expect(podOf(part).containers, part).to.have.length(1);
      expect(command, 'the entry point of the image').to.equal(undefined);
      const known = makeProgram().commands.find((one) => one.name() === args[0]);
      expect(known?.name(), part).to.equal(args[0]);
      expect(args.slice(1), part).to.deep.equal(args[0] === 'start' ? ['--role', part] : []);
      expect(image, part).to.equal('registry.example.com/deposit-gateway:0.1.0');
    }
  });

  /** The environment of a part, as its pod would have it with these secrets. */
  function environmentOf(part: Part, domain: string): Record<string, string> {
    const env: Record<string, string> = { ...imageEnvironment(), NODE_OPTIONS: '' };
    const container = containerOf(part);
    for (const { configMapRef } of container.envFrom ?? [])
      Object.assign(env, named('ConfigMap', configMapRef.name).data);
    for (const { name, value, valueFrom } of container.env)
      env[name] = value ?? secretsOf(valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key] ?? '';
    return Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value.replaceAll('example.com', domain)]),
    );
  }

  it('give each part variables that the gateway knows, with values that it takes', () => {
    for (const part of PARTS) {
      const env = environmentOf(part, 'shop.test');
      for (const name of Object.keys(env))
        if (name !== 'NODE_OPTIONS') expect(Object.keys(VARIABLES), `${name} of ${part}`).to.include(name);
      expect(problemsOf(env, ROLES[part]), part).to.deep.equal([]);
    }
  });

  it('take every secret by its name, from files whose examples have exactly these keys', () => {
    expect(ofKind('Secret')).to.deep.equal([]);
    const asked: Record<string, Set<string>> = {};
    for (const part of PARTS)
      for (const { name, valueFrom } of containerOf(part).env) {
        const { name: secret, key } = valueFrom?.secretKeyRef ?? {};
        if (secret) asked[secret] = (asked[secret] ?? new Set()).add(key);
        expect(secret !== undefined, `${name} of ${part}`).to.equal(
          (VARIABLES as Record<string, { secret?: true }>)[name]?.secret === true,
        );
      }
    expect(Object.keys(asked)).to.have.members(['gateway', 'migrate', 'signer']);
    for (const [secret, keys] of Object.entries(asked))
      expect(keysOf(`deploy/kubernetes/env/${secret}.env.example`), secret).to.have.members([...keys]);
  });

  it('show the seed and the journal to the signer alone, and the signer nothing that it does not need', () => {
    for (const part of PARTS) {
      const secrets = podOf(part).volumes.filter((volume: object) => 'secret' in volume);
      expect(
        secrets.map(({ secret }: { secret: { secretName: string } }) => secret.secretName),
      ).to.deep.equal(part === 'signer' ? ['wallet'] : []);
      const names = containerOf(part).env.map(({ name }: { name: string }) => name);
      const own = names.filter((name: string) => /^(WALLET_(SEED|PASSPHRASE)|SIGN_)/.test(name));
      expect(own.length > 0, part).to.equal(part === 'signer');
    }
    const env = Object.keys(environmentOf('signer', 'shop.test'));
    for (const other of ['TEMPORAL_ADDRESS', 'BSC_RPC_URLS', 'TRON_API_URLS', 'PUBLIC_URL'])
      expect(env).to.not.include(other);
    expect(keysOf('deploy/kubernetes/env/signer.env.example')).to.deep.equal(['DATABASE_URL']);
    expect(read('deploy/kubernetes/env/signer.env.example')).to.match(/gateway_signer:/);
  });

  it('start one signer and never two, with a journal that outlives it', () => {
    const { kind, spec } = workloads.get('signer') ?? expect.fail('no signer');
    expect([kind, spec.replicas, spec.podManagementPolicy]).to.deep.equal(['StatefulSet', 1, 'OrderedReady']);
    expect(spec.persistentVolumeClaimRetentionPolicy).to.deep.equal({
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
    const [claim, ...more] = spec.volumeClaimTemplates;
    expect([claim.metadata.name, claim.spec.accessModes, more]).to.deep.equal([
      'journal',
      ['ReadWriteOncePod'],
      [],
    ]);
    const { mountPath } = containerOf('signer').volumeMounts.find(
      ({ name }: { name: string }) => name === 'journal',
    );
    expect(environmentOf('signer', 'shop.test')['SIGN_JOURNAL_FILE']).to.equal(`${mountPath}/journal`);
    const scaled = ofKind('HorizontalPodAutoscaler').map((object) => object.spec.scaleTargetRef.name);
    expect(scaled).to.deep.equal(['api']);
  });

  it('let no pod become more than it is, write where it need not, speak to the cluster, or take the node', () => {
    expect(named('Namespace', 'deposit-gateway').metadata.labels).to.include({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    for (const part of PARTS) {
      const pod = podOf(part);
      expect(pod, part).to.include({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(pod.securityContext, part).to.deep.include({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containerOf(part).securityContext, part).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      for (const which of ['requests', 'limits'])
        expect(Object.keys(containerOf(part).resources[which]), part).to.have.members([
          'cpu',
          'memory',
          'ephemeral-storage',
        ]);
    }
  });

  it('let processes drain before they are killed', () => {
    for (const part of PARTS) {
      const before = containerOf(part).lifecycle?.preStop.sleep.seconds ?? 0;
      expect(podOf(part).terminationGracePeriodSeconds - before, part).to.be.greaterThan(DRAIN_SECONDS);
    }
  });

  it('ask only what is served where it is served, and the signer nothing', () => {
    for (const part of ['api', 'worker'] as const) {
      const { startupProbe, readinessProbe, livenessProbe, ports } = containerOf(part);
      for (const probe of [startupProbe, readinessProbe, livenessProbe])
        expect(probe.httpGet, part).to.deep.equal({ path: '/health/live', port: 'http' });
      const env = environmentOf(part, 'shop.test');
      expect(ports).to.deep.equal([
        { name: 'http', containerPort: Number(env['PORT']) },
        { name: 'ops', containerPort: Number(env['OPS_PORT']) },
      ]);
      expect(env['OPS_HOST']).to.equal('0.0.0.0');
    }
    expect(containerOf('signer')).to.not.have.any.keys(
      'ports',
      'livenessProbe',
      'readinessProbe',
      'startupProbe',
    );
  });

  it('let each part reach what it needs, and nobody else reach it', () => {
    const policiesOf = (part: Part, type: 'Ingress' | 'Egress') => {
      const found = ofKind('NetworkPolicy').filter(({ metadata, spec }) => {
        const { matchLabels, matchExpressions = [] } = spec.podSelector;
        const label = matchLabels?.['app.kubernetes.io/component'] ?? part;
        const others = matchExpressions.every(({ values }: { values: string[] }) => values.includes(part));
        return (
          metadata.name !== 'default-deny' && spec.policyTypes.includes(type) && label === part && others
        );
      });
      return [...new Set(found.map(({ metadata }) => metadata.name))].sort();
    };
    expect(named('NetworkPolicy', 'default-deny').spec).to.deep.equal({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    expect(PARTS.map((part) => [part, policiesOf(part, 'Egress')])).to.deep.equal([
      ['api', ['dns', 'endpoints', 'postgresql', 'temporal']],
      ['worker', ['dns', 'endpoints', 'postgresql', 'temporal', 'webhooks']],
      ['signer', ['dns', 'postgresql']],
      ['migrate', ['dns', 'postgresql']],
      ['replay', ['dns', 'temporal']],
    ]);
    expect(PARTS.map((part) => policiesOf(part, 'Ingress'))).to.deep.equal([
      ['ingress-to-api', 'ops'],
      ['ops'],
      [],
      [],
      [],
    ]);
    expect(named('NetworkPolicy', 'postgresql').spec.egress[0].to).to.deep.equal([
      { ipBlock: { cidr: '10.0.5.10/32' } },
    ]);
  });

  it('close at the ingress what the shipped proxy closes', () => {
    const closed = /@closed path (.+)/.exec(read('deploy/Caddyfile'))?.[1]?.split(' ') ?? [];
    const paths = named('Ingress', 'api').spec.rules[0].http.paths as {
      path: string;
      pathType: string;
      backend: { service: { name: string } };
    }[];
    const prefixes = paths.filter(({ backend }) => backend.service.name === 'closed');
    expect(prefixes.flatMap(({ path }) => [path, `${path}/*`])).to.have.members(closed);
    for (const { pathType } of prefixes) expect(pathType).to.equal('Prefix');
    expect(named('Service', 'closed').spec.selector['app.kubernetes.io/component']).to.equal('nobody');
  });
});

/** What the Dockerfile sets for every process. */
function imageEnvironment(): Record<string, string> {
  const line = /^ENV (.+)$/m.exec(read('Dockerfile'))?.[1] ?? '';
  return Object.fromEntries(line.split(' ').map((pair) => pair.split('=') as [string, string]));
}

function keysOf(file: string): string[] {
  return [...read(file).matchAll(/^([A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');
}

/** A secret made from the example file, with its placeholders filled in. */
function secretsOf(name: string): Record<string, string> {
  const xpubs = testXpubs();
  const filled: Record<string, string> = {
    SECRETS_KEY,
    WALLET_XPUB_BSC: xpubs.live.bsc,
    WALLET_XPUB_TRON: xpubs.live.tron,
    WALLET_XPUB_TEST_BSC: xpubs.test.bsc,
    WALLET_XPUB_TEST_TRON: xpubs.test.tron,
  };
  const lines = read(`deploy/kubernetes/env/${name}.env.example`).split('\n');
  const given = lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2));
  const values = Object.fromEntries(given) as Record<string, string>;
  // The file of the authority is mounted in the pod alone; the parser reads it.
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      filled[key] ?? value.replace('CHANGE_ME', 'pw').replace(/&sslrootcert=\S+/, ''),
    ]),
  );
}
