import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import type { ContractReference } from '../../../api/cluster-api/kinds.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Follower } from './follower.ts';
import { followerOf } from './follower.ts';
import type { HostAndPort } from './host-and-port.ts';
import type { ContractKind } from '../../../api/cluster-api/contract-kind.ts';
import { contractKind, definitionName } from '../../../api/cluster-api/contract-kind.ts';
import { infrastructureStep } from './infrastructure-patch.ts';
import type { InfrastructureCluster, InfrastructureStep } from './infrastructure-patch.ts';
import { infrastructureTable } from './infrastructure-table.ts';
import { clusterEndpointOf } from './cluster-endpoint.ts';
import type { Scope } from '../scope.ts';
import { isSettled } from '../tenant/tenant-answers.ts';

/** The poll interval for a kind whose changes no watch reports. */
const lookAgainMs = 10_000;

/**
 * Writes the endpoint to the infrastructure cluster of any kind, at first not before the control plane answers there. With
 * the endpoint the infrastructure becomes provisioned, and Cluster API connects. If that failed, Cluster API would wait for
 * 30 s, which would delay the first worker.
 */
export function infrastructurePhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'infrastructure',
    condition: 'InfrastructureClusterPatched',
    needs: ['address'],
    async run(scope, ctx) {
      const { scp, cluster, tenant } = scope;
      const controlPlane = followerOf(scp);
      const ref = cluster.spec?.infrastructureRef;
      const skipped = scp.metadata.annotations?.[annotations.skipInfrastructure] !== undefined;
      if (ref?.kind === undefined || ref.name === undefined || scope.endpoint === undefined || skipped) {
        deps.infrastructure.leave(controlPlane.uid);
        const why = skipped
          ? `this object has the annotation ${annotations.skipInfrastructure}`
          : 'the Cluster names none';
        return { is: 'done', message: `the endpoint is not written to an infrastructure cluster: ${why}` };
      }
      const agreed = clusterEndpointOf(scp, cluster, scope.endpoint);
      if ('disagrees' in agreed) return { is: 'waiting', reason: 'EndpointMismatch', message: agreed.disagrees };
      const key = { namespace: cluster.metadata.namespace, name: ref.name };
      const answers = scp.status?.initialization?.controlPlaneInitialized === true || isSettled(tenant);
      return writeEndpoint(deps, { ref, key, controlPlane, endpoint: agreed.endpoint, answers }, ctx);
    },
  };
}

interface Target {
  readonly ref: ContractReference;
  readonly key: Key;
  readonly controlPlane: Follower;
  readonly endpoint: HostAndPort;
  /** Whether the control plane was ready at the endpoint already. */
  readonly answers: boolean;
}

async function writeEndpoint(deps: Dependencies, target: Target, ctx: Context): Promise<Outcome<Scope>> {
  const { apiGroup = '', kind = '' } = target.ref;
  const definition = definitionName(apiGroup, kind);
  const found = await kindOf(deps, { definition, kind }, ctx.signal);
  if (found === undefined) {
    deps.infrastructure.follow(target.controlPlane, { definition });
    const message = `there is no CustomResourceDefinition ${definition} with a label of contract v1beta2 or v1beta1, so the endpoint cannot be written to the ${kind}; install its infrastructure provider, or correct spec.infrastructureRef of the Cluster`;
    return { is: 'waiting', reason: 'KindNotFound', message };
  }
  deps.infrastructure.follow(target.controlPlane, { definition, object: { kind: found.kind, key: target.key } });
  const outcome = await attempt(deps, found, target, ctx).catch((error: unknown) => forbidden(error, found));
  // Where no watch reports changes, it is polled.
  const isPolled = outcome.is === 'waiting' && deps.infrastructure.watchFailure(found.kind) !== undefined;
  return isPolled || isForbidden(outcome) ? { ...outcome, afterMs: lookAgainMs } : outcome;
}

async function kindOf(
  { cluster }: Dependencies,
  { definition, kind }: { readonly definition: string; readonly kind: string },
  signal: AbortSignal,
): Promise<ContractKind<InfrastructureCluster> | undefined> {
  // A list, because only that comes without the schema, which is large.
  const options = { fieldSelector: `metadata.name=${definition}`, metadataOnly: true, signal };
  const { items } = await cluster.list(kinds.CustomResourceDefinition, options);
  return items[0] === undefined ? undefined : contractKind<InfrastructureCluster>(items[0], kind);
}

