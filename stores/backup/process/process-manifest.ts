import type { Manifest, NamespacedResource } from '../../../api/meta.ts';
import { annotations, backupComponents, backupProcess, labels, project } from '../../../api/names.ts';
import type { BackupSource } from '../../../api/steward/v1alpha1/backup/backup-place.ts';
import { storageManifest } from './storage-manifest.ts';

/** Where the processes of backups run. */
export interface ProcessSettings {
  /** The manager's namespace, where the claims are. */
  readonly namespace: string;
  readonly image: string;
}

/** One process. It runs in the manager's namespace, because it has credentials of datastores. */
export interface BackupProcess {
  readonly component: keyof typeof backupComponents;
  /** The object that it works for. */
  readonly owner: NamespacedResource;
  /** Plural of its kind. */
  readonly plural: string;
  /** Name of the TenantControlPlane whose data it works on, in the namespace of the owner. */
  readonly tenant: string;
  readonly source: BackupSource;
  /** Further flags. */
  readonly args: readonly string[];
}

/** The service accounts of config/backup. */
const serviceAccounts = { backup: 'steward-backup', restore: 'steward-restore', removal: 'steward-backup' } as const;

/** A user of the group that owns the files of the volume. */
const user = 65532;

/** Seconds for which a finished Job is kept if nothing removes it. */
const keptSeconds = 3600;

/** So often the process of a Job is started again. */
const backoffLimit = 3;

/** The process as a Deployment, for one that goes on. */
export function processDeployment(process: BackupProcess, settings: ProcessSettings): Manifest {
  const { [labels.backupOwner]: owner } = labelsOf(process);
  return {
    ...heading('apps/v1', 'Deployment', process, settings),
    spec: {
      replicas: 1,
      // Two that share a folder could remove what the other one needs.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [labels.backupOwner]: owner } },
      template: { metadata: { labels: labelsOf(process) }, spec: podSpec(process, settings, 'Always') },
    },
  };
}

/** The process as a Job, for one that ends. A pod on a lost node is replaced only when it is known to be gone. */
export function processJob(process: BackupProcess, settings: ProcessSettings): Manifest {
  return {
    ...heading('batch/v1', 'Job', process, settings),
    spec: {
      backoffLimit,
      podReplacementPolicy: 'Failed',
      ttlSecondsAfterFinished: keptSeconds,
      template: { metadata: { labels: labelsOf(process) }, spec: podSpec(process, settings, 'Never') },
    },
  };
}

/** No owner reference leads to another namespace: labels and an annotation say for whom the process works. */
function heading(
  apiVersion: string,
  kind: string,
  process: BackupProcess,
  { namespace }: ProcessSettings,
): Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'> {
  const { owner, component } = process;
  return {
    apiVersion,
    kind,
    metadata: {
      name: backupProcess(component, owner.metadata.uid),
      namespace,
      labels: labelsOf(process),
      annotations: { [annotations.backupOwner]: `${owner.metadata.namespace}/${owner.metadata.name}` },
    },
  };
}

function labelsOf({ component, owner, tenant }: BackupProcess): Readonly<Record<string, string>> {
  return {
    [labels.project]: project,
    [labels.component]: backupComponents[component],
    [labels.backupOwner]: owner.metadata.uid,
    [labels.migrationTenant]: tenant,
    [labels.migrationNamespace]: owner.metadata.namespace,
  };
}

/** Namespaces are those of the owner, whatever its spec contains: no process reads Secrets or backups of another namespace for it. */
function argumentsOf({ component, owner, plural, tenant, source, args }: BackupProcess): readonly string[] {
  const { namespace, name, uid } = owner.metadata;
  const { keySecret } = source.encryption;
  return [
    component === 'restore' ? 'restore' : 'backup',
    `--tenant-control-plane=${namespace}/${tenant}`,
    `--repository=${storageManifest(source.storage).repository}`,
    ...(component === 'removal' ? ['--remove'] : [`--key-secret=${namespace}/${keySecret.name}/${keySecret.key}`]),
    `--report=${plural}/${namespace}/${name}/${uid}`,
    ...args,
  ];
}

function podSpec(process: BackupProcess, { image }: ProcessSettings, restartPolicy: 'Always' | 'Never'): object {
  const { env, volumes, volumeMounts } = storageManifest(process.source.storage);
  return {
    restartPolicy,
    serviceAccountName: serviceAccounts[process.component],
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 40,
    tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: backupComponents[process.component],
        image,
        imagePullPolicy: 'IfNotPresent',
        args: argumentsOf(process),
        ...(env.length > 0 && { env }),
        resources: { requests: { cpu: '50m', memory: '128Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [...volumeMounts, { name: 'tmp', mountPath: '/tmp' }],
      },
    ],
    volumes: [...volumes, { name: 'tmp', emptyDir: {} }],
  };
}

/** The folder of a backup that is taken once, below that of the control plane. */
export const onceFolder = (uid: string): string => `once/${uid}`;
