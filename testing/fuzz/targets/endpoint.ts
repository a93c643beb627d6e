import { numberOf } from '../../../api/quantity.ts';
import { parseEndpoint } from '../../../stores/endpoint.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

/** The address of a datastore, and a quantity. */
export const endpoint: FuzzTarget = {
  name: 'endpoint',
  from: 'the author of a DataStore',
  seeds: () => ['etcd.example.org:2379', '[fd00::1]:5432', '10.0.0.1:3306', '1.5Gi', '12e3', '100m'],
  refusals: [],
  parse: (input) => {
    const text = input.toString();
    const found = parseEndpoint(text);
    kept(typeof found === 'string' || (found.port > 0 && found.port < 65_536 && found.host !== ''), 'host and port');
    const number = numberOf(text);
    kept(number === undefined || !Number.isNaN(number), 'a quantity is a number');
  },
};
