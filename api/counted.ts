/** A number with its noun: `1 pod`, `2 pods`. The plural must end in `s`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** How often: `once`, `2 times`. */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
