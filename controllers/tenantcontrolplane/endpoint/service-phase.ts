import type { Service } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { ApiError, RetryError } from '../../../runtime/client/errors.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Finding, Outcome } from '../../../runtime/reconcile/phases.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { splitHostPort } from '../../../kubeadm/networks.ts';
import { serversOf } from '../shared/addon-server.ts';
import { canAdvertise } from '../shared/address-family.ts';
import { validateExternalIp } from './reach/external-ip.ts';
import { chooseNodeAddress, findEndpoint, needsNodeAddress } from './endpoint.ts';
import { service as serviceManifest, servicePort } from './service.ts';
import { serviceRefusal } from './service-refusal.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';

/** How soon a Service is applied again for which there was no port, in milliseconds: no watch reports that a port is free. */
const retryMs = 30_000;

/**
 * The Service, with the port that everything else is built on. A NodePort Service whose author sets no port is applied once more
 * with the port that the API server chose, so that node port, Service port and secure port are equal.
 */
export async function service(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const { nodePorts, reach } = deps;
  const servers = serversOf(deps.addons);
  const onlyPods = scope.rollout?.step.select;
  const input = { tcp, current: observed.service, nodePorts, reach, servers, onlyPods };
  const apply = (wanted: Manifest): Promise<Service> =>
    deps.apply<Service>(scope, wanted, ctx).catch((error: unknown) => {
      const refusal = error instanceof ApiError ? serviceRefusal(error.message) : undefined;
      throw refusal === undefined ? error : new RetryError(refusal.reason, refusal.message, retryMs, { cause: error });
    });
  const applied = await apply(serviceManifest(input));
  const chosen = { ...input, current: applied };
  const isFinal = servicePort(input) === servicePort(chosen);
  const manifest = serviceManifest(chosen);
  const made = isFinal ? applied : await apply(manifest);
  const learned = { service: made, serviceManifest: manifest };
  return { is: 'done', learned, findings: missingExternalIp(scope, deps) };
}

/**
 * Reports that the Service lacks the external IP in the spec: admission refuses such a spec, but may have been disabled, or be
 * newer than the object.
 */
function missingExternalIp({ tcp }: Readonly<Scope>, { reach }: Dependencies): readonly Finding[] {
  const error = validateExternalIp(tcp, reach);
  if (error === undefined) return [];
  const message = `${new InvalidInputError(error).message}; the Service has no external IP`;
  return [{ condition: 'EndpointReady', outcome: { is: 'waiting', reason: 'ExternalIPNotAllowed', message } }];
}

/** The host of the endpoint in the status, so that a tenant's workers keep the node that they know. */
function recordedHost({ tcp }: Readonly<Scope>): string | undefined {
  const recorded = tcp.status?.controlPlaneEndpoint ?? '';
  return recorded === '' ? undefined : splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
}

/** Address and port at which the control plane should be reached; waits until they have been assigned. */
export async function exposure(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const nodes = needsNodeAddress(tcp) ? await deps.nodeAddresses(ctx.signal) : [];
  const usable = nodes.filter(({ address }) => canAdvertise(tcp, address));
  const nodeAddress = chooseNodeAddress(usable.length > 0 ? usable : nodes, recordedHost(scope));
  const found = findEndpoint({
    tcp,
    service: needed(scope.service, 'service'),
    nodePorts: deps.nodePorts,
    nodeAddress,
  });
  if ('endpoint' in found) return { is: 'done', learned: { target: found.endpoint }, message: found.message };
  return { is: 'waiting', reason: found.missing, message: found.message };
}
