import { readFile } from 'node:fs/promises';
import type { ApiServerAccess } from './api-server.ts';

/** The environment variable that holds the path of a JSON file with an `ApiServerAccess`. */
export const apiServerVariable = 'STEWARD_TEST_API_SERVER';

/**
 * The API server that this run's global setup started: real, with RBAC and without controllers, shared by all test files of
 * the run, so each works in namespaces of its own. Throws with the remedy when there is none.
 */
export const apiServerUnderTest = async (): Promise<ApiServerAccess> => {
  const path = process.env[apiServerVariable];
  if (path === undefined) {
    throw new Error(
      `${apiServerVariable} is not set: no API server was started for this run. Tests that need one are called *.api.test.ts and ` +
        'run with `npm run test:api`, whose global setup starts it.',
    );
  }
  return JSON.parse(await readFile(path, 'utf8')) as ApiServerAccess;
};
