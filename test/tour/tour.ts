/** Reads the five-minute tour out of the README: the commands in their order, and what each block's output must match. */

export interface TourStep {
  readonly commands: string
  /** Regular expressions, one a line, that the output of the commands must match. */
  readonly expected: readonly string[]
}

const BLOCK = /^```(?:sh tour|text tour:expect)\n([\s\S]*?)^```$/gm

export function readTour(readme: string): TourStep[] {
  const steps: { commands: string; expected: string[] }[] = []
  for (const [block, content = ''] of readme.matchAll(BLOCK)) {
    if (block.startsWith('```sh tour')) steps.push({ commands: content, expected: [] })
    else steps.at(-1)?.expected.push(...content.trim().split('\n'))
  }
  return steps
}
