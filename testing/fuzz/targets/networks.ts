import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { cidrText, contains, parseCidrs, parseCidr, splitHostPort, firstServiceIp } from '../../../kubeadm/networks.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

/** Networks and addresses in a spec. */
export const networks: FuzzTarget = {
  name: 'networks',
  from: 'the author of a TenantControlPlane',
  seeds: () => ['10.96.0.0/16', '10.96.0.0/12,fd00:1::/108', '[::1]:6443', 'example.org:443', '::ffff:10.0.0.1/120'],
  refusals: [InvalidInputError],
  parse: (input) => {
    const text = input.toString();
    try {
      for (const network of parseCidrs(text, 'serviceCidr')) {
        kept(
          cidrText(parseCidr(cidrText(network), 'serviceCidr')) === cidrText(network),
          'a network is read as written',
        );
        const first = firstServiceIp(cidrText(network));
        kept(contains(network, first), 'the first address of a network is in it');
      }
    } finally {
      splitHostPort(text, 'address');
    }
  },
};
