import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { OperatorError } from '../base/errors.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import { oneOf, text } from './arguments.ts';
import { PRESET_OPTION, withPresetOption } from './preset.ts';
import { answering, leaf, progress } from './run.ts';
import { plain } from './table.ts';
import { terminal } from './terminal.ts';
import { wrapped } from './width.ts';

const PROGRESS_EVERY = 100;

/** `start`, `migrate`, `doctor`, `repair` and `replay`. */
export function addServiceCommands(program: Command): void {
  leaf(program, 'start', 'runs the gateway until SIGTERM or Ctrl-C')
    .option('--role <role>', 'which part of it', oneOf('all', 'api', 'worker', 'signer'), 'all')
    .option(...PRESET_OPTION)
    .action(answering(start));
  leaf(program, 'migrate', 'brings the database schema up to date').action(answering(migrateSchema));
  leaf(program, 'doctor', 'looks at every part and says what to do').action(answering(doctor));
  leaf(
    program,
    'repair',
    'starts an actor for everything that should have one and has none, or one that cannot go on',
  ).action(answering(repair));
  leaf(
    program,
    'replay',
    'replays histories against the code of this version; without files, those on the server',
  )
    .argument('[files...]', 'exported histories (JSON)')
    .option('--query <text>', "which of the server's workflows, in Temporal's list syntax", text())
    .action(answering(replay));
}

async function start({
  options,
}: {
  options: {
    readonly role: 'all' | 'api' | 'worker' | 'signer';
    readonly preset?: string;
    readonly json?: true;
  };
}) {
  const { startGateway } = await import('../roles/start.ts');
  await startGateway({
    env: withPresetOption(terminal().env, options.preset),
    role: options.role,
    json: options.json === true,
  });
  return undefined;
}

async function migrateSchema() {
  const [{ withGateway }, { migrate }, { requireKeyInUse }] = await Promise.all([
    import('./process.ts'),
    import('../app/migrate.ts'),
    import('../services/secrets/key-in-use.ts'),
  ]);
  const applied = await withGateway(
    { currentSchema: false, secrets: 'if_set' },
    async ({ deps, holdsKey }) => {
      const names = await migrate(deps.orm, progress);
      if (holdsKey) await requireKeyInUse(deps);
      return names;
    },
  );
  const text = applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`;
  return { json: { applied }, text };
}

async function doctor() {
  const { examine, pagesOfDoctor } = await import('./doctor/doctor.ts');
  const checks = await examine(terminal().env);
  const pages = pagesOfDoctor(terminal().env);
  const bad = checks.filter((check) => !check.ok);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ ok, name, detail, action }) => {
    const head = `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(width)}  `;
    return [
      ...wrapped(plain(detail), head),
      ...(action ? wrapped(plain(action), `${' '.repeat(head.length)}→ `) : []),
    ];
  });
  const problem =
    bad.length === 0
      ? undefined
      : `Not well: ${bad.map((check) => check.name).join(', ')}. Do what the lines with → say.`;
  return {
    json: { ok: bad.length === 0, checks, ...pages },
    text: lines.join('\n'),
    ...(pages.temporal_url === null
      ? {}
      : { copy: ['', "What waits for a person, in Temporal's Web UI:", pages.temporal_url] }),
    problem,
  };
}

async function repair() {
  const [{ withGateway }, { repairActors }] = await Promise.all([
    import('./process.ts'),
    import('../services/repair/repair.ts'),
  ]);
  const repaired = await withGateway({ temporal: 'required' }, ({ deps }) =>
    repairActors(deps, (done) => {
      if (done % PROGRESS_EVERY === 0) progress(`${done} actors started…`);
    }),
  );
  const { deposits, payments, payouts, deliveries, outbox } = repaired;
  return {
    json: { deposits, payments, payouts, deliveries, outbox },
    text: `Started ${deposits} deposit actors, ${payments} payment-link actors, ${payouts} payout actors and ${deliveries} delivery actors; performed ${outbox} messages of the outbox.`,
  };
}

async function replay({ args, options }: { args: readonly string[]; options: { readonly query?: string } }) {
  const missing = args.find((file) => !existsSync(file));
  if (missing !== undefined)
    throw new OperatorError(`There is no file ${missing}`, 'Give the paths of exported histories');
  const { quietReplays, replayFiles, replayServer } = await import('../temporal/replay.ts');
  quietReplays();
  const result =
    args.length > 0
      ? await replayFiles([...args])
      : await onServer((place) => replayServer(place, options.query));
  const lines = result.failed.flatMap(({ file, error }) => wrapped(plain(`${file}: ${error}`), 'FAIL  '));
  const summary = `Replayed ${result.replayed}, of which ${result.failed.length} failed.`;
  const problem =
    result.failed.length === 0
      ? undefined
      : 'This code cannot go on with these workflows: keep the version that wrote them running, or guard the change with patched().';
  return {
    json: { replayed: result.replayed, failed: result.failed },
    text: [...lines, summary].join('\n'),
    problem,
  };
}

/** Runs against the server without a database: a replay reads only histories. */
async function onServer<T>(work: (place: TemporalPlace) => Promise<T>): Promise<T> {
  const [{ commandConfig, requireTemporal }, { locateTemporal }, { linkTemporal }] = await Promise.all([
    import('./process.ts'),
    import('../app/process.ts'),
    import('../temporal/client.ts'),
  ]);
  const { config, log } = commandConfig('tool');
  const { place, uiUrl } = await locateTemporal(config, log, false);
  const link = linkTemporal(place);
  try {
    await requireTemporal({ place, link, uiUrl });
  } finally {
    await link.close();
  }
  return await work(place);
}
