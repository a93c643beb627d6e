import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { alternativeNames } from '../../../kubeadm/san.ts';
import { parseSupportedVersion, versionText } from '../../../kubeadm/versions.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

/** Alternative names, one a line, and a version on the first. */
export const names: FuzzTarget = {
  name: 'names',
  from: 'the author of a TenantControlPlane',
  seeds: () => ['v1.36.3\napi.example.org\n*.example.org\n10.0.0.1\nfd00::1', '1.29.0-rc.1+build\nlocalhost'],
  refusals: [InvalidInputError],
  parse: (input) => {
    const [version = '', ...lines] = input.toString().split('\n');
    const { dnsNames, ipAddresses } = alternativeNames(lines);
    const again = alternativeNames([...dnsNames, ...ipAddresses]);
    kept(again.dnsNames.length === dnsNames.length, 'names stay names');
    kept(again.ipAddresses.join() === ipAddresses.join(), 'addresses are canonical');
    const read = versionText(parseSupportedVersion(version));
    kept(versionText(parseSupportedVersion(read)) === read, 'a version is read as written');
  },
};
