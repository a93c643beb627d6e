import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort, splitHostPort } from '../../../kubeadm/networks.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { arePodsNamed } from './pods-have-san.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { shutdownDelaySeconds } from '../workload/api-server-arguments.ts';
import { isLedByRouter } from './previous-endpoint.ts';

/** The endpoint that workers and users know, if it served. */
function before({ tcp, target }: Readonly<Scope>): Endpoint | undefined {
  const recorded = tcp.status?.controlPlaneEndpoint ?? '';
  const hasServed = tcp.status?.kubernetesResources?.version?.version !== undefined;
  if (recorded === '' || !hasServed) return undefined;
  const wanted = needed(target, 'target');
  const { host, port = wanted.hostPort } = splitHostPort(recorded, 'status.controlPlaneEndpoint');
  return host === wanted.host && port === wanted.hostPort ? undefined : { ...wanted, host, hostPort: port };
}

const fact = 'pods with the names of the new endpoint';
const awaited = 'awaited';

/**
 * Routers dial pods by themselves and follow a change of them some seconds later: Traefik for up to four. For so many milliseconds after
 * new pods took over, a router may still lead to an old one, which answers for as long.
 */
const followMs = shutdownDelaySeconds * 1000;

/** How many milliseconds routers still need to follow the pods that this process saw take over; 0 when it saw none. */
function followsInMs({ metadata: { uid } }: TenantControlPlane, { memory, clock }: Dependencies): number {
  const seen = memory.recall(uid, fact);
  if (seen === undefined) return 0;
  const now = clock.monotonic();
  if (seen === awaited) memory.remember(uid, fact, String(now));
  return Math.max(0, followMs - (seen === awaited ? 0 : now - Number(seen)));
}

/**
 * The endpoint that kubeconfigs, documents and agents name. The previous one stays until the new one leads to the control plane
 * and every pod serves certificates with its name, so that clients which switch can connect. Routers get time to follow the pods.
 */
export function endpoint(scope: Readonly<Scope>, deps: Dependencies): Promise<Outcome<Scope>> {
  const target = needed(scope.target, 'target');
  const learned = (inUse: Endpoint): Partial<Scope> => ({
    endpoint: inUse,
    isRouted: isLedByRouter(scope, inUse, deps),
  });
  const former = before(scope);
  if (former === undefined) {
    deps.memory.forget(scope.tcp.metadata.uid, fact);
    return Promise.resolve({ is: 'done', learned: learned(target) });
  }
  const { takeover, made = [] } = needed(scope.publication, 'publication');
  const stay = (until: string, afterMs?: number): Promise<Outcome<Scope>> => {
    const [from, to] = [former, target].map(({ host, hostPort }) => joinHostPort(host, hostPort));
    const message = `workers and users are still sent to ${from ?? ''}; they switch to ${to ?? ''} when ${until}`;
    return Promise.resolve({ is: 'done', learned: learned(former), message, afterMs });
  };
  if (!takeover.is) return stay(takeover.until, takeover.afterMs);
  if (!arePodsNamed(scope.tcp, target, scope.observed, deps.addons)) {
    deps.memory.remember(scope.tcp.metadata.uid, fact, awaited);
    return stay('every pod serves a certificate for the new endpoint');
  }
  const leftMs = made.length === 0 ? 0 : followsInMs(scope.tcp, deps);
  if (leftMs > 0) return stay(`routers have had ${shutdownDelaySeconds} s to pick up the new pods`, leftMs);
  return Promise.resolve({ is: 'done', learned: learned(target) });
}
