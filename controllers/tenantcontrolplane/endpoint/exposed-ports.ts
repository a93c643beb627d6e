import { ports as portNames } from '../../../api/names.ts';
import type { PublishedPorts } from './exposure/exposure.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';

/** The ports of the Service: those of konnectivity and trustd only if the add-ons are enabled. */
export function publishedPorts({ service, target }: Readonly<Scope>): PublishedPorts {
  const entries = needed(service, 'service').spec?.ports ?? [];
  return {
    apiServer: needed(target, 'target').port,
    konnectivity: entries.find(({ name }) => name === portNames.konnectivity)?.port,
    trustd: entries.find(({ name }) => name === portNames.trustdService)?.port,
  };
}
