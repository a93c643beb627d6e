import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { images } from '../shared/images.ts';
import { pendingUpgrade } from './pending-upgrade.ts';
import { versionFacts } from './version-facts.ts';

describe('pendingUpgrade', () => {
  const step = (
    wanted: string,
    asked: string | undefined,
    installed: string | undefined,
    { tagSuffix = '', newestMinor = 36 } = {},
  ): readonly [number, number] | undefined => {
    const registrySettings = {
      registry: 'mirror.example.com:5000/a-v1.2.3/x',
      apiServerImage: 'kube-apiserver',
      controllerManagerImage: 'c',
      schedulerImage: 's',
      tagSuffix,
    };
    const tcp = tenantControlPlaneWith({
      kubernetes: { version: wanted },
      deployment: { registrySettings },
      status: {
        kubernetesResources: { version: { status: 'Ready', version: installed } },
      },
    });
    const image =
      asked === undefined ? 'kube-apiserver@sha256:0' : images({ tcp, version: parseVersion(asked) }).apiServer;
    const containers = [{ name: 'kube-apiserver', image }];
    const deployment: Deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: storedMeta({ name: 'tenant' }),
      spec: { selector: {}, template: { spec: { containers } } },
    };
    const found = pendingUpgrade(versionFacts({ tcp, deployment, newestMinor }));
    return found === undefined ? undefined : [found.from.minor, found.to.minor];
  };

  test.each<[string, Parameters<typeof step>, readonly [number, number] | undefined]>([
    ['the next minor', ['v1.36.3', 'v1.35.4', 'v1.35.4'], [35, 36]],
    [
      'the next minor, with a tag of the author',
      ['v1.36.3', 'v1.35.4', 'v1.35.4', { tagSuffix: '-hardened' }],
      [35, 36],
    ],
    [
      'the next minor of a pre-release',
      ['v1.36.0-rc.1', 'v1.35.0-rc.0', 'v1.35.0-rc.0', { tagSuffix: '-x' }],
      [35, 36],
    ],
    ['an image without a version', ['v1.36.3', undefined, 'v1.35.4'], [35, 36]],
    ['another patch', ['v1.35.9', 'v1.35.4', 'v1.35.4'], undefined],
    ['the version that the pods have already', ['v1.36.3', 'v1.36.3', 'v1.35.4'], undefined],
    ['a way back', ['v1.35.4', 'v1.36.3', 'v1.35.4'], undefined],
    ['a minor that is skipped', ['v1.36.3', 'v1.34.1', 'v1.34.1'], undefined],
    ['a minor that is skipped while the one before is rolled out', ['v1.36.3', 'v1.35.4', 'v1.34.1'], undefined],
    ['the first start', ['v1.36.3', 'v1.35.4', undefined], undefined],
    ['what is not a version', ['latest', 'v1.35.4', 'v1.35.4'], undefined],
    ['the next minor, above those that are tested', ['v1.40.0', 'v1.39.1', 'v1.39.1', { newestMinor: 40 }], [39, 40]],
    ['the next minor, above those that are hosted', ['v1.40.0', 'v1.39.1', 'v1.39.1', { newestMinor: 39 }], undefined],
  ])('%s', (_what, given, expected) => {
    expect(step(...given)).toEqual(expected);
  });
});
