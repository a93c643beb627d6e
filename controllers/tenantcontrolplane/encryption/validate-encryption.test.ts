import { describe, expect, test } from '@jest/globals';
import type { Encryption } from '../../../api/embedded/encryption.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { validateEncryption } from './validate-encryption.ts';

const secrets: Encryption = { resources: ['secrets'], provider: 'secretbox' };
const plugin: Encryption = { resources: ['secrets'], provider: 'kms', kms: { name: 'vault', container: 'vault-kms' } };
const container = { name: 'vault-kms', image: 'x' };

function errors(encryption: Encryption | undefined, changes: TenantControlPlaneChanges = {}): readonly string[] {
  const kubernetes = encryption === undefined ? {} : { encryption };
  return validateEncryption(tenantControlPlaneWith({ ...changes, kubernetes })).map(
    ({ field, value = '', reason }) => `${field} ${value} ${reason}`,
  );
}

const inUse = {
  encryption: {
    revision: 1,
    step: 'Done',
    distributed: true,
    resources: [{ resource: 'secrets', writes: 'kms/vault' }],
    kmsContainers: ['vault-kms'],
  },
} as const;

describe('Admission of an encryption', () => {
  test('accepts resources of any group, and plugins in both kinds of containers that stay', () => {
    expect(errors(secrets)).toEqual([]);
    expect(errors({ ...secrets, resources: ['configmaps', 'widgets.example.com'] })).toEqual([]);
    expect(errors(plugin, { deployment: { additionalContainers: [container] } })).toEqual([]);
    const sidecar = { ...container, restartPolicy: 'Always' };
    expect(errors(plugin, { deployment: { additionalInitContainers: [sidecar] } })).toEqual([]);
  });

  test.each(['serviceipallocations', 'events.events.k8s.io', 'ingresses.extensions'])(
    'refuses the resource %s, which kube-apiserver would not encrypt',
    (resource) => {
      const [found = ''] = errors({ ...secrets, resources: ['secrets', resource] });
      expect(found).toMatch(`spec.kubernetes.encryption.resources[1] ${resource} is`);
    },
  );

  test('refuses a plugin without its container, and one in a container that ends', () => {
    const found = 'spec.kubernetes.encryption.kms.container vault-kms is not the name of an additional container';
    expect(errors(plugin)[0]).toMatch(found);
    expect(errors(plugin, { deployment: { additionalInitContainers: [container] } })[0]).toMatch(found);
  });

  test('refuses to remove a container while stored data depends on its plugin', () => {
    expect(errors(undefined, { status: inUse })).toEqual([
      'spec.controlPlane.deployment.additionalContainers vault-kms cannot be removed while stored data is encrypted with its plugin',
    ]);
    expect(errors(undefined, { status: inUse, deployment: { additionalContainers: [container] } })).toEqual([]);
  });

  test.each(['--encryption-provider-config=/x', '--encryption_provider_config_automatic_reload'])(
    'refuses the extra argument %s beside it, and while it is being switched off',
    (argument) => {
      const deployment = { extraArgs: { apiServer: ['--v=2', argument] }, additionalContainers: [container] };
      expect(errors(secrets, { deployment })[0]).toMatch(
        'spec.controlPlane.deployment.extraArgs.apiServer[1] --encryption',
      );
      expect(errors(undefined, { deployment, status: inUse })[0]).toMatch('extraArgs.apiServer[1]');
      expect(errors(undefined, { deployment })).toEqual([]);
    },
  );

  test('refuses mounts at its paths', () => {
    const additionalVolumeMounts = { apiServer: [{ name: 'v', mountPath: '/run/kms/' }] };
    expect(errors(secrets, { deployment: { additionalVolumeMounts } })[0]).toMatch(
      'additionalVolumeMounts.apiServer[0].mountPath /run/kms/ is a path that',
    );
    expect(errors(undefined, { deployment: { additionalVolumeMounts } })).toEqual([]);
  });
});
