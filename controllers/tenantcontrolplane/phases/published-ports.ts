import { ports as portNames } from '../../../api/names.ts';
import type { PublishedPorts } from '../components/publication.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';

/** The ports as the Service has them: those of konnectivity and trustd only where the add-ons are on. */
export function publishedPorts({ service, target }: Readonly<Scope>): PublishedPorts {
  const entries = needed(service, 'service').spec?.ports ?? [];
  return {
    apiServer: needed(target, 'target').port,
    konnectivity: entries.find(({ name }) => name === portNames.konnectivity)?.port,
    trustd: entries.find(({ name }) => name === portNames.trustdService)?.port,
  };
}
