import { runningApiServer } from './running-api-server.ts';

/** jest calls this once after the tests of tier `api`. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function tearDown(): Promise<void> {
  await runningApiServer.current?.stop();
  delete runningApiServer.current;
}
