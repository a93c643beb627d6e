import { runningApiServers } from './running-api-servers.ts';

/** jest calls this once after the tests of tier `api`. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function tearDown(): Promise<void> {
  await Promise.all(runningApiServers.splice(0).map((server) => server.stop()));
}
