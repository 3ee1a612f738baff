import { Migration } from '@mikro-orm/migrations';

/** From where live keys may be used, and how much of its limits each client has left. */
export class Migration20261121000004_limits extends Migration {
  override up(): void {
    this.addSql(ALLOWED_NETWORKS);
    this.addSql(RATE_LIMITS);
  }

  override down(): void {
    throw new Error('Without its allowlist a stolen key would work from anywhere. Restore a backup instead.');
  }
}

const ALLOWED_NETWORKS = `
create table allowed_networks (
  merchant_id uuid not null constraint allowed_networks_merchant_id_foreign references merchants (id),
  network varchar(43) not null,
  created_at timestamptz not null,
  primary key (merchant_id, network)
);
`;

// Unlogged: what is left of a limit is worth nothing after a
// crash, and the write-ahead log is shared with the money.
const RATE_LIMITS = `
create unlogged table rate_limits (
  id varchar(80) primary key,
  tokens double precision not null,
  since timestamptz not null
) with (fillfactor = 50);
`;
