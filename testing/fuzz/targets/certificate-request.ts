import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { canonicalIp } from '../../../kubeadm/networks.ts';
import { readCertificateRequest } from '../../../kubeadm/pki/certificate-request.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';
import { kubeletRequest } from '../kubelet-request.ts';

/** What a worker asks a serving certificate with. */
export const certificateRequest: FuzzTarget = {
  name: 'certificate-request',
  from: 'a worker of a tenant',
  seeds: async () => [await kubeletRequest()],
  refusals: [InvalidInputError],
  parse: (input) => {
    const { ipAddresses } = readCertificateRequest(input.toString('latin1'));
    for (const address of ipAddresses) kept(canonicalIp(address) === address, 'addresses are canonical');
  },
};
