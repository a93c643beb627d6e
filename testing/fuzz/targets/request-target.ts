import { parseTarget } from '../../../runtime/server/request-target.ts';
import type { FuzzTarget } from '../fuzz-target.ts';

/** The target of a request to a port of the manager. */
export const requestTarget: FuzzTarget = {
  name: 'request-target',
  from: 'a stranger in the network of pods',
  seeds: () => ['/healthz', '//', '/metrics?x=1', 'http://[', 'https://a:99999/', '/\\', '*'],
  refusals: [],
  parse: (input) => void parseTarget(input.toString('latin1'))?.searchParams.get('timeout'),
};
