import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Manifest } from '../../api/meta.ts';
import type { RenderFailure } from '../sources/render-error.ts';
import { RenderError } from '../sources/render-error.ts';
import { readManifests } from './read-manifests.ts';

/** What the worker thread is given. */
export interface ReadTask {
  readonly text: string;
  readonly origin: string;
}

/** What the worker thread answers: lists of objects in JSON, or why there are none. */
export type ReadAnswer =
  { readonly pieces: readonly string[] } | { readonly failure: RenderFailure; readonly message: string };

/** How much reading may cost. */
export interface ReadLimits {
  /** Longer texts are read in a thread of their own, in characters. Default: 64 Ki, about what starting a thread costs. */
  readonly asideFrom?: number;
  /** How long the thread may take, in milliseconds. Default: a minute. */
  readonly timeoutMs?: number;
  /** How much memory the thread may hold, in bytes. Default: 256 MiB, which is enough for 32 MiB of text. */
  readonly maxMemoryBytes?: number;
}

/**
 * Like `readManifests`, but reads large texts in a worker thread: 1 MiB takes half a second of CPU time, which would block this
 * process, and memory that could not be bounded otherwise.
 * @throws RenderError, and the reason of the signal when that is aborted. In all cases the thread has ended.
 */
export async function readAside(
  task: ReadTask,
  signal: AbortSignal,
  limits: ReadLimits = {},
): Promise<readonly Manifest[]> {
  signal.throwIfAborted();
  if (task.text.length <= (limits.asideFrom ?? 64 * 1024)) return readManifests(task.text, task.origin);
  const answer = await answerOfThread(task, signal, limits);
  if ('failure' in answer) throw new RenderError(answer.failure, answer.message);
  const manifests: Manifest[] = [];
  for (const piece of answer.pieces) {
    await setImmediate();
    signal.throwIfAborted();
    manifests.push(...(JSON.parse(piece) as readonly Manifest[]));
  }
  return manifests;
}

async function answerOfThread(
  task: ReadTask,
  signal: AbortSignal,
  { timeoutMs = 60_000, maxMemoryBytes = 256 * 1024 * 1024 }: ReadLimits,
): Promise<ReadAnswer> {
  // In the bundle, the program of the thread is a file next to it.
  const program = import.meta.url.endsWith('.ts') ? './manifest-worker.ts' : './manifest-worker.mjs';
  const worker = new Worker(new URL(program, import.meta.url), {
    workerData: task,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: Math.floor(maxMemoryBytes / 1024 / 1024), maxYoungGenerationSizeMb: 16 },
  });
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    return await new Promise<ReadAnswer>((resolve, reject) => {
      abort = () => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      timer = setTimeout(() => {
        const message = `reading ${task.origin} took longer than ${timeoutMs / 1000} s; split it into stages`;
        reject(new RenderError('TimedOut', message));
      }, timeoutMs);
      worker.once('message', resolve);
      worker.once('error', (error: Error) => {
        reject(isOutOfMemory(error) ? tooLarge(task, maxMemoryBytes) : error);
      });
      worker.once('exit', () => {
        reject(new Error(`the thread that reads ${task.origin} exited without a result`));
      });
    });
  } finally {
    clearTimeout(timer);
    if (abort !== undefined) signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge({ origin }: ReadTask, maxMemoryBytes: number): RenderError {
  const mebibytes = Math.round(maxMemoryBytes / 1024 / 1024);
  const message = `reading ${origin} takes more than ${mebibytes} MiB of memory; split it into stages`;
  return new RenderError('TooLarge', message);
}
