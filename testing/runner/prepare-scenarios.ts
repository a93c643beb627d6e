import prepareScenarios from '../servers/e2e-global-setup.ts';

// A program of its own: whoever ends the tests while a compiler runs does not wait for it.
await prepareScenarios({ nonFlagArgs: [] });
