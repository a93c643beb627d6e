import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { kubeletConfiguration } from '../../../kubeadm/kubelet-configuration.ts';
import { dnsServiceIps } from '../../../kubeadm/networks.ts';
import { collectErrors } from '../../../kubeadm/collect-errors.ts';
import { versionFacts } from '../upgrade/version-facts.ts';

function validatePatch(tcp: TenantControlPlane): readonly InvalidInput[] {
  const patches = tcp.spec.kubernetes.kubelet.configurationJSONPatches ?? [];
  return patches.flatMap((patch, index) => {
    const field = `spec.kubernetes.kubelet.configurationJSONPatches[${index}]`;
    const found: InvalidInput[] = [];
    const pointer = (name: 'path' | 'from', value: string): void => {
      if (/^(\/([^~/]|~[01])*)+$/.test(value)) return;
      const remedy = 'use a path such as /evictionHard/imagefs.available, with ~1 for a slash in a name';
      found.push({
        field: `${field}.${name}`,
        value,
        reason: 'is not a JSON pointer (RFC 6901) to a field of the document',
        remedy,
      });
    };
    pointer('path', patch.path);
    const moves = patch.op === 'move' || patch.op === 'copy';
    if (moves) pointer('from', patch.from ?? '');
    if (!moves && patch.op !== 'remove' && patch.value === undefined) {
      found.push({ field: `${field}.value`, reason: `is missing, but ${patch.op} requires it`, remedy: 'set a value' });
    }
    return found;
  });
}

/** The patches that cannot be applied to the document; checked only when the other inputs of the document are valid. */
function validateApplication(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { kubelet } = tcp.spec.kubernetes;
  const { clusterDomain } = tcp.spec.networkProfile;
  const serviceCidr = tenantNetworks(tcp).services.value;
  const patches = kubelet.configurationJSONPatches ?? [];
  if (patches.length === 0) return [];
  const { wanted: version } = versionFacts({ tcp });
  if (version === undefined || collectErrors(() => dnsServiceIps(serviceCidr)).length > 0) return [];
  const inputs = {
    version,
    clusterDomain,
    serviceCidr,
    cgroupDriver: kubelet.cgroupfs,
  };
  return collectErrors(() => kubeletConfiguration({ ...inputs, patches })).map((error) => ({
    ...error,
    field: `spec.kubernetes.kubelet.${error.field}`,
  }));
}

/** Validates the configuration of kubelets. */
export function validateKubelet(tcp: TenantControlPlane): readonly InvalidInput[] {
  const patches = validatePatch(tcp);
  return [...patches, ...(patches.length === 0 ? validateApplication(tcp) : [])];
}
