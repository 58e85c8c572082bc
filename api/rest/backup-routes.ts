/**
 * Backups of the process that answers, for the system administrator: begun, looked at, read piece by piece, given back. Our own addition; the
 * command `npm start -- backup` is its client.
 */
import type { BackupAdmin, BackupStatus } from '../../model/backup.ts'
import type { JsonObject } from '../../model/json.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import { optionalCount, requiredText } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, SYSTEM } from './route.ts'

const count = { type: 'integer' } as const
const BACKUP: JsonObject = {
  title: 'Backup',
  type: 'object',
  properties: {
    ...{ id: { type: 'string' }, version: { type: 'string', description: 'Of the program' } },
    ...{ phase: { enum: ['cutting', 'ready', 'failed'] }, reason: { type: ['string', 'null'] } },
    ...{ bytesDone: count, bytesExpected: count, sequenceFloor: count },
    cutTime: { ...count, description: 'Unix milliseconds' },
    files: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, bytes: count },
        required: ['path', 'bytes'],
      },
    },
  },
  required: ['id', 'version', 'phase', 'reason', 'bytesDone', 'bytesExpected', 'cutTime', 'sequenceFloor', 'files'],
}
const TARGETS = {
  backupId: { untargeted: 'no entity: of the process, whose operator alone may call it', isText: true },
} as const

export function backupRoutes(make: RouteMaker, backups: BackupAdmin, version: string): readonly DeclaredRoute[] {
  const json = (status: BackupStatus): JsonObject => ({
    ...status,
    ...{ version, reason: status.reason ?? null, files: status.files.map((file) => ({ ...file })) },
  })
  const one = { path: '/api/admin/backup/{backupId}', authorities: SYSTEM, targets: TARGETS, query: {} } as const
  return [
    make.route({
      method: 'POST',
      path: '/api/admin/backup',
      about: 'Begins a backup of what the process that answers keeps in its data folder.',
      authorities: SYSTEM,
      targets: {},
      query: {},
      body: undefined,
      answer: BACKUP,
      handle: async () => json(await backups.begin()),
    }),
    make.route({
      ...one,
      method: 'GET',
      about: 'How far a backup is, and its files.',
      body: undefined,
      answer: BACKUP,
      handle: async ({ path }) => json(await backups.status(path.backupId)),
    }),
    make.route({
      method: 'GET',
      path: '/api/admin/backup/{backupId}/file',
      about: 'A piece of a file of a backup, from an offset.',
      authorities: SYSTEM,
      targets: TARGETS,
      query: { path: requiredText, offset: optionalCount(0) },
      body: undefined,
      answer: { type: 'string', format: 'binary' },
      handle: async ({ path: { backupId }, query: { path, offset = 0 } }) => {
        const bytes = await backups.read(backupId, path, offset)
        return rawAnswer({ status: 200, contentType: 'application/octet-stream', body: '', bytes })
      },
    }),
    make.route({
      ...one,
      method: 'DELETE',
      about: 'Gives back the space that a backup takes.',
      body: undefined,
      answer: undefined,
      handle: async ({ path }) => {
        await backups.release(path.backupId)
        return EMPTY_ANSWER
      },
    }),
  ]
}
