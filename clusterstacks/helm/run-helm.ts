import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { RenderError } from '../sources/render-error.ts';
import { watchMemory } from './watch-memory.ts';

/** One call of helm. */
export interface HelmCall {
  /** Path of the program, or its name where `PATH` knows it. */
  readonly program: string;
  readonly args: readonly string[];
  /** Standard input of helm. Values are passed there, because every process of the machine can see arguments. */
  readonly input: string;
  /** A folder of this call alone: helm's home, cache, configuration and temporary files. */
  readonly home: string;
  /** `PATH` of helm, in which helm itself is searched for, too. */
  readonly searchPath: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Memory of its own that helm may hold. */
  readonly maxMemoryBytes: number;
  readonly signal: AbortSignal;
}

/** Helm failed; `invalid` is what it printed, which may contain values. */
export class HelmRefusal extends Error {
  override readonly name = 'HelmRefusal';
  readonly invalid: string;

  constructor(invalid: string) {
    super('helm failed');
    this.invalid = invalid;
  }
}

/**
 * The whole environment of helm. Nothing is inherited, because the manager's environment contains credentials. The proxies lead
 * nowhere, because charts can contain URLs (`$ref` in a values schema) and rendering must not use the network.
 */
const environment = ({ home, searchPath, maxMemoryBytes }: HelmCall): Readonly<Record<string, string>> => ({
  PATH: searchPath,
  HOME: home,
  TMPDIR: home,
  HELM_CACHE_HOME: join(home, 'cache'),
  HELM_CONFIG_HOME: join(home, 'config'),
  HELM_DATA_HOME: join(home, 'data'),
  KUBECONFIG: join(home, 'no-kubeconfig'),
  // Above this, Go collects garbage as often as necessary (https://pkg.go.dev/runtime, GOMEMLIMIT), but is not limited.
  GOMEMLIMIT: String(Math.floor(maxMemoryBytes * 0.75)),
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
});

/**
 * Runs helm and resolves with its standard output.
 * @throws HelmRefusal when it fails; RenderError when it is missing, takes too long or too much memory, prints too much, or
 * its memory cannot be read; the reason of the signal when that is aborted. In all cases the process has ended.
 */
export async function runHelm(call: HelmCall): Promise<string> {
  call.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = execFile(
      call.program,
      [...call.args],
      {
        cwd: call.home,
        env: environment(call),
        encoding: 'utf8',
        timeout: call.timeoutMs,
        maxBuffer: call.maxOutputBytes,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        call.signal.removeEventListener('abort', end);
        unwatch();
        if (error === null) resolve(stdout);
        else reject(stopped === undefined || call.signal.aborted ? translated(error, stderr, call) : stopped);
      },
    );
    // Not the option `signal`: with it, the callback does not wait for the process to end.
    const end = (): void => void child.kill('SIGKILL');
    call.signal.addEventListener('abort', end, { once: true });
    let stopped: RenderError | undefined;
    const stop = (why: RenderError): void => {
      stopped = why;
      end();
    };
    const bound = {
      maxBytes: call.maxMemoryBytes,
      exceeded: () => {
        stop(tooMuchMemory(call));
      },
      unseen: (why: string) => {
        stop(memoryUnseen(why));
      },
    };
    // Without a pid it could not be started; the callback gets the error.
    const unwatch = child.pid === undefined ? noop : watchMemory(child.pid, bound);
    // Helm may end without reading its input; its exit code shows that.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(call.input);
  });
}

function noop(): void {
  // Nothing to stop.
}

function tooMuchMemory({ maxMemoryBytes }: HelmCall): RenderError {
  return new RenderError(
    'TooMuchMemory',
    `helm used more than ${Math.round(maxMemoryBytes / 1024 / 1024)} MiB of memory and was stopped; look for a loop in the chart or its values, or split the chart into stages`,
  );
}

function memoryUnseen(why: string): RenderError {
  return new RenderError(
    'MemoryUnseen',
    `helm was stopped, because its memory use could not be read and therefore could not be limited (${why}); mount the kernel's unmodified /proc in the manager's container`,
  );
}

interface ProcessFailure extends Error {
  readonly code?: unknown;
  readonly killed?: boolean;
}

function translated(error: ProcessFailure, stderr: string, call: HelmCall): Error {
  if (call.signal.aborted) return call.signal.reason as Error;
  switch (error.code) {
    case 'ENOENT':
    case 'EACCES':
    case 'ENOEXEC':
      return new RenderError(
        'HelmMissing',
        `charts are rendered by helm, and ${call.program} cannot be started (${error.code}): ` +
          'use the image steward:<version>-helm, or set --helm to a helm of version 4',
      );
    case 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER':
      return new RenderError(
        'TooLarge',
        `helm printed more than ${call.maxOutputBytes} bytes and was stopped; split the chart into stages`,
      );
  }
  if (error.killed === true) {
    return new RenderError(
      'TimedOut',
      `helm did not finish within ${call.timeoutMs / 1000} s and was stopped; look for a loop in the chart, or give the manager more CPU`,
    );
  }
  return new HelmRefusal(stderr.trim() === '' ? error.message : stderr);
}
