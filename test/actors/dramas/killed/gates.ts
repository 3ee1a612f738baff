// Gates before a commit, one for each chain: a transaction that changes what a gate is about waits there
// until it is opened, or until its process dies and with it the transaction.
import { eventually } from '../../../../dev/support/eventually.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import { NETWORKS, type Network } from '../../../../src/domain/assets.ts';

/** The change of which table waits; `old` and `new` are the row before and after. */
const CHANGES = {
  asked: ['sent_transactions', 'insert', "new.state = 'asked'"],
  signed: ['sent_transactions', 'update', 'old.raw is null and new.raw is not null'],
  settled: ['payouts', 'update', "old.state <> 'settled' and new.state = 'settled'"],
} as const;
export type GateName = keyof typeof CHANGES;
const NAMES = Object.keys(CHANGES) as GateName[];
/** Advisory locks of the database, of which each gate has one. */
const FIRST_LOCK = 778_200;
const firstLockOf = (name: GateName): number => FIRST_LOCK + NAMES.indexOf(name) * NETWORKS.length;
const lockOf = (name: GateName, network: Network): number => firstLockOf(name) + NETWORKS.indexOf(network);

export type Gates = {
  /** From now on what changes this waits. */
  close(name: GateName, network: Network): Promise<void>;
  /** Whoever waits goes on. */
  open(name: GateName, network: Network): Promise<void>;
  /** Waits until somebody waits there. */
  reached(name: GateName, network: Network): Promise<void>;
  /** Waits until nobody waits there any more: the database knows that their processes are dead. */
  left(name: GateName, network: Network): Promise<void>;
  stop(): Promise<void>;
};

/** Puts every gate into the database, open. */
export async function openGates(url: string): Promise<Gates> {
  const orm = await openOrm({ url, poolSize: 6, applicationName: 'gates', statementTimeoutMs: 0 });
  const em = orm.em.fork();
  await em.execute(`create function at_a_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(
        tg_argv[0]::bigint + array_position('{${NETWORKS.join()}}'::text[], new.network::text) - 1);
      return null;
    end $$`);
  for (const name of NAMES) {
    const [table, event, change] = CHANGES[name];
    await em.execute(`create constraint trigger gate_${name} after ${event} on ${table}
      deferrable initially deferred for each row when (${change})
      execute function at_a_gate('${firstLockOf(name)}')`);
  }
  const closed = new Map<number, ReturnType<typeof em.fork>>();
  const isWaitedAt = async (name: GateName, network: Network): Promise<boolean> => {
    const held = `select 1 from pg_locks where locktype = 'advisory' and not granted and objid = ?
      and database = (select oid from pg_database where datname = current_database())`;
    return (await em.execute(held, [lockOf(name, network)])).length > 0;
  };
  return {
    close: async (name, network) => {
      const holding = orm.em.fork();
      await holding.begin();
      await holding.execute('select pg_advisory_xact_lock(?)', [lockOf(name, network)]);
      closed.set(lockOf(name, network), holding);
    },
    open: async (name, network) => {
      await closed.get(lockOf(name, network))?.rollback();
      closed.delete(lockOf(name, network));
    },
    reached: async (name, network) =>
      void (await eventually(
        `somebody on ${network} at the gate "${name}"`,
        () => isWaitedAt(name, network),
        60_000,
      )),
    left: async (name, network) =>
      void (await eventually(
        `nobody on ${network} at the gate "${name}"`,
        async () => !(await isWaitedAt(name, network)),
      )),
    stop: async () => {
      for (const holding of closed.values()) await holding.rollback();
      await orm.close(true);
    },
  };
}
