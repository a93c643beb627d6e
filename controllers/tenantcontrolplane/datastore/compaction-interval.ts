import type { KubernetesVersion } from '../../../kubeadm/versions.ts';

/** The minor since which API servers keep snapshots of lists and drop those that are older than etcd's compaction. */
const snapshotsSince = 34;

/** 100 years: the API server watches for compactions and never makes one itself, which a tenant of a shared etcd may not do. */
const never = '876000h';

/** `--etcd-compaction-interval`. With 0 the API server does not even watch which revisions etcd has compacted. */
export function compactionInterval({ minor }: Pick<KubernetesVersion, 'minor'>): string {
  return minor < snapshotsSince ? '0' : never;
}
