import type { Flags } from './flags.ts';

/** What `steward backup` and `steward restore` have in common. */
const common = {
  kubeconfig: {
    value: '',
    help: 'Path of a kubeconfig for the management cluster. Defaults to the service account of the pod.',
  },
  repository: {
    value: '',
    help: 'Place of the backups: a folder, such as a mounted volume, or s3://bucket/prefix. Folder or bucket must exist.',
  },
  'key-file': {
    value: '',
    help: 'File with the key that encrypts the backups: the base64 of 32 bytes. Without it nothing can be restored.',
  },
  'key-secret': {
    value: '',
    help: 'Secret with the key, as namespace/name/key, in place of a file.',
  },
  folder: {
    value: '',
    help: 'Folder below the one of the TenantControlPlane, for a backup that is independent of the others.',
  },
  report: {
    value: '',
    help: 'Object whose status.process shows the progress, as plural/namespace/name/uid. Set by the manager.',
  },
  's3-endpoint': {
    value: '',
    help: 'URL of an S3 server, such as https://minio.example.com:9000. Defaults to AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, and AWS itself.',
  },
  's3-region': {
    value: '',
    help: 'Region of the bucket. Defaults to AWS_REGION, AWS_DEFAULT_REGION and, if there is an endpoint, us-east-1.',
  },
  's3-path-style': {
    value: 'auto',
    help: 'Whether URLs have the bucket in their path (true) or in their host name (false). auto: in their path if there is an endpoint.',
  },
  's3-ca-file': {
    value: '',
    help: 'File with the CA certificates, in PEM, that the S3 server is verified with. Defaults to public CAs.',
  },
  's3-allow-http': { value: false, help: 'Whether an endpoint without TLS is accepted.' },
} as const satisfies Flags;

/** The flags of `steward backup`. */
export const backupFlags = {
  ...common,
  'tenant-control-plane': { value: '', help: 'TenantControlPlane that is backed up, as namespace/name.' },
  follow: {
    value: false,
    help: 'Whether to go on: all changes are saved within seconds, and a new backup is made after each interval.',
  },
  interval: { value: '1h', help: 'With --follow: time between two backups.' },
  schedule: {
    value: '',
    help: 'With --follow: cron expression with five fields, such as 0 3 * * *, in place of an interval.',
  },
  'time-zone': { value: '', help: 'Time zone of the schedule, such as Europe/Berlin. Defaults to UTC.' },
  remove: { value: false, help: 'Whether to remove all backups of the folder instead. Needs no key.' },
  keep: {
    value: 24,
    help: 'Number of backups to keep. Older ones, and the changes before the oldest kept one, are removed.',
  },
} as const satisfies Flags;

/** The flags of `steward restore`. */
export const restoreFlags = {
  ...common,
  'tenant-control-plane': {
    value: '',
    help: 'TenantControlPlane that is restored, as namespace/name. It must have 0 replicas. If it does not exist, it is created.',
  },
  from: {
    value: '',
    help: 'TenantControlPlane that was backed up, as namespace/name. Defaults to the one that is restored.',
  },
  move: {
    value: false,
    help: 'Whether a new TenantControlPlane gets the CAs and keys of the backup, too. It must have the annotation backup.steward.butlerlabs.dev/awaits-restore.',
  },
  at: {
    value: '',
    help: 'Moment to restore, in RFC 3339, such as 2026-01-31T12:00:00Z. Defaults to the last one that is known.',
  },
  timeout: { value: '10m', help: 'Maximum time to wait for the TenantControlPlane and its DataStore.' },
} as const satisfies Flags;
