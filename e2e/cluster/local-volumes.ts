import type { KubernetesClient, PlainObject } from './kubernetes-client.ts';
import { watchObjects } from './watch-objects.ts';

/** The StorageClass that the harness serves; it is the default. */
export const storageClassName = 'standard';

const provisioner = 'steward.butlerlabs.dev/e2e-local';

/** The default StorageClass of a harness. */
export const storageClass: PlainObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClassName, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
};

/**
 * The volume for a claim: a folder of the management machine, which goes with it. Undefined when the claim has a
 * volume already or wants another class.
 */
export function volumeFor(claim: PlainObject): PlainObject | undefined {
  const { name = '', namespace = 'default', uid = '' } = claim.metadata ?? {};
  const spec = claim.spec as ClaimSpec | undefined;
  if (spec?.storageClassName !== storageClassName || spec.volumeName !== undefined) return undefined;
  const volume = `local-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: spec.resources?.requests?.storage ?? '1Gi' },
      accessModes: spec.accessModes ?? ['ReadWriteOnce'],
      // Nobody deletes single volumes of a machine that is thrown away as a whole.
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      hostPath: { path: `/var/lib/local-volumes/${volume}`, type: 'DirectoryOrCreate' },
    },
  };
}

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly accessModes?: readonly string[];
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/**
 * Makes a volume for every claim of the default class and removes it with its claim. Runs until aborted.
 * @param prepare makes the volume's folder, open for any user of a pod.
 */
export async function runLocalVolumes(
  client: KubernetesClient,
  prepare: (folder: string) => Promise<void>,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<void> {
  await client.apply([storageClass]);
  await watchObjects(
    client.config,
    '/api/v1/persistentvolumeclaims',
    async ({ type, object }) => {
      if (type === 'DELETED') {
        const name = `local-${object.metadata?.uid ?? ''}`;
        await client.delete({ apiVersion: 'v1', kind: 'PersistentVolume', name });
        return;
      }
      const volume = volumeFor(object);
      if (volume === undefined) return;
      const { path } = (volume.spec as { hostPath: { path: string } }).hostPath;
      await prepare(path);
      await client.apply([volume]);
    },
    options,
  );
}
