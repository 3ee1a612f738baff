// What parts use and write while something is done, and the rows that tell it for one of many.
import { type Costs, measureCosts } from '../process-costs.ts';
import type { Row } from '../row.ts';
import type { CostStage } from './cost-stage.ts';

/** What a deposit, a customer and a payment link are served by, besides the API. */
export const PARTS = [
  'worker',
  'PostgreSQL for the gateway',
  'Temporal',
  'PostgreSQL for Temporal',
  'PostgreSQL for both (log, checkpoints, vacuum)',
];

/** What was used and written while something was done. */
type Usage<T = unknown> = {
  readonly costs: Costs;
  readonly bytes: ReadonlyMap<string, number>;
  readonly ms: number;
  readonly result: T;
};

/** Does the work, and tells what each part used and each table grew by meanwhile. */
export async function usageOf<T>(stage: CostStage, work: () => Promise<T>): Promise<Usage<T>> {
  const { api, worker, temporal, postgres } = stage;
  const parts = {
    api: api.pid(),
    worker: worker.pid(),
    Temporal: temporal.pid(),
    PostgreSQL: postgres.pid(),
  };
  const [own] = await stage.sql<{ pid: number }>('select pg_backend_pid() as pid');
  const before = await sizes(stage);
  const began = Date.now();
  const [costs, result] = await measureCosts(parts, new Set([own?.pid ?? 0]), work);
  const ms = Date.now() - began;
  const after = await sizes(stage);
  const bytes = new Map([...after].map(([name, size]) => [name, size - (before.get(name) ?? 0)]));
  return { costs, bytes, ms, result };
}

/** For one of `count`, without what would have been there in any case. */
function netOf(name: string, kind: 'costs' | 'bytes', usage: Usage, idle: Usage, count: number): number {
  return ((usage[kind].get(name) ?? 0) - ((idle[kind].get(name) ?? 0) * usage.ms) / idle.ms) / count;
}

const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });

/** Processor time of one of `count`, by part, without what idling would have cost. */
export function processorRows(
  what: string,
  parts: readonly string[],
  usage: Usage,
  idle: Usage,
  count: number,
): Row[] {
  const msOf = (part: string): number => netOf(part, 'costs', usage, idle, count) * 1_000;
  const all = parts.reduce((sum, part) => sum + msOf(part), 0);
  return [
    ...parts.map((part) => told(`processor time of ${what}, ${part}`, `${msOf(part).toFixed(2)} ms`)),
    told(`processor time of ${what}, all of these`, `${all.toFixed(2)} ms`),
  ];
}

/** What each part uses of a core while blocks come and nothing is paid. */
export function shareRows(idle: Usage): Row[] {
  return ['api', ...PARTS].map((part) =>
    told(
      `share of a core while blocks come and nothing is paid, ${part}`,
      `${(((idle.costs.get(part) ?? 0) / idle.ms) * 100_000).toFixed(1)} %`,
    ),
  );
}

/** Tables grow by whole pages, so what is less than a byte for one is left out. */
export function byteRows(what: string, usage: Usage, idle: Usage, count: number): Row[] {
  const found = [...usage.bytes.keys()]
    .map((name) => [name, netOf(name, 'bytes', usage, idle, count)] as const)
    .filter(([, bytes]) => bytes >= 1)
    .sort(([, a], [, b]) => b - a);
  const all = found.reduce((sum, [, bytes]) => sum + bytes, 0);
  return [
    ...found.map(([name, bytes]) => told(`bytes of ${what}, ${name}`, bytes.toFixed(0))),
    told(`bytes of ${what}, all`, all.toFixed(0)),
  ];
}

/** Bytes with indexes: each table of the gateway (a partitioned one as one), and each store of Temporal. */
async function sizes({ sql }: CostStage): Promise<Map<string, number>> {
  const tables = await sql<{ name: string; bytes: string }>(
    `select coalesce((select parent.relname from pg_inherits i
       join pg_class parent on parent.oid = i.inhparent where i.inhrelid = c.oid), c.relname) as name,
       sum(pg_total_relation_size(c.oid))::text as bytes
     from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  );
  const stores = await sql<{ name: string; bytes: string }>(
    `select 'Temporal (' || datname || ')' as name, pg_database_size(datname)::text as bytes
     from pg_database where datname like 'temporal%'`,
  );
  return new Map([...tables, ...stores].map(({ name, bytes }) => [name, Number(bytes)]));
}
