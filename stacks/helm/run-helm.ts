import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { RenderError } from '../render-error.ts';
import { watchMemory } from './watch-memory.ts';

/** One call of helm. */
export interface HelmCall {
  /** Path of the program, or its name where `PATH` knows it. */
  readonly program: string;
  readonly args: readonly string[];
  /** What helm reads from standard input: values go there, because arguments are seen by every process of the machine. */
  readonly input: string;
  /** A folder of this call alone: helm's home, cache, configuration and temporary files. */
  readonly home: string;
  /** `PATH` of helm, where its own name is looked for too. */
  readonly searchPath: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Memory of its own that helm may hold. */
  readonly maxMemoryBytes: number;
  readonly signal: AbortSignal;
}

/** Helm ended with an error; `complaint` is what it printed, with whatever of the values is in it. */
export class HelmRefusal extends Error {
  override readonly name = 'HelmRefusal';
  readonly complaint: string;

  constructor(complaint: string) {
    super('helm ended with an error');
    this.complaint = complaint;
  }
}

/**
 * All that helm gets to see. It inherits nothing: the manager's environment has credentials. Proxies lead nowhere, because charts
 * can name addresses (in the `$ref` of a values schema), and rendering asks nobody.
 */
const environment = ({ home, searchPath, maxMemoryBytes }: HelmCall): Readonly<Record<string, string>> => ({
  PATH: searchPath,
  HOME: home,
  TMPDIR: home,
  HELM_CACHE_HOME: join(home, 'cache'),
  HELM_CONFIG_HOME: join(home, 'config'),
  HELM_DATA_HOME: join(home, 'data'),
  KUBECONFIG: join(home, 'no-kubeconfig'),
  // From here on Go collects garbage as often as it takes (https://pkg.go.dev/runtime, GOMEMLIMIT); what it needs it still takes.
  GOMEMLIMIT: String(Math.floor(maxMemoryBytes * 0.75)),
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
});

/**
 * Runs helm and resolves with its standard output.
 * @throws HelmRefusal when it ends with an error; RenderError when it is missing, takes too long, too
 * much memory, writes too much, or its memory cannot be seen; the reason of
 * the signal when that is aborted. In all cases the process has ended.
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
    // Not the option `signal`, with which the answer does not wait for the end of the process.
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
    // Without a pid it could not be started, which is told to the callback.
    const unwatch = child.pid === undefined ? noop : watchMemory(child.pid, bound);
    // Helm may end without reading its input: that shows in its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(call.input);
  });
}

function noop(): void {
  // Nothing was begun.
}

function tooMuchMemory({ maxMemoryBytes }: HelmCall): RenderError {
  return new RenderError(
    'TooMuchMemory',
    `helm took more than ${Math.round(maxMemoryBytes / 1024 / 1024)} MiB of memory and was stopped; look for a loop in the chart or its values, or divide the chart into stages`,
  );
}

function memoryUnseen(why: string): RenderError {
  return new RenderError(
    'MemoryUnseen',
    `helm was stopped, because the memory that it takes could not be seen and so not be bounded (${why}); give the manager's container a /proc as the kernel makes it`,
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
        `charts are rendered by helm, and ${call.program} cannot be started (${error.code}). ` +
          'The image steward:<version>-helm has it; elsewhere --helm names a helm of version 4.',
      );
    case 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER':
      return new RenderError(
        'TooLarge',
        `helm wrote more than ${call.maxOutputBytes} bytes and was stopped; a chart of this size has to be divided into stages`,
      );
  }
  if (error.killed === true) {
    return new RenderError(
      'TimedOut',
      `helm had not finished after ${call.timeoutMs / 1000} s and was stopped; look for a loop in the chart, or for a machine without CPU to spare`,
    );
  }
  return new HelmRefusal(stderr.trim() === '' ? error.message : stderr);
}
