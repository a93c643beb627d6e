/** The longest text of a workload cluster that goes into a status, in characters. */
const longest = 1_000;

/** What a workload cluster says may have any length, and a status may not. */
export function shortened(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
