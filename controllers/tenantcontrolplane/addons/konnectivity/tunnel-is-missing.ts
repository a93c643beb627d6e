import { ApiError } from '../../../../runtime/client/errors.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { agentName, agentNamespace, konnectivityPorts } from './konnectivity-server.ts';

/** This many agents are listed; the request goes to the first one with a valid name. */
const mostAgents = 3;

const podsPath = `/api/v1/namespaces/${agentNamespace}/pods`;

const nameOfPod = /^[a-z0-9][-a-z0-9.]{0,252}$/;

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[field] : undefined;
}

/** The names of some agents' pods. The answer comes from the tenant. Throws `SyntaxError` when it is no JSON. */
export function agentNames(page: string): readonly string[] {
  const items = fieldOf(JSON.parse(page), 'items');
  if (!Array.isArray(items)) return [];
  const names = items.slice(0, mostAgents).map((item: unknown) => fieldOf(fieldOf(item, 'metadata'), 'name'));
  return names.filter((found) => typeof found === 'string' && nameOfPod.test(found)) as readonly string[];
}

/**
 * Why the API server of a pod cannot reach the tenant's nodes yet: the health of an agent is requested from it, through the tunnel. Only
 * the server's answer that no agent is connected counts: a tenant without agents, or with agents that answer something else, does not
 * delay its rollout.
 */
export async function tunnelIsMissing(
  scope: Readonly<Scope>,
  podIp: string,
  { tenants }: Pick<Dependencies, 'tenants'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (scope.tcp.spec.addons.konnectivity === undefined || podIp === '') return undefined;
  const query = `labelSelector=k8s-app%3D${agentName}&fieldSelector=status.phase%3DRunning&limit=${mostAgents}`;
  try {
    await tenants.atPod(scope, podIp, async (client) => {
      const [agent] = agentNames(await client.text(`${podsPath}?${query}`, { signal }));
      if (agent === undefined) return undefined;
      await client.text(`${podsPath}/http:${agent}:${konnectivityPorts.health}/proxy/healthz`, { signal });
      return undefined;
    });
    return;
  } catch (error) {
    signal.throwIfAborted();
    const isMissing = error instanceof ApiError && /no agent available/i.test(error.message);
    return isMissing ? 'no konnectivity agent is connected to it yet' : undefined;
  }
}
