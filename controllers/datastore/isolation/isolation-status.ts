import { stateCondition } from '../../../api/conditions.ts';
import type { StatedCondition } from '../../../api/conditions.ts';
import type { Condition } from '../../../api/meta.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreIsolationStatus } from '../../../api/steward/v1alpha1/data-store-isolation.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';

const type = 'IsolationVerified';

/** The outcome of a verification. */
export type IsolationFinding =
  | { readonly is: 'isolated'; readonly attempts: number; readonly serverVersion: string }
  | { readonly is: 'breached'; readonly attempts: number; readonly serverVersion: string; readonly breach: string }
  /** It could not be completed, for this reason, and is tried again before that counts. */
  | { readonly is: 'failing'; readonly message: string }
  /** It could not be completed, again and again, for this reason. */
  | { readonly is: 'inconclusive'; readonly message: string }
  /** There are no two tenants that could be kept apart. */
  | { readonly is: 'shared credentials' };

/** True if there is a verdict on this spec, and on the version that the datastore reports now. */
export function isVerdictOn(store: DataStore, serverVersion: string | undefined): boolean {
  const { isolation } = store.status ?? {};
  const condition = conditionOf(store.status);
  const isVerdict = condition?.reason === 'Verified' || condition?.reason === 'Breached';
  // A CRD that is older than the manager stores the condition alone.
  const isOfVersion = isolation === undefined || isolation.serverVersion === serverVersion;
  return isVerdict && isOfVersion && isOfSpec(store, condition);
}

/** True if verifications of this spec have failed so often that new tenants do not wait for one. */
export function isGivenUp(store: DataStore): boolean {
  const condition = conditionOf(store.status);
  return condition?.reason === 'Inconclusive' && isOfSpec(store, condition);
}

function isOfSpec({ metadata }: DataStore, condition: Condition | undefined): boolean {
  return (condition?.observedGeneration ?? 0) >= metadata.generation;
}

/** The last verification that counts: it was of this spec, and of the version that the datastore reports now. */
export function lastVerification(
  store: DataStore,
  serverVersion: string | undefined,
): DataStoreIsolationStatus | undefined {
  return isVerdictOn(store, serverVersion) ? store.status?.isolation : undefined;
}

/** The status after a verification; without one, what is known stays, and says so when it is about another spec or version. */
export function withIsolation(
  store: DataStore,
  status: DataStoreStatus,
  { finding, now }: { readonly finding: IsolationFinding | undefined; readonly now: Date },
): DataStoreStatus {
  const condition = finding === undefined ? unverified(store, status) : stated(finding, now);
  const isolation = isFailure(finding) ? store.status?.isolation : recordOf(finding, now);
  const at = { generation: store.metadata.generation, now };
  return {
    ...status,
    ...(condition !== undefined && { conditions: setConditions(status.conditions ?? [], [condition], at) }),
    ...(isolation !== undefined && { isolation }),
  };
}

type Failure = Extract<IsolationFinding, { readonly is: 'failing' | 'inconclusive' }>;

/** What failed says nothing: above all, it takes no breach back. */
function isFailure(finding: IsolationFinding | undefined): finding is Failure | undefined {
  return finding === undefined || finding.is === 'failing' || finding.is === 'inconclusive';
}

/** The Event of a verification whose result differs from the one before. */
export function isolationEvent(
  before: DataStoreStatus | undefined,
  after: DataStoreStatus,
): readonly [type: 'Normal' | 'Warning', reason: string, message: string] | undefined {
  const [known, now] = [conditionOf(before), conditionOf(after)];
  if (now === undefined || now.reason === 'Pending' || (known?.status === now.status && known.reason === now.reason))
    return undefined;
  return [now.status === 'True' ? 'Normal' : 'Warning', `Isolation${now.reason}`, now.message];
}

function conditionOf(status: DataStoreStatus | undefined): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** That nothing is known of this datastore: a verdict about another version or spec counts no more. */
function unverified(store: DataStore, status: DataStoreStatus): StatedCondition | undefined {
  const before = conditionOf(store.status);
  const isKnown =
    isVerdictOn(store, status.serverVersion) ||
    (before !== undefined && before.reason !== 'Verified' && before.reason !== 'Breached');
  // Of a datastore that cannot be used, other conditions say why.
  if (isKnown || status.ready !== true) return undefined;
  const message = 'the datastore will be verified once it is Ready';
  return stateCondition('DataStore', { type, status: 'Unknown', reason: 'Pending', message });
}

function recordOf(finding: IsolationFinding, now: Date): DataStoreIsolationStatus | undefined {
  if (finding.is !== 'isolated' && finding.is !== 'breached') return undefined;
  const { attempts, serverVersion } = finding;
  const time = secondsOf(now);
  return { time, serverVersion, attempts, ...(finding.is === 'breached' && { breach: finding.breach }) };
}

function stated(finding: IsolationFinding, now: Date): StatedCondition {
  switch (finding.is) {
    case 'isolated': {
      const { attempts, serverVersion } = finding;
      const message = `version ${serverVersion} refused all ${attempts} attempts at ${secondsOf(now)}`;
      return stateCondition('DataStore', { type, status: 'True', reason: 'Verified', message });
    }
    case 'breached': {
      const { attempts, serverVersion, breach } = finding;
      const message = `version ${serverVersion} did not refuse attempt ${attempts} of a canary tenant at ${secondsOf(now)}: ${breach}; docs/how-to/verify-isolation.md says how to close the hole`;
      return stateCondition('DataStore', { type, status: 'False', reason: 'Breached', message });
    }
    case 'failing': {
      const message = `the verification failed and is about to be tried again: ${finding.message}`;
      return stateCondition('DataStore', { type, status: 'Unknown', reason: 'Pending', message });
    }
    case 'inconclusive':
      return stateCondition('DataStore', {
        type,
        status: 'Unknown',
        reason: 'Inconclusive',
        message: finding.message,
      });
    case 'shared credentials': {
      const message =
        'all tenants would have the same credentials, with which each could read the data of every other, so only one tenant is served';
      return stateCondition('DataStore', { type, status: 'False', reason: 'SharedCredentials', message });
    }
  }
}

function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
