import { describe, expect, test } from '@jest/globals';
import type { Probe } from '../shared/pod-parts.ts';
import { probes } from './probes.ts';

const apiServer = { port: 6443, live: '/livez', ready: '/readyz' };

/** Seconds after which a kubelet acts on a server that answers no probe in time. */
function actsAfter({ periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 }: Probe): number {
  return Math.max(periodSeconds, timeoutSeconds) * failureThreshold;
}

describe('A server that answers too late', () => {
  test('keeps its requests for a while, because a Service without its only server refuses every request', () => {
    const { readinessProbe = {} } = probes(apiServer);
    expect(actsAfter(readinessProbe)).toBeGreaterThanOrEqual(15);
  });

  test('gets no more requests before it is restarted', () => {
    const { readinessProbe = {}, livenessProbe = {} } = probes(apiServer);
    expect(actsAfter(readinessProbe)).toBeLessThan(actsAfter(livenessProbe));
  });
});

test('the author’s timing overrides the default, and that of one component overrides that of all', () => {
  const all = { readiness: { failureThreshold: 3, periodSeconds: 10 } };
  const { readinessProbe } = probes(apiServer, all, { readiness: { failureThreshold: 2 } });
  expect(readinessProbe).toMatchObject({ failureThreshold: 2, periodSeconds: 10, timeoutSeconds: 3 });
});
