import { readFileSync } from 'node:fs';
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
});
