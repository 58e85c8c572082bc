/** Endpoints of the reference that are not there yet, and described calls that answer otherwise than a walk in one small world expects. */

/** Method and path, with a star for each parameter. */
export const NOT_SERVED: ReadonlySet<string> = new Set([])

/** Method and path to what the walk gets: a state that it does not make, or a member that is not there. */
export const KNOWN_GAPS: ReadonlyMap<string, string> = new Map([
  ...['POST /api/admin/backup', 'GET /api/admin/backup/{backupId}', 'GET /api/admin/backup/{backupId}/file'].map(
    (call) => [call, 'no data folder that could be copied (backup-production.test.ts)'] as const,
  ),
  ['GET /api/notification/slack/conversations', 'Slack is not configured'],
  ['GET /api/ruleChain/{ruleChainId}/statistics', 'no rule engine runs beside the walk (seeing-routes.test.ts)'],
])
