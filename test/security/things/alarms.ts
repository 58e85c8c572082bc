import type { MakeThings } from './make-things.ts'

export const makeAlarms: MakeThings = async ({ services, tenant }, { assetId = '' }) => {
  const originator = { entityType: 'ASSET', id: assetId } as const
  const alarm = await services.alarms.saveByUser(tenant, { originator, type: 'secret alarm', severity: 'MAJOR' })
  const comment = await services.alarms.saveCommentByUser(tenant, alarm.id, { comment: { text: 'secret words' } })
  return { alarmId: alarm.id, commentId: comment.id, assigneeId: tenant.userId }
}
