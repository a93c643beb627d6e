import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { externalClaimSecret } from '../../../api/names.ts';
import { machineReasons, messageOf } from '../../../runtime/reconcile/conditions.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Claim } from './claim.ts';
import { readClaim } from './claim.ts';
import type { ExternalHosting } from './hosting.ts';
import { hostingConnection } from './hosting-kubeconfig.ts';
import type { ExternalReference } from './reference.ts';
import { externalReferenceOf } from './reference.ts';
import type { CircuitBreakerClient } from './circuit-breaker-client.ts';

/** The place in another cluster where a control plane runs. */
export interface FoundHost {
  readonly is: 'found';
  readonly cluster: CircuitBreakerClient;
  readonly namespace: string;
  readonly namespaceUid: string;
  /** The namespace is being deleted. */
  readonly ends: boolean;
  /** The Secret at the name of the claim. */
  readonly stored: Secret | undefined;
  /** Undefined before the first TenantControlPlane, and when its Secret is lost. */
  readonly claim: Claim | undefined;
}

/** Why it cannot be used. */
export interface HostTrouble {
  readonly is: 'waiting';
  readonly reason: string;
  readonly message: string;
  readonly afterMs?: number;
}

/** The poll interval for changes that no watch reports, in milliseconds. */
const lookAgainMs = 30_000;

const waiting = (reason: string, message: string, afterMs?: number): HostTrouble => ({
  is: 'waiting',
  reason,
  message,
  afterMs,
});

/** Looks up where the control plane of a StewardControlPlane runs; writes nothing anywhere. */
export async function findHost(
  deps: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<FoundHost | HostTrouble> {
  const reference = externalReferenceOf(scp);
  if (reference === undefined) {
    const message =
      'spec.deployment.externalClusterReference was removed, but the TenantControlPlane is in the hosting cluster: restore it';
    return waiting('ReferenceRemoved', message);
  }
  const gate = closedGate(deps.external, scp, reference);
  if (gate !== undefined || deps.external === undefined) return gate ?? waiting('Disabled', '');
  const { clusters } = deps.external;
  const user = { uid: scp.metadata.uid, key: keyOf(scp) };
  clusters.followSecret(user, reference.secret);
  const connection = await connectionOf(deps, reference, ctx);
  if ('is' in connection) return connection;
  let client: CircuitBreakerClient;
  try {
    client = clusters.borrow(user, connection);
  } catch (error) {
    return secretTrouble(reference, error);
  }
  const place = await namespaceOf(client, reference, ctx);
  if ('is' in place) return place;
  const { uid: namespaceUid, deletionTimestamp } = place.metadata;
  const stored = await deps.cluster.get(kinds.Secret, claimKey(scp), { signal: ctx.signal });
  const claim = readClaim(stored);
  const moved = otherPlace(claim, { ...reference, namespaceUid }, scp);
  if (moved !== undefined) return moved;
  if (claim !== undefined) clusters.followTenant(user, claim);
  const { namespace } = reference;
  return {
    is: 'found',
    cluster: client,
    namespace,
    namespaceUid,
    ends: deletionTimestamp !== undefined,
    stored,
    claim,
  };
}

/** Where the claim of a StewardControlPlane is kept. */
export function claimKey(scp: StewardControlPlane): { readonly namespace: string; readonly name: string } {
  const { namespace, name } = scp.metadata;
  return { namespace, name: externalClaimSecret(name) };
}

const keyOf = ({ metadata: { namespace, name } }: StewardControlPlane) => ({ namespace, name });

const add = (gate: string): string => `add ${gate} to the manager's flag --feature-gates`;

function closedGate(
  external: ExternalHosting | undefined,
  scp: StewardControlPlane,
  { secret }: ExternalReference,
): HostTrouble | undefined {
  if (external === undefined) {
    const message = `control planes on hosting clusters are disabled: ${add('ExternalClusterReference=true')}, or remove spec.deployment.externalClusterReference`;
    return waiting('Disabled', message);
  }
  if (external.crossNamespace || secret.namespace === scp.metadata.namespace) return undefined;
  const message = `the kubeconfig is in namespace ${secret.namespace}: move it to the namespace of this object, or ${add('ExternalClusterReferenceCrossNamespace=true')}, which lets authors in this namespace use the Secrets of all namespaces`;
  return waiting('Disabled', message);
}

async function connectionOf(
  { cluster }: Dependencies,
  reference: ExternalReference,
  { signal }: Context,
): Promise<Connection | HostTrouble> {
  const { namespace, name } = reference.secret;
  const secret: Secret | undefined = await cluster.get(kinds.Secret, reference.secret, { signal });
  // The watch on the Secret reports when that changes.
  if (secret === undefined) return waiting('SecretInvalid', `Secret ${namespace}/${name} does not exist`);
  try {
    return hostingConnection(secret, reference.key);
  } catch (error) {
    return secretTrouble(reference, error);
  }
}

function secretTrouble({ secret: { namespace, name }, key }: ExternalReference, error: unknown): HostTrouble {
  if (!(error instanceof KubeconfigError)) throw error;
  return waiting('SecretInvalid', `Secret ${namespace}/${name}, key ${key}: ${error.message}`);
}

async function namespaceOf(
  client: CircuitBreakerClient,
  { namespace }: ExternalReference,
  { signal }: Context,
): Promise<Resource | HostTrouble> {
  try {
    const found = await client.get(kinds.Namespace, { name: namespace }, { signal });
    if (found === undefined) {
      const message = `namespace ${namespace} does not exist in the hosting cluster: create it, and bind the Role there`;
      return waiting('NamespaceMissing', message, lookAgainMs);
    }
    return found;
  } catch (error) {
    const trouble = hostTrouble(client, namespace, error);
    if (trouble === undefined) throw error;
    return trouble;
  }
}

/** What an error of the other cluster means for the reconcile; undefined for one that is retried like any other. */
export function hostTrouble(client: CircuitBreakerClient, namespace: string, error: unknown): HostTrouble | undefined {
  if (error instanceof UnreachableError) {
    const message = `the hosting cluster does not respond; the control plane in it is left as it is: ${messageOf(error)}`;
    return waiting(machineReasons.unreachable, message, Math.max(client.restMs(), 1_000));
  }
  if (error instanceof ApiError && (error.code === 401 || error.code === 403)) {
    const help =
      error.code === 401
        ? 'renew the kubeconfig in the Secret'
        : `bind the ClusterRole of config/hosting/role.yaml to its user in namespace ${namespace}, which must exist`;
    return waiting('Forbidden', `the hosting cluster rejects the kubeconfig: ${error.message}; ${help}`, lookAgainMs);
  }
  return undefined;
}

function otherPlace(
  claim: Claim | undefined,
  now: { readonly namespace: string; readonly namespaceUid: string },
  scp: StewardControlPlane,
): HostTrouble | undefined {
  if (claim === undefined) return undefined;
  if (claim.namespace === now.namespace && claim.namespaceUid === now.namespaceUid) return undefined;
  const was = `${claim.namespace} (UID ${claim.namespaceUid})`;
  const message = `the kubeconfig points to namespace ${now.namespace} (UID ${now.namespaceUid}), but the TenantControlPlane is in ${was}: this is another cluster, or the namespace was recreated; point the kubeconfig back to it, or, if that namespace is gone for good, delete Secret ${claimKey(scp).name} to start with an empty control plane`;
  return waiting('ClusterChanged', message, lookAgainMs);
}
