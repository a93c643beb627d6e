import type { Phase } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { findHost } from './find-host.ts';
import { externalCondition } from './reference.ts';

/** Opens the way to the cluster that hosts the control plane, and makes sure that it is still the same one. */
export function hostPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'host',
    condition: externalCondition,
    async run({ scp }, ctx) {
      const host = await findHost(deps, scp, ctx);
      if (host.is === 'waiting') return host;
      if (host.ends) {
        const message = `namespace ${host.namespace} of the hosting cluster is being deleted, and the control plane with it`;
        return { is: 'waiting', reason: 'NamespaceTerminating', message, afterMs: 30_000 };
      }
      return { is: 'done', learned: { host } };
    },
  };
}
