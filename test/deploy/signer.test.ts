import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true });
const { signer } = compose.services;

const variablesOf = (file: string): string[] =>
  [...read(file).matchAll(/^([A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');

describe('the signer in production', () => {
  it('is a plain service that comes back, on a network without a way out, that nobody can reach', () => {
    expect(signer).to.deep.include({
      command: ['start', '--role', 'signer'],
      restart: 'unless-stopped',
      networks: ['internal'],
      env_file: ['deploy/signer.env'],
      volumes: ['journal:/var/lib/signer'],
    });
    expect(signer).to.not.have.any.keys(
      'profiles',
      'ports',
      'expose',
      'network_mode',
      'extra_hosts',
      'links',
    );
    expect(compose.networks.internal).to.deep.equal({ internal: true });
    expect(Object.keys(signer.depends_on)).to.deep.equal(['migrate']);
  });

  it('knows PostgreSQL under a role of its own, the key of the seals, its files and its limits', () => {
    expect(variablesOf('deploy/signer.env.example')).to.have.members([
      'DATABASE_URL',
      'SECRETS_KEY',
      'SIGN_MAX_PER_HOUR',
      'SIGN_MAX_PER_DAY',
    ]);
    const [, password] = /gateway_signer:([^@]+)@/.exec(read('deploy/signer.env.example')) ?? [];
    expect(read('deploy/postgres.env.example')).to.include(`GATEWAY_SIGNER_DB_PASSWORD=${password}`);
    const script = read('deploy/postgres/databases.sh');
    expect(script).to.match(/^create role gateway_signer login password :'signer_password';$/m);
    expect(script).to.include('-v signer_password="$GATEWAY_SIGNER_DB_PASSWORD"');
    expect(script).to.not.match(/default privileges .*gateway_signer/);
    for (const [name, service] of Object.entries<{ env_file?: string[] }>(compose.services))
      if (name !== 'signer') expect(service.env_file ?? [], name).to.not.include('deploy/signer.env');
  });

  it('has its journal where the runbook takes up from it what a restored database has forgotten', () => {
    const { SIGN_JOURNAL_FILE: journal } = signer.environment;
    const [volume, folder] = signer.volumes[0].split(':');
    expect(journal).to.equal(`${folder}/journal`);
    const manual = read('docs/operations.md');
    expect(manual).to.include(`-v ${compose.name}_${volume}:${folder}:ro -e SIGN_JOURNAL_FILE=${journal}`);
    expect(manual).to.include(`docker compose cp signer:${journal} `);
  });
});
