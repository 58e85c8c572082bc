/** Alarm rules of a device profile, from the device's telemetry to the alarm that users see, clear, and see again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Alarms {
  readonly data: readonly {
    readonly id: { readonly id: string }
    readonly severity: string
    readonly status: string
    readonly details: { readonly data?: string }
  }[]
}

const above = (operation: string, limit: number) => ({
  type: 'SIMPLE',
  filters: [
    {
      argument: 't',
      valueType: 'NUMERIC',
      predicates: [{ type: 'NUMERIC', operation, value: { staticValue: limit } }],
    },
  ],
})

const CONFIGURATION = {
  type: 'ALARM',
  arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
  createRules: {
    CRITICAL: { condition: { type: 'REPEATING', count: { staticValue: 2 }, expression: above('GREATER', 90) } },
    MAJOR: {
      condition: { type: 'DURATION', unit: 'SECONDS', value: { staticValue: 1 }, expression: above('GREATER', 50) },
    },
  },
  clearRule: { condition: { type: 'SIMPLE', expression: above('LESS', 40) }, alarmDetails: 'back at ${t}' },
}

test('a profile’s alarm rules raise, raise further and clear; what they counted goes when a user clears', async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const profile = await rest.expect<{ id: object }>('POST', '/api/deviceProfile', {
    ...{ name: 'kiln', type: 'DEFAULT', transportType: 'DEFAULT' },
    profileData: { configuration: { type: 'DEFAULT' }, transportConfiguration: { type: 'DEFAULT' } },
  })
  await rest.expect('POST', '/api/alarm/rule', { entityId: profile.id, name: 'Hot', configuration: CONFIGURATION })
  const device = await rest.expect<{ id: { id: string } }>('POST', '/api/device?accessToken=KILN', {
    ...{ name: 'kiln 1', deviceProfileId: profile.id },
  })
  const order = 'pageSize=5&page=0&sortProperty=createdTime&sortOrder=DESC'
  const alarms = () => rest.expect<Alarms>('GET', `/api/alarm/DEVICE/${device.id.id}?${order}`)
  const send = async (temperature: number) => {
    const body = JSON.stringify({ temperature })
    const sent = await fetch(`${millrace.url}/api/v1/KILN/telemetry`, { method: 'POST', body })
    assert.equal(sent.status, 200)
  }
  const newest = (severity: string, status: string, count: number) =>
    eventually(
      alarms,
      ({ data }) => data.length === count && data[0]?.severity === severity && data[0].status === status,
    )

  await send(60)
  await newest('MAJOR', 'ACTIVE_UNACK', 1)
  await send(95)
  await send(96)
  await newest('CRITICAL', 'ACTIVE_UNACK', 1)
  await send(30)
  const [cleared] = (await newest('CRITICAL', 'CLEARED_UNACK', 1)).data
  assert.equal(cleared?.details.data, 'back at 30')

  await send(95)
  await send(95)
  const [second] = (await newest('CRITICAL', 'ACTIVE_UNACK', 2)).data
  await rest.expect('POST', `/api/alarm/${second?.id.id}/clear`)
  await send(95)
  await send(95)
  await newest('CRITICAL', 'ACTIVE_UNACK', 3)
})
