import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { setpriv } from '../servers/server-process.ts';

/** How a program is run whose descendants end with it. */
export interface GroupOptions {
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** What it says over the channel of node. */
  readonly onMessage: (message: unknown) => void;
  /** Ends it: its group gets SIGTERM, and SIGKILL when something of it is left after `graceMs`. */
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

/**
 * Runs a program in a process group of its own, and resolves with its exit code when it has ended (as in a shell, 128 and the signal's number when a signal ended it), and when it was ended early its
 * group too. The signals that end this process end the group as well.
 */
export async function runGroup(options: GroupOptions): Promise<number> {
  const { program, programArguments, environment, onMessage, signal, graceMs } = options;
  const command = [program, ...programArguments];
  // A group of its own hears nothing of the end of this process: the kernel tells it.
  if (existsSync(setpriv)) command.unshift(setpriv, '--pdeathsig', 'TERM');
  const [file = program, ...rest] = command;
  const child = spawn(file, rest, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: environment,
    detached: true,
  });
  child.on('message', onMessage);
  const forward = (name: NodeJS.Signals): void => void signalGroup(child.pid, name);
  const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of forwarded) process.on(name, forward);
  let ending: Promise<void> = Promise.resolve();
  const end = (): void => {
    ending = endGroup(child.pid, graceMs);
  };
  signal.addEventListener('abort', end);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, by) => {
        resolve(code ?? 128 + constants.signals[by ?? 'SIGKILL']);
      });
    });
  } finally {
    await ending;
    signal.removeEventListener('abort', end);
    for (const name of forwarded) process.off(name, forward);
  }
}

async function endGroup(pid: number | undefined, graceMs: number): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline) {
    if (!signalGroup(pid, 0)) return;
    await pause(100);
  }
  signalGroup(pid, 'SIGKILL');
}

/** False when nothing of the group is left. */
function signalGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
