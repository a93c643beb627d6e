/** Variable of the environment: id of the process that removes the clusters that scenarios share. Without it nothing is shared. */
export const sharedOwnerVariable = 'STEWARD_E2E_SHARED_OWNER';

/** The kinds of management clusters that scenarios share: with Steward alone, and with Cluster API, too. */
export type SharedKind = 'steward' | 'capi';

/** The process that removes shared clusters; undefined when every scenario starts its own. */
export function sharedOwner(text = process.env[sharedOwnerVariable] ?? ''): number | undefined {
  if (text === '') return undefined;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Error(`${sharedOwnerVariable} is "${text}": give the id of a process.`);
}

/** The harness of a shared cluster. Each worker of jest has its own. */
export function sharedName(kind: SharedKind, owner: number, worker = process.env.JEST_WORKER_ID ?? '1'): string {
  return `shared-${kind}-${owner}-${worker}`;
}

/** Which of these harnesses are shared clusters that this process removes; of one kind, or of all. */
export function sharedAmong(
  names: readonly string[],
  owner: number,
  kind: SharedKind | '[a-z]+' = '[a-z]+',
): readonly string[] {
  const pattern = new RegExp(`^shared-${kind}-${owner}-\\d+$`);
  return names.filter((name) => pattern.test(name));
}
