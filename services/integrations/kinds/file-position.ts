/** How far a file was read: durable before the next part is read, so that whoever was killed goes on there. */
import { z } from 'zod'
import type { Positions } from '../define-integration.ts'
import type { FoundFile } from './file-folder.ts'

const POSITION = 'file'

const position = z.object({
  name: z.string(),
  size: z.number(),
  modified: z.number(),
  node: z.number(),
  /** Bytes of the file. */
  position: z.number(),
  line: z.number(),
  records: z.number(),
  bad: z.number(),
  /** Of the report: what stands behind is of records that are read again. */
  reportBytes: z.number(),
})

export type FilePosition = z.output<typeof position>

export async function readPosition(positions: Positions): Promise<FilePosition | undefined> {
  const read = position.safeParse(await positions.read(POSITION))
  return read.success ? read.data : undefined
}

export async function writePosition(positions: Positions, { ...kept }: FilePosition): Promise<void> {
  await positions.write(POSITION, kept)
}

/** Where to begin: a file that was changed, or another of its name, is read from its start. */
export function positionIn(file: FoundFile, kept: FilePosition | undefined): FilePosition {
  const isSame =
    kept?.name === file.name && kept.size === file.size && kept.modified === file.modified && kept.node === file.node
  return isSame ? kept : { ...file, position: 0, line: 1, records: 0, bad: 0, reportBytes: 0 }
}
