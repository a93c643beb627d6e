import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { programs } from '../addons/programs.ts';
import type { Program } from './guarded-arguments.ts';
import { isNotNew, runsAlready } from './running-pods.ts';

type Given = NonNullable<TenantControlPlaneChanges['deployment']>;

const given: Given = {
  additionalContainers: [
    { name: 'extra', image: 'x', securityContext: { privileged: true }, resources: { limits: { cpu: '1000m' } } },
  ],
  additionalVolumes: [{ name: 'root', hostPath: { path: '/' } }],
  additionalVolumeMounts: { apiServer: [{ name: 'root', mountPath: '/host' }] },
};

/** The Deployment as the API server gives it back: with defaults, and quantities in its own form. */
const present: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: storedMeta({}),
  spec: {
    selector: {},
    template: {
      spec: {
        containers: [
          {
            name: 'extra',
            image: 'x',
            imagePullPolicy: 'Always',
            securityContext: { privileged: true },
            resources: { limits: { cpu: '1' } },
          },
          {
            name: 'kube-apiserver',
            args: ['--client-ca-file=/x', '--profiling=true'],
            volumeMounts: [{ name: 'root', mountPath: '/host' }],
          },
        ],
        volumes: [{ name: 'root', hostPath: { path: '/', type: '' } }],
      },
    },
  },
};
const runs = (deployment: Given): boolean => runsAlready(tenantControlPlaneWith({ deployment }), present);

describe('What an author adds', () => {
  test('runs already if the pods have it, with what the API server fills in', () => {
    expect(runs(given)).toBe(true);
    expect(runsAlready(tenantControlPlaneWith({ deployment: given }), undefined)).toBe(false);
  });

  test.each<[string, Given]>([
    ['a container', { ...given, additionalContainers: [{ name: 'other', image: 'x' }] }],
    ['a command', { ...given, additionalContainers: [{ name: 'extra', image: 'x', command: ['sh'] }] }],
    ['a volume', { ...given, additionalVolumes: [{ name: 'root', hostPath: { path: '/etc' } }] }],
    ['a mount', { ...given, additionalVolumeMounts: { scheduler: [{ name: 'root', mountPath: '/host' }] } }],
  ])('is new with another: %s', (_what, deployment) => {
    expect(runs(deployment)).toBe(false);
  });
});

describe('An argument', () => {
  const program = (name: string): Program => {
    const found = programs.find(({ component }) => component === name);
    if (found === undefined) throw new Error(`there is no program ${name}`);
    return found;
  };
  const made = { containers: [{ name: 'kube-apiserver', args: ['--a=1', '--client-ca-file=/x', '--profiling=true'] }] };

  test.each([
    ['that the pods have', '--client-ca-file=/x', true],
    ['that the pods have with a value', '--profiling', true],
    ['that they do not have yet', '--a=1', false],
    ['that does not reach the program', '--b=1', true],
  ])('%s: %s', (_which, argument, isOld) => {
    expect(isNotNew({ made, present }, program('apiServer'), argument)).toBe(isOld);
  });

  test('of agents does not concern these pods', () => {
    expect(isNotNew({ made, present }, program('konnectivityAgent'), '--a=1')).toBe(true);
  });
});
