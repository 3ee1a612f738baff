import { type Command, CommanderError } from 'commander';
import { exitCodeOf, OperatorError, Refused, UsageError } from '../base/errors.ts';
import { harmless, jsonLine } from '../base/terminal.ts';
import { folded, plain } from './print.ts';
import { terminal } from './terminal.ts';

/**
 * The result of a command: one object for `--json`, lines for a person, and a
 * sentence where something was not well.
 */
export type CommandResult = {
  readonly json: Readonly<Record<string, unknown>>;
  /** The lines for a person; they fit the terminal. */
  readonly text: string;
  /**
   * The parts of it that are copied whole, such as a phrase, a link or a
   * command: one line each, however long.
   */
  readonly copy?: readonly string[];
  /** What to do next: for a person, on stderr, so that the lines of a list stay alone on stdout. */
  readonly next?: string | undefined;
  /** The command did its work and the outcome is bad: printed to stderr, exit code 1. */
  readonly problem?: string | undefined;
};

/** How a command was called. */
export type CommandCall<Options = object> = {
  readonly args: readonly string[];
  readonly options: Options & { readonly json?: true };
};

/** Does a command's work; one that returns nothing has printed everything itself. */
export type CommandWork = (call: CommandCall<never>) => Promise<CommandResult | undefined>;

/** What a command takes that writes down who did it and why. */
export type Acting = { readonly by?: string };
export type Explained = Acting & { readonly reason?: string };
export type DecidedBy = { readonly by: string; readonly reason: string };

const MAX_SENTENCE = 600;
/** Nothing may keep a finished command alive; this limit ends it where something does. */
const LINGER_MS = 3_000;
const ALIVE_MS = 60_000;

/** Makes a command's action: loads its work, does it, and prints the result. */
export function answering(load: () => Promise<CommandWork>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.opts<{ json?: true }>();
    const work = await load();
    const answer = await work({ args: command.args, options } as never);
    if (!answer) return;
    const { stdout, stderr } = terminal();
    const text = answer.text === '' ? [] : [folded(answer.text)];
    stdout.write(
      options.json ? jsonLine(answer.json) : lines(...text, ...(answer.copy ?? []).map(harmlessLines)),
    );
    if (!options.json && answer.next) stderr.write(lines(folded(answer.next)));
    if (answer.problem === undefined) return;
    stderr.write(lines(harmlessLines(answer.problem)));
    throw new NotWell();
  };
}

/** Ends a command that has said everything: its outcome is bad. */
class NotWell extends Error {}

/** One line of progress for a person; stdout is kept for the result. */
export function progress(line: string): void {
  terminal().stderr.write(lines(folded(line)));
}

function lines(...parts: readonly string[]): string {
  return parts.map((part) => `${part}\n`).join('');
}

function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

/** commander quotes its arguments in errors: they are shortened here, and control characters are removed. */
export function quietErrors(program: Command): Command {
  return program.configureOutput({
    writeOut: (text) => terminal().stdout.write(text),
    writeErr: (text) => terminal().stderr.write(text),
    outputError: (text, write) => write(`${shortened(text.trimEnd())}\n`),
  });
}

/** commander puts the command that may be meant into a line of its own. */
const SUGGESTION = /\n(\(Did you mean [^\n]*)$/;

function shortened(given: string): string {
  const text = given.replace(SUGGESTION, ' $1');
  return text.length <= MAX_SENTENCE
    ? plain(text)
    : `${plain(text.slice(0, MAX_SENTENCE / 2))}…${plain(text.slice(-MAX_SENTENCE / 2))}`;
}

/**
 * Parses the command line, runs the command and gives this process its exit code.
 * Never throws and never prints a stack unless LOG_LEVEL asks for it.
 */
export async function runProcess(program: Command, argv: readonly string[]): Promise<void> {
  ignoreClosedPipe(process.stdout);
  ignoreClosedPipe(process.stderr);
  // A wait for something that does not keep the loop alive (the end
  // of a child process) must not end the command half-way with 0.
  const alive = setInterval(() => undefined, ALIVE_MS);
  const code = await runProgram(program, argv);
  clearInterval(alive);
  if (code !== 0) process.exitCode = code;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** The same at any terminal; answers with the exit code, and leaves that of the process alone. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return await fail(error, argv.includes('--json'));
  }
}

async function fail(error: unknown, json: boolean): Promise<number> {
  if (error instanceof NotWell) return 1;
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // commander has written its own sentence to stderr.
    if (json)
      writeJsonError(
        error.code === 'commander.help'
          ? 'A command is missing.'
          : shortened(error.message.replace(/^error: /, '')),
      );
    return 2;
  }
  const sentence = await sentenceOf(error);
  const { env, stderr } = terminal();
  stderr.write(lines(harmlessLines(sentence)));
  if (/^(debug|trace)$/.test(env['LOG_LEVEL'] ?? '') && error instanceof Error) {
    const { hideInText } = await import('../base/log.ts');
    stderr.write(lines(harmlessLines(hideInText(error.stack ?? ''))));
  }
  if (json) writeJsonError(sentence);
  return exitCodeOf(error);
}

function writeJsonError(sentence: string): void {
  terminal().stdout.write(jsonLine({ error: sentence }));
}

/** PostgreSQL's own code. */
const NOT_PERMITTED = '42501';

/** Known refusals speak for themselves; anything else becomes one sentence without secrets. */
async function sentenceOf(error: unknown): Promise<string> {
  if (error instanceof UsageError) return `${error.message} Add --help to see how it is used.`;
  if (error instanceof OperatorError) return error.message;
  const { hideInText } = await import('../base/log.ts');
  const message = hideInText(error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  if (error instanceof Refused) return capital(ended(message));
  if (error instanceof Error && 'code' in error && error.code === NOT_PERMITTED)
    return `The role of DATABASE_URL may not do this (${message.slice(0, MAX_SENTENCE)}). The role that owns the tables migrates and archives, the service's changes rows, the reader's only looks: name the right one (docs/operations.md).`;
  return `The command failed: ${ended(message.slice(0, MAX_SENTENCE))} Set LOG_LEVEL=debug and run it again to see more.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * `gateway deposit list | head -1` closes our stdout early; that
 * is no error. A full disk is one: what was to be shown is lost.
 */
function ignoreClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    if (stream === process.stdout)
      process.stderr.write(
        `The answer could not be written (${error.code}). What the command did is done: look before you run it again.\n`,
      );
  });
}
