import { existsSync } from 'node:fs';
import { migrate } from '../../app/migrate.ts';
import { locateTemporal } from '../../app/process.ts';
import { OperatorError } from '../../base/errors.ts';
import { repairActors } from '../../services/repair/repair.ts';
import { requireKeyInUse } from '../../services/secrets/key-in-use.ts';
import { linkTemporal } from '../../temporal/client.ts';
import type { TemporalPlace } from '../../temporal/place.ts';
import { presetIn } from '../arguments.ts';
import { plain, wrapped } from '../print.ts';
import { commandConfig, requireTemporal, withGateway } from '../process.ts';
import { type CommandCall, progress } from '../run.ts';
import { terminal } from '../terminal.ts';

/** The gateway as a whole. What is heavy is loaded by the command that needs it. */
export const SERVICE = { start, migrateSchema, doctor, repair, replay };

const PROGRESS_EVERY = 100;

type Start = { readonly role: 'all' | 'api' | 'worker' | 'signer'; readonly preset?: string };

async function start({ options: { role, preset, json } }: CommandCall<Start>) {
  const { startGateway } = await import('../../roles/start.ts');
  await startGateway({ env: presetIn(terminal().env, preset), role, json: json === true });
  return undefined;
}

async function migrateSchema() {
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
  const { examine, pagesOfDoctor } = await import('../doctor/doctor.ts');
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
  const names = bad.map((check) => check.name).join(', ');
  return {
    json: { ok: bad.length === 0, checks, ...pages },
    text: lines.join('\n'),
    ...(pages.temporal_url !== null && {
      copy: ['', "What waits for a person, in Temporal's Web UI:", pages.temporal_url],
    }),
    problem: bad.length === 0 ? undefined : `Not well: ${names}. Do what the lines with → say.`,
  };
}

async function repair() {
  const json = await withGateway({ temporal: 'required' }, async ({ deps }) => {
    const { deposits, payments, payouts, deliveries, outbox } = await repairActors(deps, (done) => {
      if (done % PROGRESS_EVERY === 0) progress(`${done} actors started…`);
    });
    return { deposits, payments, payouts, deliveries, outbox };
  });
  return {
    json,
    text: `Started ${json.deposits} deposit actors, ${json.payments} payment-link actors, ${json.payouts} payout actors and ${json.deliveries} delivery actors; performed ${json.outbox} messages of the outbox.`,
  };
}

async function replay({ args, options }: CommandCall<{ readonly query?: string }>) {
  const missing = args.find((file) => !existsSync(file));
  if (missing !== undefined)
    throw new OperatorError(`There is no file ${missing}`, 'Give the paths of exported histories');
  const { quietReplays, replayFiles, replayServer } = await import('../../temporal/replay.ts');
  quietReplays();
  const { replayed, failed } =
    args.length > 0
      ? await replayFiles([...args])
      : await onServer((place) => replayServer(place, options.query));
  const lines = failed.flatMap(({ file, error }) => wrapped(plain(`${file}: ${error}`), 'FAIL  '));
  return {
    json: { replayed, failed },
    text: [...lines, `Replayed ${replayed}, of which ${failed.length} failed.`].join('\n'),
    problem:
      failed.length === 0
        ? undefined
        : 'This code cannot go on with these workflows: keep the version that wrote them running, or guard the change with patched().',
  };
}

/** Runs against the server without a database: a replay reads only histories. */
async function onServer<T>(work: (place: TemporalPlace) => Promise<T>): Promise<T> {
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
