import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { KubeconfigError } from '../../api/kubeconfig.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { version } from '../version.ts';
import type { CredentialProgram, World } from './frame/world.ts';

/** Colors only for a terminal that can show them, and for a person who wants them (https://no-color.org). */
export function wantsColors(
  isTerminal: boolean,
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** The process, its terminal and its network. */
export function systemWorld(signal: AbortSignal): World {
  return {
    environment: process.env,
    home: homedir(),
    out: (text) => {
      process.stdout.write(text);
    },
    note: (line) => {
      process.stderr.write(`${line}\n`);
    },
    colors: wantsColors(process.stdout.isTTY, process.env),
    interactive: process.stdin.isTTY,
    confirm: (question) => confirmOn(question, signal),
    clock: systemClock,
    random: (octets) => randomBytes(octets),
    signal,
    openCluster: (connection, name) => {
      // A tenant decides what its API server answers.
      const limits = name === 'tenant' ? { maxBodyBytes: 4 * 1024 * 1024, maxLineBytes: 1024 * 1024 } : {};
      return openCluster(connection, { name, userAgent: `kubectl-steward/${version}`, ...limits });
    },
    runCredentialProgram,
  };
}

/** Asks on the standard error: the standard output is for results. */
async function confirmOn(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    terminal.close();
  }
}

function runCredentialProgram({ command, args, environment }: CredentialProgram, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // Its prompts and errors are shown to the user.
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      signal,
      stdio: ['inherit', 'pipe', 'inherit'],
    });
    const printed: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => printed.push(part));
    // Its output may hold a token, so it is not repeated.
    const failed = (how: string): void => {
      const help = 'run it yourself to see why';
      reject(
        signal.aborted ? (signal.reason as Error) : new KubeconfigError(`kubeconfig: exec: ${command} ${how}; ${help}`),
      );
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      failed(error.code === 'ENOENT' ? 'is not installed' : `cannot be started (${String(error.code)})`);
    });
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(printed).toString('utf8'));
      else failed(`ended with exit code ${String(code)}`);
    });
  });
}
