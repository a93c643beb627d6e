import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { controlPlaneState } from './state.ts';
import type { StateInput } from './state.ts';

function pods(ready: number, of = 2, updated = of): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: storedMeta({ generation: 3 }),
    status: {
      observedGeneration: 3,
      replicas: of,
      updatedReplicas: updated,
      readyReplicas: ready,
      unavailableReplicas: of - ready,
    },
  };
}

const running: StateInput = {
  replicas: 2,
  installed: 'v1.36.3',
  deployment: pods(2),
  applied: 'v1.36.3',
  usable: true,
  rotating: false,
};

const first: StateInput = { ...running, installed: undefined };
const upgrade: StateInput = { ...running, installed: 'v1.35.4' };

describe('The state of a control plane in one word', () => {
  test.each<[string, StateInput, string, string | undefined]>([
    ['all pods ready', running, 'Ready', 'v1.36.3'],
    ['nothing made yet', { ...first, deployment: undefined, applied: undefined }, 'Provisioning', undefined],
    ['pods start for the first time', { ...first, deployment: pods(0) }, 'Provisioning', undefined],
    ['a first pod is ready and the tenant prepared', { ...first, deployment: pods(1) }, 'Ready', 'v1.36.3'],
    ['a first pod is ready and the tenant not prepared', { ...first, usable: false }, 'Provisioning', undefined],
    ['pods are replaced without another version', { ...running, deployment: pods(2, 3, 1) }, 'Ready', 'v1.36.3'],
    ['no pod is ready anymore', { ...running, deployment: pods(0) }, 'NotReady', 'v1.36.3'],
    ['the Deployment is gone', { ...running, deployment: undefined, applied: undefined }, 'NotReady', 'v1.36.3'],
    ['pods of a new version start', { ...upgrade, deployment: pods(2, 4, 2) }, 'Upgrading', 'v1.35.4'],
    ['no pod serves while the version changes', { ...upgrade, deployment: pods(0) }, 'Upgrading', 'v1.35.4'],
    ['all pods have the new version', upgrade, 'Ready', 'v1.36.3'],
    ['the new version was refused', { ...upgrade, applied: undefined }, 'Ready', 'v1.35.4'],
    ['no pods are wanted', { ...running, replicas: 0, deployment: pods(0, 0) }, 'Sleeping', 'v1.36.3'],
    ['a version changes while it sleeps', { ...upgrade, replicas: 0 }, 'Sleeping', 'v1.36.3'],
    ['a refused version while it sleeps', { ...upgrade, replicas: 0, applied: undefined }, 'Sleeping', 'v1.35.4'],
    [
      'pods with a new CA start',
      { ...running, rotating: true, deployment: pods(2, 4, 2) },
      'CertificateAuthorityRotating',
      'v1.36.3',
    ],
    ['writes are denied', { ...running, limited: true }, 'WriteLimited', 'v1.36.3'],
    [
      'writes are denied while pods are replaced',
      { ...running, limited: true, deployment: pods(2, 3, 1) },
      'WriteLimited',
      'v1.36.3',
    ],
    ['writes are denied after an upgrade', { ...upgrade, limited: true }, 'WriteLimited', 'v1.36.3'],
    [
      'writes are denied and no pod is ready',
      { ...running, limited: true, deployment: pods(0) },
      'NotReady',
      'v1.36.3',
    ],
    ['pods with a new CA are ready', { ...running, rotating: true }, 'Ready', 'v1.36.3'],
  ])('%s', (_case, input, state, installed) => {
    expect(controlPlaneState(input)).toEqual({ state, installed });
  });

  test('is never Unknown, whatever is observed', () => {
    fc.assert(
      fc.property(
        fc.record({
          applied: fc.constantFrom(undefined, 'v1.36.3'),
          usable: fc.boolean(),
          rotating: fc.boolean(),
          replicas: fc.nat(3),
          installed: fc.constantFrom(undefined, 'v1.35.4', 'v1.36.3'),
          deployment: fc.constantFrom(undefined, pods(0), pods(1), pods(2), pods(2, 4, 2)),
        }),
        (seen) => {
          expect(controlPlaneState({ ...running, ...seen }).state).not.toBe('Unknown');
        },
      ),
    );
  });
});
