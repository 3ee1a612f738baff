// Gates before a commit: a transaction that changes what a gate is about waits there until it is opened, or
// until its process dies and with it the transaction.
import { eventually } from '../../../../dev/support/eventually.ts';
import { openOrm } from '../../../../src/db/orm.ts';

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
const lockOf = (name: GateName): number => FIRST_LOCK + NAMES.indexOf(name);

export type Gates = {
  /** From now on what changes this waits. */
  close(name: GateName): Promise<void>;
  /** Whoever waits goes on. */
  open(name: GateName): Promise<void>;
  /** Waits until somebody waits there. */
  reached(name: GateName): Promise<void>;
  /** Waits until nobody waits there any more: the database knows that their processes are dead. */
  left(name: GateName): Promise<void>;
  stop(): Promise<void>;
};

/** Puts every gate into the database, open. */
export async function openGates(url: string): Promise<Gates> {
  const orm = await openOrm({ url, poolSize: 4, applicationName: 'gates', statementTimeoutMs: 0 });
  const em = orm.em.fork();
  await em.execute(`create function at_a_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$`);
  for (const name of NAMES) {
    const [table, event, change] = CHANGES[name];
    await em.execute(`create constraint trigger gate_${name} after ${event} on ${table}
      deferrable initially deferred for each row when (${change})
      execute function at_a_gate('${lockOf(name)}')`);
  }
  const closed = new Map<GateName, ReturnType<typeof em.fork>>();
  const waiting = async (name: GateName): Promise<number> => {
    const held = `select 1 from pg_locks where locktype = 'advisory' and not granted and objid = ?
      and database = (select oid from pg_database where datname = current_database())`;
    return (await em.execute(held, [lockOf(name)])).length;
  };
  return {
    close: async (name) => {
      const holding = orm.em.fork();
      await holding.begin();
      await holding.execute('select pg_advisory_xact_lock(?)', [lockOf(name)]);
      closed.set(name, holding);
    },
    open: async (name) => {
      await closed.get(name)?.rollback();
      closed.delete(name);
    },
    reached: async (name) =>
      void (await eventually(
        `somebody at the gate "${name}"`,
        async () => (await waiting(name)) > 0,
        60_000,
      )),
    left: async (name) =>
      void (await eventually(`nobody at the gate "${name}"`, async () => (await waiting(name)) === 0)),
    stop: async () => {
      for (const holding of closed.values()) await holding.rollback();
      await orm.close(true);
    },
  };
}
