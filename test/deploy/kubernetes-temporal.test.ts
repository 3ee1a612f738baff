import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const values = parse(read('deploy/kubernetes/temporal-values.yaml'));

describe('what Kubernetes runs beside the gateway', () => {
  it('is a Temporal with the stores, shards and switches of the compose file', () => {
    const { config, dynamicConfig } = values.server;
    const compose = parse(read('docker-compose.yml'), { merge: true }).services.temporal.environment;
    expect(String(config.persistence.numHistoryShards)).to.equal(compose.NUM_HISTORY_SHARDS);
    expect(dynamicConfig).to.deep.equal(parse(read('deploy/temporal/dynamic-config.yaml')));
    const { default: store, visibility } = config.persistence.datastores;
    expect([store.sql.databaseName, visibility.sql.databaseName]).to.deep.equal([
      compose.DBNAME,
      compose.VISIBILITY_DBNAME,
    ]);
    for (const { sql } of [store, visibility]) {
      expect(sql).to.include({ pluginName: compose.DB, user: 'temporal', existingSecret: 'temporal-store' });
      expect(sql.tls).to.include({ enabled: true, enableHostVerification: true });
    }
    expect(values.web.additionalEnv).to.deep.include({
      name: 'TEMPORAL_DISABLE_WRITE_ACTIONS',
      value: 'true',
    });
  });

  it('is told on a page whose connections add up and whose files exist', () => {
    const page = read('docs/kubernetes.md');
    const runbook = read('docs/operations.md');
    const [, worker, api] = /worker holds at most (\d+) connections[\s\S]+?an API (\d+)/.exec(runbook) ?? [];
    const scaler = parse(read('deploy/kubernetes/base/availability.yaml').split('\n---\n').at(-1) ?? '');
    const sum = 2 * Number(worker) + scaler.spec.maxReplicas * Number(api) + 3 + 4;
    expect(page).to.include(`2 × ${worker} + ${scaler.spec.maxReplicas} × ${api} + 3 + 4 = ${sum}`);
    const { default: store, visibility } = values.server.config.persistence.datastores;
    const temporal = 4 * values.server.replicaCount * (store.sql.maxConns + visibility.sql.maxConns);
    expect(page)
      .to.include(`${temporal}.`)
      .and.include(`\`max_connections\` is ${Math.ceil((sum + temporal + 10) / 10) * 10} `);
    for (const [path] of page.matchAll(/deploy\/[\w./-]+\w/g)) {
      const isMade = path.includes('$') || path.endsWith('/env');
      if (!isMade && !path.startsWith('deploy/temporal-') && !/^deploy\/(api|worker)$/.test(path))
        expect(existsSync(join(ROOT, path)), path).to.equal(true);
    }
  });
});
