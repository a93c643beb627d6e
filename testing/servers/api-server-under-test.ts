import { readFile } from 'node:fs/promises';
import type { ApiServerAccess } from './api-server.ts';

/** The environment variable that holds the path of a JSON file with a list of `ApiServerAccess`, one for each worker of jest. */
export const apiServersVariable = 'STEWARD_TEST_API_SERVERS';

/**
 * The API server that this run's global setup started for this worker of jest: real, with RBAC and without controllers, shared by
 * the test files that run here one after another, so each works in namespaces of its own. Throws with the remedy when there is none.
 */
export const apiServerUnderTest = async (): Promise<ApiServerAccess> => {
  const path = process.env[apiServersVariable];
  const servers = path === undefined ? [] : (JSON.parse(await readFile(path, 'utf8')) as readonly ApiServerAccess[]);
  // Workers are counted from 1 (https://jestjs.io/docs/environment-variables).
  const server = servers[Number(process.env.JEST_WORKER_ID ?? '1') - 1];
  if (server === undefined) {
    throw new Error(
      `${apiServersVariable} names no API server for this worker. Tests that need one are called *.api.test.ts and run with ` +
        '`npm run test:api`, whose global setup starts them.',
    );
  }
  return server;
};
