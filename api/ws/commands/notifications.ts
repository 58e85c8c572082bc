/** The inbox of the user: nothing is delivered to it yet, which is what a dashboard's bell hears. Source: `websocket-api.md` 8. */
import { z } from 'zod'
import { defineCommand, integer } from '../define-command.ts'

const NONE = { errorCode: 0, errorMsg: null, totalUnreadCount: 0, sequenceNumber: 1 }
const fields = {}

export const notifications = [
  ...defineCommand({
    type: 'NOTIFICATIONS',
    legacy: { notifications: 'unreadSubCmd' },
    fields: { limit: integer.nullish(), types: z.array(z.string()).nullish() },
    examples: () => [{ limit: 10 }],
    unsubscribe: { type: 'NOTIFICATIONS_UNSUBSCRIBE' },
    async start({ cmdId }, { host }) {
      host.send(JSON.stringify({ cmdId, ...NONE, cmdUpdateType: 'NOTIFICATIONS', notifications: [], update: null }))
    },
  }),
  ...defineCommand({
    type: 'NOTIFICATIONS_COUNT',
    legacy: { notifications: 'unreadCountSubCmd' },
    fields,
    examples: () => [{}],
    async start({ cmdId }, { host }) {
      host.send(JSON.stringify({ cmdId, ...NONE, cmdUpdateType: 'NOTIFICATIONS_COUNT' }))
    },
  }),
  ...defineCommand({
    type: 'MARK_NOTIFICATIONS_AS_READ',
    legacy: { notifications: 'markAsReadCmd' },
    fields: { notifications: z.array(z.string()).nullish() },
    examples: ({ notificationId = '' }) => [{ notifications: [notificationId] }],
    isSilent: true,
    async start() {},
  }),
  ...defineCommand({
    type: 'MARK_ALL_NOTIFICATIONS_AS_READ',
    legacy: { notifications: 'markAllAsReadCmd' },
    fields,
    examples: () => [{}],
    isSilent: true,
    async start() {},
  }),
]