const isForbidden = (outcome: Outcome<Scope>): boolean => outcome.is === 'waiting' && outcome.reason === 'Forbidden';

function forbidden(error: unknown, { kind }: ContractKind<InfrastructureCluster>): Outcome<Scope> {
  // Admission answers 403 as well, and says so.
  if (!(error instanceof ApiError) || error.code !== 403 || error.message.includes('admission webhook')) throw error;
  const rule = `apiGroups: ["${kind.group}"], resources: [${kind.plural}, ${kind.plural}/status], verbs: [get, list, watch, patch]`;
  const message = `not allowed to read or write the ${kind.kind}: add a ClusterRole labeled steward.butlerlabs.dev/aggregate-to-manager: "true" with ${rule}`;
  return { is: 'waiting', reason: 'Forbidden', message };
}

async function attempt(
  deps: Dependencies,
  found: ContractKind<InfrastructureCluster>,
  { key, endpoint, answers }: Target,
  { signal }: Context,
): Promise<Outcome<Scope>> {
  const { kind } = found.kind;
  const infra = await deps.cluster.get(found.kind, key, { signal });
  if (infra === undefined) {
    const message = `${kind} ${key.name}, which the Cluster names, does not exist; create it, or correct spec.infrastructureRef`;
    return { is: 'waiting', reason: 'NotFound', message };
  }
  const step = infrastructureStep(infra, endpoint, found.contract);
  if (step.is === 'agreed') return { is: 'done' };
  if (step.is === 'left') {
    return { is: 'done', message: `the endpoint is not written to the ${kind} ${key.name}: ${step.because}` };
  }
  if (step.is === 'mismatch') return { is: 'waiting', reason: 'EndpointMismatch', message: mismatch(kind, key, step) };
  if (!answers) {
    const message = `the endpoint will be written to the ${kind} ${key.name} once the control plane is ready`;
    return { is: 'waiting', reason: 'WaitingForControlPlane', message };
  }
  const written = await send(deps, found, { key, step, signal });
  if (infrastructureStep(written ?? infra, endpoint, found.contract).is === 'agreed') return { is: 'done' };
  const fields = [...(step.spec === undefined ? [] : ['spec']), ...(step.status === undefined ? [] : ['status'])];
  const message = `the API server dropped what was written to ${fields.join(' and ')} of the ${kind} ${key.name}: its version ${found.kind.version} lacks the fields of contract ${found.contract}; install a newer version of the provider`;
  return { is: 'waiting', reason: 'FieldsPruned', message, afterMs: lookAgainMs };
}

function mismatch(
  kind: string,
  { name }: Key,
  { found, wanted }: Extract<InfrastructureStep, { is: 'mismatch' }>,
): string {
  const setting = infrastructureTable[kind]?.setting;
  const own =
    setting === undefined || found === 'none'
      ? ''
      : `; if the provider created it, recreate the ${kind} with ${setting}`;
  return `${kind} ${name} has the endpoint ${found}, but the endpoint of the control plane is ${wanted}: set spec.network.serviceAddress, or the endpoint of the ${kind}, so that they match${own}`;
}

interface Sending {
  readonly key: Key;
  readonly step: Extract<InfrastructureStep, { is: 'patch' }>;
  readonly signal: AbortSignal;
}

/** What the object is after the last write. */
async function send(
  { cluster }: Dependencies,
  { kind }: ContractKind<InfrastructureCluster>,
  { key, step, signal }: Sending,
): Promise<InfrastructureCluster | undefined> {
  const { spec, status } = step;
  const options = { fieldManager, signal } as const;
  const merge = (body: object) => ({ type: 'merge', body }) as const;
  const patched = spec === undefined ? undefined : await cluster.patch(kind, key, merge({ spec }), options);
  if (status === undefined) return patched;
  try {
    return await cluster.patch(kind, key, merge({ status }), { ...options, subresource: 'status' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
    // A kind without this subresource has its status beside the spec.
    return cluster.patch(kind, key, merge({ status }), options);
  }
}
