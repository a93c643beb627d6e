import { spawn } from 'node:child_process';

import { slowness } from '../slowness.ts';

/** How a command is run. */
export interface CommandOptions {
  /** Written to the command's standard input, which is then closed. */
  readonly input?: string | Uint8Array;
  /** After this many milliseconds the whole process group is killed. Default: 60 000; longer on a slow machine. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called with every piece of output while the command runs. */
  readonly onOutput?: (chunk: string, stream: 'stdout' | 'stderr') => void;
  /** Replaces the environment. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What an error message calls the command. Default: the command itself. */
  readonly title?: string;
  /** Appended to the error message of a failure: for example the last lines of the log of what stalled. */
  readonly diagnose?: () => Promise<string>;
}

/** What a finished command said. */
export interface CommandOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command failed, was killed by its time limit or was aborted; the message holds its last lines. */
export class CommandError extends Error {
  readonly output: CommandOutput;

  constructor(message: string, output: CommandOutput) {
    super(message);
    this.name = 'CommandError';
    this.output = output;
  }
}

const keptCharacters = 16 * 1024 * 1024;

/** The last `count` non-empty lines of a text. */
export function lastLines(text: string, count = 20): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}

/**
 * Runs a command in a process group of its own and resolves when it has exited with 0.
 * @throws CommandError when it exits otherwise, exceeds `timeoutMs` or is aborted: the group is then killed.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandOutput> {
  const { output, ended } = await finish(command, args, options);
  if (ended === undefined && output.code === 0) return output;
  const said = lastLines(`${output.stdout}\n${output.stderr}`);
  const why = ended ?? `exited with code ${output.code}`;
  const more = options.diagnose === undefined ? '' : `\n${await options.diagnose()}`;
  throw new CommandError(`${titleOf(command, args, options)}: ${why}\n${said}${more}`, output);
}

/** Like {@link runCommand}, but an exit code other than 0 is an answer and no error. */
export async function tryCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandOutput> {
  const { output, ended } = await finish(command, args, options);
  if (ended === undefined) return output;
  throw new CommandError(`${titleOf(command, args, options)}: ${ended}\n${lastLines(output.stderr)}`, output);
}

function titleOf(command: string, args: readonly string[], options: CommandOptions): string {
  return options.title ?? [command, ...args].join(' ').slice(0, 300);
}

async function finish(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<{ readonly output: CommandOutput; readonly ended: string | undefined }> {
  options.signal?.throwIfAborted();
  const timeoutMs = (options.timeoutMs ?? 60_000) * slowness();
  const child = spawn(command, args, {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: options.env,
    cwd: options.cwd,
  });
  let ended: string | undefined;
  const kill = (why: string): void => {
    ended ??= why;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => {
    kill(`killed because it had not finished after ${timeoutMs / 1000} s`);
  }, timeoutMs);
  const onAbort = (): void => {
    kill('aborted');
  };
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] = (text[stream] + chunk).slice(-keptCharacters);
      options.onOutput?.(chunk, stream);
    });
  }
  // A command may exit without reading its input: that shows in its exit code, so EPIPE itself is no news.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => {
        reject(new Error(`${command} cannot be started: ${error.message}`, { cause: error }));
      });
      child.once('close', (exitCode, signalName) => {
        resolve(exitCode ?? (signalName === null ? 255 : 128));
      });
    });
    return { output: { code, ...text }, ended };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
