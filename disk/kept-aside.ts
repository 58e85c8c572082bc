/** Files in which something was damaged: they are kept for a rescue, whatever became of what they hold. */
import type { Erased } from '../model/erased.ts'
import type { Disk } from './disk.ts'
import { DAMAGED } from './segments.ts'

/** Names the damaged files of a folder: they may hold what was removed. */
export async function erasedBeside(disk: Disk, directory: string): Promise<Erased> {
  const files = (await disk.list(directory)).filter((name) => name.endsWith(DAMAGED))
  if (files.length === 0) return { isGone: true }
  return { isGone: false, rest: `files that were damaged stay until somebody removes them: ${files.join(', ')}` }
}

/** Where a file that may go stayed. */
export const NOT_REMOVED: Erased = { isGone: false, rest: 'the disk refuses to remove a file' }
