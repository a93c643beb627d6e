import type { SleepStatus } from '../../../../api/steward/v1alpha1/sleep/sleep-status.ts';
import { without } from '../../shared/without.ts';

/** The record with the port of the activator. It stays while nothing is known of that. */
export function withPort(
  status: SleepStatus | undefined,
  activator: { readonly port?: number } | undefined,
): SleepStatus | undefined {
  if (status === undefined || activator === undefined) return status;
  return { ...without(status, 'port'), ...(activator.port !== undefined && { port: activator.port }) };
}
