import type { Manifest } from '../../../../api/meta.ts';
import { annotations, containers, labels, migrationComponent, migrationJob, project } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { durationAnnotation } from '../../shared/duration-annotation.ts';
import { restricted } from '../../shared/security-context.ts';
import type { Job } from '../../../../api/core/kinds.ts';
import type { MigrationRecord } from '../../../../stores/migration/migration-journal.ts';
import type { MigrationProgress } from '../../../../stores/migration/migration-progress.ts';

/** Where and with which identity migrations run. */
export interface MigrationJobSettings {
  /** The manager's namespace. */
  readonly namespace: string;
  readonly image: string;
  readonly serviceAccount: string;
  /** Image of kine, if the target needs it. */
  readonly kineImage?: string;
}

/** Seconds for which a finished Job is kept if nothing removes it. */
const keptSeconds = 3600;

function argumentsOf(tcp: TenantControlPlane, { target }: MigrationStatus): string[] {
  const { namespace, name, annotations: requested = {} } = tcp.metadata;
  const cleanup = requested[annotations.cleanupPriorMigration];
  const timeout = durationAnnotation(tcp.metadata, annotations.migrationTimeout);
  return [
    'migrate',
    `--tenant-control-plane=${namespace}/${name}`,
    `--target-datastore=${target.dataStoreName}`,
    ...(cleanup === undefined ? [] : [`--cleanup-prior-migration=${String(cleanup === 'true')}`]),
    ...(timeout === undefined ? [] : [`--timeout=${requested[annotations.migrationTimeout] ?? ''}`]),
  ];
}

/**
 * If the target needs kine, its image is pulled before writes are denied, and on the nodes where the tenant's pods will probably
 * run: they start faster then, and an image that cannot be pulled is noticed before anything has changed.
 */
function kineFirst({ metadata }: TenantControlPlane, image: string | undefined): object {
  if (image === undefined) return {};
  const podAffinityTerm = {
    topologyKey: 'kubernetes.io/hostname',
    namespaces: [metadata.namespace],
    labelSelector: { matchLabels: { [labels.name]: metadata.name } },
  };
  return {
    affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] } },
    initContainers: [
      {
        name: containers.kine,
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['/bin/kine'],
        args: ['--version'],
        securityContext: restricted(),
      },
    ],
  };
}

/**
 * The Job that copies the data of a tenant. It runs in the manager's namespace, where no owner reference can point to the tenant:
 * its labels name the tenant. A pod on a lost node is replaced only when it is known to be gone, since two must not copy.
 */
export function migrationJobManifest(
  tcp: TenantControlPlane,
  migration: MigrationStatus,
  settings: MigrationJobSettings,
): Manifest {
  const { namespace, name, uid } = tcp.metadata;
  const ours = {
    [labels.project]: project,
    [labels.component]: migrationComponent,
    [labels.migrationTenant]: name,
    [labels.migrationNamespace]: namespace,
  };
  const fieldRef = (fieldPath: string): object => ({ valueFrom: { fieldRef: { fieldPath } } });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: migrationJob(uid),
      namespace: settings.namespace,
      labels: ours,
      annotations: { [annotations.migrationStarted]: migration.startedAt },
    },
    spec: {
      backoffLimit: 6,
      podReplacementPolicy: 'Failed',
      ttlSecondsAfterFinished: keptSeconds,
      template: {
        metadata: { labels: ours },
        spec: {
          restartPolicy: 'OnFailure',
          serviceAccountName: settings.serviceAccount,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 40,
          tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
          ...kineFirst(tcp, settings.kineImage),
          containers: [
            {
              name: migrationComponent,
              image: settings.image,
              imagePullPolicy: 'IfNotPresent',
              args: argumentsOf(tcp, migration),
              env: [
                { name: 'POD_NAMESPACE', ...fieldRef('metadata.namespace') },
                { name: 'POD_NAME', ...fieldRef('metadata.name') },
              ],
              resources: { requests: { cpu: '100m', memory: '128Mi' } },
              securityContext: restricted(),
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  };
}

/**
 * How the process of a migration and the controller communicate: by annotations of the Job, which outlive both. The process
 * writes journal, progress, failure and the request for read-only; the controller writes that it is in force, and the request to
 * cancel.
 */
export interface MigrationChannel {
  /** Start time of the migration that the Job belongs to. */
  readonly started: string | undefined;
  readonly journal: MigrationRecord | undefined;
  readonly progress: MigrationProgress | undefined;
  /** Why the process has given up for good. */
  readonly failure: string | undefined;
  /** The error of the last process, which is retried. */
  readonly problem: string | undefined;
  /** The process' current request to deny writes. */
  readonly freezeWanted: string | undefined;
  /** The request that is in force. */
  readonly freezeInForce: string | undefined;
  /** Why the process must roll back. */
  readonly cancel: string | undefined;
}

/** Reads the annotations of a Job. Invalid JSON counts as absent: nothing else has a reason to write there. */
export function readChannel({ metadata }: Pick<Job, 'metadata'>): MigrationChannel {
  const written = metadata.annotations ?? {};
  return {
    started: written[annotations.migrationStarted],
    journal: parsed(written[annotations.migrationJournal]) as MigrationRecord | undefined,
    progress: parsed(written[annotations.migrationProgress]) as MigrationProgress | undefined,
    failure: written[annotations.migrationFailure],
    problem: written[annotations.migrationProblem],
    freezeWanted: written[annotations.migrationFreezeWanted],
    freezeInForce: written[annotations.migrationFreezeInForce],
    cancel: written[annotations.migrationCancel],
  };
}

/** Both ends have the same version; if a person writes there, the journal's own check refuses it. */
function parsed(text: string | undefined): object | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'phase' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The patch that writes annotations of an object; undefined removes one. */
export function annotationsPatch(values: Readonly<Record<string, string | undefined>>): {
  readonly type: 'merge';
  readonly body: { readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> } };
} {
  const written = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]));
  return { type: 'merge', body: { metadata: { annotations: written } } };
}
