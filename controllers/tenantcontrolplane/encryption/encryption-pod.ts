import { tenantObjects, volumes } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { readableMode } from '../shared/pod-parts.ts';
import type { AddonPod } from '../shared/pod-parts.ts';
import { kmsFolder } from './encryption-configuration.ts';
import { configurationKey } from './encryption-secret.ts';
import { providersOf } from './encryption-state.ts';
import type { EncryptionState } from './encryption-state.ts';

const folder = '/etc/kubernetes/encryption';
const file = 'configuration.json';

/** The additional containers that are plugins which stored data depends on. */
export function kmsContainersOf(state: EncryptionState): readonly string[] {
  return [...new Set(providersOf(state).flatMap((one) => (one.kind === 'kms' ? [one.container] : [])))].sort();
}

/**
 * What pods get for the encryption: the configuration of one revision, so that a container which restarts reads the one that it had, and
 * the folder with the sockets of plugins.
 */
export function encryptionPod({ metadata }: TenantControlPlane, state: EncryptionState): readonly AddonPod[] {
  if (state.resources.length === 0) return [];
  const plugins = kmsContainersOf(state);
  const sockets = { name: volumes.kmsSockets, mountPath: kmsFolder };
  const items = [{ key: configurationKey(state.revision), path: file }];
  const sources = [{ secret: { name: tenantObjects(metadata.name).encryption, items } }];
  return [
    {
      volumes: [
        { name: volumes.encryption, projected: { defaultMode: readableMode, sources } },
        ...(plugins.length > 0 ? [{ name: volumes.kmsSockets, emptyDir: {} }] : []),
      ],
      apiServer: {
        arguments: { 'encryption-provider-config': `${folder}/${file}` },
        mounts: [
          { name: volumes.encryption, mountPath: folder, readOnly: true },
          ...(plugins.length > 0 ? [sockets] : []),
        ],
      },
      additionalMounts: new Map(plugins.map((plugin) => [plugin, [sockets]])),
    },
  ];
}
