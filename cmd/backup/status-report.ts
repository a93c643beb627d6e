import type { Key, KindRef } from '../../api/meta.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';

/** Writes what a process reports into `status.process` of the object that it works for; null removes a value. */
export type Report = (values: Readonly<Record<string, unknown>>) => Promise<void>;

/** The object that a process works for. */
export interface Reported {
  readonly kind: KindRef;
  readonly key: Required<Key>;
  readonly uid: string;
}

/** For a process that works for no object. */
export const noReport: Report = () => Promise.resolve();

const reporting: readonly KindRef[] = [backupPolicy, tenantBackup, tenantRestore];

/** Reads `plural/namespace/name/uid`; undefined for anything else. */
export function parseReported(text: string): Reported | undefined {
  const [plural, namespace = '', name = '', uid = '', ...more] = text.split('/');
  const kind = reporting.find((one) => one.plural === plural);
  if (kind === undefined || namespace === '' || name === '' || uid === '' || more.length > 0) return undefined;
  return { kind, key: { namespace, name }, uid };
}

/** Reports to an object. One that is gone, or another one of its name, is not written. Throws what the API server throws. */
export function statusReport(
  { kind, key, uid }: Reported,
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Report {
  return async (values) => {
    try {
      // The API server refuses a patch that names another UID than that of the object.
      const body = { metadata: { uid }, status: { process: values } };
      await cluster.patch(kind, key, { type: 'merge', body }, { subresource: 'status', signal });
    } catch (error) {
      if (!isOfAnother(error)) throw error;
    }
  };
}

/** True if the object is gone, or is another one. A conflict with another write is none of these: that report must not be lost. */
function isOfAnother(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.code === 404 || (error.code === 409 && /UID in (the )?precondition/.test(error.message));
}
