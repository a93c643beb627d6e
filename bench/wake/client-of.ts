import { clientNames, endpointTypes } from './wake-rows.ts';
import type { ClientName, EndpointType } from './wake-rows.ts';

/** Who calls through an endpoint in a round, which are counted from 0: in each another one, and each of them somewhere. */
export function clientOf(endpoint: EndpointType, round: number): ClientName {
  return clientNames[(endpointTypes.indexOf(endpoint) + round) % clientNames.length] ?? 'kubectl';
}
