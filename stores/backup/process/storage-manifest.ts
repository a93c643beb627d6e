import type { BackupStorage } from '../../../api/steward/v1alpha1/backup/backup-place.ts';

/** What the pod of a process needs to reach the place of the backups. */
export interface StorageManifest {
  /** The value of `--repository`. */
  readonly repository: string;
  readonly env: readonly object[];
  readonly volumes: readonly object[];
  readonly volumeMounts: readonly object[];
}

const mountPath = '/backups';

/** The variable for the key `repository` of the Secret of a bucket. The kubelet puts its value into the arguments. */
const repositoryVariable = 'STEWARD_BACKUP_REPOSITORY';

/** Keys of the Secret that are variables of the same name, as every program takes them that uses the AWS SDK. */
const variables = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_ENDPOINT_URL_S3',
] as const;

/** The CA certificates of the server, in PEM, as a variable: a process that reads no file needs no volume. */
export const bucketCaVariable = 'STEWARD_BACKUP_S3_CA';

/** A volume is mounted. Of a bucket, all that the Secret says reaches the process by its environment. */
export function storageManifest({ persistentVolumeClaim, bucket }: BackupStorage): StorageManifest {
  if (bucket !== undefined) {
    return {
      repository: `$(${repositoryVariable})`,
      env: [
        ofSecret(repositoryVariable, { name: bucket.secretName, key: 'repository' }),
        ofSecret(bucketCaVariable, { name: bucket.secretName, key: 'ca.crt', optional: true }),
        ...variables.map((name) => ofSecret(name, { name: bucket.secretName, key: name, optional: true })),
      ],
      volumes: [],
      volumeMounts: [],
    };
  }
  return {
    repository: mountPath,
    env: [],
    volumes: [{ name: 'backups', persistentVolumeClaim: { claimName: persistentVolumeClaim?.claimName } }],
    volumeMounts: [{ name: 'backups', mountPath }],
  };
}

function ofSecret(
  name: string,
  secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean },
): object {
  return { name, valueFrom: { secretKeyRef } };
}
