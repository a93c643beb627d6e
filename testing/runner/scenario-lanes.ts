/** Variable of the environment: how many scenarios run at the same time. */
export const lanesVariable = 'STEWARD_SCENARIOS_AT_ONCE';

/** How many scenarios run at the same time; one unless said. Throws an error for what is no such number. */
export function scenarioLanes(text = process.env[lanesVariable] ?? ''): number {
  if (text === '') return 1;
  if (/^[1-9]$/.test(text)) return Number(text);
  throw new Error(`${lanesVariable} is "${text}": give a number from 1 to 9.`);
}
