import { ApiError } from '../../cluster/api-connection.ts';

/**
 * Whether a call was answered with no. A call that was not answered may succeed elsewhere. Nor is it an answer when etcd
 * gave up waiting for a write: it drops what followers have sent to a leader that hands over, and the API server passes
 * that on as an error 500 after seven seconds.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && !(error.code === 500 && error.message.includes('etcdserver: request timed out'));
}
