import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { namedServer, serversOf } from '../shared/addon-server.ts';
import type { PublishedPorts } from './exposure/exposure.ts';

/** The ports of the Service: that of the API server, and those of add-ons that it has. */
export function publishedPorts(
  { tcp, service, target }: Readonly<Scope>,
  { addons }: Pick<Dependencies, 'addons'>,
): PublishedPorts {
  const entries = needed(service, 'service').spec?.ports ?? [];
  const servers = serversOf(addons).flatMap((server) => {
    const port = entries.find(({ name }) => name === server.portName)?.port;
    return port === undefined ? [] : [{ ...namedServer(server, tcp), port }];
  });
  return { apiServer: needed(target, 'target').port, servers };
}
