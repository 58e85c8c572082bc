/** Damage at rest: one bit of a file is not what was written. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { SeededRandom } from './seeded-random.ts'

export interface FlippedBit {
  readonly file: string
  readonly offset: number
  /** As from a backup. */
  restore(): void
}

/** Flips a bit of the bytes, wherever in the file they stand first from `from` on. Throws where they do not. */
export function flipBit(file: string, bytes: Uint8Array | string, random: SeededRandom, from = 0): FlippedBit {
  const content = readFileSync(file)
  const start = content.indexOf(bytes, from)
  if (start < 0) throw new Error(`${file} does not hold what shall be damaged`)
  const offset = start + random.between(0, bytes.length - 1)
  const mask = 1 << random.between(0, 6)
  const flip = (): void => {
    content[offset] = (content[offset] ?? 0) ^ mask
    writeFileSync(file, content)
  }
  flip()
  return { file, offset, restore: flip }
}
