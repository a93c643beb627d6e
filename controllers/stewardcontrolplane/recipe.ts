import type { Phase } from '../../runtime/reconcile/phases.ts';
import { definePhases } from '../../runtime/reconcile/run-phases.ts';
import type { Dependencies } from './dependencies.ts';
import { hostPhase } from './hosting/host-phase.ts';
import { externalTenantPhase } from './hosting/tenant-phase.ts';
import { addressPhase, endpointPhase } from './infrastructure/endpoint-phase.ts';
import { infrastructurePhase } from './infrastructure/infrastructure-phase.ts';
import { restorePhase } from './restore/restore-phase.ts';
import type { Scope } from './scope.ts';
import { secretsPhase } from './secrets/secrets-phase.ts';
import { retainedPhase } from './tenant/retained-phase.ts';
import { foundPhase, tenantPhase } from './tenant/tenant-phase.ts';

/** All phases: of a StewardControlPlane whose pods run in the management cluster, and of one whose pods run in a hosting cluster. */
export function stewardControlPlanePhases(deps: Dependencies): {
  readonly local: readonly Phase<Scope>[];
  readonly external: readonly Phase<Scope>[];
} {
  return {
    local: definePhases<Scope>([
      foundPhase(deps),
      retainedPhase(deps),
      tenantPhase(deps),
      restorePhase(deps),
      addressPhase('found'),
      endpointPhase(deps),
      infrastructurePhase(deps),
      secretsPhase(deps),
    ]),
    external: definePhases<Scope>([
      hostPhase(deps),
      externalTenantPhase(deps),
      addressPhase('tenant'),
      endpointPhase(deps),
      infrastructurePhase(deps),
      secretsPhase(deps),
    ]),
  };
}
