import { request } from 'node:https';
import { deadline } from '../../runtime/deadline.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PodAddress } from './ready-pods.ts';

/**
 * True if the API server of a pod says that it is ready, as it says to its kubelet: without credentials, and without verification, because
 * only the client can verify with whom it speaks. Nothing else of the answer is read.
 */
export async function apiServerAnswers(
  { host, port }: PodAddress,
  { clock, answerMs, signal }: { readonly clock: Clock; readonly answerMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const limit = deadline(clock, answerMs, [signal]);
  try {
    return await new Promise((resolve) => {
      const options = { host, port, path: '/readyz', agent: false, rejectUnauthorized: false, signal: limit.signal };
      const asked = request(options, (response) => {
        resolve(response.statusCode === 200);
        response.destroy();
      });
      // It does not listen yet, or is slow: asked again soon.
      asked.on('error', () => {
        resolve(false);
      });
      asked.end();
    });
  } finally {
    limit.release();
  }
}
