/** `npm start -- backup DIR`: takes a backup of a running Millrace without stopping it, and writes it to a folder of this machine. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { BACKUP_FORMAT, backupPath } from '../model/backup.ts'
import { BackupFolder } from './backup-folder.ts'
import { Progress, sizeText } from './progress.ts'
import { runRestCommand, type RestCommand } from './rest-command.ts'
import { CommandErrors, DEFAULT_SERVER, SYSTEM_LOGIN, type RestSession } from './rest-session.ts'

const USAGE = `npm start -- backup DIR [--url URL] [--user EMAIL] [--password TEXT]

  DIR   a folder of this machine: absent, empty, or with an unfinished backup, which is removed
  --url, --user, --password   where and as which system administrator (default ${DEFAULT_SERVER.url}, ${SYSTEM_LOGIN.user};
                              environment: MILLRACE_URL, MILLRACE_SYSTEM_USER, MILLRACE_SYSTEM_PASSWORD)

The server runs on. Everything acknowledged before the command began is in the backup.
npm start -- restore DIR brings it back into an empty data folder.
`
const LOOK_MS = 200

const statusSchema = z.object({
  id: z.string(),
  version: z.string(),
  phase: z.enum(['cutting', 'ready', 'failed']),
  reason: z.string().nullable(),
  bytesDone: z.number(),
  bytesExpected: z.number(),
  cutTime: z.number(),
  sequenceFloor: z.number(),
  files: z.array(z.object({ path: backupPath, bytes: z.number() })),
})
type Status = z.infer<typeof statusSchema>

const COMMAND: RestCommand<Record<never, never>> = {
  usage: USAGE,
  flags: z.object({}),
  argument: 'one folder',
  login: SYSTEM_LOGIN,
  async run({ argument, open, output }) {
    const progress = new Progress()
    try {
      const session = await open()
      const folder = await BackupFolder.begin(argument)
      const bytes = await take(session, folder, progress)
      output.out(`backup of ${sizeText(bytes)} in ${folder.path}`)
    } finally {
      progress.end()
    }
  },
}

/** Resolves with the exit code. */
export function backup(argv: readonly string[]): Promise<number> {
  return runRestCommand(COMMAND, argv)
}

/** Resolves with the backup's size. */
async function take(session: RestSession, folder: BackupFolder, progress: Progress): Promise<number> {
  let status = statusSchema.parse(await session.request('POST', '/api/admin/backup'))
  const path = `/api/admin/backup/${status.id}`
  try {
    while (status.phase === 'cutting') {
      progress.show('cut', status.bytesDone, status.bytesExpected)
      await pause(LOOK_MS)
      status = statusSchema.parse(await session.request('GET', path))
    }
    if (status.phase === 'failed') throw CommandErrors.FAILED({ reason: status.reason ?? '' })
    return await fetchAll(session, status, folder, progress)
  } finally {
    // Else it goes by itself after some minutes.
    await session.request('DELETE', path).catch(() => undefined)
  }
}

async function fetchAll(
  session: RestSession,
  { id, files, version, cutTime, sequenceFloor }: Status,
  folder: BackupFolder,
  progress: Progress,
): Promise<number> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  const written = []
  for (const file of files) {
    const pieces = piecesOf(session, `/api/admin/backup/${id}/file?path=${encodeURIComponent(file.path)}`, file.bytes)
    const sha256 = await folder.write(file.path, pieces, (bytes) => progress.show('copy', (done += bytes), total))
    written.push({ ...file, sha256 })
  }
  progress.end()
  await folder.finish({ format: BACKUP_FORMAT, version, cutTime, sequenceFloor, files: written })
  return total
}

async function* piecesOf(session: RestSession, path: string, bytes: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes;) {
    const piece = await session.bytes(`${path}&offset=${offset}`)
    if (piece.length === 0 || offset + piece.length > bytes)
      throw CommandErrors.FAILED({ reason: `a file has not the length that the server named` })
    offset += piece.length
    yield piece
  }
}
