/** Commands of resources that are not served: known by name, so that they are answered one by one and do not spoil their frame. */
import { z } from 'zod'
import { integer, type DefinedCommand } from '../define-command.ts'
import { BAD_REQUEST } from '../frames.ts'

interface Unserved {
  readonly type: string
  readonly legacy?: string
  /** What the frame of a refusal holds beside the error; absent where nothing is answered. */
  readonly refusal?: object
}

const ALARMS: readonly Unserved[] = [
  {
    type: 'ALARM_DATA',
    legacy: 'alarmDataCmds',
    refusal: { cmdUpdateType: 'ALARM_DATA', data: null, update: null, allowedEntities: 0, totalEntities: 0 },
  },
  { type: 'ALARM_DATA_UNSUBSCRIBE', legacy: 'alarmDataUnsubscribeCmds' },
  { type: 'ALARM_COUNT', legacy: 'alarmCountCmds', refusal: { cmdUpdateType: 'ALARM_COUNT_DATA', count: 0 } },
  { type: 'ALARM_COUNT_UNSUBSCRIBE', legacy: 'alarmCountUnsubscribeCmds' },
]

const shape = z.looseObject({ cmdId: integer.default(0) })

export const unserved: readonly DefinedCommand[] = ALARMS.map(({ type, legacy, refusal }) => ({
  type,
  legacy: legacy === undefined ? {} : { telemetry: legacy },
  parse: (members) => {
    const parsed = shape.safeParse(members)
    if (!parsed.success) return undefined
    const { cmdId } = parsed.data
    const errorMsg = `${type} is not supported by this server yet`
    return {
      type,
      cmdId,
      run: async ({ host }) => {
        if (refusal !== undefined) host.send(JSON.stringify({ cmdId, errorCode: BAD_REQUEST, errorMsg, ...refusal }))
      },
    }
  },
}))
