import type { SecurityContext } from './pod-parts.ts';

/** Any user except 0, which the images of Kubernetes use by default. */
const user = 65532;

/**
 * No user, write access, capability or system call that a control plane can do without.
 *
 * `fileCapabilities` names what the program's file carries: with less than that in the bounding set the kernel refuses to
 * start it (capabilities(7), "Safety checking for capability-dumb binaries").
 */
export function restricted(fileCapabilities: readonly string[] = []): SecurityContext {
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], ...(fileCapabilities.length > 0 && { add: [...fileCapabilities] }) },
    privileged: false,
    readOnlyRootFilesystem: true,
    runAsGroup: user,
    runAsNonRoot: true,
    runAsUser: user,
    seccompProfile: { type: 'RuntimeDefault' },
  };
}
