import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { aptGet } from './apt-get.ts';
import { errorCode } from './error-code.ts';
import { errorReason } from './error-reason.ts';

const run = promisify(execFile);

/** Runs a program and returns its standard output; throws when it fails or is absent. */
export type RunProgram = (program: string, programArguments: readonly string[]) => Promise<string>;

/** The real one, which asks no questions. */
export const runProgram: RunProgram = async (program, programArguments) =>
  (
    await run(program, programArguments, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    })
  ).stdout;

const isInstalled = async (name: string, execute: RunProgram): Promise<boolean> => {
  try {
    return (await execute('dpkg-query', ['-W', '-f', '${Status}', name])).endsWith(' installed');
  } catch (error) {
    // dpkg-query exits with 1 for a package it has never heard of; without dpkg there is nothing to ask.
    if (errorCode(error) === 'ENOENT') {
      throw new Error(`This is no Debian system (dpkg-query is missing): install ${name} with your package manager.`, {
        cause: error,
      });
    }
    return false;
  }
};

/**
 * Installs the Debian packages of the list that are missing, and names them to the person first.
 * Throws an error with the command to run when that is not allowed or fails.
 */
export const ensurePackages = async (
  names: readonly string[],
  tell: (line: string) => void,
  execute: RunProgram = runProgram,
): Promise<void> => {
  const missing: string[] = [];
  for (const name of names) if (!(await isInstalled(name, execute))) missing.push(name);
  if (missing.length === 0) return;
  const list = missing.join(' ');
  tell(`installing the Debian packages ${list}`);
  try {
    await aptGet(['update', '-qq'], execute);
    await aptGet(['install', '-y', '-qq', '--no-install-recommends', ...missing], execute);
  } catch (error) {
    throw new Error(
      `The Debian packages ${list} are needed and could not be installed: ${errorReason(error)}. Run as root: apt-get install ${list}`,
      {
        cause: error,
      },
    );
  }
};
