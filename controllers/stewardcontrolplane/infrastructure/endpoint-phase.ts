import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Phase } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { parseHostAndPort } from './host-and-port.ts';
import type { Scope } from '../scope.ts';

/** Waits until the TenantControlPlane, which the phase `after` finds, knows where it is reached. */
export function addressPhase(after: 'found' | 'tenant'): Phase<Scope> {
  return {
    name: 'address',
    condition: 'TenantControlPlaneAddressReady',
    needs: [after],
    run({ tenant }) {
      const text = tenant?.status?.controlPlaneEndpoint;
      const endpoint = text === undefined ? undefined : parseHostAndPort(text, 6443);
      if (endpoint === undefined) {
        const message =
          text === undefined
            ? 'the TenantControlPlane has no endpoint yet; its conditions say what it waits for'
            : `the endpoint "${text}" of the TenantControlPlane is not host:port`;
        return Promise.resolve({ is: 'waiting', reason: 'Pending', message });
      }
      return Promise.resolve({ is: 'done', learned: { endpoint } });
    },
  };
}

/** Publishes the endpoint where Cluster API reads it: in the spec, by a patch of just these two fields. */
export function endpointPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'endpoint',
    condition: 'ControlPlaneEndpointPatched',
    needs: ['address'],
    async run({ scp, endpoint }, ctx) {
      const { host, port } = scp.spec.controlPlaneEndpoint ?? {};
      if (endpoint !== undefined && (host !== endpoint.host || port !== endpoint.port)) {
        const { namespace, name } = scp.metadata;
        const body = { spec: { controlPlaneEndpoint: endpoint } };
        const options = { fieldManager, signal: ctx.signal };
        await deps.cluster.patch(stewardControlPlane, { namespace, name }, { type: 'merge', body }, options);
      }
      return { is: 'done' };
    },
  };
}
