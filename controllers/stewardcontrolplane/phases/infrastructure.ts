import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import type { Context } from '../../../runtime/controller.ts';
import { ApiError } from '../../../runtime/errors.ts';
import type { Outcome, Phase } from '../../../runtime/phases.ts';
import type { ContractReference } from '../../../api/cluster-api/kinds.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { HostAndPort } from '../host-and-port.ts';
import type { ContractKind } from '../infrastructure-kind.ts';
import { contractKind, definitionName } from '../infrastructure-kind.ts';
import { infrastructureStep } from '../infrastructure-patch.ts';
import type { InfrastructureStep } from '../infrastructure-patch.ts';
import type { Scope } from '../scope.ts';
import { isSettled } from '../tenant-answers.ts';

/** How soon an infrastructure cluster that is not there yet, or disagrees, is looked at again. */
const lookAgainMs = 10_000;

/**
 * Tells the infrastructure cluster, of whatever kind, where the control plane is reached; at first not before it answers
 * there. With the endpoint infrastructure becomes provisioned, that makes Cluster API connect, and after a connection that
 * failed it rests for 30 s, which the first worker would spend waiting.
 */
export function infrastructurePhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'infrastructure',
    condition: 'InfrastructureClusterPatched',
    needs: ['address'],
    async run({ scp, cluster, tenant, endpoint }, ctx) {
      const ref = cluster.spec?.infrastructureRef;
      if (ref?.kind === undefined || ref.name === undefined || endpoint === undefined) {
        return { is: 'done', message: 'the Cluster names no infrastructure cluster' };
      }
      const key = { namespace: cluster.metadata.namespace ?? '', name: ref.name };
      const answers = scp.status?.initialization?.controlPlaneInitialized === true || isSettled(tenant);
      try {
        return await tell(deps, { ref, key, endpoint, answers }, ctx);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 403) throw error;
        const rule = `apiGroups: ["${ref.apiGroup ?? ''}"], verbs: [get, patch] on the resource of ${ref.kind} and its status`;
        const message = `not allowed to write the ${ref.kind}: add a ClusterRole labelled steward.butlerlabs.dev/aggregate-to-manager: "true" with ${rule}`;
        return { is: 'waiting', reason: 'Forbidden', message, afterMs: lookAgainMs };
      }
    },
  };
}

interface Target {
  readonly ref: ContractReference;
  readonly key: Key;
  readonly endpoint: HostAndPort;
  /** Whether the control plane was ready at the endpoint already. */
  readonly answers: boolean;
}

async function tell(
  deps: Dependencies,
  { ref, key, endpoint, answers }: Target,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { apiGroup = '', kind = '' } = ref;
  const { signal } = ctx;
  const definition = await deps.cluster.get(
    kinds.CustomResourceDefinition,
    { name: definitionName(apiGroup, kind) },
    { signal },
  );
  const found = definition === undefined ? undefined : contractKind(definition);
  if (found === undefined) {
    const message = `no ${kind} of group ${apiGroup} is defined with a label of contract v1beta2 or v1beta1; is its provider installed?`;
    return { is: 'waiting', reason: 'Pending', message, afterMs: lookAgainMs };
  }
  const infra = await deps.cluster.get(found.kind, key, { signal });
  if (infra === undefined) {
    return {
      is: 'waiting',
      reason: 'Pending',
      message: `${kind} ${key.name} does not exist yet`,
      afterMs: lookAgainMs,
    };
  }
  const step = infrastructureStep(infra, endpoint, found.contract);
  if (step.is === 'mismatch') {
    const message = `${kind} ${key.name} has the endpoint ${step.found}, the control plane answers at ${step.wanted}: set spec.network.serviceAddress, or the endpoint of the ${kind}, so that they agree`;
    return { is: 'waiting', reason: 'EndpointMismatch', message, afterMs: lookAgainMs };
  }
  if (step.is === 'patch' && !answers) {
    const message = `the ${kind} ${key.name} gets the endpoint as soon as the control plane is ready there`;
    return { is: 'waiting', reason: 'WaitingForControlPlane', message };
  }
  if (step.is === 'patch') await send(deps, found, { key, step, signal });
  return { is: 'done' };
}

interface Sending {
  readonly key: Key;
  readonly step: Extract<InfrastructureStep, { is: 'patch' }>;
  readonly signal: AbortSignal;
}

async function send({ cluster }: Dependencies, { kind }: ContractKind, { key, step, signal }: Sending): Promise<void> {
  const { spec, status } = step;
  if (spec !== undefined) {
    await cluster.patch(kind, key, { type: 'merge', body: { spec } }, { fieldManager, signal });
  }
  if (status !== undefined) {
    const options = { fieldManager, subresource: 'status', signal } as const;
    await cluster.patch(kind, key, { type: 'merge', body: { status } }, options);
  }
}
