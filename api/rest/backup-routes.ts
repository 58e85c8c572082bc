/**
 * Backups of the process that answers, for the system administrator: begun, looked at, read piece by piece, given back. Our own addition; the
 * command `npm start -- backup` is its client.
 */
import type { BackupAdmin, BackupStatus } from '../../model/backup.ts'
import { ParameterErrors } from '../errors.ts'
import { EMPTY_ANSWER, SYSTEM, jsonAnswer, type Answer, type RestRoute } from './route.ts'

export function backupRoutes(backups: BackupAdmin, version: string): readonly RestRoute[] {
  const answer = (status: BackupStatus): Answer =>
    jsonAnswer({ ...status, version, reason: status.reason ?? null, files: status.files.map((file) => ({ ...file })) })
  return [
    {
      method: 'POST',
      pattern: '/api/admin/backup',
      authorities: SYSTEM,
      handle: async () => answer(await backups.begin()),
    },
    {
      method: 'GET',
      pattern: '/api/admin/backup/:backupId',
      authorities: SYSTEM,
      handle: async (call) => answer(await backups.status(call.parameter(0))),
    },
    {
      method: 'GET',
      pattern: '/api/admin/backup/:backupId/file',
      authorities: SYSTEM,
      handle: async (call) => {
        const offset = call.query.integer('offset') ?? 0
        if (offset < 0) throw ParameterErrors.INVALID({ name: 'offset', value: offset, expected: 'at least 0' })
        const bytes = await backups.read(call.parameter(0), call.query.required('path'), offset)
        return { status: 200, contentType: 'application/octet-stream', body: '', bytes }
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/admin/backup/:backupId',
      authorities: SYSTEM,
      handle: async (call) => {
        await backups.release(call.parameter(0))
        return EMPTY_ANSWER
      },
    },
  ]
}
