/**
 * Alarms and notifications that are made through one process reach who watches at another, over WebSocket: the alarm as it is raised,
 * acknowledged, cleared and deleted, the inbox as it fills and as it is read elsewhere.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import WebSocket from 'ws'
import { RestClient, login } from '../support/clients.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { natsAndPostgresEnvironment, startMember } from '../support/start-cluster.ts'

interface Alarm {
  readonly id: { readonly id: string }
  readonly status: string
}

interface Frame {
  readonly cmdId: number
  readonly errorCode: number
  readonly active?: boolean
  readonly count?: number
  readonly data?: { readonly data: readonly Alarm[] } | null
  readonly update?: readonly Alarm[] | { readonly subject: string } | null
  readonly notifications?: readonly unknown[] | null
  readonly totalUnreadCount?: number
}

const PAGE = 1
const COUNT = 2
const STATUS = 3
const INBOX = 4
const UNREAD = 5

test(
  'an alarm and a notification that one process makes reach a user at another',
  { timeout: 600_000 },
  async (context) => {
    if (!requireServer(context, 'nats', 'postgres')) return
    const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
    context.after(() => Promise.all([nats.stop(), postgres.stop()]))
    const environment = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
    const [a, b] = await Promise.all([
      startMember(environment, ['api', 'engine']),
      startMember(environment, ['api', 'transport']),
    ])
    context.after(() => Promise.all([a.stop(), b.stop()]))
    const rest = new RestClient(a, await login(a))
    const deviceId = await rest.createDevice('alarmed', 'ALARMED')
    const originator = { entityType: 'DEVICE', id: deviceId }
    const entityFilter = { type: 'singleEntity', singleEntity: originator }
    const watcher = await watch(b.url, await login(b), [
      {
        ...{ type: 'ALARM_DATA', cmdId: PAGE },
        query: {
          entityFilter,
          alarmFields: [{ type: 'ALARM_FIELD', key: 'status' }],
          pageLink: { page: 0, pageSize: 10, timeWindow: 3_600_000 },
        },
      },
      { type: 'ALARM_COUNT', cmdId: COUNT, query: { entityFilter, statusList: ['ACTIVE'] } },
      { type: 'ALARM_STATUS', cmdId: STATUS, originatorId: originator },
      { type: 'NOTIFICATIONS', cmdId: INBOX, limit: 10 },
      { type: 'NOTIFICATIONS_COUNT', cmdId: UNREAD },
    ])
    context.after(() => watcher.close())
    await watcher.sees(PAGE, ({ data }) => data?.data.length === 0)
    await watcher.sees(COUNT, ({ count }) => count === 0)
    await watcher.sees(STATUS, ({ active }) => active === false)
    await watcher.sees(INBOX, ({ notifications }) => notifications?.length === 0)
    await watcher.sees(UNREAD, ({ totalUnreadCount }) => totalUnreadCount === 0)

    const raised = await rest.expect<Alarm>('POST', '/api/alarm', { type: 'Hot', originator, severity: 'MAJOR' })
    const id = raised.id.id
    await watcher.sees(PAGE, ({ data }) => data?.data[0]?.id.id === id && data.data[0].status === 'ACTIVE_UNACK')
    await watcher.sees(COUNT, ({ count }) => count === 1)
    await watcher.sees(STATUS, ({ active }) => active === true)

    await rest.expect('POST', `/api/alarm/${id}/ack`)
    await watcher.sees(PAGE, ({ update }) => Array.isArray(update) && statusOf(update, id) === 'ACTIVE_ACK')
    await rest.expect('POST', `/api/alarm/${id}/clear`)
    await watcher.sees(PAGE, ({ update }) => Array.isArray(update) && statusOf(update, id) === 'CLEARED_ACK')
    await watcher.sees(COUNT, ({ count }) => count === 0)
    await watcher.sees(STATUS, ({ active }) => active === false)
    await rest.expect('DELETE', `/api/alarm/${id}`)
    await watcher.sees(PAGE, ({ data }) => data?.data.length === 0)

    await notify(rest, 'to all administrators')
    await watcher.sees(
      INBOX,
      ({ update }) => update !== null && update !== undefined && 'subject' in update && update.subject === 'told',
    )
    await watcher.sees(UNREAD, ({ totalUnreadCount }) => totalUnreadCount === 1)
    await rest.expect('PUT', '/api/notifications/read')
    await watcher.sees(
      INBOX,
      ({ notifications, totalUnreadCount }) => notifications?.length === 0 && totalUnreadCount === 0,
    )
    await watcher.sees(UNREAD, ({ totalUnreadCount }) => totalUnreadCount === 0)
    assert.deepEqual(watcher.errors(), [])
  },
)

function statusOf(alarms: readonly Alarm[], id: string): string | undefined {
  return alarms.find((alarm) => alarm.id.id === id)?.status
}

async function notify(rest: RestClient, name: string): Promise<void> {
  const web = { method: 'WEB', enabled: true, subject: 'told', body: 'of something' }
  const template = await rest.expect<{ id: object }>('POST', '/api/notification/template', {
    ...{ name, notificationType: 'GENERAL' },
    configuration: { deliveryMethodsTemplates: { WEB: web } },
  })
  const target = await rest.expect<{ id: { id: string } }>('POST', '/api/notification/target', {
    name,
    configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'TENANT_ADMINISTRATORS' } },
  })
  await rest.expect('POST', '/api/notification/request', { targets: [target.id.id], templateId: template.id })
}

/** Each frame is looked at once: a later `sees` of the same command begins behind the one that was seen. */
async function watch(url: string, token: string, cmds: readonly object[]) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`)
  const frames: Frame[] = []
  const seen = new Map<number, number>()
  let changed: () => void = () => undefined
  socket.on('message', (text) => {
    assert.ok(Buffer.isBuffer(text))
    frames.push(JSON.parse(text.toString()) as Frame)
    changed()
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ authCmd: { cmdId: 0, token }, cmds }))
  return {
    sees: async (cmdId: number, isIt: (frame: Frame) => boolean): Promise<void> => {
      for (;;) {
        const from = seen.get(cmdId) ?? 0
        const place = frames.findIndex((frame, at) => at >= from && frame.cmdId === cmdId && isIt(frame))
        if (place >= 0) return void seen.set(cmdId, place + 1)
        await new Promise<void>((resolve) => (changed = resolve))
      }
    },
    errors: () => frames.filter(({ errorCode }) => errorCode !== 0),
    close: () => socket.close(),
  }
}
