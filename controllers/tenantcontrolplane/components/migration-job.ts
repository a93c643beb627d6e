import type { Manifest } from '../../../api/meta.ts';
import { annotations, containers, labels, migrationComponent, migrationJob, project } from '../../../api/names.ts';
import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { durationAnnotation } from './duration-annotation.ts';
import { restricted } from './security-context.ts';

/** Where and as what migrations run. */
export interface MigrationJobSettings {
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly image: string;
  readonly serviceAccount: string;
  /** Image of kine, which tenants of some drivers run. */
  readonly kineImage: string;
}

/** Seconds for which a Job that nobody removed stays after its end. */
const keptSeconds = 3600;

function argumentsOf(tcp: TenantControlPlane, { target }: MigrationStatus): string[] {
  const { namespace = '', name = '', annotations: asked = {} } = tcp.metadata;
  const cleanup = asked[annotations.cleanupPriorMigration];
  const timeout = durationAnnotation(tcp.metadata, annotations.migrationTimeout);
  return [
    'migrate',
    `--tenant-control-plane=${namespace}/${name}`,
    `--target-datastore=${target.dataStoreName}`,
    ...(cleanup === undefined ? [] : [`--cleanup-prior-migration=${String(cleanup === 'true')}`]),
    ...(timeout === undefined ? [] : [`--timeout=${asked[annotations.migrationTimeout] ?? ''}`]),
  ];
}

/**
 * Where the target needs kine, its image is fetched before anybody denies writes, and where the tenant's pods probably are: they
 * start sooner then, and an image that cannot be had is found out while nothing has happened yet.
 */
function kineFirst({ metadata }: TenantControlPlane, { target }: MigrationStatus, image: string): object {
  if (target.driver === undefined || target.driver === 'etcd') return {};
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
 * The Job that copies the data of a tenant. It stands in the operator's namespace, where no owner reference reaches it: its
 * labels tell whose it is. A pod whose node is lost is replaced only when it is known to be gone, since two must not copy.
 */
export function migrationJobManifest(
  tcp: TenantControlPlane,
  migration: MigrationStatus,
  settings: MigrationJobSettings,
): Manifest {
  const { namespace = '', name = '', uid = '' } = tcp.metadata;
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
          ...kineFirst(tcp, migration, settings.kineImage),
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
