import { BadReleaseError, SourceUnavailableError } from '../../../clusterstacks/sources/asset-errors.ts';
import { nextPage } from '../../../clusterstacks/sources/http/next-page.ts';
import { parseChallenge } from '../../../clusterstacks/sources/oci/challenge.ts';
import { parseRepositoryAddress } from '../../../clusterstacks/sources/oci/repository-address.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const base = new URL('https://registry.example.org/v2/stacks/tags/list');

/** Headers of an answer, and an address. */
export const registryAnswers: FuzzTarget = {
  name: 'registry-answers',
  from: 'a registry, and the author of a ClusterStack',
  seeds: () => [
    'Bearer realm="https://auth.example.org/token",service="registry",scope="repository:a:pull"',
    'Basic realm="x", bearer realm=a',
    '</v2/stacks/tags/list?last=a>; rel="next"',
    'registry.example.org:5000/team/stacks',
  ],
  refusals: [BadReleaseError, SourceUnavailableError, RangeError],
  parse: (input) => {
    const text = input.toString('latin1');
    parseChallenge(text);
    kept((nextPage(text, base)?.host ?? base.host) === base.host, 'credentials stay with their host');
    parseRepositoryAddress(text);
  },
};
