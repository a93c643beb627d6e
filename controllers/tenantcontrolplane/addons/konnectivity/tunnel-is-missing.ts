import { ApiError } from '../../../../runtime/client/errors.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { agentName, agentNamespace, konnectivityPorts } from './konnectivity-server.ts';

/** This many agents are listed; the request goes to the first one with a valid name. */
const most = 3;

const podsPath = `/api/v1/namespaces/${agentNamespace}/pods`;

/** The names of some agents' pods. The answer comes from the tenant. */
function namesIn(page: string): readonly string[] {
  const { items } = JSON.parse(page) as {
    readonly items?: readonly { readonly metadata?: { readonly name?: unknown } }[];
  };
  if (!Array.isArray(items)) return [];
  return items.slice(0, most).flatMap(({ metadata }: { readonly metadata?: { readonly name?: unknown } }) => {
    const name = metadata?.name;
    return typeof name === 'string' && /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name) ? [name] : [];
  });
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
  const query = `labelSelector=k8s-app%3D${agentName}&fieldSelector=status.phase%3DRunning&limit=${most}`;
  try {
    await tenants.atPod(scope, podIp, async (client) => {
      const [agent] = namesIn(await client.text(`${podsPath}?${query}`, { signal }));
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
