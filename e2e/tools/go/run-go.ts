import { spawn } from 'node:child_process';

/** What `go` needs beside its arguments. */
export interface Go {
  readonly program: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Runs `go` in a folder and returns its standard output. Throws an error with the last lines of what it complained about. */
export const runGo = async (
  go: Go,
  folder: string,
  goArguments: readonly string[],
  extra: NodeJS.ProcessEnv = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(go.program, goArguments, {
      cwd: folder,
      // A compiler lives for a second, and has better things to do than to collect its garbage: a tenth of a build.
      env: { GOGC: '400', ...go.environment, ...extra, GOWORK: 'off' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) {
        resolve(output);
        return;
      }
      reject(
        new Error(
          `go ${goArguments[0] ?? ''} in ${folder} ended with ${signal ?? `code ${code ?? '?'}`}:\n${errors.trim()}`,
        ),
      );
    });
  });
