import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { patient } from '../patient.ts';

/** How a server is started. */
export interface ServerOptions {
  readonly program: string;
  readonly programArguments: readonly string[];
  /** Both outputs are appended to this file. */
  readonly log: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Whom it runs as when we are root; the files it needs must be this user's. Servers that refuse root need it. */
  readonly user?: UnixUser;
}

/** A user of this system. */
export interface UnixUser {
  readonly uid: number;
  readonly gid: number;
}

/** Debian's user `nobody`, who owns nothing. */
export const nobody: UnixUser = { uid: 65_534, gid: 65_534 };

/** A running child process that dies with this one. */
export interface ServerProcess {
  readonly pid: number;
  readonly running: boolean;
  /** SIGKILL, and waits until it is gone. Does nothing when it is gone already. */
  kill(): Promise<void>;
  /** SIGTERM, as the kubelet sends it, and waits until it is gone. */
  terminate(): Promise<void>;
  /** Tries until `ready` says true. Throws with the end of the log when the process ends or `withinMs` pass first. */
  until(ready: () => Promise<boolean>, withinMs: number): Promise<void>;
}

/** util-linux' program that changes what a process may do before it runs another. */
export const setpriv = '/usr/bin/setpriv';

/** The options of setpriv that make another user of root; nobody else can change. */
export const asUser = (user: UnixUser | undefined): readonly string[] =>
  user === undefined || process.getuid?.() !== 0
    ? []
    : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];

let isTold = false;

/** Says once that nothing ends the servers of a test that is killed. */
const tellMissing = (): void => {
  if (!isTold)
    process.stderr.write(
      `${setpriv} is missing: servers that tests start outlive a test that is killed, and run as the user of the tests. Install util-linux.\n`,
    );
  isTold = true;
};

/** The last lines of a log file, for messages. */
const tail = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8')).trimEnd().split('\n').slice(-15).join('\n');

/**
 * Starts a server. On Linux the kernel kills it when this process ends in any way, so that a crashed test leaves nothing.
 * Throws when the program cannot be started.
 */
export const startServerProcess = async (options: ServerOptions): Promise<ServerProcess> => {
  const { program, programArguments, log, environment = process.env } = options;
  const command = [program, ...programArguments];
  if (existsSync(setpriv)) command.unshift(setpriv, '--pdeathsig', 'KILL', ...asUser(options.user));
  else if (process.platform === 'linux') tellMissing();
  const [file = program, ...rest] = command;
  const output = openSync(log, 'a');
  const child = spawn(file, rest, { stdio: ['ignore', output, output], env: environment });
  closeSync(output);
  await once(child, 'spawn');
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running()) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return {
    pid: child.pid ?? 0,
    get running() {
      return running();
    },
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    async until(ready, withinMs) {
      const end = performance.now() + patient(withinMs);
      while (!(await ready())) {
        if (!running())
          throw new Error(
            `${program} ended with ${child.signalCode ?? `code ${child.exitCode ?? '?'}`}:\n${await tail(log)}`,
          );
        if (performance.now() > end)
          throw new Error(`${program} is not ready after ${withinMs} ms:\n${await tail(log)}`);
        await delay(50);
      }
    },
  };
};
