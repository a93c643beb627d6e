import type { Flags } from './flags.ts';

/** What `steward backup` and `steward restore` have in common. */
const common = {
  kubeconfig: {
    value: '',
    help: 'Path of a kubeconfig for the management cluster. Defaults to the service account of the pod.',
  },
  repository: { value: '', help: 'Folder of the backups, such as a mounted volume. It must exist.' },
  'key-file': {
    value: '',
    help: 'File with the key that encrypts the backups: the base64 of 32 bytes. Without it nothing can be restored.',
  },
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
  at: {
    value: '',
    help: 'Moment to restore, in RFC 3339, such as 2026-01-31T12:00:00Z. Defaults to the last that is known.',
  },
  timeout: { value: '10m', help: 'Maximum time to wait for the TenantControlPlane and its DataStore.' },
} as const satisfies Flags;
